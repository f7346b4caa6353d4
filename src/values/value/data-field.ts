import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';
import { isProvenTensor } from './proven-tensor.js';

/** A packed sequence has its values there, with their graph. */
const PACKED = /\bPackedSequence\b|\bpack_(?:padded_)?sequence\b/;
/** A field of a data class or of a typed tuple. */
const FIELD = /^[ \t]+data[ \t]*:[ \t]*\w/m;

/** Whether `.data` of a value may be a field of some object, which keeps its graph, and not what torch cuts off. */
export function mayBeField(module: PyModule, object: PyNode): boolean {
  return !isProvenTensor(module, object) && module.memo(hasFieldAround, module);
}

const WORDS = [
  'PackedSequence',
  'pack_padded_sequence',
  'pack_sequence',
  'namedtuple',
  'dataclass',
  'forward',
];

function hasFieldAround(module: PyModule): boolean {
  if (module.alone.memo(hasField, module.alone)) return true;
  return WORDS.some(
    (word) => module.around.summaries({ word, beside: [] }, hasField)?.includes(true) ?? true,
  );
}

function hasField(alone: PyModule): boolean {
  if (alone.mentions(PACKED) || alone.mentions(FIELD)) return true;
  if (alone.words('namedtuple').some((node) => /\bdata\b/.test(node.closest('call')?.text ?? '')))
    return true;
  return alone.mentions(/\bself\.data[ \t]*(?::|=(?!=))/) && alone.words('data').some(isOfOutput);
}

/** `self.data = …` of a class that a forward may hand out: no dataset, and no network itself. */
function isOfOutput(node: PyNode): boolean {
  const target = node.parent;
  if (target?.text !== 'self.data' || target.parent?.left !== target) return false;
  const bases = target.closest('class_definition')?.superclasses?.text ?? '';
  return !/\b(?:Dataset|Module)\b/.test(bases);
}
