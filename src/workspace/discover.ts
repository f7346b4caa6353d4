import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, resolve, sep } from 'node:path';
import type { Skipped } from '../engine/outcome.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import { IgnoreRules } from './gitignore.js';
import { shownFrom } from './places.js';
import { startOf } from './read.js';

export interface Candidate {
  /** How the file is called in reports. */
  readonly path: string;
  /** Where its bytes are, symlinks followed. */
  readonly target: string;
  /** Named by the user, so taken even where a walk would pass it over. */
  readonly explicit: boolean;
}

export interface Discovery {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly Skipped[];
}

export interface DiscoveryRules {
  readonly cwd: string;
  excludes(path: string, isFolder: boolean): boolean;
}

/** Folders that hold other people's code or a tool's leavings, whatever `.gitignore` says. */
const FOREIGN: ReadonlySet<string> = new Set([
  '.bzr',
  '.direnv',
  '.eggs',
  '.git',
  '.hg',
  '.hypothesis',
  '.ipynb_checkpoints',
  '.memfix',
  '.memfix_cache',
  '.mypy_cache',
  '.nox',
  '.pixi',
  '.pytest_cache',
  '.pytype',
  '.ruff_cache',
  '.svn',
  '.tox',
  '__pycache__',
  '__pypackages__',
  'dist-packages',
  'node_modules',
  'site-packages',
]);

/** A folder with one of these in it is a Python environment. */
const ENVIRONMENT_MARKS: ReadonlySet<string> = new Set(['pyvenv.cfg', 'conda-meta']);

/** The Python files under these paths, in a stable order, each once. */
export function discover(paths: readonly string[], rules: DiscoveryRules): Discovery {
  const walk = new Walk(rules);
  for (const path of paths) walk.start(path);
  return { candidates: walk.candidates, skipped: walk.skipped };
}

class Walk {
  readonly candidates: Candidate[] = [];
  readonly skipped: Skipped[] = [];
  readonly #seen = new Set<string>();
  readonly #entered = new Set<string>();

  constructor(private readonly rules: DiscoveryRules) {}

  start(argument: string): void {
    const path = resolve(this.rules.cwd, argument);
    const stats = this.#statOfArgument(path, argument);
    if (stats === undefined) return;
    if (stats.isDirectory()) this.#enter(path, realpathSync.native(path), IgnoreRules.startingAt(path), true);
    else if (!stats.isFile()) this.#skip(path, `it is ${kindOf(stats)}, not a file`);
    else if (isPythonName(path) || isPythonScript(path)) this.#take(path, realpathSync.native(path), true);
    else
      this.#skip(
        path,
        'it is not Python: its name does not end in .py and its first line does not name python',
      );
  }

  #statOfArgument(path: string, argument: string): Stats | undefined {
    try {
      return statSync(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') {
        throw new Failure(
          'Path not found',
          `\`${argument}\` does not exist`,
          `Check the spelling; paths are taken relative to ${this.rules.cwd}.`,
        );
      }
      this.#skip(path, reasonOf(error));
      return undefined;
    }
  }

  /** `place` is where the folder really is; a walk follows no links, so only where it starts must that be asked. */
  #enter(folder: string, place: string, above: IgnoreRules, explicit: boolean): void {
    const entries = this.#open(folder, place);
    if (entries === undefined) return;
    if (!explicit && entries.some((entry) => ENVIRONMENT_MARKS.has(entry.name))) return;
    const rules = explicit ? above : rulesIn(folder, entries, above);
    const inFolder = prefixOf(folder);
    const inPlace = prefixOf(place);
    for (const entry of entries) {
      const isFolder = entry.isDirectory();
      const named = isPythonName(entry.name);
      if (!(named || (isFolder && !FOREIGN.has(entry.name)))) continue;
      const path = inFolder + entry.name;
      if (rules.ignores(path, isFolder) || this.rules.excludes(path, isFolder)) continue;
      if (named) this.#consider(path, entry, inPlace + entry.name);
      else this.#enter(path, inPlace + entry.name, rules, false);
    }
  }

  /** Each folder once, however many links lead to it. */
  #open(folder: string, place: string): readonly Dirent[] | undefined {
    if (this.#entered.has(place)) return undefined;
    this.#entered.add(place);
    try {
      return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.#skip(folder, reasonOf(error));
      return undefined;
    }
  }

  #consider(path: string, entry: Dirent, target: string): void {
    if (entry.name.includes('\uFFFD')) this.#skip(path, 'its name is not valid UTF-8');
    else if (entry.isFile()) this.#take(path, target, false);
    else if (entry.isSymbolicLink()) this.#follow(path);
    else this.#skip(path, `it is ${kindOf(entry)}, not a file`);
  }

  /** A link to a file stands for that file; a link to a folder is left to whoever walks that folder. */
  #follow(path: string): void {
    try {
      const stats = statSync(path);
      if (stats.isFile()) this.#take(path, realpathSync.native(path), false);
      else this.#skip(path, `it is a symlink to ${kindOf(stats)}, not to a file`);
    } catch (error) {
      this.#skip(path, codeOf(error) === 'ENOENT' ? 'it is a symlink to nothing' : reasonOf(error));
    }
  }

  #take(path: string, target: string, explicit: boolean): void {
    if (this.#seen.has(target)) return;
    this.#seen.add(target);
    this.candidates.push({ path: shownFrom(this.rules.cwd, path), target, explicit });
  }

  #skip(path: string, reason: string): void {
    this.skipped.push({ kind: 'skipped', path: shownFrom(this.rules.cwd, path), reason });
  }
}

function prefixOf(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

function isPythonName(path: string): boolean {
  return path.endsWith('.py');
}

/**
 * A file without extension is Python when its first line says so; asked only of files the user named.
 * One that cannot be read is let through, so that reading it gives the better reason.
 */
function isPythonScript(path: string): boolean {
  if (basename(path).includes('.')) return false;
  const start = startOf(path, 256);
  return start === undefined || /^#!.*\bpython/.test(start);
}

function rulesIn(folder: string, entries: readonly Dirent[], above: IgnoreRules): IgnoreRules {
  const has = (name: string) => entries.some((entry) => entry.name === name);
  const rules = has('.git') ? IgnoreRules.ofRepository(folder) : above;
  return has('.gitignore') ? rules.entering(folder) : rules;
}

function kindOf(entry: Pick<Dirent, 'isDirectory' | 'isFIFO' | 'isSocket'>): string {
  if (entry.isDirectory()) return 'a folder';
  if (entry.isFIFO()) return 'a named pipe';
  return entry.isSocket() ? 'a socket' : 'a device';
}
