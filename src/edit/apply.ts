import { byPosition, clash, type Edit } from './edit.js';

/** Applies edits that were planned not to clash; a clash here is our bug and throws. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = '';
  let from = 0;
  let previous: Edit | undefined;
  for (const edit of [...edits].sort(byPosition)) {
    if (edit.start < 0 || edit.end > text.length || edit.start > edit.end) {
      throw new RangeError(
        `edit ${edit.start}..${edit.end} lies outside a text of ${text.length} characters`,
      );
    }
    if (previous !== undefined && clash(previous, edit) && !isAdjacent(previous, edit)) {
      throw new RangeError(`edits ${previous.start}..${previous.end} and ${edit.start}..${edit.end} clash`);
    }
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
    previous = edit;
  }
  return result + text.slice(from);
}

/** Edits of one fix may touch; only a real overlap, or two insertions at one place, has no defined result. */
function isAdjacent(a: Edit, b: Edit): boolean {
  return a.end <= b.start && !(a.start === b.start && a.end === b.end);
}
