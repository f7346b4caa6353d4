import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderVerified, type VerifiedRun, verifiedIn, withRun } from '../../report/prove/verified.js';
import { textOf } from '../bounded.js';
import { Failure, reasonOf } from '../failure.js';
import type { State } from '../state.js';

const FILE = 'evidence.json';

/** What verifications of this project have shown on this machine. */
export function keptRuns(state: State): readonly VerifiedRun[] {
  if (state.objection !== undefined) return [];
  return verifiedIn(textOf(join(state.folder, FILE)) ?? '') ?? [];
}

export function keepRun(state: State, run: VerifiedRun): void {
  state.open();
  replace(join(state.folder, FILE), renderVerified(withRun(keptRuns(state), run)), 0o600);
}

/** Puts a verification into a file of the user's, beside those of other commands that are there. */
export function saveRun(file: string, run: VerifiedRun): void {
  const text = textOf(file);
  const earlier = text === undefined ? [] : verifiedIn(text);
  if (earlier === undefined)
    throw new Failure(
      'The file holds something else',
      `${file} is not evidence that memfix wrote`,
      'Name another file with `--save-evidence`.',
    );
  try {
    replace(file, renderVerified(withRun(earlier, run)), 0o666);
  } catch (error) {
    throw new Failure(
      'The evidence could not be written',
      `${file}: ${reasonOf(error)}`,
      'Name another file.',
    );
  }
}

function replace(file: string, text: string, mode: number): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, file);
}
