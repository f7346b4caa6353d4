import { applyEdits } from '../../edit/apply.js';
import type { Edit } from '../../edit/edit.js';
import type { SourceText } from '../../text/decode.js';
import { Lines } from '../../text/lines.js';
import type { Numerics, Safety } from '../../toolkit/contract.js';
import { changedCells } from '../by-cell.js';
import type { Hunk } from '../diff.js';
import { type OpenString, OpenStrings } from '../python-tokens.js';
import { shownHunks, shownHunksOf } from '../shown-hunks.js';

/** A fix of a plan as a reviewer sees it: by itself, on the text that it was found in. */
export interface Offer {
  /** Names it in the plan. */
  readonly ref: string;
  /** What a decision about it is remembered by: the file, the bytes it had, the finding in it. */
  readonly path: string;
  readonly hash: string;
  readonly key: string;
  /** The bytes of the file itself, where it was found in what other fixes leave of it. */
  readonly file?: string;
  /** The same for findings of the same words in any version of the file. */
  readonly likeness: string;
  readonly line: number;
  /** Of a notebook; then lines are counted in it, here and in the changes. */
  readonly cell?: number;
  readonly transform: string;
  readonly title: string;
  readonly message: string;
  readonly safety: Safety;
  readonly numerics: Numerics;
  /** The questions that a person has to answer with yes. */
  readonly unproven: readonly string[];
  /** The versions that it counts on, as sentences. */
  readonly premises?: readonly string[];
  readonly changes: readonly OfferedChange[];
  readonly fate: OfferFate;
}

/**
 * In the patch; rejected by a person; held back, since one of the same words was rejected when the file was another; or
 * dropped, since another fix has made it needless or the result was not sound.
 */
export type OfferFate = 'taken' | 'rejected' | 'held' | 'dropped';

/** What an offer does to one file. */
export interface OfferedChange {
  readonly path: string;
  readonly hunks: readonly OfferedHunk[];
}

export interface OfferedHunk {
  /** One-based first lines. */
  readonly old: number;
  readonly new: number;
  /** Lines as in a unified diff, with ` `, `-` or `+` in front, and without ends. */
  readonly lines: readonly string[];
  /** The Python string that is open where it begins. */
  readonly open?: OpenString;
}

/** The offers of one plan of one repository. */
export interface Offers {
  readonly version: 1;
  /** The plan's key: with another one, these are offers of another plan. */
  readonly plan: string;
  readonly offers: readonly Offer[];
}

const LONGEST_LINE = 2_000;

/** A text as it was before fixes; what the display of each change asks about it is computed once. */
export class Original {
  readonly #lines: Lines;
  readonly #strings: OpenStrings | undefined;

  constructor(
    readonly path: string,
    readonly text: string,
  ) {
    this.#lines = new Lines(text);
    const plain = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    this.#strings = /\.pyi?$/.test(path) ? new OpenStrings(plain) : undefined;
  }

  edited(edits: readonly Edit[]): OfferedChange {
    const hunks = shownHunksOf(this.#lines, edits).map((hunk): OfferedHunk => {
      const open = this.#strings?.before(hunk.oldStart - 1) ?? '';
      return { ...offered(hunk), ...(open !== '' && { open }) };
    });
    return { path: this.path, hunks };
  }

  /** Of a notebook, a change for each cell, as its reader knows it. */
  editedIn(source: SourceText, edits: readonly Edit[]): readonly OfferedChange[] {
    const cells = changedCells(source, { before: this.text, after: applyEdits(this.text, edits) });
    if (cells === undefined) return [this.edited(edits)];
    return cells.map(({ before, after }) => ({
      path: this.path,
      hunks: shownHunks(before, after).map(offered),
    }));
  }
}

function offered(hunk: Hunk): OfferedHunk {
  return { old: hunk.oldStart, new: hunk.newStart, lines: linesOf(hunk) };
}

/** Joined and split again: a line that is cut out of the changed text would keep all of that text in memory. */
function linesOf({ lines }: Hunk): readonly string[] {
  return lines
    .map(({ kind, text }) => kind + shortened(text.replace(/\n$/, '')))
    .join('\n')
    .split('\n');
}

function shortened(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}
