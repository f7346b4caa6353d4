import type { Answer } from '../../semantic/answer.js';

/** `scalar-tensor`: a 0-dim tensor. `tensor`: a tensor of any shape. `number`: a Python number. Each is proven, or it is `unknown`. */
export type TensorKind = 'scalar-tensor' | 'tensor' | 'number' | 'unknown';

export interface TensorFact {
  readonly kind: TensorKind;
  /** Whether its values are floating point: `.mean()` of integers raises. */
  readonly floating: Answer;
  /** A tensor that is 0-dim unless a value that nobody knows gives it a shape. */
  readonly open?: true;
}

export const UNKNOWN: TensorFact = { kind: 'unknown', floating: 'unknown' };
export const INTEGER: TensorFact = { kind: 'number', floating: 'no' };
export const NUMBER: TensorFact = { kind: 'number', floating: 'unknown' };
export const TENSOR: TensorFact = { kind: 'tensor', floating: 'unknown' };

export function isTensor({ kind }: TensorFact): boolean {
  return kind === 'tensor' || kind === 'scalar-tensor';
}

/** Whether it is a 0-dim tensor. */
export function scalarity(fact: TensorFact): Answer {
  if (fact.kind === 'scalar-tensor') return 'yes';
  return fact.kind === 'unknown' || fact.open === true ? 'unknown' : 'no';
}

/** What holds whichever of them is the value. */
export function either(facts: readonly TensorFact[]): TensorFact {
  const [first, ...rest] = facts;
  if (first === undefined) return UNKNOWN;
  return rest.reduce((a, b) => {
    const kind = a.kind === b.kind ? a.kind : isTensor(a) && isTensor(b) ? 'tensor' : 'unknown';
    const floating = a.floating === b.floating ? a.floating : 'unknown';
    return kind === 'tensor' && scalarity(a) !== 'no' && scalarity(b) !== 'no'
      ? { kind, floating, open: true }
      : { kind, floating };
  }, first);
}

/** The result of `+ - * / // % **` and of elementwise functions of two operands. */
export function arithmetic(a: TensorFact, b: TensorFact, operator = '+'): TensorFact {
  const floating = operator === '/' ? 'yes' : widened(a, b);
  if (a.kind === 'number' && b.kind === 'number') return { kind: 'number', floating };
  if (!isTensor(a) && !isTensor(b)) return { kind: 'unknown', floating };
  const flat = [a, b].every(({ kind }) => kind === 'scalar-tensor' || kind === 'number');
  if (operator === '@') return { kind: 'tensor', floating };
  if (flat) return { kind: 'scalar-tensor', floating };
  const open = [a, b].every((fact) => fact.kind === 'number' || scalarity(fact) !== 'no');
  return open ? { kind: 'tensor', floating, open } : { kind: 'tensor', floating };
}

function widened(a: TensorFact, b: TensorFact): Answer {
  if (a.floating === 'yes' || b.floating === 'yes') return 'yes';
  return a.floating === 'no' && b.floating === 'no' ? 'no' : 'unknown';
}
