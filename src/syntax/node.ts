import type { Span } from '../text/lines.js';

/** What both tree-sitter bindings offer of a cursor; reading a tree through one is several times faster than by nodes. */
export interface BackendCursor {
  readonly nodeType: string;
  readonly nodeIsNamed: boolean;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly currentFieldName: string | null | undefined;
  readonly currentNode: BackendNode;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
  delete?(): void;
}

export interface BackendNode {
  walk(): BackendCursor;
}

/** What a node is made from: a cursor that stands there, or the same in words. */
type Shape = Pick<BackendCursor, 'nodeType' | 'nodeIsNamed' | 'startIndex' | 'endIndex' | 'currentFieldName'>;

type Expand = (node: PyNode) => readonly PyNode[];

/** The text that nodes are part of, and where in it the text begins that their tree was made from. */
export interface Source {
  readonly text: string;
  readonly offset: number;
  /** What stands for the body of a function that starts there and was left out, if one was. */
  bodyAt?(start: number): Expand | undefined;
}

/** Of these, the grammar names no child but the clauses of `match`; they may have very many, which nobody need look at. */
const CROWDED: ReadonlySet<string> = new Set([
  'argument_list',
  'block',
  'dictionary',
  'expression_list',
  'list',
  'module',
  'parameters',
  'set',
  'tuple',
]);
const MANY = 16;

/** The position of a node whose siblings are not all known. */
const UNNUMBERED = -1;

/** A syntax node. One object per place in the tree, so compare with `===`. */
export class PyNode implements Span {
  readonly type: string;
  readonly isNamed: boolean;
  readonly start: number;
  readonly end: number;
  readonly #fieldName: string | null | undefined;
  #index: number;
  #children: readonly PyNode[] | undefined;
  #named: readonly PyNode[] | undefined;

  /** Its children are made by `expand` on first use, or adopted. */
  constructor(
    shape: Shape,
    readonly parent: PyNode | undefined,
    index: number,
    private readonly source: Source,
    private readonly expand?: Expand | undefined,
  ) {
    this.type = shape.nodeType;
    this.isNamed = shape.nodeIsNamed;
    this.start = shape.startIndex + source.offset;
    this.end = shape.endIndex + source.offset;
    this.#fieldName = parent === undefined ? undefined : shape.currentFieldName;
    this.#index = index;
  }

  /** Position among the parent's children. */
  get index(): number {
    if (this.#index === UNNUMBERED) {
      this.parent?.children.forEach((sibling, index) => {
        sibling.#index = index;
      });
    }
    return this.#index;
  }

  adopt(children: readonly PyNode[]): void {
    this.#children = children;
  }

  get text(): string {
    return this.source.text.slice(this.start, this.end);
  }

  /** All children, punctuation and comments included. */
  get children(): readonly PyNode[] {
    this.#children ??= this.expand?.(this) ?? [];
    return this.#children;
  }

  /** Named children without comments. */
  get named(): readonly PyNode[] {
    this.#named ??= this.children.filter((child) => child.isNamed && child.type !== 'comment');
    return this.#named;
  }

  /** The children among which the one at an offset is, if one is: at least those. */
  protected childrenNear(_offset: number): readonly PyNode[] {
    return this.children;
  }

  field(name: string): PyNode | undefined {
    const { children } = this;
    if (children.length > MANY && name !== 'alternative' && CROWDED.has(this.type)) return undefined;
    return children.find((child) => child.#fieldName === name);
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
      const below: PyNode | undefined = childAt(node.childrenNear(start), start, end);
      if (below === undefined) return node;
      node = below;
    }
  }
}

/** The tree of a module. What is in a statement is made when it is first looked into: the rest costs nothing. */
export function moduleTree(backend: BackendNode, text: string): PyNode {
  const source: Source = { text, offset: 0 };
  return withCursor(
    backend,
    (cursor) => new PyNode(cursor, undefined, 0, source, (root) => statementsOf(backend, root, source)),
  );
}

/** The statements of a tree; without a number where the module has others before them. */
export function statementsOf(
  backend: BackendNode,
  root: PyNode,
  source: Source,
  isNumbered = true,
): readonly PyNode[] {
  return withCursor(backend, (cursor) => childrenBelow(cursor, root, source, isNumbered));
}

/** The children of a function's body, from a tree of that function alone; undefined where the tree is not one of it. */
export function bodyOfFunction(
  backend: BackendNode,
  body: PyNode,
  text: string,
  offset: number,
): readonly PyNode[] | undefined {
  return withCursor(backend, (cursor) => {
    const found: BackendNode[] = [];
    for (let more = cursor.gotoFirstChild(); more; more = cursor.gotoNextSibling()) {
      if (cursor.nodeType === 'function_definition') found.push(cursor.currentNode);
      else if (cursor.nodeType !== 'comment') return undefined;
    }
    const [definition] = found;
    if (definition === undefined || found.length > 1) return undefined;
    return withCursor(definition, (inner) => {
      let more = inner.gotoFirstChild();
      while (more && inner.nodeType !== 'block') more = inner.gotoNextSibling();
      if (!more || inner.startIndex + offset !== body.start || inner.endIndex + offset !== body.end)
        return undefined;
      return childrenBelow(inner, body, { text, offset });
    });
  });
}

function withCursor<T>(node: BackendNode, use: (cursor: BackendCursor) => T): T {
  const cursor = node.walk();
  try {
    return use(cursor);
  } finally {
    cursor.delete?.();
  }
}

const DEFINITIONS: ReadonlySet<string> = new Set(['function_definition', 'class_definition']);

function bodyOf(backend: BackendNode, source: Source): Expand {
  return (block) => withCursor(backend, (cursor) => childrenBelow(cursor, block, source));
}

/** Everything below the node where the cursor stands, in one go; statements and bodies wait until they are asked for. */
function childrenBelow(
  cursor: BackendCursor,
  top: PyNode,
  source: Source,
  isNumbered = true,
): readonly PyNode[] {
  const found: PyNode[] = [];
  const open = [{ node: top, children: found }];
  for (let more = cursor.gotoFirstChild(); more; ) {
    const around = open.at(-1);
    if (around === undefined) break;
    const { type } = around.node;
    const waits =
      type === 'block' || type === 'module' || (cursor.nodeType === 'block' && DEFINITIONS.has(type));
    const node = new PyNode(
      cursor,
      around.node,
      !isNumbered && around.node === top ? UNNUMBERED : around.children.length,
      source,
      waits
        ? (source.bodyAt?.(cursor.startIndex + source.offset) ?? bodyOf(cursor.currentNode, source))
        : undefined,
    );
    around.children.push(node);
    if (!waits && cursor.gotoFirstChild()) {
      const children: PyNode[] = [];
      node.adopt(children);
      open.push({ node, children });
      continue;
    }
    more = cursor.gotoNextSibling();
    while (!more && open.length > 1) {
      open.pop();
      cursor.gotoParent();
      more = cursor.gotoNextSibling();
    }
  }
  return found;
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
