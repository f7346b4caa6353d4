import type { Span } from '../text/lines.js';
import { type BackendCursor, type BackendNode, fieldAt, type Kind, kindAt } from './backend.js';
import { type Accessors, type FieldName, giveAccessors, type NodeType } from './grammar.js';
import { inSection, pauseSection } from './section.js';
import { Downward, Upward } from './steps.js';

/** Where nodes come from. */
export interface Source {
  readonly text: string;
  /** Makes what is below a node that waits at a place of its tree. */
  below(node: PyNode, place: number): readonly PyNode[];
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

/** Nodes that are made in some milliseconds. */
const NODES_AT_ONCE = 4096;

const NO_NODES: readonly PyNode[] = [];

/** The position of a node whose siblings are not all known. */
const UNNUMBERED = -1;

/** A syntax node. One object per place in the tree, so compare with `===`. */
export class PyNode implements Span, Accessors<PyNode> {
  // By the name of a field: `call.function`. What a type of node has is in `Fields` of the grammar.
  declare readonly alias: PyNode | undefined;
  declare readonly alternative: PyNode | undefined;
  declare readonly argument: PyNode | undefined;
  declare readonly arguments: PyNode | undefined;
  declare readonly attribute: PyNode | undefined;
  declare readonly body: PyNode | undefined;
  declare readonly cause: PyNode | undefined;
  declare readonly code: PyNode | undefined;
  declare readonly condition: PyNode | undefined;
  declare readonly consequence: PyNode | undefined;
  declare readonly definition: PyNode | undefined;
  declare readonly expression: PyNode | undefined;
  declare readonly format_specifier: PyNode | undefined;
  declare readonly function: PyNode | undefined;
  declare readonly guard: PyNode | undefined;
  declare readonly key: PyNode | undefined;
  declare readonly left: PyNode | undefined;
  declare readonly module_name: PyNode | undefined;
  declare readonly name: PyNode | undefined;
  declare readonly object: PyNode | undefined;
  declare readonly operator: PyNode | undefined;
  declare readonly operators: PyNode | undefined;
  declare readonly parameters: PyNode | undefined;
  declare readonly return_type: PyNode | undefined;
  declare readonly right: PyNode | undefined;
  declare readonly subject: PyNode | undefined;
  declare readonly subscript: PyNode | undefined;
  declare readonly superclasses: PyNode | undefined;
  declare readonly type_conversion: PyNode | undefined;
  declare readonly type_parameters: PyNode | undefined;
  declare readonly value: PyNode | undefined;

  readonly type: NodeType;
  readonly isNamed: boolean;
  #index: number;
  #children: readonly PyNode[] | undefined;
  #named: readonly PyNode[] | undefined;
  #text: string | undefined;

  constructor(
    kind: Kind,
    readonly start: number,
    readonly end: number,
    private readonly fieldName: string | undefined,
    readonly parent: PyNode | undefined,
    index: number,
    private readonly source: Source,
    /** Where in its tree it waits until its children are asked for. */
    private readonly place = 0,
  ) {
    this.type = kind.type;
    this.isNamed = kind.isNamed;
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
    this.#text ??= this.source.text.slice(this.start, this.end);
    return this.#text;
  }

