import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import type { TomlTable as Table } from 'smol-toml';
import { hasControls } from '../text/controls.js';
import { Failure, reasonOf } from './failure.js';
import { repositoryRoot, textOf, upward } from './places.js';

export type { Table };

const require = createRequire(import.meta.url);

/** One config file's own table, before any of it is believed. */
export interface ConfigTable {
  readonly path: string;
  /** Patterns and paths in the file are relative to this folder. */
  readonly folder: string;
  readonly table: Table;
}

/**
 * The nearest config for files below `folder`: `memfix.toml`, or a `pyproject.toml` with `[tool.memfix]`.
 * The search ends at the root of the repository: what lies above it is someone else's.
 */
export function nearestConfig(folder: string): ConfigTable | undefined {
  const top = repositoryRoot(folder);
  for (const at of upward(folder)) {
    const found = configIn(at);
    if (found !== undefined || at === top) return found;
  }
  return undefined;
}

function configIn(folder: string): ConfigTable | undefined {
  const own = join(folder, 'memfix.toml');
  if (isFile(own)) return readConfig(own);
  const shared = join(folder, 'pyproject.toml');
  // Most pyproject files have nothing for us, and one that is broken is then none of our business.
  if (textOf(shared)?.includes('memfix') !== true) return undefined;
  return sectionOf(shared);
}

/** A config file that was named, by `--config` or by `extend`. */
export function readConfig(path: string): ConfigTable {
  if (basename(path) !== 'pyproject.toml') return { path, folder: dirname(path), table: parseToml(path) };
  const section = sectionOf(path);
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
    refuseControls(at.table, at.path);
    const extended = at.table['extend'];
    if (extended === undefined) return chain.reverse();
    if (typeof extended !== 'string') {
      throw new Failure(
        'Invalid config',
        `\`extend\` in ${at.path} must be a string`,
        'Give the path of one config file, relative to this one.',
      );
    }
    const path = resolve(at.folder, extended);
    if (chain.some((other) => other.path === path)) {
      throw new Failure(
        'Config files extend each other in a circle',
        [...chain.map((other) => other.path), path].join(' extends '),
        'Remove one `extend`.',
      );
    }
    at = readConfig(path);
    chain.push(at);
  }
}

/** Errors name keys and values, which could otherwise pass for other lines. */
function refuseControls(value: unknown, path: string): void {
  if (typeof value === 'string' && hasControls(value)) {
    throw new Failure(
      'Invalid config',
      `a name or value in ${path} has control characters: ${JSON.stringify(value)}`,
      'Correct it, or run with `--isolated` to do without config.',
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    refuseControls(key, path);
    refuseControls(inner, path);
  }
}

function sectionOf(path: string): ConfigTable | undefined {
  const tool = parseToml(path)['tool'];
  const table = isTable(tool) ? tool['memfix'] : undefined;
  if (table === undefined) return undefined;
  if (isTable(table)) return { path, folder: dirname(path), table };
  throw new Failure(
    'Invalid config',
    `\`tool.memfix\` in ${path} must be a table`,
    'Write it as `[tool.memfix]`.',
  );
}

function parseToml(path: string): Table {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure(
      'Config could not be read',
      `${path}: ${reasonOf(error)}`,
      'Check the path given to `--config` or `extend`.',
    );
  }
  // Loaded here, since most runs find no config.
  const toml: typeof import('smol-toml') = require('smol-toml');
  try {
    return toml.parse(text);
  } catch (error) {
    if (!(error instanceof toml.TomlError)) throw error;
    const [what] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new Failure(
      'Config does not parse',
      `${path}:${error.line}:${error.column}: ${what}\n${error.codeblock.trimEnd()}`,
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

/** Where nothing can be seen there is no config; whoever reads the files says what is wrong with the path. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
