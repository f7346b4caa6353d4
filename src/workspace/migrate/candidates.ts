import type { Offer, OfferedHunk } from '../../report/migrate/offer.js';
import type { PythonParser } from '../../syntax/parser.js';
import type { Numerics } from '../../toolkit/contract.js';
import { changedPlaces } from '../prove/changed-lines.js';
import type { Change } from '../prove/fixes.js';
import type { Candidate } from '../prove/verify.js';

/** A file that a plan changes, by its path in the repository. */
export interface PlannedFile extends Change {
  readonly path: string;
}

/** Some lines of a file in the place of others; what has to be tried together is one candidate. */
interface LineEdit {
  /** From zero. */
  readonly start: number;
  readonly count: number;
  readonly lines: readonly string[];
}

/** What is known of a fix; where nothing says which fix changed a file, that is one by itself. */
export type Fix = Pick<Offer, 'ref' | 'path' | 'line' | 'cell' | 'transform' | 'numerics'>;

export interface PlannedCandidate extends Candidate {
  readonly fixes: readonly Fix[];
}

interface Item extends Fix {
  /** By path; undefined where the fix was found in what others left of the file. */
  readonly edits: ReadonlyMap<string, readonly LineEdit[]> | undefined;
}

/** The loosest last. */
const NUMERICS: readonly Numerics[] = ['bit-identical', 'rounding', 'changes-training'];

/**
 * The fixes of a plan as what a run is to decide. Each is tried by itself where the changes of all of them, put together,
 * are what the plan makes of the file; else those of a file are tried together.
 */
export class PlannedFixes {
  readonly candidates: readonly PlannedCandidate[];
  readonly #groups = new Map<string, readonly Item[]>();
  /** Files whose fixes go only together. */
  readonly #whole = new Set<string>();

  constructor(
    parser: PythonParser,
    private readonly files: readonly PlannedFile[],
    offers: readonly Offer[],
  ) {
    const items = itemsOf(files, offers);
    for (const group of this.#grouped(items)) this.#groups.set(group[0]?.ref ?? '', group);
    this.candidates = [...this.#groups].map(([id, group]): PlannedCandidate => {
      const path = group[0]?.path ?? '';
      const file = files.find((each) => each.path === path);
      const after = file && this.#textWith(file, new Set([id]));
      const isPython = file !== undefined && path.endsWith('.py');
      return {
        id,
        path,
        numerics:
          NUMERICS.findLast((label) => group.some(({ numerics }) => numerics === label)) ?? 'rounding',
        places: isPython && after !== undefined ? changedPlaces(parser, file.source.text, after) : [],
        fixes: group,
      };
    });
  }

  changesFor(ids: readonly string[]): readonly Change[] {
    const chosen = new Set(ids);
    return this.files.flatMap((file) => {
      const after = this.#textWith(file, chosen);
      return after === undefined || after === file.source.text ? [] : [{ ...file, after }];
    });
  }

  #grouped(items: readonly Item[]): readonly (readonly Item[])[] {
    const groups = new Map(items.map((item) => [item, [item]]));
    const join = (one: Item, other: Item): void => {
      const [mine, theirs] = [groups.get(one) ?? [], groups.get(other) ?? []];
      if (mine === theirs) return;
      const both = items.filter((item) => mine.includes(item) || theirs.includes(item));
      for (const item of both) groups.set(item, both);
    };
    for (const file of this.files) {
      const touching = items.filter((item) => touches(item, file.path));
      const edits = touching.flatMap((item) => item.edits?.get(file.path) ?? []);
      const isSum = touching.every((item) => item.edits !== undefined) && applied(file, edits) === file.after;
      if (!isSum) this.#whole.add(file.path);
      for (const [index, one] of touching.entries())
        for (const other of touching.slice(index + 1))
          if (!isSum || clash(one, other, file.path)) join(one, other);
    }
    return [...new Set(groups.values())];
  }

  /** Undefined where nothing that is chosen changes it. */
  #textWith(file: PlannedFile, chosen: ReadonlySet<string>): string | undefined {
    const items = [...this.#groups]
      .filter(([id]) => chosen.has(id))
      .flatMap(([, group]) => group)
      .filter((item) => touches(item, file.path));
    if (items.length === 0) return undefined;
    if (this.#whole.has(file.path)) return file.after;
    return applied(
      file,
      items.flatMap((item) => item.edits?.get(file.path) ?? []),
    );
  }
}

function touches({ path, edits }: Item, file: string): boolean {
  return path === file || edits?.has(file) === true;
}

function itemsOf(files: readonly PlannedFile[], offers: readonly Offer[]): readonly Item[] {
  const items = offers
    .filter(({ fate }) => fate === 'taken')
    .map((offer): Item => {
      const { ref, path, line, cell, transform, numerics, changes } = offer;
      const isFirst = offer.file === undefined || offer.file === offer.hash;
      const edits = new Map(changes.map((change) => [change.path, change.hunks.flatMap(editsIn)]));
      return {
        ...{ ref, path, line, transform, numerics },
        ...(cell !== undefined && { cell }),
        edits: isFirst && cell === undefined ? edits : undefined,
      };
    });
  const others = files.filter(({ path }) => !items.some((item) => touches(item, path)));
  return [
    ...items,
    ...others.map(
      ({ path }): Item => ({
        ...{ ref: path, path, line: 1, transform: 'fixes', numerics: 'bit-identical', edits: undefined },
      }),
    ),
  ];
}

/** The changed lines of a hunk without those around them. */
function editsIn({ old, lines }: OfferedHunk): readonly LineEdit[] {
  const edits: { start: number; count: number; lines: string[] }[] = [];
  let at = old - 1;
  let open: { start: number; count: number; lines: string[] } | undefined;
  for (const line of lines) {
    if (line.startsWith(' ')) {
      open = undefined;
      at++;
      continue;
    }
    if (open === undefined) {
      open = { start: at, count: 0, lines: [] };
      edits.push(open);
    }
    if (line.startsWith('-')) {
      open.count++;
      at++;
    } else open.lines.push(line.slice(1));
  }
  return edits;
}

function isSame(one: LineEdit, other: LineEdit): boolean {
  return (
    one.start === other.start && one.count === other.count && one.lines.join('\n') === other.lines.join('\n')
  );
}

/** Lines next to each other do not meet; what is put between them meets both. */
function meet(one: LineEdit, other: LineEdit): boolean {
  const [from, to] = [
    Math.max(one.start, other.start),
    Math.min(one.start + one.count, other.start + other.count),
  ];
  return from < to || (from === to && (one.count === 0 || other.count === 0));
}

/** The same import is needed by several fixes, and made once. */
function clash(one: Item, other: Item, path: string): boolean {
  const [mine, theirs] = [one, other].map((item) => item.edits?.get(path) ?? []) as [
    readonly LineEdit[],
    readonly LineEdit[],
  ];
  return mine.some((a) => theirs.some((b) => !isSame(a, b) && meet(a, b)));
}

function applied({ source }: Change, edits: readonly LineEdit[]): string {
  const lines = source.text.split('\n');
  const once = edits.filter((edit, index) => !edits.slice(0, index).some((other) => isSame(edit, other)));
  for (const { start, count, lines: put } of [...once].sort((a, b) => b.start - a.start))
    lines.splice(start, count, ...put);
  return lines.join('\n');
}
