import type { Span } from '../text/lines.js';

/** Replace the characters of a span by `text`; an empty span inserts. Offsets are UTF-16 code units of the decoded text. */
export interface Edit extends Span {
  readonly text: string;
}

/** Edits of another file, and the text that they are for. */
export interface FileEdits {
  readonly path: string;
  readonly text: string;
  readonly edits: readonly Edit[];
}

/** Edits that clash cannot both be taken in one pass: they overlap, touch, or insert at the same place. */
export function clash(a: Edit, b: Edit): boolean {
  return a.start <= b.end && b.start <= a.end;
}

export function byPosition(a: Edit, b: Edit): number {
  return a.start - b.start || a.end - b.end;
}
