import { join, relative } from 'node:path';
import { encode, type SourceText } from '../../text/decode.js';
import { Failure } from '../failure.js';
import { isInside } from '../places.js';
import { replaceBytes } from '../write.js';

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
    const written = replaceBytes(join(copy, relative(root, target)), old, now);
    if (written.ok) continue;
    throw new Failure(
      'A fix could not be written into the copy',
      `${relative(root, target)}: ${written.reason}`,
      'Run it again if the file changed meanwhile; a file that git ignores or that is linked has no copy to fix.',
    );
  }
}

/** A copy holds what is below the root, so nothing else can be proven. */
export function guardTargets(root: string, changes: readonly Change[]): void {
  const outside = changes.find(({ target }) => !isInside(target, root));
  if (outside === undefined) return;
  throw new Failure(
    'A file lies outside the tree',
    `${outside.target} is not below ${root}, of which the copies are made`,
    'Run `memfix prove` in the repository (or, without git, in the folder) that holds the files.',
  );
}
