import { NUMPY } from '../../library/names.js';
import { definitionBehind } from '../../semantic/definitions.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { givenTo, unparenthesized } from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isMadeWithoutGraph } from './plain-buffer.js';
import { putIntoMade, valuesPutInto } from './put-into.js';
import { kindOf } from './tensor.js';
import type { Given, Premises, Trace } from './trace-kinds.js';

/** Arrays of numpy: what has the name of one, what they hold, and what is certainly one. */

/** `losses = np.array(losses)`: what is put into that, and not what had the name before; undefined where that is not known. */
export function putIntoValues(
  module: PyModule,
  name: PyNode,
  definitions: readonly Definition[],
): readonly PyNode[] | undefined {
  const areValues = definitions.length > 0 && definitions.every(({ kind }) => kind === 'value');
  return areValues ? putIntoMade(module, name, definitions) : undefined;
}

/** What is known of the values of a function. */
interface Known {
  readonly of: (value: PyNode) => Trace;
  /** What it is given. */
  readonly parameters: Given;
  readonly premises?: Premises | undefined;
}

/** What a value is made of shows, and nothing of that has a graph. */
export function isCertainlyPlain(module: PyModule, node: PyNode | undefined, known: Known): boolean {
  return isArray(module, node, known) || isMadeWithoutGraph(module, node);
}

/** A number or an array of numpy, made from nothing but what is plain; or what surely is a tensor. */
function isArray(module: PyModule, node: PyNode | undefined, known: Known, depth = 0): boolean {
  const value = node && unparenthesized(node);
  if (value === undefined || depth > MAX_DEPTH) return false;
  if (known.premises?.isTensor?.(module, value)) return true;
  const isPlain = (each: PyNode): boolean => known.of(each) === 'plain';
  if (value.type === 'identifier') {
    const made = reachingDefinitions(module, value) ?? [];
    const isMade = (each: Definition): boolean =>
      each.kind === 'parameter'
        ? typeof known.parameters !== 'string' && known.parameters.get(value.text) === 'plain'
        : each.kind === 'value' && isArray(module, each.value, known, depth + 1);
    return made.length > 0 && made.every(isMade) && putIntoMade(module, value, made).every(isPlain);
  }
  const callee = value.type === 'call' ? value.function : undefined;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path?.startsWith(NUMPY)) return givenTo(value).every(isPlain);
  return (
    path === undefined && callee.type === 'attribute' && isArray(module, callee.object, known, depth + 1)
  );
}

const MAX_DEPTH = 8;

/** Those that may hold something else than numbers and tensors: numpy makes numbers of a tensor, or raises where it has a graph. */
export function objectsAmong(module: PyModule, given: readonly PyNode[]): readonly PyNode[] {
  return given.filter((each) => mayHoldObjects(module, unparenthesized(each)));
}

/** `np.sum(scores)` adds the objects of the project's own classes as they say themselves. */
export function instancesAmong(module: PyModule, path: string, given: readonly PyNode[]): readonly PyNode[] {
  if (!path.startsWith(NUMPY)) return [];
  return given.flatMap((each) => {
    const value = unparenthesized(each);
    const scope = value.type === 'identifier' ? module.resolve(value) : undefined;
    const elements = scope
      ? module.occurrences(scope, value.text).flatMap((use) => valuesPutInto(module, use))
      : value.named;
    return elements.filter(({ type, function: callee }) => {
      return type === 'call' && callee && definitionBehind(module, callee)?.type === 'class_definition';
    });
  });
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
  const made = waysGiven(module, value);
  const puts = module.occurrences(scope, value.text).flatMap((use) => valuesPutInto(module, use));
  return [...made.map((each) => (each.kind === 'value' ? each.value : undefined)), ...puts].some(within);
}
