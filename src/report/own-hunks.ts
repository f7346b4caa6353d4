import { applyEdits } from '../edit/apply.js';
import type { Finding, SourceFile } from '../engine/outcome.js';
import { ownEdits } from '../engine/preview.js';
import type { Lines } from '../text/lines.js';
import { changedCells } from './by-cell.js';
import type { Hunk } from './diff.js';
import { shownHunks, shownHunksOf } from './shown-hunks.js';

/** What a fix changes in one text. */
interface OwnHunks {
  /** Of a cell other than the finding's. */
  readonly title: string | undefined;
  /** Of a notebook, the cell. */
  readonly cell: number | undefined;
  readonly hunks: readonly Hunk[];
}

/** The hunks of a fix in its own file: of a notebook, by cell. */
export function ownHunks({ source }: SourceFile, lines: Lines, { fix, at }: Finding): readonly OwnHunks[] {
  const edits = fix === undefined ? [] : ownEdits(fix);
  if (source.notebook === undefined) {
    const hunks = shownHunksOf(lines, edits);
    return hunks.length === 0 ? [] : [{ title: undefined, cell: undefined, hunks }];
  }
  const cells = changedCells(source, { before: lines.text, after: applyEdits(lines.text, edits) }) ?? [];
  return cells.map(({ cell, title, before, after }) => ({
    title: cell === at.cell ? undefined : title,
    cell,
    hunks: shownHunks(before, after),
  }));
}
