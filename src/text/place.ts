import type { Position } from './lines.js';

/** What of a position is told. */
type Spot = Pick<Position, 'line' | 'cell'>;

/** A place as it is told: `train.py:12`, and in a notebook `explore.ipynb: cell 7, line 3`. */
export function placeText(path: string, { line, cell }: Spot): string {
  return cell === undefined ? `${path}:${line}` : `${path}: cell ${cell}, line ${line}`;
}

/** The same within its file. */
export function lineText({ line, cell }: Spot): string {
  return cell === undefined ? `line ${line}` : `cell ${cell}, line ${line}`;
}

/** What follows a path in the form that compilers use: `:12:5`. Nobody jumps to a column of a cell. */
export function placeMark({ line, column, cell }: Position): string {
  return cell === undefined ? `:${line}:${column}` : `: cell ${cell}, line ${line}`;
}
