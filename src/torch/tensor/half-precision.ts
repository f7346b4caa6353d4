import { type Given, givenIn, siblingOf } from '../../semantic/given.js';
import { qualifiedName } from '../../semantic/imports.js';
import { writtenBehind } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import { BITS_AND_BYTES_CONFIG, HALF } from '../catalog.js';
import { argumentsCall } from '../huggingface/huggingface.js';
import { isPipeline, modelLoad } from '../huggingface/pretrained.js';

/** A place that asks for float16: a type that a model is loaded or computes in, or the switch of a trainer. */
export interface HalfPlace {
  readonly given: Given;
  /** The node that says float16: the value, or what the variable in its place is assigned; for a switch, its `True`. */
  readonly node: PyNode;
  readonly isSwitch: boolean;
  /** `bf16=False` beside the switch. */
  readonly other: PyNode | undefined;
}

/** Every place of the file that asks transformers for float16, as the imports prove. */
export function halfPlaces(module: PyModule): readonly HalfPlace[] {
  const loaded = ['torch_dtype', 'dtype'].flatMap((name) =>
    ofType(module, name, (call) => modelLoad(module, call) !== undefined || isPipeline(module, call)),
  );
  const computed = ofType(module, 'bnb_4bit_compute_dtype', (call) => isQuantizer(module, call));
  const switched = givenIn(module, 'fp16').flatMap((given): readonly HalfPlace[] => {
    const other = siblingOf(given, 'bf16')?.value;
    if (given.value.type !== 'true' || !isFor(given, (call) => argumentsCall(module, call) !== undefined))
      return [];
    if (other !== undefined && other.type !== 'false') return [];
    return [{ given, node: given.value, isSwitch: true, other }];
  });
  return [...loaded, ...computed, ...switched].sort((a, b) => a.given.entry.start - b.given.entry.start);
}

function ofType(module: PyModule, name: string, takes: (call: PyNode) => boolean): readonly HalfPlace[] {
  return givenIn(module, name).flatMap((given) => {
    const node = isFor(given, takes) ? halfBehind(module, given.value) : undefined;
    return node === undefined ? [] : [{ given, node, isSwitch: false, other: undefined }];
  });
}

function isFor(given: Given, takes: (call: PyNode) => boolean): boolean {
  return given.calls.length > 0 && given.calls.every(takes);
}

function isQuantizer(module: PyModule, call: PyNode): boolean {
  const callee = call.field('function');
  return callee !== undefined && qualifiedName(module, callee) === BITS_AND_BYTES_CONFIG;
}

/** The node that says float16, here or in the only assignment of the variable that stands here. */
function halfBehind(module: PyModule, value: PyNode): PyNode | undefined {
  const { node } = writtenBehind(module, value);
  return isHalf(module, node) ? node : undefined;
}

function isHalf(module: PyModule, node: PyNode): boolean {
  if (plainString(node) === 'float16') return true;
  return (
    (node.type === 'attribute' || node.type === 'identifier') && HALF.has(qualifiedName(module, node) ?? '')
  );
}

/** What else of the file is made for float16: it would no longer match, or scales a loss that needs no scaling. */
export function strayHalf(module: PyModule, places: readonly HalfPlace[]): PyNode | undefined {
  const isTaken = (node: PyNode): boolean => places.some((place) => place.node.contains(node));
  const named = ['float16', 'half', 'GradScaler', 'fp16', 'HalfTensor'].flatMap((word) =>
    module.at(word).filter(({ text }) => text === word),
  );
  const spoken = [...module.text.matchAll(/(["'])(?:torch\.)?(?:float16|fp16|half)\1/g)].flatMap(
    ({ index }) => {
      const node = module.root.descendantAt(index + 1).closest('string');
      return node === undefined || node.parent?.type === 'expression_statement' ? [] : [node];
    },
  );
  const asked = places.map(({ given }) => given.name);
  return [...named, ...spoken].find((node) => !isTaken(node) && !asked.includes(node) && !isIdle(node));
}

/** A file name's variant, an import, a switch that is off. */
function isIdle(node: PyNode): boolean {
  const { parent } = node;
  if (node.closest('import_statement', 'import_from_statement') !== undefined)
    return node.text !== 'GradScaler';
  if (parent?.type !== 'keyword_argument' && parent?.type !== 'pair') return false;
  const name = parent.field('name') ?? parent.field('key');
  return name === node
    ? parent.field('value')?.type === 'false'
    : name?.text === 'variant' || name?.text === 'revision';
}
