import { createHash } from 'node:crypto';
import { lstatSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../bounded.js';
import type { State } from '../state.js';
import type { Tree } from './tree.js';
import type { Memory } from './verify.js';

const FILE = 'verified.json';

/** The results of an unfinished or earlier verification, for the same tree and command; of another one nothing is known. */
export class KeptResults implements Memory {
  readonly #results: Map<string, string | null>;

  constructor(
    private readonly state: State,
    private readonly about: string,
  ) {
    this.#results = resultsIn(join(state.folder, FILE), about);
  }

  get(key: string): string | null | undefined {
    return this.#results.get(key);
  }

  set(key: string, result: string | null): void {
    this.#results.set(key, result);
    this.state.open();
    const file = join(this.state.folder, FILE);
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, JSON.stringify({ about: this.about, results: [...this.#results] }), { mode: 0o600 });
    renameSync(draft, file);
  }
}

/** What a verification is about: the command, and the files of the tree as they are. */
export function subjectOf(tree: Tree, words: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify(words));
  for (const path of [...tree.files, ...tree.copied.map((extra) => extra.path)].sort()) {
    const stats = lstatSync(join(tree.root, path), { throwIfNoEntry: false });
    hash.update(JSON.stringify([path, stats?.size, stats?.mtimeMs]));
  }
  return hash.digest('hex');
}

function resultsIn(file: string, about: string): Map<string, string | null> {
  try {
    const kept: { about?: unknown; results?: unknown } | null = JSON.parse(textOf(file) ?? 'null');
    if (kept?.about !== about || !Array.isArray(kept.results)) return new Map();
    return new Map(kept.results as readonly [string, string | null][]);
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}
