import { lstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import type { TomlTable as Table } from 'smol-toml';
import { hasControls } from '../text/controls.js';
import { shortened } from '../text/resemblance.js';
import { BoundedReader, type Bounds, LARGEST_FILE, LARGEST_TOML, settingsText } from './bounded.js';
import { Failure, reasonOf } from './failure.js';
import { isInside, realPath, repositoryRoot, upward } from './places.js';

export type { Table };

const require = createRequire(import.meta.url);

const LONGEST_PATH = 4096;
/** Levels of tables; ours has three. */
const DEEPEST = 32;

/** How far a config is trusted. */
export interface Scope {
  /** The real path of a folder: text of files outside of it is never quoted, since they may be anybody's. */
  readonly base: string;
  /** Whether files outside of the folder are not even read. Else the user vouches for the config and what it extends. */
  readonly isBound: boolean;
}

/** One config file's own table, before any of it is believed. */
export interface ConfigTable {
  readonly path: string;
  /** Patterns and paths in the file are relative to this folder. */
  readonly folder: string;
  readonly table: Table;
  readonly scope: Scope;
}

/** Whose files are searched for a config, and who hears of a file that may have held one and is not read. */
export interface Search {
  /** The project is a stranger's; outside of a repository, this is its folder. */
  readonly target?: string;
  refuses(path: string, reason: string): void;
}

/**
 * The nearest config for files below `folder`: `memfix.toml`, or a `pyproject.toml` with `[tool.memfix]`.
 * The search ends at the root of the repository: what lies above it is someone else's. Whoever wrote the repository wrote
 * its config, so what that extends must be in there, too.
 */
export function nearestConfig(folder: string, { target, refuses }: Search): ConfigTable | undefined {
  const top = repositoryRoot(folder) ?? target;
  for (const at of upward(folder)) {
    const scope = { base: realPath(top ?? at), isBound: top !== undefined };
    const found = configIn(at, scope, { refuses });
    if (found !== undefined || at === top) return found;
  }
  return undefined;
}

/** The config in a folder itself; `sees` hears of the file that was looked at. */
export function configIn(
  folder: string,
  scope: Scope,
  { refuses, sees }: Pick<Search, 'refuses'> & { sees?(path: string): void },
): ConfigTable | undefined {
  const own = join(folder, 'memfix.toml');
  if (isThere(own)) {
    sees?.(own);
    return tableAt(own, scope);
  }
  const shared = join(folder, 'pyproject.toml');
  if (!isThere(shared)) return undefined;
  sees?.(shared);
  const text = settingsText(shared, boundsOf(scope), (reason) => refuses(shared, reason));
  // Most pyproject files have nothing for us, and one that is broken is then none of our business.
  return text?.includes('memfix') === true ? sectionOf(shared, scope) : undefined;
}

/** A config file that the user named. */
export function readConfig(path: string): ConfigTable {
  const folder = realPath(dirname(path));
  return tableAt(path, { base: repositoryRoot(folder) ?? folder, isBound: false });
}

function tableAt(path: string, scope: Scope): ConfigTable {
  if (basename(path) !== 'pyproject.toml')
    return { path, folder: dirname(path), table: parseToml(path, scope), scope };
  const section = sectionOf(path, scope);
  if (section !== undefined) return section;
  throw new Failure(
    'No config in that file',
    `${path} has no [tool.memfix] table`,
    'Add the table, or name a memfix.toml instead.',
  );
}

/** The files that a config stands on, farthest first, the config itself last. */
export function withExtended(config: ConfigTable): readonly ConfigTable[] {
  const chain = [config];
  for (let at = config; ; ) {
    const from = at;
    const next = discreetly(from, () => {
      refuseControls(from.table, from.path);
      return extendedBy(from, chain);
    });
    if (next === undefined) return chain.reverse();
    at = next;
    chain.push(at);
  }
}

/** Errors name keys and values, which could otherwise pass for other lines. */
function refuseControls(value: unknown, path: string, depth = 0): void {
  if (depth > DEEPEST) {
    throw new Failure(
      'Invalid config',
      `${path} is nested deeper than ${DEEPEST} levels`,
      'Correct it, or run with `--isolated` to do without config.',
    );
  }
  if (typeof value === 'string' && hasControls(value)) {
    throw new Failure(
      'Invalid config',
      `a name or value in ${path} has control characters: ${JSON.stringify(shortened(value))}`,
      'Correct it, or run with `--isolated` to do without config.',
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    refuseControls(key, path, depth + 1);
    refuseControls(inner, path, depth + 1);
  }
}

function extendedBy({ path: from, folder, table, scope }: ConfigTable, chain: readonly ConfigTable[]) {
  const extended = table['extend'];
  if (extended === undefined) return undefined;
  if (typeof extended !== 'string') {
    throw new Failure(
      'Invalid config',
      `\`extend\` in ${from} must be a string`,
      'Give the path of one config file, relative to this one.',
    );
  }
  if (extended.length > LONGEST_PATH) {
    throw new Failure(
      'Invalid config',
      `\`extend\` in ${from} is longer than a path can be`,
      'Give the path of one config file, relative to this one.',
    );
  }
  if (scope.isBound && !isInside(resolve(realPath(folder), extended), scope.base)) {
    throw new Failure(
      'Config leads out of its repository',
      `\`extend = "${shortened(extended)}"\` in ${from} names a file outside of ${scope.base}`,
      'Keep what it extends inside the repository, or name a config that you trust with `--config`.',
    );
  }
  const path = resolve(folder, extended);
  if (chain.some((other) => other.path === path)) {
    throw new Failure(
      'Config files extend each other in a circle',
      [...chain.map((other) => other.path), path].join(' extends '),
      'Remove one `extend`.',
    );
  }
  return tableAt(path, scope);
}

/** Reads a config; an error quotes its text only where the file is inside the folder that its scope names. */
export function discreetly<T>({ path, scope }: Pick<ConfigTable, 'path' | 'scope'>, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Failure) || isInside(realPath(path), scope.base)) throw error;
    throw new Failure(
      'Invalid config',
      `${path} is no config of memfix, or has an error in it; its text is not shown, since it lies outside of ${scope.base}`,
      'Check the path given to `--config` or `extend`.',
    );
  }
}

