import {
  type Dirent,
  existsSync,
  lstatSync,
  opendirSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import type { Skipped } from '../engine/outcome.js';
import { hasControls } from '../text/controls.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { kindOf, LARGEST_SETTINGS, notAFile, settingsText, startOf } from './bounded.js';
import { codeOf, reasonOf } from './failure.js';
import { IgnoreRules, type RuleFiles } from './gitignore.js';
import { missingPath } from './missing.js';
import { leadsAway, projectRoot, shownFrom } from './places.js';

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
  /** Python files that git ignores, and that may run with the others all the same. */
  readonly ignored: readonly Candidate[];
  readonly skipped: readonly Skipped[];
  /** Folders that were entered. */
  readonly folders: number;
  /** No link was followed, and nothing was skipped. */
  readonly isPlain: boolean;
  /** There is more than was asked for at most. */
  readonly isCut: boolean;
}

export interface DiscoveryRules {
  readonly cwd: string;
  /** Files and folders after which a walk gives up. */
  readonly most?: number;
  /** These files at most, by where they really are; then there is no need to walk. */
  readonly only?: ReadonlySet<string>;
  excludes(path: string, isFolder: boolean): boolean;
  /** Hears of every folder before it is listed, and of every file of rules before it is read or missed. */
  sees?(path: string): void;
}

