import { FLOAT_DTYPES, INTEGER_DTYPES } from '../../library/dtypes.js';
import { builtin, isOfModulesToo, isOperation, ofTensor, type Row, row } from '../../library/library.js';
import { PARAMETER } from '../../library/names.js';
import type { Answer } from '../../semantic/answer.js';
import { calledPath, importsPackage, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isRedefined } from '../../semantic/project-names.js';
import {
  argumentsOf,
  argumentValue,
  assignedValue,
  hasSplat,
  keywordArgument,
  keywordNames,
  keywordValue,
  methodName,
  positionalArguments,
  receiverOf,
} from '../../semantic/statements.js';
import { isUnbound, onlyValue } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
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

type FactOf = (node: PyNode) => TensorFact;

/** A call of a builtin, of a torch function or of a method; undefined when it is none that is known. */
export function callFact(module: PyModule, call: PyNode, factOf: FactOf): TensorFact | undefined {
  const callee = call.function;
  if (callee === undefined || call.arguments?.type !== 'argument_list') return undefined;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return torchFact(module, path, call, factOf);
  if (isUnbound(module, callee)) {
    if (callee.text === 'abs') return oneArgument(call, factOf);
    return builtinFact(callee.text);
  }
  const name = methodName(call);
  const receiver = receiverOf(call);
  return name === undefined || receiver === undefined
    ? undefined
    : methodFact(module, name, receiver, call, factOf);
}

function builtinFact(name: string): TensorFact | undefined {
  if (builtin(name)?.gives !== 'number') return undefined;
  if (name === 'round') return NUMBER;
  return name === 'float' ? { kind: 'number', floating: 'yes' } : INTEGER;
}

