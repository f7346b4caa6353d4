import type { PyNode } from '../syntax/node.js';
import { bisect } from '../text/bisect.js';
import type { Span } from '../text/lines.js';
import type { ControlFlow } from './cfg.js';
import type { Block, Point } from './cfg-block.js';
import { compareBindings, isBoundBefore, mayBeSkipped, mayBeSkippedBefore } from './evaluation-order.js';

/** Of what is looked for, that at one element, or at a point of its own. */
interface Group {
  readonly index: number;
  /** Undefined at a point of its own. */
  readonly element: PyNode | undefined;
  /** In the order in which they happen. */
  readonly events: PyNode[];
}

interface Aspects {
  /** Points that are looked for as well, before the first element of a block (-1) or after its last (its length). */
  readonly marks?: ReadonlyMap<PyNode, readonly Point[]>;
  /** What catches errors of this node does not count. */
  readonly uncaught?: PyNode | undefined;
}

/** Things that happen in some code, such as the bindings of a variable, by the blocks in which they do. */
export class Events {
  readonly #groups = new Map<Block, Group[]>();
  /** Then nothing is left out. */
  readonly hasMarks: boolean;
  readonly #uncaught: PyNode | undefined;

  constructor(
    readonly flow: ControlFlow,
    /** In source order. */
    readonly nodes: readonly PyNode[],
    /** Whether what happened before is over with this one, wherever it is certain to happen. */
    readonly ends: (event: PyNode) => boolean,
    { marks = new Map(), uncaught }: Aspects = {},
  ) {
    this.hasMarks = marks.size > 0;
    this.#uncaught = uncaught;
    for (const node of nodes) {
      const element = flow.elementOf(node);
      for (const point of flow.pointsOf(element)) this.#add(point, element, node);
    }
    for (const [mark, points] of marks) for (const point of points) this.#add(point, undefined, mark);
    for (const groups of this.#groups.values()) {
      groups.sort((a, b) => a.index - b.index);
      for (const { element, events } of groups)
        if (element !== undefined && events.length > 1) events.sort((a, b) => compareBindings(a, b, element));
    }
  }