  /** All children, punctuation and comments included. */
  get children(): readonly PyNode[] {
    this.#children ??= this.source.below(this, this.place);
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

  field(name: FieldName): PyNode | undefined {
    const { children } = this;
    if (children.length > MANY && name !== 'alternative' && CROWDED.has(this.type)) return undefined;
    for (const child of children) if (child.fieldName === name) return child;
    return undefined;
  }

  /** All direct children of one type. */
  childrenOfType(type: NodeType): readonly PyNode[] {
    return this.children.filter((child) => child.type === type);
  }

  childOfType(type: NodeType): PyNode | undefined {
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
  ancestors(): IterableIterator<PyNode> {
    return new Upward(this);
  }

  /** The nearest ancestor (or the node itself) of one of these types. */
  closest(...types: readonly string[]): PyNode | undefined {
    let at: PyNode | undefined = this;
    while (at !== undefined && !types.includes(at.type)) at = at.parent;
    return at;
  }

  /** This node and everything below it in source order; `enter` says whether to look below a node. */
  walk(enter: (node: PyNode) => boolean = () => true): IterableIterator<PyNode> {
    return new Downward(this, enter);
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

giveAccessors(PyNode.prototype);

/** A tree that nodes are read from, through a cursor that goes where the next one waits. */
export class TreeSource implements Source {
  #cursor: BackendCursor | undefined;

  /** `placeOf`: where in the text a place is of the one that the tree was made from. */
  constructor(
    readonly text: string,
    private readonly tree: BackendNode,
    private readonly placeOf: (offset: number) => number = (offset) => offset,
    /** What is below a function's body that the tree has only a string for. */
    private readonly leftOut: (body: PyNode) => readonly PyNode[] | undefined = () => undefined,
  ) {}

  /** The root of the tree. What is in a statement is made when it is first looked into: the rest costs nothing. */
  root(): PyNode {
    return this.#read(
      (cursor) =>
        new PyNode(kindAt(cursor), cursor.startIndex, cursor.endIndex, undefined, undefined, 0, this),
    );
  }

  below(node: PyNode, place: number): readonly PyNode[] {
    return (
      this.leftOut(node) ??
      this.#read((cursor) => {
        cursor.gotoDescendant(place);
        return this.#belowCursor(cursor, node, true);
      })
    );
  }

  /** The statements of the tree, without a number: the module has others before them. */
  statements(module: PyNode): readonly PyNode[] {
    return this.#read((cursor) => this.#belowCursor(cursor, module, false));
  }

  /** What is below a function's body, where the tree is one of that function alone. */
  bodyOfFunction(body: PyNode): readonly PyNode[] | undefined {
    return this.#read((cursor) =>
      this.#gotoBody(cursor, body) ? this.#belowCursor(cursor, body, true) : undefined,
    );
  }

  #gotoBody(cursor: BackendCursor, body: PyNode): boolean {
    let definition: number | undefined;
    for (let more = cursor.gotoFirstChild(); more; more = cursor.gotoNextSibling()) {
      const { type } = kindAt(cursor);
      if (type === 'comment' || type === CONTINUATION) continue;
      if (type !== 'function_definition' || definition !== undefined) return false;
      definition = cursor.currentDescendantIndex;
    }
    if (definition === undefined) return false;
    cursor.gotoDescendant(definition);
    let more = cursor.gotoFirstChild();
    while (more && kindAt(cursor).type !== 'block') more = cursor.gotoNextSibling();
    return (
      more && this.placeOf(cursor.startIndex) === body.start && this.placeOf(cursor.endIndex) === body.end
    );
  }

  /** Hands out a cursor at the root. One that has to be given back is: nobody else would do it in time. */
  #read<T>(use: (cursor: BackendCursor) => T): T {
    return inSection(() => {
      const cursor = this.#cursor ?? this.tree.walk();
      try {
        cursor.gotoDescendant(0);
        return use(cursor);
      } finally {
        if (cursor.delete === undefined) this.#cursor = cursor;
        else cursor.delete();
      }
    });
  }

  /** Everything below the node where the cursor stands, in one go; statements and bodies wait until they are asked for. */
  #belowCursor(cursor: BackendCursor, top: PyNode, isNumbered: boolean): readonly PyNode[] {
    const { placeOf } = this;
    if (!cursor.gotoFirstChild()) return NO_NODES;
    const found: PyNode[] = [];
    const open: PyNode[][] = [];
    let around = top;
    let siblings = found;
    let made = 0;
    for (;;) {
      const kind = kindAt(cursor);
      if (kind.type !== CONTINUATION) {
        const { type } = around;
        const waits =
          type === 'block' || type === 'module' || (kind.type === 'block' && DEFINITIONS.has(type));
        const node: PyNode = new PyNode(
          kind,
          placeOf(cursor.startIndex),
          placeOf(cursor.endIndex),
          fieldAt(cursor),
          around,
          isNumbered || around !== top ? siblings.length : UNNUMBERED,
          this,
          waits ? cursor.currentDescendantIndex : 0,
        );
        siblings.push(node);
        if (++made % NODES_AT_ONCE === 0) pauseSection();
        if (!waits) {
          if (cursor.gotoFirstChild()) {
            open.push(siblings);
            siblings = [];
            node.adopt(siblings);
            around = node;
            continue;
          }
          node.adopt(NO_NODES);
        }
      }
      while (!cursor.gotoNextSibling()) {
        const outer = open.pop();
        if (outer === undefined || around.parent === undefined) return found;
        siblings = outer;
        around = around.parent;
        cursor.gotoParent();
      }
    }
  }
}

const DEFINITIONS: ReadonlySet<string> = new Set(['function_definition', 'class_definition']);

/** A backslash at the end of a line: white space, which the grammar has a node for. We have none. */
const CONTINUATION = 'line_continuation';

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
