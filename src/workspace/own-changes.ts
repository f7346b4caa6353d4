import { relative, resolve } from 'node:path';
import { decodeNotebook } from '../text/decode.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { regularBytes } from './bounded.js';
import { codeOf, Failure } from './failure.js';
import { committedBlobs, committedText } from './git.js';
import { type Entry, Pages } from './journal-pages.js';
import { slashed } from './places.js';
import type { State } from './state.js';
import { LARGEST_RESULT } from './write.js';

/**
 * The files among these that differ from the commit by fixes of memfix alone: the journal leads from what they hold back to
 * what is committed. A further fix mixes with nobody's work in them, and `memfix undo` has each step.
 */
export function changedByUsAlone(state: State, files: Iterable<string>): ReadonlySet<string> {
  if (state.objection !== undefined) return new Set();
  const steps = [...new Pages(state).numbers].reverse().flatMap((number) => entriesOf(state, number));
  const origins = new Map<string, Buffer>();
  for (const file of files) {
    const name = slashed(relative(state.root, file));
    const origin = originOf(
      file,
      steps.filter(({ path }) => path === name),
    );
    if (origin !== undefined) origins.set(name, origin);
  }
  if (origins.size === 0) return new Set();
  const committed = committedBlobs(state.root, [...origins.keys()]);
  return new Set(
    [...origins]
      .filter(([name, bytes]) => committed.get(name)?.(bytes) === true)
      .map(([name]) => resolve(state.root, name)),
  );
}

/**
 * The notebooks among these that were only run since they were committed: their code is the same, cell by cell. A fix changes
 * code alone, so it mixes with nothing.
 */
export function onlyRun(root: string, files: Iterable<string>): ReadonlySet<string> {
  const notebooks = [...files].filter(isNotebookName);
  return new Set(
    notebooks.filter((file) => {
      const bytes = bytesOf(file);
      const now = bytes && decodeNotebook(bytes);
      if (!now?.ok) return false;
      const committed = committedText(root, slashed(relative(root, file)));
      const then = committed === undefined ? undefined : decodeNotebook(Buffer.from(committed));
      return then?.ok === true && then.source.text === now.source.text;
    }),
  );
}

/** What the file held before the fixes that are in it, by the steps that changed it, the last one first. */
function originOf(file: string, steps: readonly Entry[]): Buffer | undefined {
  if (steps.length === 0) return undefined;
  let bytes = bytesOf(file);
  let origin: Buffer | undefined;
  for (const { before, after } of steps)
    if (bytes?.equals(after)) {
      bytes = before;
      origin = before;
    }
  return origin;
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return regularBytes(file, LARGEST_RESULT);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The steps of one apply, the last one first. A page that cannot be read is the business of `undo`, which says so. */
function entriesOf(state: State, number: number): readonly Entry[] {
  try {
    return [...new Pages(state).read(number)].reverse();
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}
