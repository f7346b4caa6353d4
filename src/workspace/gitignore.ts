import { createRequire } from 'node:module';
import { basename, join, relative, sep } from 'node:path';
import type { Ignore } from 'ignore';
import { commonGitFolder } from './git-folder.js';
import { repositoryRoot, slashed, upward } from './places.js';

/** The rules of one file. */
class Layer {
  readonly #names: NamesInRules;
  #rules: Ignore | undefined;

  constructor(
    private readonly base: string,
    private readonly text: string,
  ) {
    this.#names = new NamesInRules(text);
  }

  test(
    path: string,
    name: string,
    isFolder: boolean,
  ): { readonly ignored: boolean; readonly unignored: boolean } {
    if (!this.#names.mayMean(name)) return NEITHER;
    this.#rules ??= matcher().add(this.text);
    const known = slashed(below(this.base, path));
    return this.#rules.test(isFolder ? `${known}/` : known);
  }
}

const NEITHER = { ignored: false, unignored: false };

/** No escapes, no spaces, and at most simple sets such as `[cod]`: the others are for the rules themselves to read. */
const PLAIN = /^(?:[^\\\s[\]]|\[[^\\\s[\]/]+\])+$/;

/**
 * What the last part of a path has to look like for any rule to speak of it: looser than the rules, never stricter, and
 * much faster. Folders above were asked before, so a rule that speaks of them has nothing to add.
 */
class NamesInRules {
  readonly #whole = new Set<string>();
  /** By their last character. */
  readonly #endings = new Map<string, string[]>();
  readonly #shapes: RegExp | undefined;

  constructor(text: string) {
    const shapes: string[] = [];
    for (const line of text.split(/\r?\n/)) {
      if (line === '' || line.startsWith('#')) continue;
      const rule = line.trim().replace(/\/+$/, '');
      const last = rule.replace(/^.*\//, '').replace(/^!/, '').toLowerCase();
      if (!PLAIN.test(rule)) shapes.push('.*');
      else if (!/[*?[]/.test(last)) this.#whole.add(last);
      else if (/[^*?\]]$/.test(last)) this.#addEnding(/[^*?\]]+$/.exec(last)?.[0] ?? '');
      else shapes.push(last.replace(/\[.*?\]|\*+|\W/gu, looselyAs));
    }
    this.#shapes = shapes.length === 0 ? undefined : new RegExp(`^(?:${shapes.join('|')})$`, 'su');
  }

  mayMean(spelling: string): boolean {
    const name = spelling.toLowerCase();
    if (this.#whole.has(name) || this.#shapes?.test(name) === true) return true;
    for (const ending of this.#endings.get(name.slice(-1)) ?? []) if (name.endsWith(ending)) return true;
    return false;
  }

  #addEnding(ending: string): void {
    const last = ending.slice(-1);
    this.#endings.set(last, [...(this.#endings.get(last) ?? []), ending]);
  }
}

function looselyAs(part: string): string {
  if (part.startsWith('*')) return '.*';
  return part === '?' || part.startsWith('[') ? '.' : `\\u{${(part.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Reads files of ignore rules; undefined where there is none that may be read. */
export interface RuleFiles {
  /** One in the work tree, which whoever wrote the repository may have made a link to anything. */
  ofProject(path: string): string | undefined;
  /** One in the git folder, which may be anywhere. */
  ofGit(path: string): string | undefined;
}

/** The ignore rules in force in one folder. A deeper folder's rules win over those above it. */
export class IgnoreRules {
  private constructor(
    private readonly layers: readonly Layer[],
    private readonly files: RuleFiles,
  ) {}

  /** The rules for a walk that starts at `folder`: those from the root of its repository down to it. */
  static startingAt(folder: string, files: RuleFiles): IgnoreRules {
    const root = repositoryRoot(folder) ?? folder;
    const chain: string[] = [];
    for (const at of upward(folder)) {
      chain.unshift(at);
      if (at === root) break;
    }
    let rules = IgnoreRules.ofRepository(root, files);
    for (const at of chain) {
      // Naming an ignored folder is asking for it.
      if (at !== root && rules.ignores(at, true)) rules = new IgnoreRules([], files);
      rules = rules.entering(at);
    }
    return rules;
  }

  /** A repository starts afresh: the rules of one around it do not reach into it. */
  static ofRepository(root: string, files: RuleFiles): IgnoreRules {
    const shared = commonGitFolder(root, (path) => files.ofGit(path));
    const text = shared === undefined ? undefined : files.ofGit(join(shared, 'info', 'exclude'));
    return new IgnoreRules(text === undefined ? [] : [new Layer(root, text)], files);
  }

  /** These rules and those of the folder's own `.gitignore`. */
  entering(folder: string): IgnoreRules {
    const text = this.files.ofProject(join(folder, '.gitignore'));
    return text === undefined ? this : new IgnoreRules([new Layer(folder, text), ...this.layers], this.files);
  }

  ignores(path: string, isFolder: boolean, name = basename(path)): boolean {
    for (const layer of this.layers) {
      const answer = layer.test(path, name, isFolder);
      if (answer.ignored) return true;
      if (answer.unignored) return false;
    }
    return false;
  }
}

/** Patterns of a config file, in gitignore's language, relative to the folder they were written in. */
export class PathPatterns {
  readonly #rules: Ignore;

  constructor(
    private readonly base: string,
    patterns: readonly string[],
  ) {
    // To gitignore `./x` means nothing; whoever writes it in a config means the `x` beside it.
    this.#rules = matcher().add(patterns.map((pattern) => pattern.replace(/^(!?)\.\//, '$1/')));
  }

  matches(path: string, isFolder = false): boolean {
    const name = slashed(relative(this.base, path));
    if (name === '' || name.startsWith('../') || name === '..' || !ignore().isPathValid(name)) return false;
    return this.#rules.ignores(isFolder ? `${name}/` : name);
  }
}

/** A path relative to a folder above it; `path.relative` takes its time, and a walk asks for every file. */
function below(base: string, path: string): string {
  return path.slice(base.endsWith(sep) ? base.length : base.length + 1);
}

const require = createRequire(import.meta.url);

/** Loaded when a name first needs it, which in many projects is never. */
function ignore(): typeof import('ignore') {
  return require('ignore');
}

function matcher(): Ignore {
  return ignore()({ ignorecase: process.platform === 'win32' || process.platform === 'darwin' });
}
