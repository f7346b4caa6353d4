import type { Answer } from '../semantic/answer.js';
import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import { isComputedHere } from './value/computed-value.js';
import { isCpu, isDevice } from './value/device-value.js';
import { mayCarryGradient } from './value/gradient.js';
import { type Held, heldTensor } from './value/held-tensor.js';
import { isProvenTensor } from './value/proven-tensor.js';
import { isPythonNumber } from './value/python-number.js';
import { type Shape, shapeOf } from './value/shape.js';
import { isFloating, isScalarTensor, kindOf, type TensorKind } from './value/tensor.js';

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
}

export function valueOf(module: PyModule, node: PyNode): Value {
  return new Value(module, node);
}
