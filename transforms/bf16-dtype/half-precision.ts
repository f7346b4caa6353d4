import { BITS_AND_BYTES_CONFIG, HALF } from '../../src/library/names.js';
import { boundElsewhere } from '../../src/semantic/elsewhere.js';
import { type Given, givenAcross, siblingOf } from '../../src/semantic/given.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { writtenBehind } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';
import { argumentsCall } from '../../src/torch/huggingface/huggingface.js';
import { isPipeline, LOADERS, modelLoad } from '../../src/torch/huggingface/pretrained.js';

/** A place that asks for float16: a type that a model is loaded or computes in, or the switch of a trainer. */
export interface HalfPlace {
  readonly given: Given;
  /** The node that says float16: the value, or what the variable in its place is assigned; for a switch, its `True`. */
  readonly node: PyNode;
  readonly isSwitch: boolean;
  /** `bf16=False` beside the switch. */
  readonly other: PyNode | undefined;
}

type Takes = (module: PyModule, call: PyNode) => boolean;

/** Every place of the file that asks transformers for float16, as the imports prove, also where another file has the call. */
export function halfPlaces(module: PyModule): readonly HalfPlace[] {
  // A pipeline may go by any name.
  const mayBeAny = module.glimpse.stretchesWith('pipeline').length > 0;
  const mayLoad = (called: string | undefined): boolean =>
    mayBeAny || called === undefined || LOADERS.has(called);
  const loaded = ['torch_dtype', 'dtype'].flatMap((name) =>
    ofType(
      module,
      name,
      (there, call) => modelLoad(there, call) !== undefined || isPipeline(there, call),
      mayLoad,
    ),
  );
  const computed = ofType(module, 'bnb_4bit_compute_dtype', isQuantizer);
  const isOn = ({ value }: Given): boolean => value.type === 'true';
  const switched = givenAcross(module, 'fp16', isOn).flatMap((given): readonly HalfPlace[] => {
    const other = siblingOf(given, 'bf16')?.value;
    if (!isFor(module, given, isArguments)) return [];
    if (other !== undefined && other.type !== 'false') return [];
    return [{ given, node: given.value, isSwitch: true, other }];
  });
  return [...loaded, ...computed, ...switched].sort((a, b) => a.given.entry.start - b.given.entry.start);
}

/** A name, an attribute that says float16, or a string, which is not seen in code without strings. */
const MAY_BE_HALF =
  /^[\s\\]*(?:$|\w*"|[\w\u0080-\uffff]+(?:[\s\\]*\.[\s\\]*(?:float16|half)\b|(?![\w\u0080-\uffff.([])))/;

/** `mayTake`: going by the last word of what is called. */
function ofType(
  module: PyModule,
  name: string,
  takes: Takes,
  mayTake: (called: string | undefined) => boolean = () => true,
): readonly HalfPlace[] {
  const isHalfGiven = (given: Given): boolean =>
    (given.dict !== undefined || isFor(module, given, takes)) &&
    halfBehind(module, given.value) !== undefined;
  const may = (called: string | undefined, behind: string): boolean =>
    mayTake(called) && MAY_BE_HALF.test(behind);
  return givenAcross(module, name, isHalfGiven, may).flatMap((given) => {
    const node = isFor(module, given, takes) ? halfBehind(module, given.value) : undefined;
    return node === undefined ? [] : [{ given, node, isSwitch: false, other: undefined }];
  });
}

function isFor(module: PyModule, { calls, homes }: Given, takes: Takes): boolean {
  return calls.length > 0 && calls.every((call) => takes(homes.get(call) ?? module, call));
}

function isArguments(module: PyModule, call: PyNode): boolean {
  return argumentsCall(module, call) !== undefined;
}

function isQuantizer(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
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

/** A dict of another file that is spread into a call here and asks for float16, or could. */
export function halfSpread(module: PyModule): PyNode | undefined {
  return module.at('**').find(({ parent: splat }) => {
    const call = splat?.type === 'dictionary_splat' ? splat.parent?.parent : undefined;
    if (call?.type !== 'call' || !/dtype|fp16|float16/.test(spreadText(module, splat))) return false;
    return isArguments(module, call) || modelLoad(module, call) !== undefined || isQuantizer(module, call);
  });
}

function spreadText(module: PyModule, splat: PyNode | undefined): string {
  const [spread] = splat?.named ?? [];
  const path = spread && qualifiedName(module, spread);
  return (path === undefined ? undefined : boundElsewhere(module, path)?.node.text) ?? '';
}

/** A file name's variant, an import, a switch that is off. */
function isIdle(node: PyNode): boolean {
  const { parent } = node;
  if (node.closest('import_statement', 'import_from_statement') !== undefined)
    return node.text !== 'GradScaler';
  if (parent?.type !== 'keyword_argument' && parent?.type !== 'pair') return false;
  const name = parent.name ?? parent.key;
  return name === node
    ? parent.value?.type === 'false'
    : name?.text === 'variant' || name?.text === 'revision';
}
