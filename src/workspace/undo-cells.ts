import { decodeNotebook, encode, type SourceText } from '../text/decode.js';
import { type CodeCell, cellsIn } from '../text/notebook/notebook.js';

interface Texts {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly current: Buffer;
}

/** The number of what IPython has in place of a line. */
const MASK = /#:+magic \d+\./g;

/**
 * A notebook that was run, saved or edited since: the cells that memfix changed have the code that they had, and all else is as
 * it is now. A sentence about why not, where such a cell was edited itself, and undefined where the files are no notebooks.
 */
export function withOldCells({ before, after, current }: Texts): Buffer | string | undefined {
  const [old, changed, now] = [before, after, current].map((bytes) => decodeNotebook(bytes));
  if (!old?.ok || !changed?.ok || !now?.ok) return undefined;
  const [oldCells, changedCells, nowCells] = [old, changed, now].map(
    ({ source }) => source.notebook?.cells ?? [],
  ) as [readonly CodeCell[], readonly CodeCell[], readonly CodeCell[]];
  const wanted = new Map<number, number>();
  for (const [index, { number, source }] of changedCells.entries()) {
    if (oldCells[index]?.source === source) continue;
    const place = placeNow(changedCells, index, nowCells);
    if (place === undefined) return `cell ${number} changed after memfix wrote it`;
    wanted.set(place, index);
  }
  const bytes = encode(now.source, programWith(now.source, old.source, wanted));
  const expected = nowCells.map(({ source }, at) => oldCells[wanted.get(at) ?? -1]?.source ?? source);
  return bytes && holds(bytes, expected) ? bytes : undefined;
}

/** Where a cell is now. Of cells that are alike, each is where it was among them, as long as none came or went. */
function placeNow(changed: readonly CodeCell[], index: number, now: readonly CodeCell[]): number | undefined {
  const like = (cells: readonly CodeCell[]) =>
    [...cells.keys()].filter((at) => cells[at]?.source === changed[index]?.source);
  const [then, found] = [like(changed), like(now)];
  return then.length === found.length ? found[then.indexOf(index)] : undefined;
}

/** The program of one notebook with some cells of another; `wanted`: by the places of cells there, those here. */
function programWith(now: SourceText, old: SourceText, wanted: ReadonlyMap<number, number>): string {
  const oldCells = cellsIn(old.text);
  let program = now.text;
  for (const [at, cell] of [...cellsIn(now.text).entries()].reverse()) {
    const from = oldCells[wanted.get(at) ?? -1];
    if (from === undefined) continue;
    const masks = program.slice(cell.start, cell.end).match(MASK) ?? [];
    let mask = 0;
    const text = old.text.slice(from.start, from.end).replace(MASK, (own) => masks[mask++] ?? own);
    program = program.slice(0, cell.start) + text + program.slice(cell.end);
  }
  return program;
}

function holds(bytes: Buffer, sources: readonly string[]): boolean {
  const read = decodeNotebook(bytes);
  const cells = read.ok ? (read.source.notebook?.cells ?? []) : [];
  return cells.length === sources.length && cells.every(({ source }, at) => source === sources[at]);
}
