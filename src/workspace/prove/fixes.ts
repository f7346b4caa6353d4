import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { encode, type SourceText } from '../../text/decode.js';
import { Failure, reasonOf } from '../failure.js';
import { isInside } from '../places.js';
import { draftName, replaceBytes } from '../write.js';

/** What becomes of one file, by its path in the user's tree. */
export interface Change {
  readonly target: string;
  readonly source: SourceText;
  readonly after: string;
}

/** Writes the changes of a tree into a copy of it. */
export function fixCopy(root: string, copy: string, changes: readonly Change[]): void {
  for (const { target, source, after } of changes) {
    const [old, now] = [encode(source, source.text), encode(source, after)];
    if (old === undefined || now === undefined) throw new RangeError(`${target} cannot be encoded`);
    const problem = problemOf(copy, join(copy, relative(root, target)), old, now);
    if (problem === undefined) continue;
    throw new Failure(
      'A fix could not be written into the copy',
      `${relative(root, target)}: ${problem}`,
      'Run it again if the file changed meanwhile; what git ignores needs `--copy` to be fixed.',
    );
  }
}

/** Never through a link: behind it lies the user's own file. */
function problemOf(copy: string, place: string, old: Buffer, now: Buffer): string | undefined {
  let real: string;
  try {
    real = realpathSync.native(place);
    if (!isInside(real, realpathSync.native(copy))) return 'it is only linked';
  } catch (error) {
    return reasonOf(error);
  }
  const written = replaceBytes(real, old, now, draftName());
  return written.ok ? undefined : written.reason;
}

/** A copy holds what is below the root, so nothing else can be proven. */
export function guardTargets(root: string, targets: readonly string[]): void {
  const outside = targets.find((target) => !isInside(target, root));
  if (outside === undefined) return;
  throw new Failure(
    'A file lies outside the tree',
    `${outside} is not below ${root}, of which the copies are made`,
    'Run `memfix prove` in the repository (or, without git, in the folder) that holds the files.',
  );
}
