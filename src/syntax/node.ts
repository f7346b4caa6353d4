import type { Span } from '../text/lines.js';

/** What both tree-sitter bindings offer of a node; nothing else of theirs is used. */
export interface BackendNode {
  readonly id: number;
  readonly type: string;
  readonly isNamed: boolean;
  readonly hasError: boolean;
  readonly isMissing: boolean;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly children: readonly (BackendNode | null)[];
  childForFieldName(name: string): BackendNode | null;
}

/**
 * A syntax node. Children are made on first use and only by their parent, so a node is one object
 * (compare with `===`), knows its parent, and untouched parts of the tree cost nothing.
 */
export class PyNode implements Span {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly isNamed: boolean;
  #children: readonly PyNode[] | undefined;
  #named: readonly PyNode[] | undefined;

  constructor(
    readonly parent: PyNode | undefined,
    /** Position among the parent's children. */
    readonly index: number,
    private readonly backend: BackendNode,
    private readonly source: string,
  ) {
    this.type = backend.type;
    this.start = backend.startIndex;
    this.end = backend.endIndex;
    this.isNamed = backend.isNamed;
  }

  get text(): string {
    return this.source.slice(this.start, this.end);
  }

  get hasError(): boolean {
    return this.backend.hasError;
  }

  get isMissing(): boolean {
    return this.backend.isMissing;
  }

  /** All children, punctuation and comments included. */
  get children(): readonly PyNode[] {
    if (this.#children === undefined) {
      const made: PyNode[] = [];
      for (const child of this.backend.children) {
        if (child !== null) made.push(new PyNode(this, made.length, child, this.source));
      }
      this.#children = made;
    }
    return this.#children;
  }

  /** Named children without comments. */
  get named(): readonly PyNode[] {
    this.#named ??= this.children.filter((child) => child.isNamed && child.type !== 'comment');
    return this.#named;
  }

  field(name: string): PyNode | undefined {
    const found = this.backend.childForFieldName(name);
    if (found === null) return undefined;
    return this.children.find((child) => child.backend.id === found.id);
  }

  /** All direct children of one type. */
  childrenOfType(type: string): readonly PyNode[] {
    return this.children.filter((child) => child.type === type);
  }

  childOfType(type: string): PyNode | undefined {
    return this.children.find((child) => child.type === type);
  }

  get next(): PyNode | undefined {
    return this.parent?.children[this.index + 1];
  }

  get previous(): PyNode | undefined {
    return this.parent?.children[this.index - 1];
  }

  contains(other: Span): boolean {
    return this.start <= other.start && other.end <= this.end;
  }

  /** The parents, nearest first. */
  *ancestors(): Generator<PyNode> {
    for (let at = this.parent; at !== undefined; at = at.parent) yield at;
  }

  /** The nearest ancestor (or the node itself) of one of these types. */
  closest(...types: readonly string[]): PyNode | undefined {
    if (types.includes(this.type)) return this;
    for (const ancestor of this.ancestors()) if (types.includes(ancestor.type)) return ancestor;
    return undefined;
  }

  /** This node and everything below it in source order; `enter` says whether to look below a node. */
  *walk(enter: (node: PyNode) => boolean = () => true): Generator<PyNode> {
    const stack: PyNode[] = [this];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      yield node;
      if (node !== this && !enter(node)) continue;
      for (let index = node.children.length - 1; index >= 0; index--) {
        const child = node.children[index];
        if (child !== undefined) stack.push(child);
      }
    }
  }

  /** The smallest node that holds the span. */
  descendantAt(start: number, end = start): PyNode {
    let node: PyNode = this;
    for (;;) {
      const below: PyNode | undefined = childAt(node.children, start, end);
      if (below === undefined) return node;
      node = below;
    }
  }
}

function childAt(children: readonly PyNode[], start: number, end: number): PyNode | undefined {
  let low = 0;
  let high = children.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const child = children[middle];
    if (child === undefined) return undefined;
    if (child.end <= start && !(child.start === child.end && child.start === start)) low = middle + 1;
    else if (child.start > start) high = middle - 1;
    else return child.end >= end && child.end > child.start ? child : undefined;
  }
  return undefined;
}
