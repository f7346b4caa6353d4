import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { classAround } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, enclosingLoops, unparenthesized } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isZero } from '../../src/torch/record/running-total.js';
import { valueOf } from '../../src/values/index.js';

/**
 * Whether `self.total` or `totals["loss"]` is only ever set to numbers, and otherwise added to; an element of a tensor that
 * the function has made of zeros is as good.
 */
export function startsAsNumber(module: PyModule, store: PyNode, root: PyNode): boolean {
  if (store.type === 'attribute') return isAttributeNumber(module, store);
  if (root.type !== 'identifier' || store.value !== root) return false;
  return isEntryNumber(module, store, root) || isNewTensor(module, root);
}

/** `totals` of `totals = torch.zeros(2)`. */
function isNewTensor(module: PyModule, root: PyNode): boolean {
  const scope = module.resolve(root);
  const made = scope === undefined ? [] : module.writes(scope, root.text);
  return made.length > 0 && made.every((place) => isMadeOfZeros(module, place));
}

function isMadeOfZeros(module: PyModule, place: PyNode): boolean {
  const definition = definitionOf(place);
  return definition.kind === 'value' && !isNumber(module, definition.value) && isZero(module, place);
}

function isAttributeNumber(module: PyModule, attribute: PyNode): boolean {
  const around = classAround(attribute);
  const name = attribute.attribute?.text;
  if (around === undefined || name === undefined || attribute.object?.text !== around.self) return false;
  const writes = attributeUses(module, around.classNode, name).filter(({ kind }) => kind !== 'read');
  const sets = writes.filter(({ node }) => node.parent?.type !== 'augmented_assignment');
  return (
    sets.length > 0 &&
    sets.every(({ node, kind }) => {
      const given = kind === 'write' && node.parent?.left === node ? node.parent : undefined;
      return isNumber(module, given?.right);
    })
  );
}

/** Methods of a dictionary that set nothing. */
const READING = /^(?:copy|get|items|keys|values)$/;

/** By the dictionaries that the variable holds, and by what is assigned to the entry. */
function isEntryNumber(module: PyModule, store: PyNode, root: PyNode): boolean {
  const scope = module.resolve(root);
  const [key, ...others] = store.named.slice(1);
  if (scope === undefined || key?.type !== 'string' || others.length > 0) return false;
  const made = module.writes(scope, root.text).map(definitionOf);
  return (
    made.length > 0 &&
    made.every((each) => each.kind === 'value' && holdsNumber(module, each.value, key)) &&
    module.reads(scope, root.text).every((read) => {
      const entry = read.parent;
      if (entry?.type === 'attribute') return READING.test(entry.attribute?.text ?? '');
      const given = entry?.type === 'subscript' ? entry.parent : undefined;
      // Before the last round, whoever else gets the dictionary may set the entry.
      if (given === undefined) return read.start > (enclosingLoops(store).at(-1)?.end ?? root.end);
      if (given?.type !== 'assignment' || given.left !== entry) return true;
      const isOther = entry?.named[1]?.type === 'string' && entry.text !== store.text;
      return isOther || isNumber(module, given.right);
    })
  );
}

/** `{"loss": 0.0}`, `defaultdict(float)`. */
function holdsNumber(module: PyModule, dictionary: PyNode, key: PyNode): boolean {
  const node = unparenthesized(dictionary);
  if (node.type === 'dictionary')
    return isNumber(module, node.named.find((pair) => pair.key?.text === key.text)?.value);
  const isDefault = /^(?:collections\.)?defaultdict$/.test(node.function?.text ?? '');
  const [factory, ...others] = node.type === 'call' && isDefault ? argumentsOf(node) : [];
  if (factory === undefined || others.length > 0) return false;
  return factory.type === 'lambda'
    ? isNumber(module, factory.body)
    : /^(?:float|int)$/.test(factory.text) && module.resolve(factory) === undefined;
}

function isNumber(module: PyModule, value: PyNode | undefined): boolean {
  return value !== undefined && valueOf(module, value).isNumber === 'yes';
}
