import { createRequire } from 'node:module';
import type MagicString from 'magic-string';
import { byPosition, clash, type Edit } from './edit.js';

const require = createRequire(import.meta.url);

/**
 * Applies edits that were planned not to clash.
 * magic-string silently swallows an inner edit when an outer one follows, so a clash here is our bug and throws.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = [...edits].sort(byPosition);
  const magic = editable(text);
  let previous: Edit | undefined;
  for (const edit of sorted) {
    if (edit.start < 0 || edit.end > text.length || edit.start > edit.end) {
      throw new RangeError(
        `edit ${edit.start}..${edit.end} lies outside a text of ${text.length} characters`,
      );
    }
    if (previous !== undefined && clash(previous, edit) && !isAdjacent(previous, edit)) {
      throw new RangeError(`edits ${previous.start}..${previous.end} and ${edit.start}..${edit.end} clash`);
    }
    if (edit.start === edit.end) magic.appendLeft(edit.start, edit.text);
    else if (edit.text === '') magic.remove(edit.start, edit.end);
    else magic.update(edit.start, edit.end, edit.text);
    previous = edit;
  }
  return magic.toString();
}

/** Loaded when something is changed: a report never is. */
function editable(text: string): MagicString {
  const { default: Editable } = require('magic-string') as { readonly default: typeof MagicString };
  return new Editable(text);
}

/** Edits of one fix may touch; only a real overlap, or two insertions at one place, has no defined result. */
function isAdjacent(a: Edit, b: Edit): boolean {
  return a.end <= b.start && !(a.start === b.start && a.end === b.end);
}
