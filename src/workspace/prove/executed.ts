import type { Trial } from '../../report/prove/record.js';

/** The lines of a file that ran, of a run that looked. */
export function linesIn({ records }: Trial, path: string): ReadonlySet<number> {
  return new Set(records.flatMap(({ lines }) => lines[path] ?? []));
}
