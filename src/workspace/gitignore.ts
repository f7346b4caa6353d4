import { join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { commonGitFolder, repositoryRoot, slashed, textOf, upward } from './places.js';

interface Layer {
  readonly base: string;
  readonly rules: Ignore;
}

/** The ignore rules in force in one folder. A deeper folder's rules win over those above it. */
export class IgnoreRules {
  private constructor(private readonly layers: readonly Layer[]) {}

  /** The rules for a walk that starts at `folder`: those from the root of its repository down to it. */
  static startingAt(folder: string): IgnoreRules {
    const root = repositoryRoot(folder) ?? folder;
    const chain: string[] = [];
    for (const at of upward(folder)) {
      chain.unshift(at);
      if (at === root) break;
    }
    let rules = IgnoreRules.ofRepository(root);
    for (const at of chain) {
      // Naming an ignored folder is asking for it.
      if (at !== root && rules.ignores(at, true)) rules = new IgnoreRules([]);
      rules = rules.entering(at);
    }
    return rules;
  }

  /** A repository starts afresh: the rules of one around it do not reach into it. */
  static ofRepository(root: string): IgnoreRules {
    const shared = commonGitFolder(root);
    const text = shared === undefined ? undefined : textOf(join(shared, 'info', 'exclude'));
    return new IgnoreRules(text === undefined ? [] : [layer(root, text)]);
  }

  /** These rules and those of the folder's own `.gitignore`. */
  entering(folder: string): IgnoreRules {
    const text = textOf(join(folder, '.gitignore'));
    return text === undefined ? this : new IgnoreRules([layer(folder, text), ...this.layers]);
  }

  ignores(path: string, isFolder: boolean): boolean {
    for (const { base, rules } of this.layers) {
      const name = slashed(below(base, path));
      const answer = rules.test(isFolder ? `${name}/` : name);
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
    this.#rules = matcher().add(patterns);
  }

  matches(path: string, isFolder = false): boolean {
    const name = slashed(relative(this.base, path));
    if (name === '' || name.startsWith('../') || name === '..' || !ignore.isPathValid(name)) return false;
    return this.#rules.ignores(isFolder ? `${name}/` : name);
  }
}

/** A path relative to a folder above it; `path.relative` takes its time, and a walk asks for every file. */
function below(base: string, path: string): string {
  return path.slice(base.endsWith(sep) ? base.length : base.length + 1);
}

function layer(base: string, text: string): Layer {
  return { base, rules: matcher().add(text) };
}

function matcher(): Ignore {
  return ignore({ ignorecase: process.platform === 'win32' || process.platform === 'darwin' });
}