function sectionOf(path: string, scope: Scope): ConfigTable | undefined {
  const tool = parseToml(path, scope)['tool'];
  const table = isTable(tool) ? tool['memfix'] : undefined;
  if (table === undefined) return undefined;
  if (isTable(table)) return { path, folder: dirname(path), table, scope };
  throw new Failure(
    'Invalid config',
    `\`tool.memfix\` in ${path} must be a table`,
    'Write it as `[tool.memfix]`.',
  );
}

function boundsOf({ base, isBound }: Scope): Bounds {
  return isBound ? { most: LARGEST_TOML, root: base } : { most: LARGEST_FILE };
}

function parseToml(path: string, scope: Scope): Table {
  let text: string;
  try {
    text = new BoundedReader().read(path, boundsOf(scope)).bytes.toString('utf8');
  } catch (error) {
    throw new Failure(
      'Config could not be read',
      `${path}: ${reasonOf(error)}`,
      'Put a file there that can be read; `--config` names another one, and `--isolated` does without.',
    );
  }
  return discreetly({ path, scope }, () => parsed(path, text));
}

function parsed(path: string, text: string): Table {
  // Loaded here, since most runs find no config.
  const toml: typeof import('smol-toml') = require('smol-toml');
  try {
    return toml.parse(text);
  } catch (error) {
    if (!(error instanceof toml.TomlError)) throw error;
    const [what] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const lines = error.codeblock.trimEnd().split('\n').map(shortened).join('\n');
    throw new Failure(
      'Config does not parse',
      `${path}:${error.line}:${error.column}: ${what}\n${lines}`,
      'Correct that line; the format is TOML.',
    );
  }
}

/** Somebody else's TOML: one that is broken is none of our business. */
export function tomlIn(text: string): Table | undefined {
  const toml: typeof import('smol-toml') = require('smol-toml');
  try {
    return toml.parse(text);
  } catch (error) {
    if (error instanceof toml.TomlError) return undefined;
    throw error;
  }
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Anything but a folder: reading it says what is wrong with it. Where nothing can be seen there is no config. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch (error) {
    reasonOf(error);
    return false;
  }
}
