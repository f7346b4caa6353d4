import { bisect } from '../text/bisect.js';
import type { BackendNode } from './backend.js';
import { spanAt } from './glimpse.js';
import { PyNode, TreeSource } from './node.js';
import type { Outline, Piece } from './outline.js';

/** A text has to be parsed as a whole. */
export class NotInPieces extends Error {}

/** Bodies shorter than this are not worth a parse of their own. */
const WORTH_A_PIECE = 48;

/** Stands for what follows: what ends a block, and to whom a comment belongs, depends on it. Any statement would do. */
const NEXT_STATEMENT = '0';

/** A module whose statements are parsed when they are looked into, and the bodies of functions apart from them. */
export class ModuleInPieces extends PyNode {
  /** What a quick reading of the text shows. */
  readonly #outline: Outline;
  /** Where the parts start that are parsed by themselves: a statement, and the comments behind it. */
  readonly #starts: readonly number[];
  readonly #parts: (readonly PyNode[] | undefined)[] = [];
  readonly #bodies: ReadonlyMap<number, Piece>;
  /** Parts that were parsed with the only body in them, and bodies that were parsed apart. */
  readonly #withBody = new Set<number>();
  readonly #apart = new Set<Piece>();
  #isBroken = false;

  constructor(
    private readonly whole: string,
    outline: Outline,
    /** Undefined for a text that has an error. */
    private readonly read: (text: string) => BackendNode | undefined,
  ) {
    const start = whole.length - whole.trimStart().length;
    const source = { text: whole, below: () => this.#allParts() };
    super({ type: 'module', isNamed: true }, start, whole.length, undefined, undefined, 0, source);
    this.#outline = outline;
    this.#starts = [0, ...outline.statements.slice(1)];
    this.#bodies = new Map(outline.pieces.filter(isWorthIt).map((piece) => [piece.bodyStart, piece]));
  }

  /** Whether a part could not be read by itself. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  #breaks(): NotInPieces {
    this.#isBroken = true;
    return new NotInPieces('a part of it cannot be read by itself');
  }

  /** A module has none. */
  override field(): undefined {
    return undefined;
  }

  protected override childrenNear(offset: number): readonly PyNode[] {
    const part = lastUpTo(this.#starts, offset);
    const known = this.#parts[part];
    if (known !== undefined) return known;
    const { pieces } = this.#outline;
    const piece = pieces[spanAt(pieces, offset) ?? -1];
    this.#parse(part, part + 1, piece !== undefined && offset >= piece.bodyStart);
    return this.#parts[part] ?? [];
  }

  /** The text with next to nothing in place of all that was parsed: where it has no error, the whole has none. */
  get unread(): string {
    const rest = new Rest(this.whole);
    this.#starts.forEach((start, part) => {
      if (this.#parts[part] === undefined) return;
      const end = this.#starts[part + 1] ?? this.whole.length;
      const pieces = this.#withBody.has(part) ? [] : this.#piecesBetween(start, end);
      if (pieces.length === 0) rest.leaveOut(start, end, `${NEXT_STATEMENT}\n`);
      for (const piece of pieces)
        if (this.#apart.has(piece)) rest.leaveOut(piece.bodyStart, piece.bodyEnd, NEXT_STATEMENT);
    });
    return rest.upTo(this.whole.length);
  }

  #allParts(): readonly PyNode[] {
    const { length } = this.#starts;
    for (let from = 0; from < length; from++) {
      let to = from;
      while (to < length && this.#parts[to] === undefined) to++;
      if (to > from) this.#parse(from, to, false);
      from = to;
    }
    return this.#parts.flatMap((nodes) => nodes ?? []);
  }

  /** Some parts in a row. Where a body is wanted and it is the only one, it is read with the rest. */
  #parse(from: number, to: number, wantsBody: boolean): void {
    const [start = 0, end = this.whole.length] = [this.#starts[from], this.#starts[to]];
    const pieces = this.#piecesBetween(start, end);
    const isApart = !(wantsBody && pieces.length === 1);
    const follows = end < this.whole.length;
    const rest = new Rest(this.whole, start);
    if (isApart)
      for (const { bodyStart, bodyEnd } of pieces) rest.leaveOut(bodyStart, bodyEnd, NEXT_STATEMENT);
    const text = rest.upTo(end);
    const tree = this.read(follows ? text + NEXT_STATEMENT : text);
    if (tree === undefined) throw this.#breaks();
    const source = new TreeSource(
      this.whole,
      tree,
      (offset) => rest.placeOf(offset),
      isApart ? this.#bodyLeftOut : undefined,
    );
    const nodes = source.statements(this);
    const found = follows ? nodes.slice(0, -1) : nodes;
    if (follows && nodes.at(-1)?.start !== end) throw this.#breaks();
    let next = 0;
    for (let part = from; part < to; part++) {
      const first = next;
      const behind = this.#starts[part + 1] ?? Infinity;
      while ((found[next]?.start ?? Infinity) < behind) next++;
      this.#parts[part] = found.slice(first, next);
    }
    if (!isApart) this.#withBody.add(from);
  }

  /** The functions in a part whose bodies are worth a parse of their own. */
  #piecesBetween(start: number, end: number): readonly Piece[] {
    const { pieces } = this.#outline;
    const found: Piece[] = [];
    const low = bisect(pieces.length, (at) => (pieces[at]?.start ?? Infinity) < start);
    for (let at = low; (pieces[at]?.start ?? Infinity) < end; at++) {
      const piece = pieces[at];
      if (piece !== undefined && isWorthIt(piece)) found.push(piece);
    }
    return found;
  }

  readonly #bodyLeftOut = (body: PyNode): readonly PyNode[] | undefined => {
    const piece = this.#bodies.get(body.start);
    if (piece === undefined) return undefined;
    const tree = this.read(this.whole.slice(piece.start, piece.end));
    const source = tree && new TreeSource(this.whole, tree, (offset) => offset + piece.start);
    const found = source?.bodyOfFunction(body);
    if (found === undefined) throw this.#breaks();
    this.#apart.add(piece);
    return found;
  };
}

function isWorthIt({ bodyStart, bodyEnd }: Piece): boolean {
  return bodyEnd - bodyStart >= WORTH_A_PIECE;
}

/** Of numbers in order, the place of the last that is not above another. */
function lastUpTo(numbers: readonly number[], bound: number): number {
  const low = bisect(numbers.length, (at) => (numbers[at] ?? Infinity) <= bound);
  return Math.max(0, low - 1);
}

/** A text of which parts are left out, in source order. */
class Rest {
  #kept = '';
  /** Behind each part that was left out: where that is here, and how far from its place in the whole. */
  readonly #ends: number[] = [];
  readonly #shifts: number[];
  /** The part that was asked about last: mostly, the next question is about the same. */
  #last = 0;

  constructor(
    private readonly whole: string,
    private from = 0,
  ) {
    this.#shifts = [from];
  }

  /** `instead` is of one letter, or nobody asks for places. */
  leaveOut(start: number, end: number, instead: string): void {
    this.#kept += this.whole.slice(this.from, start) + instead;
    this.#ends.push(this.#kept.length);
    this.#shifts.push(end - this.#kept.length);
    this.from = end;
  }

  upTo(end: number): string {
    return this.#kept + this.whole.slice(this.from, end);
  }

  /** Where in the whole a place is. */
  placeOf(offset: number): number {
    const ends = this.#ends;
    let part = this.#last;
    while ((ends[part] ?? Infinity) <= offset) part++;
    while ((ends[part - 1] ?? 0) > offset) part--;
    this.#last = part;
    return offset + (this.#shifts[part] ?? 0);
  }
}