/** What calling an instance made by this call gives, e.g. `nn.MSELoss()`. */
export function instanceFact(module: PyModule, made: PyNode): TensorFact | undefined {
  const path = calledPath(module, made);
  if (path === undefined) return undefined;
  const known = row(path);
  if (known?.is === 'loss') {
    const changed = reductionsSet(module);
    if (changed.length === 0) return lossFact(module, made, 1);
    const vector = changed.some(({ text }) => /^["']none["']$/.test(text));
    return vector ? { kind: 'tensor', floating: 'yes' } : { kind: 'tensor', floating: 'yes', open: true };
  }
  return known?.is === 'map' ? TENSOR : undefined;
}

/** The values of `criterion.reduction = …` in the file; which criterion that is, is not asked. */
function reductionsSet(module: PyModule): readonly PyNode[] {
  return module.at('.reduction').flatMap(({ parent }) => {
    const value = parent && assignedValue(parent);
    return value !== undefined && parent?.object?.text !== 'self' ? [value] : [];
  });
}

function torchFact(module: PyModule, path: string, call: PyNode, factOf: FactOf): TensorFact | undefined {
  if (path.startsWith('math.')) return NUMBER;
  const known = row(path);
  if (path === PARAMETER)
    return {
      kind: oneArgument(call, factOf).kind === 'scalar-tensor' ? 'scalar-tensor' : 'tensor',
      floating: 'yes',
    };
  if (known === undefined || known.is !== undefined) return undefined;
  if (known.loss !== undefined) return lossFact(module, call, known.loss);
  const [first, ...rest] = positionalArguments(call);
  if (hasSplat(call)) return isOperation(known) ? TENSOR : undefined;
  if (known.makes !== undefined) return madeFact(module, known, call, factOf);
  return first === undefined || !isOperation(known)
    ? undefined
    : operationFact(module, known, factOf(first), rest, call, factOf);
}

/** `torch.zeros(2, 3)`, `torch.tensor(data)`, `torch.ones_like(x)`. */
function madeFact(module: PyModule, known: Row, call: PyNode, factOf: FactOf): TensorFact {
  const given = positionalArguments(call);
  const [first] = given;
  if (known.makes === 'sizes') {
    const floating = known.dtype === 'float' ? 'yes' : 'unknown';
    return withDtype(module, call, {
      kind: factoryKind(hasFill(known) ? given.slice(0, 1) : given),
      floating,
    });
  }
  if (first === undefined || known.makes === 'numbers')
    return withDtype(module, call, { kind: 'tensor', floating: floatingOf(known, 'unknown') });
  const data = factOf(first);
  if (known.makes === 'like') return withDtype(module, call, sameShape(data));
  const floating = first.type === 'list' ? listFloating(first) : data.floating;
  const kind = data.kind === 'number' || data.kind === 'scalar-tensor' ? 'scalar-tensor' : 'tensor';
  return withDtype(module, call, { kind, floating });
}

/** `full` and `new_full` have their number after the sizes, which are one tuple. */
function hasFill({ path }: Row): boolean {
  return /full$/.test(path);
}

function floatingOf({ dtype }: Row, of: Answer): Answer {
  if (dtype === 'float') return 'yes';
  if (dtype === 'whole') return 'no';
  return dtype === 'same' ? of : 'unknown';
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
  const args = positionalArguments(call);
  const known = ofTensor(name);
  const self = factOf(receiver);
  // Whatever has a method of the project may be an object of it.
  if (known !== undefined && !isTensor(self) && isRedefined(module, name)) return undefined;
  if (name === 'size' && args.length === 1) return INTEGER;
  if (known?.gives === 'number' && !known.attribute && args.length === 0)
    return known.only || name === 'item' || isTensor(self) ? NUMBER : undefined;
  if (known === undefined || hasSplat(call)) return undefined;
  if (known.makes !== undefined) return madeFact(module, known, call, factOf);
  if (!isOperation(known)) return undefined;
  if (isTensor(self)) return operationFact(module, known, self, args, call, factOf);
  if (self.kind === 'number' || !importsPackage(module, 'torch') || !args.every(isLiteral)) return undefined;
  const proven = known.only || (known.shape === 'one' && isMoved(receiver));
  return proven
    ? operationFact(module, known, { kind: 'tensor', floating: self.floating }, args, call, factOf)
    : undefined;
}

/** `known(first, ...rest)`, where `first` is a tensor or can only be one. */
function operationFact(
  module: PyModule,
  known: Row,
  first: TensorFact,
  rest: readonly PyNode[],
  call: PyNode,
  factOf: FactOf,
): TensorFact | undefined {
  switch (known.shape) {
    case 'one':
      return reductionFact(known, first, rest, call);
    case 'same':
    case 'fewer': {
      const same = sameShape(first);
      if (known.dtype === 'argument')
        return /type_as$/.test(known.path) ? { ...same, floating: 'unknown' } : withDtype(module, call, same);
      return known.dtype === 'same'
        ? bounded(same, rest, call, factOf)
        : { ...same, floating: floatingOf(known, 'unknown') };
    }
    case 'broadcast': {
      const [other] = rest;
      if (other === undefined) return undefined;
      const joined = arithmetic(sameShape(first), factOf(other), known.dtype === 'float' ? '/' : '+');
      if (known.dtype === 'whole') return { ...joined, floating: 'no' };
      return keywordArgument(call, 'alpha') === undefined ? joined : { ...joined, floating: 'unknown' };
    }
    default:
      return { kind: 'tensor', floating: floatingOf(known, first.floating) };
  }
}

function reductionFact(
  known: Row,
  of: TensorFact,
  rest: readonly PyNode[],
  call: PyNode,
): TensorFact | undefined {
  const given = keywordArgument(call, 'dtype') === undefined || known.dtype !== 'same';
  const floating = given ? floatingOf(known, of.floating) : 'unknown';
  if (isWhole(known, rest, call)) return { kind: 'scalar-tensor', floating };
  return known.paired ? undefined : { kind: 'tensor', floating };
}

/** Keywords of a reduction that leave no dimension standing. */
const DIMENSIONLESS = /^(?:correction|dtype|ord|p|unbiased)$/;

/** A reduction of all elements; the first argument of a norm is its order. */
export function isWhole({ path }: Row, rest: readonly PyNode[], call: PyNode): boolean {
  const order = /norm$/.test(path) && rest.length === 1 && rest.every(isLiteral);
  return (rest.length === 0 || order) && keywordNames(call).every((key) => DIMENSIONLESS.test(key));
}

function lossFact(module: PyModule, call: PyNode, plain: number): TensorFact {
  // The first argument of `nn.HuberLoss` is its reduction.
  const written =
    keywordValue(call, 'reduction') ?? positionalArguments(call).find(({ type }) => type === 'string');
  const reduction = written && (onlyValue(module, written) ?? written);
  const reduces = reduction === undefined || /^["'](?:mean|sum|batchmean)["']$/.test(reduction.text);
  const scalar =
    reduces &&
    keywordArgument(call, 'reduce') === undefined &&
    !hasSplat(call) &&
    positionalArguments(call).length <= plain;
  if (scalar) return { kind: 'scalar-tensor', floating: 'yes' };
  const none = reduction?.type === 'string' || positionalArguments(call).length > plain;
  return none ? { kind: 'tensor', floating: 'yes' } : { kind: 'tensor', floating: 'yes', open: true };
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
    node.type === 'keyword_argument' ? (node.value ?? []) : rest.includes(node) ? node : [],
  );
  return bounds.reduce((clamped, bound) => arithmetic(clamped, factOf(bound)), fact);
}

function withDtype(module: PyModule, call: PyNode, fact: TensorFact): TensorFact {
  for (const node of argumentsOf(call).map(argumentValue)) {
    const path = qualifiedName(module, node);
    if (path !== undefined && FLOAT_DTYPES.has(path)) return { ...fact, floating: 'yes' };
    if (path !== undefined && INTEGER_DTYPES.has(path)) return { ...fact, floating: 'no' };
    if (node.text.includes('dtype')) return { ...fact, floating: 'unknown' };
  }
  return keywordArgument(call, 'dtype') === undefined ? fact : { ...fact, floating: 'unknown' };
}

function isMoved(receiver: PyNode): boolean {
  return receiver.type === 'call' && isOfModulesToo(methodName(receiver) ?? '');
}

function oneArgument(call: PyNode, factOf: FactOf): TensorFact {
  const [only] = positionalArguments(call);
  return only === undefined ? UNKNOWN : factOf(only);
}

function isLiteral(node: PyNode): boolean {
  return /^-?[\d.]+(?:e-?\d+)?$|^["']/.test(node.text);
}
