import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../bounded.js';
import { State } from '../state.js';

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = 'trusted-plugins.json';

/**
 * The plugins of a project that its user trusts, by their real paths. A config that names another one is not covered; one
 * whose code changes is, as with a Makefile. It lies in the user's state folder, where no repository can bring its own.
 */
export function trustedIn(root: string, env: Environment): ReadonlySet<string> {
  const state = State.of(root, env);
  const text = state.objection === undefined ? textOf(join(state.folder, NAME)) : undefined;
  if (text === undefined) return new Set();
  try {
    const files: unknown = JSON.parse(text);
    return new Set(Array.isArray(files) ? files.filter((file) => typeof file === 'string') : []);
  } catch (error) {
    if (error instanceof SyntaxError) return new Set();
    throw error;
  }
}

export function trust(root: string, files: readonly string[], env: Environment): void {
  const state = State.of(root, env);
  state.open();
  const file = join(state.folder, NAME);
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(files)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** Whether there was something to forget. */
export function distrust(root: string, env: Environment): boolean {
  const state = State.of(root, env);
  state.check();
  const file = join(state.folder, NAME);
  if (!existsSync(file)) return false;
  rmSync(file);
  return true;
}
