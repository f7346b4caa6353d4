import type { Answer } from '../../semantic/answer.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { importsPackage, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, hasSplat, keywordArgument, methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import {
  FLOAT_DTYPES,
  INTEGER_DTYPES,
  LOSS_FUNCTIONS,
  LOSS_MODULES,
  PARAMETER,
  TENSOR_MODULES,
  TENSOR_NAMESPACES,
} from '../catalog.js';
import {
  arithmetic,
  INTEGER,
  isTensor,
  NUMBER,
  scalarity,
  TENSOR,
  type TensorFact,
  type TensorKind,
  UNKNOWN,
} from './tensor-fact.js';
import * as known from './tensor-methods.js';

type FactOf = (node: PyNode) => TensorFact;

/** Builtins that give a Python number. */
const NUMBER_BUILTINS: ReadonlyMap<string, TensorFact> = new Map([
  ['float', { kind: 'number', floating: 'yes' } as const],
  ['int', INTEGER],
  ['len', INTEGER],
  ['bool', INTEGER],
  ['round', NUMBER],
]);

/** Methods that give a Python number on whatever has them. */
const NUMBER_METHODS: ReadonlySet<string> = new Set(['dim', 'item', 'nelement', 'ndimension', 'numel']);

/** A call of a builtin, of a torch function or of a method; undefined when it is none that is known. */
export function callFact(module: PyModule, call: PyNode, factOf: FactOf): TensorFact | undefined {
  const callee = call.field('function');
  if (callee === undefined || call.field('arguments')?.type !== 'argument_list') return undefined;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return torchFact(module, path, call, factOf);
  if (callee.type === 'identifier' && module.resolve(callee) === undefined) {
    if (callee.text === 'abs') return oneArgument(call, factOf);
    return NUMBER_BUILTINS.get(callee.text);
  }
  const name = methodName(call);
  const receiver = receiverOf(call);
  return name === undefined || receiver === undefined
    ? undefined
    : methodFact(module, name, receiver, call, factOf);
}

