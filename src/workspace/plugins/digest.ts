import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { bytesOf } from '../bounded.js';
import { isInside } from '../places.js';

const CODE = /\.(?:[cm]?[jt]s|json|wasm)$/;
const IS_DATA = /\.(?:json|wasm|test\.[cm]?[jt]s)$/;
const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', 'fixtures']);
/** A plugin of more files than this is not one that somebody writes beside his project. */
const MOST_FILES = 500;
/** A path in quotes: what is imported from it belongs to the plugin. */
const RELATIVE = /(["'`])(\.\.?\/[^"'`\n]*)\1/g;

/**
 * Tells the code of a plugin from any other: its file, and where that names others all that lies in its folder, packages
 * and fixtures aside. Undefined where it names a file outside of that, which may be part of it, or is too large.
 */
export function digestOf(file: string): string | undefined {
  const folder = dirname(file);
  const hash = createHash('sha256').update(file);
  const files = namedIn(file).length === 0 ? [file] : [...codeIn(folder)];
  if (files.length > MOST_FILES) return undefined;
  for (const path of files) {
    if (!IS_DATA.test(path) && namedIn(path).some((other) => !isInside(other, folder))) return undefined;
    const bytes = bytesOf(path);
    hash.update(`\0${relative(folder, path)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/** What stands in quotes in a file and may be another one, beside it or anywhere. */
function namedIn(path: string): readonly string[] {
  const text = bytesOf(path).toString('latin1');
  return [...text.matchAll(RELATIVE)].map(([, , to = '']) => resolve(dirname(path), to));
}

/** At most one more than a plugin may have. */
function* codeIn(folder: string, found = { count: 0 }): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (found.count > MOST_FILES) return;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !PASSED_OVER.has(entry.name) && !entry.name.startsWith('.'))
      yield* codeIn(path, found);
    else if ((entry.isFile() || entry.isSymbolicLink()) && CODE.test(entry.name)) {
      found.count++;
      yield path;
    }
  }
}
