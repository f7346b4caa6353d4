import { padEnd, widthOf } from './cells.js';

export interface TableCell {
  readonly text: string;
  readonly paint?: (text: string) => string;
  readonly align?: 'right';
}

export const GAP = '  ';

/** Rows of aligned columns; a colour never counts as width and a line never ends in spaces. */
export function table(rows: readonly (readonly TableCell[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell.text));
  }
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        const painted = cell.paint?.(cell.text) ?? cell.text;
        const space = padEnd(cell.text, width).slice(cell.text.length);
        if (cell.align === 'right') return space + painted;
        return index === row.length - 1 ? painted : painted + space;
      })
      .join(GAP)
      .trimEnd(),
  );
}
