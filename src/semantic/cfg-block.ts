import type { PyNode } from '../syntax/node.js';
import type { Span } from '../text/lines.js';

/**
 * Elements that run one after another. An element is a simple statement (a `def` or `class` among them) or a part of a
 * header: a condition without `and`, `or` and `not`, what a `for` iterates over, its target, an item of a `with`, …
 */
export interface Block {
  readonly elements: PyNode[];
  readonly predecessors: Block[];
  readonly successors: Block[];
  /** The blocks whose elements may raise to this one: each from before any of its elements to after any of them. */
  readonly raisers: Block[];
  /** Where an error of an element goes, unless it leaves the function. */
  readonly landing: Block | undefined;
  /** The statements that the elements are among; for a block of a header, undefined. */
  readonly suite: Suite | undefined;
  /** The compound statement of the suite that ends where the block begins. */
  readonly after: PyNode | undefined;
  /** Where nothing in `span` is of interest, the block may as well come after `to` alone. */
  shortcut: { readonly span: Span; readonly to: Block } | undefined;
  /** Some way leads here from the entry. */
  isReachable: boolean;
}

/** The statements of one indentation, in one copy: those of a `finally` have two. */
export interface Suite {
  readonly node: PyNode;
  readonly entry: Block;
  /** By compound statement, what follows it. */
  readonly afters: Map<PyNode, Block>;
  /** After the last statement. */
  readonly end: Point;
}

/** A place between elements: before the element at `index`, or at the end of the block. */
export interface Point {
  readonly block: Block;
  readonly index: number;
}

/** Makes a way from one block to another. */
export function link(from: Block, to: Block): void {
  from.successors.push(to);
  to.predecessors.push(from);
}
