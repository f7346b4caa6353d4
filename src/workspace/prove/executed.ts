import { relative } from 'node:path';
import type { Trial } from '../../report/prove/record.js';
import type { PythonParser } from '../../syntax/parser.js';
import { slashed } from '../places.js';
import { changedPlaces, isRun } from './changed-lines.js';
import type { Change } from './fixes.js';

/** The lines of a file that ran, of a run that looked. */
export function linesIn({ records }: Trial, path: string): ReadonlySet<number> {
  return new Set(records.flatMap(({ lines }) => lines[path] ?? []));
}

/** How many places of Python files change, and how many of them ran. */
export function placesRun(
  parser: PythonParser,
  root: string,
  changes: readonly Change[],
  trial: Trial,
): { readonly changed: number; readonly ran: number } {
  const groups = changes
    .filter(({ target }) => target.endsWith('.py'))
    .flatMap(({ target, source, after }) => {
      const ran = linesIn(trial, slashed(relative(root, target)));
      return changedPlaces(parser, source.text, after).map((place) => isRun(place, ran));
    });
  return { changed: groups.length, ran: groups.filter((isIn) => isIn).length };
}
