import { pinOf } from '../semantic/versions.js';
import { isTable, type Table } from './config-file.js';
import { MENTION, packageOf, type Statement } from './dependency-files.js';

/** A tool wrote these, and they may be large: they are read by their layout, without a parser. */

/** `[[package]]` of `uv.lock`, `poetry.lock` and `pdm.lock`; `[[packages]]` of `pylock.toml` (PEP 751). */
export function readLock(text: string, source: string): readonly Statement[] {
  return entriesIn(text, source, /^\[\[packages?\]\]\r?\nname = "([^"\n]+)"\r?\nversion = "([^"\n]+)"/gm, 2);
}

/** `conda-lock.yml` */
export function readCondaLock(text: string, source: string): readonly Statement[] {
  return entriesIn(text, source, /^ *- name: ([\w.-]+)\r?\n *version: ["']?([\w.+-]+)["']?/gm, 1);
}

/** `line`: how far the version is below the beginning of its entry. */
function entriesIn(text: string, source: string, entry: RegExp, below: number): readonly Statement[] {
  const statements: Statement[] = [];
  let line = 1 + below;
  let counted = 0;
  for (const { 1: written = '', 2: version = '', index } of text.matchAll(entry)) {
    const name = packageOf(written);
    if (name === undefined) continue;
    for (let at = text.indexOf('\n', counted); at !== -1 && at < index; at = text.indexOf('\n', counted)) {
      line++;
      counted = at + 1;
    }
    statements.push([name, pinOf(`==${version}`, `${source}:${line}`)]);
  }
  return statements;
}

/** `Pipfile.lock` */
export function readPipfileLock(text: string, source: string): readonly Statement[] {
  const lock = MENTION.test(text) ? jsonIn(text) : undefined;
  return ['default', 'develop'].flatMap((section) => {
    const packages = lock?.[section];
    return Object.entries(isTable(packages) ? packages : {}).flatMap(([written, entry]) => {
      const name = packageOf(written);
      const version = isTable(entry) ? entry['version'] : undefined;
      return name === undefined || typeof version !== 'string'
        ? []
        : [[name, pinOf(version, source)] as const];
    });
  });
}

function jsonIn(text: string): Table | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
