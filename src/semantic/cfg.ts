import type { PyNode } from '../syntax/node.js';
import type { Block, Point, Suite } from './cfg-block.js';
import { Builder } from './cfg-builder.js';
import type { PyModule } from './module.js';

const NO_POINTS: readonly Point[] = [];

/** What the code of a module, class, function or lambda does after what. */
export class ControlFlow {
  readonly entry: Block;
  /** After the last statement, and after each `return`. */
  readonly exit: Block;
  readonly #points: ReadonlyMap<PyNode, readonly Point[]>;
  readonly #suites: ReadonlyMap<PyNode, readonly Suite[]>;

  constructor(
    readonly owner: PyNode,
    cells: readonly number[] = [],
  ) {
    const builder = new Builder();
    this.entry = builder.entry;
    this.exit = builder.exit;
    builder.build(owner, cells);
    this.#points = builder.points;
    this.#suites = builder.suites;
  }

  /** The element that holds a node. */
  elementOf(node: PyNode): PyNode | undefined {
    for (let at: PyNode | undefined = node; at !== undefined && at !== this.owner; at = at.parent)
      if (this.#points.has(at)) return at;
    return undefined;
  }

  /** Where an element is: at several places where it is in a `finally` clause. */
  pointsOf(element: PyNode | undefined): readonly Point[] {
    return (element && this.#points.get(element)) ?? NO_POINTS;
  }

  suitesOf(block: PyNode): readonly Suite[] {
    return this.#suites.get(block) ?? [];
  }
}

/** The graph of a module, class, function or lambda. */
export function controlFlowOf(module: PyModule, owner: PyNode): ControlFlow {
  return module.alone.memo(makeControlFlow, owner);
}

function makeControlFlow({ cells }: PyModule, owner: PyNode): ControlFlow {
  return new ControlFlow(owner, cells);
}
