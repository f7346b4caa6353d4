import type { SourceText } from '../decode.js';
import { Lines } from '../lines.js';
import { type CellPlace, cellAt, cellsIn } from './notebook.js';

/** A cell as its reader knows it, magics and all. */
export interface ShownCell {
  readonly number: number;
  readonly text: string;
  /** Where an offset of the program is in the cell's own text. */
  at(offset: number): number;
}

/** The cell of a notebook's program that holds an offset; undefined where the text is no notebook's. */
export function shownCell(source: SourceText, offset: number): ShownCell | undefined {
  if (source.notebook === undefined) return undefined;
  const place = cellAt(cellsIn(source.text), offset);
  return place && unmasked(source, source.text, place);
}

/** Every cell of a program that a notebook has, or may have after a change. */
export function shownCells(source: SourceText, program: string): readonly ShownCell[] {
  return cellsIn(program).map((place) => unmasked(source, program, place));
}

function unmasked({ notebook }: SourceText, program: string, { number, start, end }: CellPlace): ShownCell {
  const originals = new Map((notebook?.masks ?? []).map(({ shown, source }) => [shown, source]));
  const lines = new Lines(program.slice(start, end));
  const starts: number[] = [];
  let text = '';
  for (let line = 1; line <= lines.count; line++) {
    starts.push(text.length);
    const content = lines.content(line);
    text += (originals.get(content) ?? content) + (lines.newline(line) ?? '');
  }
  starts.push(text.length);
  return {
    number,
    text,
    at: (offset) => {
      const own = Math.min(Math.max(offset - start, 0), lines.text.length);
      const line = lines.lineAt(own);
      const [from = 0, to = text.length] = [starts[line - 1], starts[line]];
      return Math.min(from + own - lines.start(line), to);
    },
  };
}
