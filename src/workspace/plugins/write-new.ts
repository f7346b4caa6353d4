import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure, reasonOf } from '../failure.js';
import type { Files } from './scaffold.js';

/** Writes files that must not be there yet: all of them, or none. */
export function writeNew(folder: string, files: Files): readonly string[] {
  const paths = Object.keys(files);
  const there = paths.find((path) => existsSync(join(folder, path)));
  if (there !== undefined)
    throw new Failure('A file is in the way', `there is a file ${join(folder, there)}`, 'Choose another id.');
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: 'wx' });
    } catch (error) {
      throw new Failure(
        'Not written',
        `${file}: ${reasonOf(error)}`,
        'Choose a folder that you may write to.',
      );
    }
  }
  return paths;
}