/** What calling an instance made by this call gives, e.g. `nn.MSELoss()`. */
export function instanceFact(module: PyModule, made: PyNode): TensorFact | undefined {
  const callee = made.field('function');
  const path = callee && qualifiedName(module, callee);
  if (path === undefined) return undefined;
  if (LOSS_MODULES.has(path)) {
    const changed = reductionsSet(module);
    if (changed.length === 0) return lossFact(module, made, 1);
    const vector = changed.some(({ text }) => /^["']none["']$/.test(text));
    return vector ? { kind: 'tensor', floating: 'yes' } : { kind: 'tensor', floating: 'yes', open: true };
  }
  return TENSOR_MODULES.has(path) ? TENSOR : undefined;
}

/** The values of `criterion.reduction = …` in the file; which criterion that is, is not asked. */
function reductionsSet(module: PyModule): readonly PyNode[] {
  return module.at('.reduction').flatMap(({ parent }) => {
    const assignment = parent?.parent;
    const set = assignment?.type === 'assignment' && assignment.field('left') === parent;
    return set && parent?.field('object')?.text !== 'self' ? (assignment.field('right') ?? []) : [];
  });
}

function torchFact(module: PyModule, path: string, call: PyNode, factOf: FactOf): TensorFact | undefined {
  if (path.startsWith('math.')) return NUMBER;
  const plain = LOSS_FUNCTIONS.get(path);
  if (plain !== undefined) return lossFact(module, call, plain);
  if (path === PARAMETER)
    return {
      kind: oneArgument(call, factOf).kind === 'scalar-tensor' ? 'scalar-tensor' : 'tensor',
      floating: 'yes',
    };
  const space = TENSOR_NAMESPACES.find((prefix) => path.startsWith(prefix));
  const name = space === undefined ? '' : path.slice(space.length);
  const [first, ...rest] = positional(call);
  if (hasSplat(call)) return isTensorFunction(name) ? TENSOR : undefined;
  if (known.FACTORIES.has(name))
    return withDtype(module, call, { kind: factoryKind(positional(call)), floating: 'yes' });
  if (known.FROM_DATA.has(name) && first !== undefined) {
    const data = factOf(first);
    const floating = first.type === 'list' ? listFloating(first) : data.floating;
    const kind = data.kind === 'number' || data.kind === 'scalar-tensor' ? 'scalar-tensor' : 'tensor';
    return withDtype(module, call, { kind, floating });
  }
  if (name === 'full' && first !== undefined) return { kind: factoryKind([first]), floating: 'unknown' };
  if (known.OTHER_TENSORS.has(name)) return TENSOR;
  if (first === undefined || !isTensorFunction(name)) return undefined;
  return operationFact(module, name, factOf(first), rest, call, factOf, TENSOR);
}

function listFloating({ text }: PyNode): Answer {
  if (/\d\.|\.\d|\de-?\d/.test(text)) return 'yes';
  return /\d/.test(text) && /^[\s\d,[\]_-]+$/.test(text) ? 'no' : 'unknown';
}

function methodFact(
  module: PyModule,
  name: string,
  receiver: PyNode,
  call: PyNode,
  factOf: FactOf,
): TensorFact | undefined {
  const args = positional(call);
  if (NUMBER_METHODS.has(name) && args.length === 0) return NUMBER;
  if (name === 'size' && args.length === 1) return INTEGER;
  if (hasSplat(call)) return undefined;
  if (known.FACTORY_METHODS.has(name))
    return withDtype(module, call, { kind: factoryKind(args), floating: 'unknown' });
  if (name === 'new_tensor') return TENSOR;
  const self = factOf(receiver);
  if (isTensor(self)) return operationFact(module, name, self, args, call, factOf, undefined);
  if (self.kind === 'number' || !importsPackage(module, 'torch') || !args.every(isLiteral)) return undefined;
  const proven = known.ONLY_TENSORS.has(name) || (isReduction(name) && isMoved(receiver));
  return proven
    ? operationFact(module, name, { kind: 'tensor', floating: self.floating }, args, call, factOf, undefined)
    : undefined;
}

/** `name(first, ...rest)`, where `first` is a tensor or can only be one. */
function operationFact(
  module: PyModule,
  name: string,
  first: TensorFact,
  rest: readonly PyNode[],
  call: PyNode,
  factOf: FactOf,
  otherwise: TensorFact | undefined,
): TensorFact | undefined {
  if (isReduction(name)) return reductionFact(name, first, rest, call);
  const same = sameShape(first);
  if (known.FLOAT_ELEMENTWISE.has(name) || known.TO_FLOAT.has(name)) return { ...same, floating: 'yes' };
  if (known.SAME_ELEMENTWISE.has(name)) return bounded(same, rest, call, factOf);
  if (known.TO_INTEGER.has(name)) return { ...same, floating: 'no' };
  if (name === 'to' || name === 'type') return withDtype(module, call, same);
  if (name === 'type_as') return { ...same, floating: 'unknown' };
  if (name === 'squeeze') return same;
  if (known.BROADCASTING.has(name)) {
    const [other] = rest;
    if (other === undefined) return undefined;
    const joined = arithmetic(same, factOf(other), /div/.test(name) ? '/' : '+');
    return keywordArgument(call, 'alpha') === undefined ? joined : { ...joined, floating: 'unknown' };
  }
  if (known.COMPARISONS.has(name)) return { kind: 'tensor', floating: 'no' };
  if (known.FLOAT_SHAPED.has(name)) return { kind: 'tensor', floating: 'yes' };
  if (known.SAME_SHAPED.has(name)) return { kind: 'tensor', floating: first.floating };
  return otherwise;
}

function reductionFact(
  name: string,
  of: TensorFact,
  rest: readonly PyNode[],
  call: PyNode,
): TensorFact | undefined {
  const floating = known.FLOAT_REDUCTIONS.has(name)
    ? 'yes'
    : known.INTEGER_REDUCTIONS.has(name)
      ? 'no'
      : keywordArgument(call, 'dtype') === undefined
        ? of.floating
        : 'unknown';
  const order = /norm$/.test(name) && rest.length === 1 && rest.every(isLiteral);
  const whole =
    (rest.length === 0 || order) && keywordNames(call).every((key) => known.DIMENSIONLESS.has(key));
  if (whole) return { kind: 'scalar-tensor', floating };
  return known.PAIRED_REDUCTIONS.has(name) ? undefined : { kind: 'tensor', floating };
}

function lossFact(module: PyModule, call: PyNode, plain: number): TensorFact {
  // The first argument of `nn.HuberLoss` is its reduction.
  const written =
    keywordArgument(call, 'reduction')?.field('value') ??
    positional(call).find(({ type }) => type === 'string');
  const reduction = written && constantBehind(module, written);
  const reduces = reduction === undefined || /^["'](?:mean|sum|batchmean)["']$/.test(reduction.text);
  const scalar =
    reduces &&
    keywordArgument(call, 'reduce') === undefined &&
    !hasSplat(call) &&
    positional(call).length <= plain;
  if (scalar) return { kind: 'scalar-tensor', floating: 'yes' };
  const none = reduction?.type === 'string' || positional(call).length > plain;
  return none ? { kind: 'tensor', floating: 'yes' } : { kind: 'tensor', floating: 'yes', open: true };
}

/** What a variable was given, where it can only be one thing. */
function constantBehind(module: PyModule, node: PyNode): PyNode {
  const [only, ...others] = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : [];
  return only?.kind === 'value' && others.length === 0 ? only.value : node;
}

/** `()` and `[]` are the shape of one number. */
function factoryKind(shape: readonly PyNode[]): TensorKind {
  const [only] = shape;
  const empty =
    shape.length === 1 && (only?.type === 'tuple' || only?.type === 'list') && only.named.length === 0;
  return empty ? 'scalar-tensor' : 'tensor';
}

/** A tensor with the operand's shape; an operand that is unknown can only have been a tensor. */
function sameShape(operand: TensorFact): TensorFact {
  if (operand.kind === 'scalar-tensor') return operand;
  const { floating } = operand;
  return scalarity(operand) === 'no'
    ? { kind: 'tensor', floating }
    : { kind: 'tensor', floating, open: true };
}

/** A bound of `clamp` may be a tensor, which broadcasts. */
function bounded(fact: TensorFact, rest: readonly PyNode[], call: PyNode, factOf: FactOf): TensorFact {
  if (fact.kind !== 'scalar-tensor' || !/^cl(?:amp|ip)/.test(methodName(call) ?? '')) return fact;
  const bounds = argumentsOf(call).flatMap((node) =>
    node.type === 'keyword_argument' ? (node.field('value') ?? []) : rest.includes(node) ? node : [],
  );
  return bounds.reduce((clamped, bound) => arithmetic(clamped, factOf(bound)), fact);
}

function withDtype(module: PyModule, call: PyNode, fact: TensorFact): TensorFact {
  const written = argumentsOf(call).map((node) =>
    node.type === 'keyword_argument' ? node.field('value') : node,
  );
  for (const node of written) {
    const path = node && qualifiedName(module, node);
    if (path !== undefined && FLOAT_DTYPES.has(path)) return { ...fact, floating: 'yes' };
    if (path !== undefined && INTEGER_DTYPES.has(path)) return { ...fact, floating: 'no' };
    if (node?.text.includes('dtype')) return { ...fact, floating: 'unknown' };
  }
  return keywordArgument(call, 'dtype') === undefined ? fact : { ...fact, floating: 'unknown' };
}

function isTensorFunction(name: string): boolean {
  return isReduction(name) || TENSOR_FUNCTIONS.some((names) => names.has(name));
}

const TENSOR_FUNCTIONS = [
  known.FLOAT_ELEMENTWISE,
  known.SAME_ELEMENTWISE,
  known.BROADCASTING,
  known.COMPARISONS,
  known.FLOAT_SHAPED,
  known.SAME_SHAPED,
  new Set(['squeeze']),
];

function isReduction(name: string): boolean {
  return (
    known.FLOAT_REDUCTIONS.has(name) || known.SAME_REDUCTIONS.has(name) || known.INTEGER_REDUCTIONS.has(name)
  );
}

function isMoved(receiver: PyNode): boolean {
  return receiver.type === 'call' && known.MODULE_TOO.has(methodName(receiver) ?? '');
}

function oneArgument(call: PyNode, factOf: FactOf): TensorFact {
  const [only] = positional(call);
  return only === undefined ? UNKNOWN : factOf(only);
}

function positional(call: PyNode): readonly PyNode[] {
  return argumentsOf(call).filter((node) => node.type !== 'keyword_argument');
}

function keywordNames(call: PyNode): readonly string[] {
  return argumentsOf(call).flatMap((node) =>
    node.type === 'keyword_argument' ? (node.field('name')?.text ?? []) : [],
  );
}

function isLiteral(node: PyNode): boolean {
  return /^-?[\d.]+(?:e-?\d+)?$|^["']/.test(node.text);
}
