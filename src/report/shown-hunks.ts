import { applyEdits } from '../edit/apply.js';
import { byPosition, type Edit } from '../edit/edit.js';
import type { Lines } from '../text/lines.js';
import { CONTEXT, type Hunk, hunksBetween } from './diff.js';

/*
 * Hunks for eyes: Python's line ends all look alike, so a lone `\r` starts a line here as it does in an editor.
 * What a program reads is `patchOf`.
 */

export function shownHunks(before: string, after: string): Hunk[] {
  return hunksBetween(withPlainNewlines(before), withPlainNewlines(after));
}

/** The same for edits of a text, with a look at the lines around them only: a text may have thousands of fixes. */
export function shownHunksOf(lines: Lines, edits: readonly Edit[]): Hunk[] {
  const hunks: Hunk[] = [];
  let added = 0;
  let end = 0;
  for (const group of groupsOf(lines, edits)) {
    const before = added;
    for (const hunk of hunksAround(lines, group, CONTEXT)) {
      if (hunk.oldStart <= end) return shownHunks(lines.text, applyEdits(lines.text, edits));
      hunks.push({ ...hunk, newStart: hunk.newStart + before });
      added += hunk.newLines - hunk.oldLines;
      end = hunk.oldStart + hunk.oldLines - 1;
    }
  }
  return hunks;
}

/** Edits whose lines are so close that their hunks would meet. */
function groupsOf(lines: Lines, edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const groups: Edit[][] = [];
  for (const edit of [...edits].sort(byPosition)) {
    const last = groups.at(-1);
    const before = last?.at(-1);
    const isNear =
      before !== undefined && lines.lineAt(edit.start) - lines.lineAt(before.end) <= 2 * CONTEXT + 1;
    if (isNear) last?.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

/** The hunks of edits close to each other, seen in their own lines and `reach` more on both sides. */
function hunksAround(lines: Lines, edits: readonly Edit[], reach: number): readonly Hunk[] {
  const [first] = edits;
  const last = edits.at(-1);
  if (first === undefined || last === undefined) return [];
  const top = Math.max(1, lines.lineAt(first.start) - reach);
  const bottom = Math.min(lines.count, lines.lineAt(last.end) + reach);
  const start = lines.start(top);
  const before = lines.text.slice(start, lines.nextStart(bottom));
  const moved = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
  const hunks = shownHunks(before, applyEdits(before, moved));
  // Of equal lines, the last counts as the one that was added or removed: that may be further down.
  if (bottom < lines.count && contextAfter(hunks.at(-1)) < CONTEXT)
    return hunksAround(lines, edits, 2 * reach);
  return hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + top - 1,
    newStart: hunk.newStart + top - 1,
  }));
}

function contextAfter(hunk: Hunk | undefined): number {
  if (hunk === undefined) return Infinity;
  return hunk.lines.length - 1 - hunk.lines.findLastIndex(({ kind }) => kind !== ' ');
}

function withPlainNewlines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
