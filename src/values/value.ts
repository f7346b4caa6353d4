import { ofTensor, row } from '../library/library.js';
import type { Answer } from '../semantic/answer.js';
import { type Definition, definitionsOf } from '../semantic/flow.js';
import { placeOf, shown } from '../semantic/gate.js';
import { calledPath } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { methodName, receiverOf, unparenthesized } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { isComputedHere } from './value/computed-value.js';
import { isCpu, isDevice } from './value/device-value.js';
import { mayCarryGradient } from './value/gradient.js';
import { type Held, heldTensor } from './value/held-tensor.js';
import { isProvenTensor } from './value/proven-tensor.js';
import { isPythonNumber } from './value/python-number.js';
import { type Shape, shapeOf } from './value/shape.js';
import { isFloating, isScalarTensor, kindOf, type TensorKind } from './value/tensor.js';

/**
 * What a fact rests on. `code`: an expression of the file. `library`: a row of the table. `stated`: an annotation. `name`:
 * nothing of these, so that only its name speaks for it, which finds candidates and proves nothing.
 */
type Source = 'code' | 'library' | 'stated' | 'name';

/** Where a value comes from, by its weakest part. */
interface Origin {
  readonly source: Source;
  /** From the value to what it was made by, in words: "`x` is `torch.zeros(3)` (`train.py:4`)". */
  readonly because: readonly string[];
}

/** What an expression is, where it stands. Each answer is computed when it is asked for, and kept by those who compute it. */
export class Value {
  constructor(
    private readonly module: PyModule,
    readonly node: PyNode,
  ) {}

  /** What the code and the library prove. */
  get kind(): TensorKind {
    return kindOf(this.module, this.node);
  }

  /** More than `kind`: what torch takes for a tensor, with anything else it would raise. */
  get isTensor(): boolean {
    return isProvenTensor(this.module, this.node);
  }

  /** A Python number and no tensor. */
  get isNumber(): Answer {
    return isPythonNumber(this.module, this.node);
  }

  /** A tensor without dimensions. */
  get isScalar(): Answer {
    return isScalarTensor(this.module, this.node);
  }

  get isFloating(): Answer {
    return isFloating(this.module, this.node);
  }

  get shape(): Shape | undefined {
    return shapeOf(this.module, this.node);
  }

  get isDevice(): Answer {
    return isDevice(this.module, this.node);
  }

  /** The device that it is, is the CPU. */
  get isCpu(): boolean {
    return isCpu(this.module, this.node);
  }

  /** How a module holds it. */
  get held(): Held {
    return heldTensor(this.module, this.node);
  }

  /** Whether a graph may hang on it: false only where the code shows that none does. `besides`: an attribute that is taken to have none. */
  mayHaveGraph(besides?: string): boolean {
    return mayCarryGradient(this.module, this.node, besides);
  }

  /** Made in this round of the loop, and nobody looks at the object for more than its numbers. */
  get isComputedHere(): boolean {
    return isComputedHere(this.module, this.node);
  }

  get origin(): Origin {
    return originOf(this.module, this.node, new Set());
  }
}

export function valueOf(module: PyModule, node: PyNode): Value {
  return new Value(module, node);
}

const WEAKEST_FIRST: readonly Source[] = ['name', 'stated', 'library', 'code'];

function weakest(origins: readonly Origin[]): Origin {
  const because = [...new Set(origins.flatMap((origin) => origin.because))];
  const source = WEAKEST_FIRST.find((each) => origins.some((origin) => origin.source === each));
  return { source: source ?? 'code', because };
}

function originOf(module: PyModule, expression: PyNode, seen: Set<PyNode>): Origin {
  const node = unparenthesized(expression);
  if (seen.has(node)) return { source: 'code', because: [] };
  seen.add(node);
  const of = (inner: PyNode): Origin => originOf(module, inner, seen);
  if (node.type === 'identifier')
    return weakest(
      (definitionsOf(module, node) ?? [undefined]).map((found) => given(module, node, found, of)),
    );
  if (node.type !== 'call') return node.type === 'attribute' ? BY_NAME : weakest(node.named.map(of));
  const path = calledPath(module, node);
  const receiver = receiverOf(node);
  if (path !== undefined) return { source: row(path) === undefined ? 'name' : 'library', because: [] };
  const isMethod = receiver !== undefined && ofTensor(methodName(node) ?? '') !== undefined;
  return isMethod ? weakest([of(receiver), { source: 'library', because: [] }]) : BY_NAME;
}

const BY_NAME: Origin = { source: 'name', because: [] };

function given(
  module: PyModule,
  read: PyNode,
  found: Definition | undefined,
  of: (value: PyNode) => Origin,
): Origin {
  if (found?.kind === 'parameter') {
    const type = found.node.parent?.field('type');
    if (type === undefined) return BY_NAME;
    return { source: 'stated', because: [`\`${read.text}\` is declared as \`${shown(type)}\``] };
  }
  if (found === undefined || !('value' in found)) return BY_NAME;
  const { source, because } = of(found.value);
  const step = `\`${read.text}\` is \`${shown(found.value)}\` (${placeOf(module, found.value)})`;
  return { source, because: [step, ...because] };
}
