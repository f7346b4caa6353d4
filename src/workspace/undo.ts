import { lstatSync, rmSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isNotebookName } from '../text/notebook/notebook.js';
import { plainFiles } from './attributes.js';
import { regularBytes } from './bounded.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import { type Entry, type IndexStep, Pages } from './journal-pages.js';
import { isInside } from './places.js';
import type { State } from './state.js';
import { withOldCells } from './undo-cells.js';
import { draftName, isCutOff, LARGEST_RESULT, replaceBytes } from './write.js';

export interface Undone {
  /** Of an apply that somebody else has taken back, such as git: it is kept, for it may come again. */
  readonly isGone?: true;
  readonly restored: readonly string[];
  /** Files that memfix had made, and that are gone again. */
  readonly removed: readonly string[];
  /** Files that were left as they are, and why. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  /** What the apply had put into the index, of the files that were restored. */
  readonly index: readonly IndexStep[];
  /** How many files the apply before it changed, where some of them are not as they were before that. */
  readonly earlier?: number;
}

/**
 * Takes back the last apply that still has an effect; undefined when there is none. With `place`, a file or folder, only what
 * it did there, with what had to change at the same time. What is refused stays in the journal, before all older applies.
 */
export function undoLast(state: State, place?: string): Undone | undefined {
  state.check();
  const pages = new Pages(state);
  let isGone = false;
  const numbers = [...pages.numbers].reverse();
  for (const [at, number] of numbers.entries()) {
    const all = pages.read(number);
    const entries = place === undefined ? all : entriesIn(state.root, all, place);
    if (place !== undefined && entries.length === 0) continue;
    const index = pages.indexSteps(number);
    markIfPossible(pages, number);
    const undone = takeBack(state.root, entries);
    const touched = [...undone.restored, ...undone.removed];
    const isUntouched = touched.length + undone.left.length === 0;
    // Files that are as before may have been put away by `git stash`, or on another branch.
    if (isUntouched) pages.unmark(number);
    else
      forget(
        pages,
        number,
        new Set(entries.map(({ path }) => path).filter((path) => !undone.stay.has(path))),
      );
    const own = index.filter(({ path }) => touched.includes(resolve(state.root, path)));
    if (!isUntouched) {
      const earlier = changedBy(state.root, pages, numbers[at + 1], place);
      return { ...undone, index: own, ...(earlier > 0 && { earlier }) };
    }
    isGone = true;
  }
  return isGone ? { restored: [], removed: [], left: [], index: [], isGone } : undefined;
}

/** A full disk keeps the lines: files that are restored are found to be so. */
function forget(pages: Pages, number: number, paths: ReadonlySet<string>): void {
  try {
    pages.cut(number, paths);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    pages.unmark(number);
  }
}

/** The number of files that an apply changed in a place; 0 where all of them are as they were before. */
function changedBy(
  root: string,
  pages: Pages,
  number: number | undefined,
  place: string | undefined,
): number {
  if (number === undefined) return 0;
  const all = whole(pages, number);
  const entries = place === undefined ? all : entriesIn(root, all, place);
  const isAsBefore = ({ path, before, isNew }: Entry) => {
    const current = bytesIn(resolve(root, path));
    return isNew ? current === undefined : current?.equals(before) === true;
  };
  return entries.every(isAsBefore) ? 0 : new Set(entries.map(({ path }) => path)).size;
}

