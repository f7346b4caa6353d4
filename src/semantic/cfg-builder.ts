import type { PyNode } from '../syntax/node.js';
import type { Span } from '../text/lines.js';
import { type Block, link, type Point, type Suite } from './cfg-block.js';
import { isIrrefutable, isTruthy, swallowsErrors, unparenthesized } from './statements.js';

/** A `finally` clause that is in so many others is not copied any more. */
const MAX_COPIED = 3;
/** `and`, `or` and `not` nested deeper than this are one condition. */
const MAX_NESTED = 64;

type Jump = 'break' | 'continue' | 'return';

/** What a jump or an error meets on its way out, innermost last. */
type Frame =
  | { readonly kind: 'loop'; readonly break: Block; readonly continue: Block }
  | { readonly kind: 'handlers'; readonly landing: Block }
  /** A `finally` clause runs first, and then what was on its way goes on. */
  | { readonly kind: 'finally'; readonly landing: Block; readonly jumps: Set<Jump> };

/** Makes the blocks of one module, class, function or lambda. */
export class Builder {
  readonly points = new Map<PyNode, Point[]>();
  readonly suites = new Map<PyNode, Suite[]>();
  readonly entry: Block;
  readonly exit: Block;
  readonly #frames: Frame[] = [];
  #at: Block;
  #copied = 0;

  constructor() {
    this.entry = this.#block();
    this.exit = this.#block();
    this.#at = this.entry;
  }

  /** `cells`: of a notebook's module, where each begins. */
  build(owner: PyNode, cells: readonly number[]): void {
    const isModule = owner.type === 'module';
    const body = isModule ? owner : owner.body;
    if (isModule || body?.type === 'block') this.#statements(body, isModule ? cells : []);
    else if (body !== undefined) this.#element(body);
    link(this.#at, this.exit);
    const pending = [this.entry];
    for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
      if (block.isReachable) continue;
      block.isReachable = true;
      pending.push(...block.successors);
      if (block.landing !== undefined) pending.push(block.landing);
    }
  }

  #block(suite?: Suite, after?: PyNode, mayRaise = true): Block {
    const { landing } = (mayRaise && this.#frames.findLast((frame) => frame.kind !== 'loop')) || {};
    const block: Block = {
      elements: [],
      predecessors: [],
      successors: [],
      raisers: [],
      landing,
      suite,
      after,
      shortcut: undefined,
      isReachable: false,
    };
    landing?.raisers.push(block);
    return block;
  }

