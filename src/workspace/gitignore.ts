import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { shortened } from '../text/resemblance.js';
import { commonGitFolder } from './git-folder.js';
import { isAllowed, mayBeAllowed, type Parts, type Pattern, patternIn } from './glob.js';
import { repositoryRoot, slashed, upward } from './places.js';

/** As git has it there. */
const IGNORES_CASE = process.platform === 'win32' || process.platform === 'darwin';

/** Characters of patterns that have to be compared one by one, with every path. People write a few hundred. */
const MOST_WILD = 64 * 1024;

/** By its place among the rules, the last one that is about something: about anything of a name, and about folders only. */
interface Last {
  any: number;
  folder: number;
}

interface Wild {
  readonly index: number;
  readonly isForFolders: boolean;
  readonly parts: Parts;
}

/**
 * The rules of one file. Names and paths without wildcards are looked up, and so are `*.ending`s, so that a file may have
 * any number of these.
 */
export class Rules {
  readonly #isNegated: boolean[] = [];
  readonly #names = new Map<string, Last>();
  readonly #paths = new Map<string, Last>();
  readonly #endings = new Map<string, Last>();
  /** Of endings, by the code of their last character. */
  readonly #lengths = new Map<number, Set<number>>();
  readonly #wild: Wild[] = [];
  /** Why the rules cannot be used, as the end of a sentence. */
  readonly problem: string | undefined;

  constructor(lines: readonly string[]) {
    let wild = 0;
    for (const line of lines) {
      const pattern = patternIn(IGNORES_CASE ? line.toLowerCase() : line);
      if (pattern === undefined) continue;
      this.#add(pattern, this.#isNegated.push(pattern.isNegated) - 1);
      if (pattern.about.kind === 'wild') wild += line.length;
      if (wild > MOST_WILD) {
        this.problem = `it has more than ${MOST_WILD / 1024} KB of patterns with wildcards`;
        return;
      }
    }
  }

  #add({ about, isForFolders }: Pattern, index: number): void {
    if (about.kind === 'wild') {
      this.#wild.push({ index, isForFolders, parts: about.parts });
      return;
    }
    if (about.kind === 'ending') {
      const code = about.text.charCodeAt(about.text.length - 1);
      this.#lengths.set(code, (this.#lengths.get(code) ?? new Set()).add(about.text.length));
    }
    const known = { name: this.#names, path: this.#paths, ending: this.#endings }[about.kind];
    const last = known.get(about.text) ?? { any: -1, folder: -1 };
    last[isForFolders ? 'folder' : 'any'] = index;
    known.set(about.text, last);
  }

  /**
   * What the last rule about a path says; undefined where there is none. The rules know the path from `from` on. Asked for
   * everything that a walk comes by, and mostly answered by a look at the name.
   */
  ignores(name: string, isFolder: boolean, path: string, from: number): boolean | undefined {
    const last = IGNORES_CASE ? name.toLowerCase() : name;
    let best = later(-1, this.#names.get(last), isFolder);
    const lengths = this.#lengths.get(last.charCodeAt(last.length - 1));
    if (lengths !== undefined)
      for (const length of lengths) best = later(best, this.#endings.get(last.slice(-length)), isFolder);
    if (this.#paths.size > 0) best = later(best, this.#paths.get(known(path, from)), isFolder);
    let parts: readonly string[] | undefined;
    for (let at = this.#wild.length - 1; at >= 0; at--) {
      const { index, isForFolders, parts: wanted } = this.#wild[at] as Wild;
      if (index < best) break;
      if ((isForFolders && !isFolder) || !mayBeAllowed(wanted, last)) continue;
      parts ??= known(path, from).split('/');
      if (isAllowed(wanted, parts)) best = index;
    }
    return best === -1 ? undefined : this.#isNegated[best] === false;
  }
}

function later(best: number, found: Last | undefined, isFolder: boolean): number {
  if (found === undefined) return best;
  return Math.max(best, found.any, isFolder ? found.folder : -1);
}

/** As rules spell it. */
function known(path: string, from: number): string {
  const relative = slashed(path.slice(from));
  return IGNORES_CASE ? relative.toLowerCase() : relative;
}

/** The rules of one file, in the folder that they are about. */
class Layer {
  /** Where the part of a path begins that lies below the folder. */
  readonly #from: number;

  constructor(
    base: string,
    private readonly rules: Rules,
  ) {
    this.#from = base.endsWith(sep) ? base.length : base.length + 1;
  }

  test(path: string, name: string, isFolder: boolean): boolean | undefined {
    return this.rules.ignores(name, isFolder, path, this.#from);
  }
}

function linesOf(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/);
}

/** Reads files of ignore rules; undefined where there is none that may be read. */
export interface RuleFiles {
  /** One in the work tree, which whoever wrote the repository may have made a link to anything. */
  ofProject(path: string): string | undefined;
  /** One in the git folder, which may be anywhere. */
  ofGit(path: string): string | undefined;
  /** Hears of a file whose rules cannot be used, and why. */
  refuses(path: string, reason: string): void;
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
    const rules = new IgnoreRules([], files);
    if (shared === undefined) return rules;
    const path = join(shared, 'info', 'exclude');
    return rules.#with(root, path, files.ofGit(path));
  }

  /** These rules and those of the folder's own `.gitignore`. */
  entering(folder: string): IgnoreRules {
    const path = join(folder, '.gitignore');
    return this.#with(folder, path, this.files.ofProject(path));
  }

  #with(folder: string, path: string, text: string | undefined): IgnoreRules {
    if (text === undefined) return this;
    const rules = new Rules(linesOf(text));
    if (rules.problem === undefined)
      return new IgnoreRules([new Layer(folder, rules), ...this.layers], this.files);
    this.files.refuses(path, rules.problem);
    return this;
  }

  /** Folders above were asked before, so a rule that is about them has nothing to add. */
  ignores(path: string, isFolder: boolean, name = basename(path)): boolean {
    for (const layer of this.layers) {
      const answer = layer.test(path, name, isFolder);
      if (answer !== undefined) return answer;
    }
    return false;
  }
}

/** Patterns of a config file, in gitignore's language, relative to the folder they were written in. */
export class PathPatterns {
  readonly #rules: Rules;

  constructor(
    private readonly base: string,
    /** As they were written. */
    readonly patterns: readonly string[],
  ) {
    // To gitignore `./x` means nothing; whoever writes it in a config means the `x` beside it.
    this.#rules = new Rules(patterns.map((pattern) => pattern.replace(/^(!?)\.\//, '$1/')));
  }

  /** Why the patterns cannot be used, as the end of a sentence. */
  get problem(): string | undefined {
    const [first = ''] = this.patterns;
    if (first.startsWith('!'))
      return `\`${shortened(first)}\` is an exception from nothing: it belongs after the pattern that it is an exception from`;
    return this.#rules.problem;
  }

  /** A path in a folder that is meant is meant, too, whatever else is said about it. */
  matches(path: string, isFolder = false): boolean {
    const name = slashed(relative(this.base, path));
    if (name === '' || name.startsWith('../') || name === '..' || isAbsolute(name)) return false;
    const parts = name.split('/');
    for (let end = 1; end <= parts.length; end++) {
      const at = parts.slice(0, end).join('/');
      const answer = this.#rules.ignores(parts[end - 1] ?? '', end < parts.length || isFolder, at, 0);
      if (answer === true) return true;
    }
    return false;
  }
}
