import { FLOAT_DTYPES } from '../../src/library/dtypes.js';
import { isPlain, ofTensor, type Row, row } from '../../src/library/library.js';
import type { Accumulation } from '../../src/semantic/accumulation.js';
import type { Answer } from '../../src/semantic/answer.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { isWrittenElsewhere, reachingDefinitions } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { itemsOf } from '../../src/semantic/loop-items.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  enclosingLoops,
  hasSplat,
  methodName,
  ownNodes,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { within } from '../../src/syntax/within.js';
import { valueOf } from '../../src/values/index.js';
import { calledBy } from '../../src/values/value/called.js';

const MAX_DEPTH = 16;
/** A function within a function counts for more. */
const DEPTH_OF_A_CALL = 4;

/** A stretch of code that runs several times. */
interface Rounds {
  readonly module: PyModule;
  readonly region: PyNode;
}

/** Regions of other types, other types for new tensors, and casts of what other names hold. */
const SWITCHES = /autocast|set_default_|setattr|\.data\s*=(?!=)/;
const CASTS = /^[ \t]*[\w.]+\.(?:bfloat16|double|float|half|to|type)\(/m;

/**
 * Whether a total has the dtype that all its terms promote to: `total = total + x` always has, `total += x` keeps that of
 * the first term.
 */
export function isPromoted(module: PyModule, { additions, zeroed }: Accumulation): Answer {
  if (additions.every(({ statement }) => statement.named[0]?.type === 'assignment')) return 'yes';
  const casts = new Set(additions.map(({ value }) => castTo(module, value)));
  if (!casts.has(undefined)) return casts.size === 1 ? 'yes' : 'no';
  const [only, ...others] = additions;
  const loop = only && enclosingLoops(only.statement).findLast((each) => !each.contains(zeroed));
  if (only === undefined || others.length > 0 || loop === undefined || module.memo(switches, loop))
    return 'unknown';
  return isFixed({ module, region: loop }, only.value, 0) ? 'yes' : 'unknown';
}

function switches(module: PyModule, region: PyNode): boolean {
  return SWITCHES.test(module.codeOf(region));
}

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['double', 'float64'],
  ['float', 'float32'],
  ['half', 'float16'],
]);

/** The dtype that a value is cast to as the last thing that is done to it. */
function castTo(module: PyModule, value: PyNode): string | undefined {
  const node = unparenthesized(value);
  const method = node.type === 'call' ? (methodName(node) ?? '') : '';
  const isNamed = isCast(method, 'float') && argumentsOf(node).length === 0;
  const dtype = isNamed ? method : method === 'to' ? dtypeAmong(module, node)?.split('.').at(-1) : undefined;
  return dtype === undefined ? undefined : (SYNONYMS.get(dtype) ?? dtype);
}

/** `x.half()`, `x.long()`. */
function isCast(method: string, to: 'float' | 'whole'): boolean {
  const known = ofTensor(method);
  return known?.dtype === to && known.storage === 'perhaps';
}

function dtypeAmong(module: PyModule, call: PyNode): string | undefined {
  return argumentsOf(call)
    .map((node) => (node.type === 'keyword_argument' ? (node.value ?? node) : node))
    .map((node) => qualifiedName(module, node) ?? '')
    .find((path) => FLOAT_DTYPES.has(path));
}

const LITERALS = /^(?:integer|float|true|false|none|string|ellipsis|slice|unary_operator|not_operator)$/;

function isFixed(rounds: Rounds, expression: PyNode, depth: number): boolean {
  const node = unparenthesized(expression);
  if (!rounds.region.contains(node)) return true;
  if (depth > MAX_DEPTH) return false;
  const of = (inner: PyNode | undefined): boolean => inner !== undefined && isFixed(rounds, inner, depth + 1);
  if (valueOf(rounds.module, node).kind === 'number') return true;
  switch (node.type) {
    case 'identifier':
      return isVariableFixed(rounds, node, depth);
    case 'unary_operator':
      return of(node.argument);
    case 'binary_operator':
      return of(node.left) && of(node.right);
    case 'keyword_argument':
      return of(node.value);
    case 'attribute':
      return isAttributeFixed(rounds, node, depth);
    case 'subscript':
      return isItemFixed(rounds, node, depth);
    case 'call':
      return isCallFixed(rounds, node, depth);
    case 'tuple':
    case 'list':
      return node.named.every(of);
    default:
      return LITERALS.test(node.type);
  }
}

function isVariableFixed(rounds: Rounds, identifier: PyNode, depth: number): boolean {
  const { module, region } = rounds;
  const scope = module.resolve(identifier);
  if (scope === undefined) return false;
  const writes = module.writes(scope, identifier.text);
  if (isWrittenElsewhere(module, scope, identifier.text)) return false;
  if (within(writes, region).length === 0)
    return region.type !== 'function_definition' || writes.length === 1;
  const [only, ...others] = reachingDefinitions(module, identifier) ?? [];
  if (only === undefined || others.length > 0) return false;
  switch (only.kind) {
    case 'value':
      return isFixed(rounds, only.value, depth + 1);
    case 'part':
      return areItemsFixed(rounds, only.value, depth + 1);
    // Only of a function whose arguments have one dtype each.
    case 'parameter':
      return region.type === 'function_definition';
    case 'loop': {
      const items = itemsOf(module, only.node, only.iterable);
      return items !== undefined && areItemsFixed(rounds, items, depth + 1);
    }
    default:
      return false;
  }
}

