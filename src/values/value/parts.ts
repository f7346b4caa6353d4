import { isPlainMethod, ofTensor } from '../../library/library.js';
import { NUMPY } from '../../library/names.js';
import { type Definition, definitionOf, reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { givenTo, methodName, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsGiven } from './names.js';
import { kindOf } from './tensor.js';
import type { Given } from './trace-kinds.js';

/** The target takes the indices of `values, indices = x.topk(k)`. */
export function givesIndices(target: PyNode, value: PyNode): boolean {
  const name = value.type === 'call' ? methodName(value) : undefined;
  return (
    name !== undefined && ofTensor(name)?.paired === true && (target.parent?.named.indexOf(target) ?? 0) > 0
  );
}

const PLAIN_TYPES =
  /^(?:int|float|str|bool|bytes|(?:Optional\[)?(?:int|float|str|bool)\]?|(?:\w+\.)?(?:DataLoader|Path|device|Namespace))\b/;

/** Its annotation or default says that it is no tensor. */
export function isPlainParameter(parameter: PyNode): boolean {
  const holder = parameter.parent;
  if (holder === undefined || !/default|typed/.test(holder.type)) return false;
  const type = holder.field('type')?.text;
  if (type !== undefined && PLAIN_TYPES.test(type)) return true;
  return ['integer', 'float', 'string', 'true', 'false'].includes(holder.value?.type ?? '');
}

/** `use.method(value)`, `use[key] = value`, `use.attribute = value`, and deeper: the values that end up in the object. */
export function valuesPutInto(use: PyNode): readonly PyNode[] {
  let at: PyNode = use;
  while (at.parent !== undefined) {
    const { parent } = at;
    if (
      (parent.type === 'attribute' && parent.object === at) ||
      (parent.type === 'subscript' && parent.value === at)
    ) {
      at = parent;
    } else if (parent.type === 'call' && parent.function === at && at.type === 'attribute') {
      const name = at.attribute?.text ?? '';
      if (isPlainMethod(name)) return [];
      // A method whose result is used computes it from what it is given; one that is called for its effect keeps it.
      const effect = keepsGiven(name) || parent.parent?.type === 'expression_statement';
      return effect ? givenTo(parent) : [];
    } else if (/^(?:augmented_)?assignment$/.test(parent.type) && parent.left === at && at !== use) {
      const value = parent.right;
      return value === undefined ? [] : [value];
    } else return [];
  }
  return [];
}

/** `losses = np.array(losses)`: what is put into the array, and not what had the name before; undefined for anything else. */
export function putIntoArrays(
  module: PyModule,
  name: PyNode,
  definitions: readonly Definition[],
): readonly PyNode[] | undefined {
  const areArrays = definitions.every((each) => {
    const value = each.kind === 'value' ? unparenthesized(each.value) : undefined;
    const callee = value?.type === 'call' ? value.function : undefined;
    return callee !== undefined && qualifiedName(module, callee)?.startsWith(NUMPY) === true;
  });
  return areArrays && definitions.length > 0 ? putIntoMade(module, name, definitions) : undefined;
}

/** What the function that a value is looked at in is known to be given. */
interface Known {
  readonly isPlain: (value: PyNode) => boolean;
  readonly parameters: Given;
}

/** A number or an array of numpy, made from nothing but what is plain. */
export function isArray(module: PyModule, node: PyNode | undefined, known: Known, depth = 0): boolean {
  const value = node && unparenthesized(node);
  if (value === undefined || depth > MAX_DEPTH) return false;
  if (value.type === 'identifier') {
    const made = reachingDefinitions(module, value) ?? [];
    const isMade = (each: Definition): boolean =>
      each.kind === 'parameter'
        ? typeof known.parameters !== 'string' && known.parameters.get(value.text) === 'plain'
        : each.kind === 'value' && isArray(module, each.value, known, depth + 1);
    return made.length > 0 && made.every(isMade) && putIntoMade(module, value, made).every(known.isPlain);
  }
  const callee = value.type === 'call' ? value.function : undefined;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path?.startsWith(NUMPY)) return givenTo(value).every(known.isPlain);
  return (
    path === undefined && callee.type === 'attribute' && isArray(module, callee.object, known, depth + 1)
  );
}

const MAX_DEPTH = 8;

/** What is put into an object that these definitions of the name made, and not into what had the name before. */
function putIntoMade(module: PyModule, name: PyNode, made: readonly Definition[]): readonly PyNode[] {
  const scope = module.resolve(name);
  const nodes = new Set(made.map(({ node }) => node));
  const uses = scope === undefined ? [] : module.occurrences(scope, name.text);
  return uses
    .filter((use) => {
      const found = reachingDefinitions(module, use) ?? [];
      return found.length === 0 || found.some(({ node }) => nodes.has(node));
    })
    .flatMap(valuesPutInto);
}

/** Those that may hold something else than numbers and tensors: numpy makes numbers of a tensor, or raises where it has a graph. */
export function objectsAmong(module: PyModule, given: readonly PyNode[]): readonly PyNode[] {
  return given.filter((each) => mayHoldObjects(module, unparenthesized(each)));
}

function mayHoldObjects(module: PyModule, value: PyNode, depth = 0): boolean {
  const within = (each: PyNode | undefined): boolean =>
    each === undefined || mayHoldObjects(module, unparenthesized(each), depth + 1);
  if (depth > MAX_DEPTH) return true;
  if (/^(?:list|tuple)$/.test(value.type)) return value.named.some(within);
  if (/^(?:list_comprehension|generator_expression)$/.test(value.type)) return within(value.body);
  if (/^number$|tensor$/.test(kindOf(module, value))) return false;
  const scope = value.type === 'identifier' ? module.resolve(value) : undefined;
  if (scope === undefined) return true;
  const made = module.writes(scope, value.text).map(definitionOf);
  const puts = module.occurrences(scope, value.text).flatMap(valuesPutInto);
  return [...made.map((each) => (each.kind === 'value' ? each.value : undefined)), ...puts].some(within);
}