  /** A new block that follows another. */
  #follow(before: Block): Block {
    const block = this.#block();
    link(before, block);
    return block;
  }

  #element(node: PyNode): void {
    const point = { block: this.#at, index: this.#at.elements.length };
    this.#at.elements.push(node);
    const known = this.points.get(node);
    if (known === undefined) this.points.set(node, [point]);
    else known.push(point);
  }

  #elements(nodes: readonly (PyNode | undefined)[]): void {
    for (const node of nodes) if (node !== undefined) this.#element(node);
  }

  /** The statements of a block, after where the builder is. */
  #statements(node: PyNode | undefined, cells: readonly number[] = []): void {
    if (node === undefined) return;
    const before = this.#at;
    // The entry names the suite, and the suite its entry.
    const suite: { -readonly [K in keyof Suite]: Suite[K] } = {
      node,
      entry: before,
      afters: new Map(),
      end: { block: before, index: 0 },
    };
    suite.entry = this.#block(suite);
    link(before, suite.entry);
    this.#at = suite.entry;
    if (cells.length > 0) this.#cells(node, suite, cells);
    else for (const statement of node.named) this.#statement(statement, suite);
    suite.end = { block: this.#at, index: this.#at.elements.length };
    const known = this.suites.get(node);
    if (known === undefined) this.suites.set(node, [suite]);
    else known.push(suite);
  }

  /** Whoever has a notebook open runs its cells in any order, as often as they like, and may stop one anywhere. */
  #cells(node: PyNode, suite: Suite, cells: readonly number[]): void {
    const choice = this.#at;
    this.#frames.push({ kind: 'handlers', landing: choice });
    for (const [index, start] of cells.entries()) {
      this.#at = this.#block(suite);
      link(choice, this.#at);
      const end = cells[index + 1] ?? Infinity;
      for (const statement of node.named)
        if (statement.start >= start && statement.start < end) this.#statement(statement, suite);
      link(this.#at, choice);
    }
    this.#frames.pop();
    this.#at = this.#block(suite);
    link(choice, this.#at);
  }

  #statement(statement: PyNode, suite: Suite): void {
    const compound = COMPOUND.get(statement.type);
    if (compound !== undefined) {
      const after = this.#block(suite, statement);
      suite.afters.set(statement, after);
      compound(this, statement, after);
      this.#at = after;
      return;
    }
    this.#element(statement);
    const jump = JUMPS.get(statement.type);
    if (jump === undefined) return;
    // For an error, its block has an edge already.
    if (jump !== 'raise') this.#jump(jump, this.#at);
    this.#at = this.#block(suite);
  }

  #jump(jump: Jump, from: Block): void {
    for (const frame of this.#frames.toReversed()) {
      if (frame.kind === 'finally') frame.jumps.add(jump);
      const stop = frame.kind === 'finally' ? frame.landing : targetOf(frame, jump);
      if (stop !== undefined) {
        link(from, stop);
        return;
      }
    }
    link(from, this.exit);
  }

  /** Evaluates a condition from where the builder is; `isEndless` where a constant that is true never lets it fail. */
  #condition(condition: PyNode | undefined, yes: Block, no: Block, isEndless = false, depth = 0): void {
    const node = condition && unparenthesized(condition);
    const [left, right] = [node?.left, node?.right];
    const inner = node?.argument;
    if (node?.type === 'boolean_operator' && left && right && depth < MAX_NESTED) {
      const isAnd = node.operator?.text === 'and';
      const middle = this.#block();
      this.#condition(left, isAnd ? middle : yes, isAnd ? no : middle, isEndless, depth + 1);
      this.#at = middle;
      this.#condition(right, yes, no, isEndless, depth + 1);
    } else if (node?.type === 'not_operator' && inner && depth < MAX_NESTED) {
      this.#condition(inner, no, yes, false, depth + 1);
    } else {
      this.#elements([node]);
      link(this.#at, yes);
      if (!(isEndless && isTruthy(node))) link(this.#at, no);
    }
  }

  if(statement: PyNode, after: Block): void {
    for (const part of [statement, ...statement.childrenOfType('elif_clause')]) {
      const [yes, no] = [this.#block(), this.#block()];
      this.#condition(part.condition, yes, no);
      this.#at = yes;
      this.#statements(part.consequence);
      link(this.#at, after);
      this.#at = no;
    }
    this.#statements(statement.childOfType('else_clause')?.body);
    link(this.#at, after);
  }

  while(statement: PyNode, after: Block): void {
    const head = this.#follow(this.#at);
    head.shortcut = { span: statement, to: this.#at };
    this.#at = head;
    const [yes, no] = [this.#block(), this.#block()];
    this.#condition(statement.condition, yes, no, true);
    this.#at = yes;
    this.#loop(statement, head, no, after);
  }

  for(statement: PyNode, after: Block): void {
    this.#elements([statement.right]);
    const head = this.#follow(this.#at);
    head.shortcut = { span: statement, to: this.#at };
    this.#at = this.#follow(head);
    this.#elements([statement.left]);
    this.#loop(statement, head, this.#follow(head), after);
  }

  /** The body of a loop, and what runs when it is over: the `else`. */
  #loop(statement: PyNode, head: Block, over: Block, after: Block): void {
    this.#frames.push({ kind: 'loop', break: after, continue: head });
    this.#statements(statement.body);
    this.#frames.pop();
    link(this.#at, head);
    this.#at = over;
    this.#statements(statement.childOfType('else_clause')?.body);
    link(this.#at, after);
  }

  with(statement: PyNode, after: Block): void {
    const items = statement.childOfType('with_clause')?.childrenOfType('with_item') ?? [];
    this.#elements(items.slice(0, 1));
    const landing = swallowsErrors(statement) ? this.#landing(statement) : undefined;
    if (landing !== undefined) {
      link(landing, after);
      this.#frames.push({ kind: 'handlers', landing });
      this.#at = this.#follow(this.#at);
    }
    this.#elements(items.slice(1));
    this.#statements(statement.body);
    if (landing !== undefined) this.#frames.pop();
    link(this.#at, after);
  }

  /** Where errors of what follows arrive, as far as they are from `span`. */
  #landing(span: Span): Block {
    const landing = this.#block(undefined, undefined, false);
    landing.shortcut = { span, to: this.#at };
    return landing;
  }

  match(statement: PyNode, after: Block): void {
    const body = statement.body;
    this.#elements(statement.named.filter((part) => part !== body));
    for (const clause of body?.childrenOfType('case_clause') ?? []) {
      const patterns = clause.childrenOfType('case_pattern');
      const next = this.#block();
      // What does not match binds nothing.
      if (!isIrrefutable(patterns)) link(this.#at, next);
      this.#at = this.#follow(this.#at);
      this.#elements(patterns);
      const guard = clause.guard?.named[0];
      if (guard !== undefined) {
        const yes = this.#block();
        this.#condition(guard, yes, next);
        this.#at = yes;
      }
      this.#statements(clause.consequence);
      link(this.#at, after);
      this.#at = next;
    }
    link(this.#at, after);
  }

  try(statement: PyNode, after: Block): void {
    const last = statement.childOfType('finally_clause')?.childOfType('block');
    if (last === undefined) {
      this.#handlers(statement, after);
      return;
    }
    const landing = this.#landing({ start: statement.start, end: last.start });
    const jumps = new Set<Jump>();
    this.#frames.push({ kind: 'finally', landing, jumps });
    const done = this.#block();
    this.#at = this.#follow(this.#at);
    this.#handlers(statement, done);
    this.#frames.pop();
    const isCopied = this.#copied < MAX_COPIED;
    this.#copied++;
    this.#at = isCopied ? done : landing;
    if (!isCopied) link(done, landing);
    this.#statements(last);
    link(this.#at, after);
    if (isCopied) {
      this.#at = landing;
      this.#statements(last);
    }
    this.#copied--;
    // An error goes on from here as well: see `raisers`.
    for (const jump of jumps) this.#jump(jump, this.#at);
  }

  /** The body of a `try`, its `else`, and its handlers in turn. */
  #handlers(statement: PyNode, after: Block): void {
    const body = statement.body;
    const handlers = statement.children.filter(({ type }) => type.startsWith('except'));
    if (body === undefined || handlers.length === 0) {
      this.#statements(body);
      link(this.#at, after);
      return;
    }
    const landing = this.#landing(body);
    this.#frames.push({ kind: 'handlers', landing });
    this.#statements(body);
    this.#frames.pop();
    this.#at = this.#follow(this.#at);
    this.#statements(statement.childOfType('else_clause')?.body);
    link(this.#at, after);
    this.#at = this.#follow(landing);
    for (const handler of handlers) {
      const value = handler.value;
      const [classes, name] = value?.type === 'as_pattern' ? value.named : [value];
      this.#elements([classes]);
      const next = this.#block();
      if (classes !== undefined) link(this.#at, next);
      this.#at = this.#follow(this.#at);
      this.#elements([name]);
      this.#statements(handler.childOfType('block'));
      link(this.#at, after);
      this.#at = next;
    }
    // An error that no handler wants goes on from here: see `raisers`.
  }
}

function targetOf(frame: Frame, jump: Jump): Block | undefined {
  return frame.kind === 'loop' && jump !== 'return' ? frame[jump] : undefined;
}

type Compound = (builder: Builder, statement: PyNode, after: Block) => void;

const COMPOUND: ReadonlyMap<string, Compound> = new Map<string, Compound>([
  ['if_statement', (builder, ...given) => builder.if(...given)],
  ['while_statement', (builder, ...given) => builder.while(...given)],
  ['for_statement', (builder, ...given) => builder.for(...given)],
  ['try_statement', (builder, ...given) => builder.try(...given)],
  ['with_statement', (builder, ...given) => builder.with(...given)],
  ['match_statement', (builder, ...given) => builder.match(...given)],
]);

const JUMPS: ReadonlyMap<string, Jump | 'raise'> = new Map<string, Jump | 'raise'>([
  ['return_statement', 'return'],
  ['break_statement', 'break'],
  ['continue_statement', 'continue'],
  ['raise_statement', 'raise'],
]);