/** `x.chunk(2)`: parts of one tensor. */
function isSplit(name: string): boolean {
  const known = ofTensor(name);
  return known?.gives === 'tensors' && known.storage === 'shared';
}

/** Whether all items of a sequence, in whatever round, have one dtype: those of one tensor. */
function areItemsFixed(rounds: Rounds, sequence: PyNode, depth: number): boolean {
  const { module } = rounds;
  const node = unparenthesized(sequence);
  if (depth > MAX_DEPTH) return false;
  if (node.type === 'identifier') {
    const [only, ...others] = reachingDefinitions(module, node) ?? [];
    if (only?.kind === 'value' && others.length === 0 && areItemsFixed(rounds, only.value, depth + 1))
      return true;
  }
  if (node.type === 'call' && isSplit(methodName(node) ?? '')) {
    const isFunction = qualifiedName(module, node.function ?? node) !== undefined;
    const whole = isFunction ? argumentsOf(node)[0] : receiverOf(node);
    return whole !== undefined && isFixed(rounds, whole, depth + 1);
  }
  return valueOf(module, node).isTensor && isFixed(rounds, node, depth + 1);
}

function isItemFixed(rounds: Rounds, node: PyNode, depth: number): boolean {
  const value = node.value;
  if (value === undefined) return false;
  // No list or dict has an item for a slice among several.
  const [first, ...more] = node.named.filter((each) => each !== value);
  const isOfTensor = [first, ...more].some((each) => /^(?:slice|ellipsis)$/.test(each?.type ?? ''));
  return isOfTensor ? isFixed(rounds, value, depth + 1) : areItemsFixed(rounds, value, depth + 1);
}

function isAttributeFixed(rounds: Rounds, node: PyNode, depth: number): boolean {
  const { module } = rounds;
  const name = node.attribute?.text ?? '';
  const object = node.object;
  const known = ofTensor(name);
  if ((known?.attribute && isPlain(known) && name !== 'dtype') || qualifiedName(module, node) !== undefined)
    return true;
  if (object === undefined || !isFixed(rounds, object, depth + 1)) return false;
  if (name === 'grad' || (known?.attribute && known.dtype === 'same')) return true;
  return !module.mentions(CASTS) && !module.at(`.${name}`).some((each) => isSetLater(each, name));
}

/** `x.name = …`, but for the constructor. */
function isSetLater(attribute: PyNode, name: string): boolean {
  const target = attribute.parent;
  const assignment = target?.parent;
  const isSet = /^(?:augmented_)?assignment$/.test(assignment?.type ?? '');
  if (attribute.text !== name || !isSet || assignment?.left !== target) return false;
  return assignment?.closest('function_definition')?.name?.text !== '__init__';
}

function isCallFixed(rounds: Rounds, call: PyNode, depth: number): boolean {
  const { module } = rounds;
  const callee = call.function;
  if (callee === undefined || hasSplat(call) || call.arguments?.type !== 'argument_list') return false;
  const given = argumentsOf(call);
  const areGiven = (): boolean => given.every((each) => isFixed(rounds, each, depth + 1));
  const path = qualifiedName(module, callee);
  if (path !== undefined && tellsDtype(row(path))) return areGiven();
  const name = methodName(call);
  const receiver = path === undefined ? receiverOf(call) : undefined;
  if (name !== undefined && receiver !== undefined) {
    if (castTo(module, call) !== undefined || isCast(name, 'whole')) return true;
    if (tellsDtype(ofTensor(name)) || name === 'to' || name === 'type_as')
      return isFixed(rounds, receiver, depth + 1) && areGiven();
  }
  const called = calledBy(module, call);
  if (called === undefined || !isFixed(rounds, callee, depth + 1) || !areGiven()) return false;
  const [run, ...others] = [...called.functions, ...called.makers];
  if (run === undefined || others.length > 0) return false;
  return called.makers.length === 1 || called.functions.some((each) => isResultFixed(each, depth));
}

/** The dtype of its result is told by those of its tensors. */
function tellsDtype(known: Row | undefined): boolean {
  return (
    known?.gives === 'tensor' && known.is === undefined && !known.attribute && known.dtype !== 'argument'
  );
}

/** Of a function with one `return`, whose arguments have one dtype each. */
function isResultFixed({ module, node }: Elsewhere, depth: number): boolean {
  const returns = ownNodes(node).filter(({ type }) => type === 'return_statement');
  const [value] = returns.length === 1 ? (returns[0]?.named ?? []) : [];
  const takesMany = (node.parameters?.named ?? []).some(({ type }) => type.endsWith('_splat_pattern'));
  if (value === undefined || takesMany || SWITCHES.test(module.codeOf(node))) return false;
  return isFixed({ module, region: node }, value, depth + DEPTH_OF_A_CALL);
}