  #add({ block, index }: Point, element: PyNode | undefined, event: PyNode): void {
    const groups = this.#groups.get(block);
    // The elements of a block are in source order.
    const last = groups?.at(-1);
    if (last?.index === index) last.events.push(event);
    else if (groups === undefined) this.#groups.set(block, [{ index, element, events: [event] }]);
    else groups.push({ index, element, events: [event] });
  }

  groupsOf(block: Block): readonly Group[] {
    return this.#groups.get(block) ?? NO_GROUPS;
  }

  /** Whether one of them may be in a span. */
  isIn({ start, end }: Span): boolean {
    return this.hasMarks || (this.nodes[this.#countBefore(start)]?.start ?? Infinity) < end;
  }

  /** The blocks whose errors may arrive at one. */
  raisersOf({ raisers, shortcut }: Block): readonly Block[] {
    const isAside =
      this.#uncaught !== undefined && shortcut?.span !== undefined && holds(shortcut.span, this.#uncaught);
    return isAside ? [] : raisers;
  }

  /** The last in the file before an offset. */
  lastBefore(offset: number): PyNode | undefined {
    return this.nodes[this.#countBefore(offset) - 1];
  }

  #countBefore(offset: number): number {
    return bisect(this.nodes.length, (at) => (this.nodes[at]?.start ?? Infinity) < offset);
  }

  /** The nodes among those looked for that may be the last to happen before a node is evaluated. */
  before(node: PyNode): Reached {
    const search = new Search(this);
    const element = this.flow.elementOf(node);
    if (element !== undefined)
      for (const point of this.flow.pointsOf(element)) search.fromNode(node, element, point);
    return search.run();
  }

  /** The same at some points. */
  beforePoints(points: readonly Point[]): Reached {
    const search = new Search(this);
    for (const point of points) search.from(point);
    return search.run();
  }
}

const NO_GROUPS: readonly Group[] = [];

export interface Reached {
  readonly events: ReadonlySet<PyNode>;
  /** A way leads there from the entry on which none of them is certain to happen. */
  readonly fromEntry: boolean;
}

/** A walk against the flow. */
class Search {
  readonly #events = new Set<PyNode>();
  #fromEntry = false;
  readonly #pending: Point[] = [];
  readonly #passed = new Set<Group>();
  /** The blocks before which it has looked. */
  readonly #begun = new Set<Block>();

  constructor(private readonly all: Events) {}

  from(point: Point): void {
    if (point.block.isReachable) this.#pending.push(point);
  }

  /** From inside an element. */
  fromNode(node: PyNode, element: PyNode, point: Point): void {
    const groups = this.all.groupsOf(point.block);
    const group = groups[bisect(groups.length, (at) => (groups[at]?.index ?? 0) < point.index)];
    for (const event of group?.index === point.index ? group.events.toReversed() : []) {
      const order = isBoundBefore(event, node, element);
      if (order === 'never') continue;
      this.#events.add(event);
      if (order === 'always' && this.all.ends(event) && !mayBeSkippedBefore(event, node, element)) return;
    }
    this.from(point);
  }

  run(): Reached {
    for (let point = this.#pending.pop(); point !== undefined; point = this.#pending.pop()) this.#back(point);
    return { events: this.#events, fromEntry: this.#fromEntry };
  }

  #back({ block, index }: Point): void {
    const groups = this.all.groupsOf(block);
    for (let at = bisect(groups.length, (each) => (groups[each]?.index ?? 0) < index) - 1; at >= 0; at--) {
      const group = groups[at];
      if (group === undefined || this.#passed.has(group)) return;
      this.#passed.add(group);
      if (this.#isEndedBy(group)) return;
    }
    if (this.#begun.has(block)) return;
    this.#begun.add(block);
    this.#beforeBlock(block);
  }

  #isEndedBy({ element, events }: Group): boolean {
    for (const event of events.toReversed()) {
      this.#events.add(event);
      if (this.all.ends(event) && (element === undefined || !mayBeSkipped(event, element))) return true;
    }
    return false;
  }

  #beforeBlock(block: Block): void {
    if (block === this.all.flow.entry) this.#fromEntry = true;
    const { shortcut } = block;
    const isShort = shortcut !== undefined && !this.all.isIn(shortcut.span);
    const only = isShort ? endOf(shortcut.to) : this.#earlierInSuite(block);
    for (const point of only ? [only] : block.predecessors.map(endOf)) this.from(point);
    for (const raiser of only ? [] : this.all.raisersOf(block)) {
      if (!raiser.isReachable) continue;
      for (const { events } of this.all.groupsOf(raiser)) for (const event of events) this.#events.add(event);
      this.from({ block: raiser, index: 0 });
    }
  }

  /**
   * For a block after a compound statement without anything to find: the end of the nearest statement before it that has
   * something, or the start of the suite. Statements in between do not matter, however many there are.
   */
  #earlierInSuite({ suite, after }: Block): Point | undefined {
    if (suite === undefined || after === undefined || this.all.hasMarks) return undefined;
    const last = this.all.lastBefore(after.end);
    if (last === undefined || last.start < suite.node.start) return { block: suite.entry, index: 0 };
    let statement: PyNode | undefined = last;
    while (statement !== undefined && statement.parent !== suite.node) statement = statement.parent;
    if (statement === undefined || statement === after) return undefined;
    const next = suite.afters.get(statement);
    if (next !== undefined) return { block: next, index: 0 };
    const point = this.all.flow.pointsOf(statement).find(({ block }) => block.suite === suite);
    return point && { block: point.block, index: point.index + 1 };
  }
}

function holds(span: Span, node: Span): boolean {
  return span.start <= node.start && node.end <= span.end;
}

function endOf(block: Block): Point {
  return { block, index: Infinity };
}
