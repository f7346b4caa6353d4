import type { PyNode } from './node.js';

/** Nodes one by one. It is its own result, which a generator would make anew for each of them. */
abstract class Steps {
  done = false;

  constructor(public value: PyNode) {}

  protected abstract step(): PyNode | undefined;

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<PyNode> {
    const node = this.step();
    if (node === undefined) this.done = true;
    else this.value = node;
    return this;
  }
}

/** The parents of a node, nearest first. */
export class Upward extends Steps {
  protected override step(): PyNode | undefined {
    return this.value.parent;
  }
}

/** A node and everything below it in source order. */
export class Downward extends Steps {
  readonly #stack: PyNode[] = [];
  #last: PyNode | undefined;

  constructor(
    private readonly top: PyNode,
    private readonly enter: (node: PyNode) => boolean,
  ) {
    super(top);
    this.#stack.push(top);
  }

  protected override step(): PyNode | undefined {
    const last = this.#last;
    if (last !== undefined && (last === this.top || this.enter(last))) {
      const { children } = last;
      for (let index = children.length - 1; index >= 0; index--) this.#stack.push(children[index] as PyNode);
    }
    this.#last = this.#stack.pop();
    return this.#last;
  }
}