/** Folders that hold other people's code or a tool's leavings, whatever `.gitignore` says. */
export const FOREIGN: ReadonlySet<string> = new Set([
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
export const ENVIRONMENT_MARKS: ReadonlySet<string> = new Set(['pyvenv.cfg', 'conda-meta']);

/** The Python files under these paths, in a stable order, each once. */
export function discover(paths: readonly string[], rules: DiscoveryRules): Discovery {
  const walk = new Walk(rules);
  for (const path of paths) walk.start(path);
  const { candidates, ignored, skipped, folders, isPlain, isCut } = walk;
  return { candidates, ignored, skipped, folders, isPlain, isCut };
}

class Walk {
  readonly candidates: Candidate[] = [];
  readonly ignored: Candidate[] = [];
  readonly skipped: Skipped[] = [];
  readonly #seen = new Set<string>();
  readonly #entered = new Set<string>();
  #followed = false;

  constructor(private readonly rules: DiscoveryRules) {}

  /** Of the project that the walk is in; links that lead out of it are not followed. */
  #root = '';

  readonly #ruleFiles: RuleFiles = {
    ofProject: (path) => this.#rulesAt(path, this.#root),
    ofGit: (path) => this.#rulesAt(path),
    refuses: (path, reason) => this.#refuse(path, reason),
  };
  readonly #refused = new Set<string>();

  #rulesAt(path: string, root?: string): string | undefined {
    this.rules.sees?.(path);
    const bounds = { most: LARGEST_SETTINGS, ...(root !== undefined && { root }) };
    return settingsText(path, bounds, (reason) => this.#refuse(path, reason));
  }

  /** Once, however many walks come by. */
  #refuse(path: string, reason: string): void {
    if (!this.#refused.has(path)) this.#skip(path, reason);
    this.#refused.add(path);
  }

  get folders(): number {
    return this.#entered.size;
  }

  get isPlain(): boolean {
    return !this.#followed && this.skipped.length === 0;
  }

  get isCut(): boolean {
    return this.candidates.length + this.#entered.size > (this.rules.most ?? Infinity);
  }

  start(argument: string): void {
    const path = resolve(this.rules.cwd, argument);
    const stats = this.#statOfArgument(path, argument);
    if (stats === undefined) return;
    if (stats.isDirectory()) this.#startAt(path);
    else if (!stats.isFile()) this.#skip(path, notAFile(stats));
    else if (isPythonName(path) || isPythonScript(path)) this.#take(path, realpathSync.native(path), true);
    else
      this.#skip(
        path,
        /\.(?:log|err|out|txt)$/.test(path)
          ? `it is not Python; if it is the log of a run that ran out of memory: \`memfix --oom ${shownFrom(this.rules.cwd, path)}\``
          : 'it is not Python: its name does not end in .py or .ipynb, and its first line does not name python',
      );
  }

  #startAt(folder: string): void {
    const place = realpathSync.native(folder);
    this.#root = projectRoot(place, this.rules.cwd);
    const { only } = this.rules;
    if (only === undefined) this.#enter(folder, place, IgnoreRules.startingAt(folder, this.#ruleFiles), true);
    else this.#pick(folder, place, only);
  }

  /** What a walk would find of these files, in the order it would. */
  #pick(folder: string, place: string, only: ReadonlySet<string>): void {
    const rulesOf = new Map<string, IgnoreRules | undefined>([
      [folder, IgnoreRules.startingAt(folder, this.#ruleFiles)],
    ]);
    const rulesAt = (at: string): IgnoreRules | undefined => {
      if (!rulesOf.has(at)) rulesOf.set(at, this.#rulesInside(at, rulesAt(dirname(at))));
      return rulesOf.get(at);
    };
    const inPlace = prefixOf(place);
    const below = [...only].flatMap((file) => (file.startsWith(inPlace) ? [file.slice(inPlace.length)] : []));
    for (const name of below.filter(isPythonName).sort(asWalked)) {
      const path = prefixOf(folder) + name;
      const rules = rulesAt(dirname(path));
      if (rules === undefined || rules.ignores(path, false) || this.rules.excludes(path, false)) continue;
      if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
        this.#take(path, inPlace + name, false);
    }
  }

  /** The rules in a folder that a walk would enter; undefined where it would not. */
  #rulesInside(folder: string, above: IgnoreRules | undefined): IgnoreRules | undefined {
    if (above === undefined || FOREIGN.has(basename(folder))) return undefined;
    if (above.ignores(folder, true) || this.rules.excludes(folder, true)) return undefined;
    const has = (name: string) => existsSync(prefixOf(folder) + name);
    return [...ENVIRONMENT_MARKS].some(has) ? undefined : this.#rulesIn(folder, has, above);
  }

  #statOfArgument(path: string, argument: string): Stats | undefined {
    try {
      return statSync(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') {
        throw missingPath(path, argument, this.rules.cwd);
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
    const has = (name: string) => entries.some((entry) => entry.name === name);
    const rules = explicit ? above : this.#rulesIn(folder, has, above);
    const inFolder = prefixOf(folder);
    const inPlace = prefixOf(place);
    for (const entry of entries) {
      const isFolder = entry.isDirectory();
      const named = isPythonName(entry.name);
      if (!(named || (isFolder && !FOREIGN.has(entry.name)))) continue;
      const path = inFolder + entry.name;
      if (this.rules.excludes(path, isFolder)) continue;
      if (rules.ignores(path, isFolder, entry.name)) this.#passOver(path, entry, inPlace + entry.name);
      else if (named) this.#consider(path, entry, inPlace + entry.name);
      else this.#enter(path, inPlace + entry.name, rules, false);
    }
  }

  /** Of what is ignored, a folder of data is not searched: only what has Python files in it. */
  #passOver(path: string, entry: Dirent, target: string): void {
    const { sees } = this.rules;
    if (sees === undefined || this.isCut) return;
    if (entry.isFile() && entry.name.endsWith('.py')) {
      sees(target);
      this.ignored.push({ path: shownFrom(this.rules.cwd, path), target, explicit: false });
    }
    if (!entry.isDirectory() || this.#entered.has(target)) return;
    this.#entered.add(target);
    sees(path);
    const inside = firstEntries(path);
    const isSource = inside.some(({ name }) => name.endsWith('.py'));
    if (!isSource || inside.some(({ name }) => ENVIRONMENT_MARKS.has(name))) return;
    for (const each of inside)
      if (!FOREIGN.has(each.name))
        this.#passOver(prefixOf(path) + each.name, each, prefixOf(target) + each.name);
  }

  #rulesIn(folder: string, has: (name: string) => boolean, above: IgnoreRules): IgnoreRules {
    const rules = has('.git') ? IgnoreRules.ofRepository(folder, this.#ruleFiles) : above;
    return has('.gitignore') ? rules.entering(folder) : rules;
  }

  /** Each folder once, however many links lead to it. */
  #open(folder: string, place: string): readonly Dirent[] | undefined {
    if (this.#entered.has(place) || this.isCut) return undefined;
    this.#entered.add(place);
    this.rules.sees?.(folder);
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
    else this.#skip(path, notAFile(entry));
  }

  /** A link to a file of the same project stands for it; a link to a folder is left to whoever walks that folder. */
  #follow(path: string): void {
    this.#followed = true;
    try {
      const stats = statSync(path);
      const target = realpathSync.native(path);
      const away = leadsAway(path, target, this.rules.cwd);
      if (stats.isFile() && away === undefined) this.#take(path, target, false);
      else if (away !== undefined) this.#skip(path, away);
      else this.#skip(path, `it is a symlink to ${kindOf(stats)}, not to a file`);
    } catch (error) {
      this.#skip(path, codeOf(error) === 'ENOENT' ? 'it is a symlink to nothing' : reasonOf(error));
    }
  }

  #take(path: string, target: string, explicit: boolean): void {
    if (this.#seen.has(target) || this.rules.only?.has(target) === false) return;
    this.#seen.add(target);
    const shown = shownFrom(this.rules.cwd, path);
    if (hasControls(shown))
      this.#skip(path, 'its name has control characters, which could pass for other output');
    else this.candidates.push({ path: shown, target, explicit });
  }

  #skip(path: string, reason: string): void {
    this.skipped.push({ kind: 'skipped', path: shownFrom(this.rules.cwd, path), reason });
  }
}

/** A folder of sources has fewer. */
const MOST_ENTRIES = 5_000;

/** None of a folder that cannot be listed, or that has very many. */
function firstEntries(folder: string): readonly Dirent[] {
  const entries: Dirent[] = [];
  try {
    const listing = opendirSync(folder);
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      entries.push(entry);
      if (entries.length > MOST_ENTRIES) break;
    }
    listing.closeSync();
  } catch {
    return [];
  }
  return entries.length > MOST_ENTRIES ? [] : entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function prefixOf(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

/** A walk sorts the names of each folder, not whole paths. */
function asWalked(a: string, b: string): number {
  const parts = [a.split(sep), b.split(sep)] as const;
  const at = parts[0].findIndex((part, index) => part !== parts[1][index]);
  return (parts[0][at] ?? '') < (parts[1][at] ?? '') ? -1 : 1;
}

function isPythonName(path: string): boolean {
  return path.endsWith('.py') || isNotebookName(path);
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