function bytesIn(path: string): Buffer | undefined {
  try {
    return regularBytes(path, LARGEST_RESULT);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The entries about a file or what is in a folder, and about files that changed with these. */
function entriesIn(root: string, entries: readonly Entry[], place: string): readonly Entry[] {
  const mainOf = (entry: Entry) => entry.with ?? entry.path;
  const meant = entries.filter(({ path }) => isInside(resolve(root, path), place));
  const mains = new Set(meant.map(mainOf));
  return entries.filter((entry) => mains.has(mainOf(entry)));
}

/** Whether there is an apply that `undoLast` may take back. */
export function hasPages(state: State): boolean {
  return new Pages(state).numbers.length > 0;
}

/** A full disk must not keep anybody from taking changes back. */
function markIfPossible(pages: Pages, number: number): void {
  try {
    pages.mark(number);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

function takeBack(
  root: string,
  entries: readonly Entry[],
): Omit<Undone, 'index'> & { readonly stay: ReadonlySet<string> } {
  const restored = new Set<string>();
  const removed = new Set<string>();
  const left: { path: string; reason: string }[] = [];
  const stay = new Set<string>();
  const plain = plainFiles(entries.map(({ path }) => resolve(root, path)));
  // Last written, first taken back: a file that one session wrote twice ends as it began.
  for (const entry of [...entries].reverse()) {
    if (stay.has(entry.path)) continue;
    const path = resolve(root, entry.path);
    const answer = restore(root, path, entry, plain.has(path));
    if (answer === 'untouched') continue;
    if (answer === 'restored') restored.add(path);
    else if (answer === 'removed') {
      restored.delete(path);
      removed.add(path);
    } else {
      left.push({ path, reason: answer.reason });
      if (answer.tryAgain) stay.add(entry.path);
    }
  }
  return { restored: [...restored], removed: [...removed], left, stay };
}

type Restored =
  | 'restored'
  | 'removed'
  | 'untouched'
  | { readonly reason: string; readonly tryAgain: boolean };

function restore(root: string, path: string, entry: Entry, isPlain: boolean): Restored {
  const { before, after, draft, isNew } = entry;
  if (!isOf(root, path)) return { reason: `it lies outside ${root}`, tryAgain: false };
  let current: Buffer;
  try {
    current = regularBytes(path, LARGEST_RESULT);
  } catch (error) {
    if (isNew && codeOf(error) === 'ENOENT') return 'untouched';
    return { reason: reasonOf(error), tryAgain: true };
  }
  if (isNew && current.equals(after)) return removeNew(path);
  // memfix was stopped after the journal and before the file, or someone else already put it back.
  if (current.equals(before)) return 'untouched';
  const isOurs = current.equals(after) || isHalfWritten(current, before, after);
  const wanted = isOurs
    ? before
    : isNotebookName(path)
      ? withOldCells({ before, after, current })
      : undefined;
  if (wanted === undefined || typeof wanted === 'string')
    return { reason: wanted ?? 'it changed after memfix wrote it', tryAgain: true };
  const written = replaceBytes(path, current, wanted, isPlain ? (draft ?? draftName()) : undefined);
  return written.ok ? 'restored' : { reason: written.reason, tryAgain: true };
}

/** A file that memfix made, and that has the bytes it was made with. */
function removeNew(path: string): Restored {
  try {
    rmSync(path);
    return 'removed';
  } catch (error) {
    return { reason: reasonOf(error), tryAgain: true };
  }
}

/** A file of the project, as far as its path says; git's own files are not. */
function isOf(root: string, path: string): boolean {
  return isInside(path, root) && !path.slice(root.length).split(sep).includes('.git');
}

/** By an apply, or by an undo. */
function isHalfWritten(bytes: Buffer, before: Buffer, after: Buffer): boolean {
  return isCutOff(bytes, before, after) || isCutOff(bytes, after, before);
}

export interface CleanedUp {
  /** Drafts that were removed. */
  readonly drafts: readonly string[];
  /** Files that were written to the end. */
  readonly finished: readonly string[];
}

/**
 * Removes what an apply or undo that was killed has left in the project: drafts that the journal names, and no other file. A
 * file that was being overwritten gets what it was to get.
 */
export function cleanUp(state: State): CleanedUp {
  const drafts: string[] = [];
  const finished: string[] = [];
  if (state.objection !== undefined) return { drafts, finished };
  const pages = new Pages(state);
  for (const number of pages.marked.filter((each) => pages.isAbandoned(each))) {
    for (const entry of whole(pages, number)) {
      const path = resolve(state.root, entry.path);
      if (!isOf(state.root, path)) continue;
      if (entry.draft !== undefined && removeDraft(join(dirname(path), entry.draft)))
        drafts.push(join(dirname(path), entry.draft));
      if (finish(path, entry)) finished.push(path);
    }
    pages.unmark(number);
  }
  return { drafts, finished };
}

/** A page that cannot be read is the business of `undo`, which says so. */
function whole(pages: Pages, number: number): readonly Entry[] {
  try {
    return pages.read(number);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

function removeDraft(path: string): boolean {
  try {
    if (!lstatSync(path).isFile()) return false;
    rmSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function finish(path: string, { before, after }: Entry): boolean {
  try {
    const current = regularBytes(path, LARGEST_RESULT);
    const wanted = isCutOff(current, before, after) ? after : before;
    return isHalfWritten(current, before, after) && replaceBytes(path, current, wanted, undefined).ok;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}
