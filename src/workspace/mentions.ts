import { createHash } from 'node:crypto';
import { basename, join, relative, resolve } from 'node:path';
import { type Mention, questionFor } from '../semantic/surroundings.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { hashOf, isPhrase } from '../text/words.js';
import type { Candidate, Discovery } from './discover.js';
import type { Folders } from './folders.js';
import type { Ground } from './ground.js';
import { Islands } from './islands.js';
import { slashed } from './places.js';
import { isSettled } from './read.js';

/** Files and folders beyond which a project is not searched. */
const MOST = 20_000;

/** Files beyond which a part of a project is not searched: there, each question leads to very many. */
const MOST_IN_PART = 2_500;

/** Which files below a folder mention a word. Nothing is read before the first question, and no text is kept. */
export class Mentions {
  readonly #known = new Map<string, readonly Candidate[]>();
  /** Paths from the folder: each search asks for those of all files. */
  readonly #paths = new Map<string, string>();
  #stamp: string | undefined;
  #islands: Islands | undefined;

  constructor(
    private readonly folder: string,
    private readonly cwd: string,
    private readonly ground: Ground,
    private readonly folders: Folders,
  ) {}

  /** The part of the project that may run in one program with a file; undefined where that is all of it. */
  partAround(path: string): string | undefined {
    return this.#parts.partOf(this.#within(path));
  }

  /** Whether the part around a file is too large to be searched: then nothing is read. */
  isTooLargeAround(path: string): boolean {
    return this.#isTooLarge || this.#parts.leastAround(this.#within(path)) > MOST_IN_PART;
  }

  /**
   * Those of a part that mention it; undefined where the part is too large to look. A file without any of the texts that it
   * needs may be among them, unless all of those are phrases.
   */
  of(mention: Mention, part: string | undefined): readonly Candidate[] | undefined {
    if (this.#parts.sizeOf(part) > MOST_IN_PART) return undefined;
    const question = `${part ?? ''} ${questionFor(mention)}`;
    const known = this.#known.get(question) ?? this.#search(mention, part);
    this.#known.set(question, known);
    return known;
  }

  #search({ word, beside, needs = [] }: Mention, part: string | undefined): readonly Candidate[] {
    const hash = hashOf(word);
    const others = beside.map(hashOf);
    const phrases = needs.every(isPhrase) ? needs.map(hashOf) : [];
    const found: Candidate[] = [];
    for (const [candidate, signature] of this.#parts.words) {
      const has = (each: number): boolean => signature.mayHave(each);
      if (!has(hash) || !isOneOf(others, has)) continue;
      if (!isOneOf(phrases, has) && !isPackage(candidate)) continue;
      if (part === undefined || this.#parts.partOf(this.#within(candidate.path)) === part)
        found.push(candidate);
    }
    return found;
  }

  get #parts(): Islands {
    this.#islands ??= new Islands(
      [...this.#walk.candidates, ...this.#walk.ignored]
        .filter(({ path }) => !isNotebookName(path))
        .map((candidate) => ({ path: this.#within(candidate.path), candidate })),
      (folder) => this.folders.names(join(this.folder, folder)),
      () => this.ground.reader(),
    );
    return this.#islands;
  }

  #within(path: string): string {
    let known = this.#paths.get(path);
    if (known === undefined) {
      known = slashed(relative(this.folder, resolve(this.cwd, path)));
      this.#paths.set(path, known);
    }
    return known;
  }

  /** The same where all files are as they were, and notebooks where they were; empty where their times do not tell. */
  get stamp(): string {
    this.#stamp ??= stampOf(
      this.#walk,
      `${this.#isTooLarge || this.#parts.notebooks.join('\0')}`,
      this.ground,
    );
    return this.#stamp;
  }

  /** What git ignores, or the configuration leaves out of a check, still calls. */
  get #walk(): Discovery {
    return this.ground.walk(this.folder, MOST);
  }

  get #isTooLarge(): boolean {
    const { candidates, folders, isCut } = this.#walk;
    return isCut || candidates.length + folders > MOST;
  }
}

/** It may only pass a word on. */
export function isPackage({ target }: Candidate): boolean {
  return basename(target) === '__init__.py';
}

/** Of nothing, nothing is wanted. */
function isOneOf<T>(wanted: readonly T[], has: (each: T) => boolean): boolean {
  return wanted.length === 0 || wanted.some(has);
}

/** Stamps are taken once in a run, by whoever first needs them. */
function stampOf({ candidates: found, ignored }: Discovery, more: string, ground: Ground): string {
  const now = Date.now();
  const candidates = [...found, ...ignored];
  const stamps = new Float64Array(candidates.length * 4);
  for (let index = 0; index < candidates.length; index++) {
    const stamp = ground.stamp((candidates[index] as Candidate).target);
    if (stamp === undefined || !isSettled(stamp, now)) return '';
    stamps.set(stamp, index * 4);
  }
  const hash = createHash('sha1').update(more);
  hash.update(candidates.map(({ path }) => path).join('\0'));
  return hash.update(stamps).digest('base64');
}
