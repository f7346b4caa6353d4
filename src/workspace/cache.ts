import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, Note, Skipped, SourceFile } from '../engine/outcome.js';
import type { Relied } from '../semantic/surroundings.js';
import { type Lead, Memories, writeMemories } from './cache-file.js';
import type { Candidate } from './discover.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import type { Walked, WalkMemory } from './ground.js';
import { isSettled, type Stamp } from './read.js';
import { type State, shortHash, trackedIn } from './state.js';

/** What a scan found in a file, without the file. */
export interface Findings {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  readonly notes: readonly Note[];
}

export type Lesson =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'skipped'; readonly skipped: Omit<Skipped, 'path'> }
  | { readonly kind: 'scan'; readonly scan: Findings };

/** What is remembered of one file, under the name it is reported by: some transforms look at names. */
export interface Memory {
  readonly stamp: Stamp;
  /** Undefined where a look at the bytes is as fast as hashing them. */
  readonly hash: string | undefined;
  /** Named by the user, who hears more than a walk would say. */
  readonly explicit: boolean;
  readonly lesson: Lesson;
  /** What of the project the lesson depends on; undefined where it depends on nothing. */
  readonly relied: Relied | undefined;
}

/** Different settings have a file each; these many are kept. */
const KEPT_FILES = 8;
const KEPT_WALKS = 4;
const DRAFT_LIFE = 60 * 60 * 1000;

/** The folder of caches. */
export interface CachePlace {
  readonly folder: string;
  /** Why what is in it must not be used; undefined also where there is nothing yet. */
  readonly objection: string | undefined;
  /** Makes the folder. */
  open(): void;
}

/** Where caches are unless the user says otherwise. */
export function usualPlace(state: State): CachePlace {
  const folder = join(state.folder, 'cache');
  const open = () => {
    state.open();
    makeFolder(folder, 0o700);
  };
  return { folder, objection: state.objection, open };
}

/** A folder of the user's choice: results in it are as good as the user says, but not where a repository brings its own. */
export function namedPlace(folder: string): CachePlace {
  const open = () => {
    makeFolder(folder, 0o777);
    hideFromGit(folder);
  };
  return { folder, objection: existsSync(folder) ? trackedIn(folder) : undefined, open };
}

/**
 * The results of earlier runs with the same memfix and the same settings. One file, replaced in one step: runs at the
 * same time may forget each other's news, never spoil it. Whatever cannot be read as a whole counts for nothing.
 */
export class Cache implements WalkMemory {
  readonly #file: string;
  readonly #facts: string;
  readonly #known: Memories;
  readonly #version: string;
  readonly #news = new Map<string, Memory>();
  readonly #walks = new Map<string, Walked>();

  /** `facts`: everything that results depend on besides the files themselves. */
  constructor(
    private readonly place: CachePlace,
    facts: unknown,
    /** What the results of a file depend on besides; undefined where that is nothing. */
    private readonly factsFor: (path: string) => string | undefined = () => undefined,
  ) {
    this.#facts = JSON.stringify(facts);
    this.#file = join(place.folder, `${shortHash(this.#facts)}.cache`);
    this.#version = versionOf(this.#file);
    this.#known = Memories.in(this.#file, this.#facts);
  }

  recall(path: string, explicit: boolean): Memory | undefined {
    const memory = this.#known.of(this.#nameOf(path));
    return memory?.explicit === explicit ? memory : undefined;
  }

  /** Whether an earlier run saw this file as it is now, and found nothing that could depend on others. */
  hasNothing({ path, explicit }: Candidate, stamp: Stamp | undefined): boolean {
    return !explicit && stamp !== undefined && this.#known.hasNothing(this.#nameOf(path), stamp);
  }

  /** What this run knows of a file, whether it was found out now or earlier. */
  latest(path: string): Memory | undefined {
    const name = this.#nameOf(path);
    return this.#news.get(name) ?? this.#known.of(name);
  }

  /** A file that has rules of its own is remembered under these, so that others are not taken for them. */
  #nameOf(path: string): string {
    const own = this.factsFor(path);
    return own === undefined ? path : `${path}\n${own}`;
  }

  /** All that an earlier run knew about a folder. */
  lead(folder: string): Lead | undefined {
    return this.#known.lead(folder);
  }

  recallWalk(folder: string): Walked | undefined {
    return this.#known.walks.get(folder);
  }

  rememberWalk(folder: string, walked: Walked): void {
    this.#walks.set(folder, walked);
  }

  remember(path: string, memory: Memory, readAt: number): void {
    const [, , size, inode] = memory.stamp;
    const stamp: Stamp = isSettled(memory.stamp, readAt) ? memory.stamp : [0, 0, size, inode];
    this.#news.set(this.#nameOf(path), { ...memory, stamp });
  }

  /** Keeps what this run learnt; `all`: the run saw everything there is, so the rest is gone. Says why it could not. */
  save(all: { has(path: string): boolean } | undefined): string | undefined {
    const isThere = (name: string) => {
      const [path = ''] = name.split('\n');
      return all?.has(path) !== false && this.#nameOf(path) === name;
    };
    const gone = all === undefined ? [] : this.#known.paths.filter((name) => !isThere(name));
    if (this.#news.size + this.#walks.size + gone.length === 0) return undefined;
    try {
      this.place.open();
      const isAlone = versionOf(this.#file) === this.#version;
      const base = isAlone ? this.#known : Memories.in(this.#file, this.#facts);
      const merged = new Map([...base, ...this.#news]);
      for (const path of gone) merged.delete(path);
      // What is new may depend on more than was looked at for other walks.
      const own = isAlone ? [...this.#walks] : [...this.#walks].map(withoutBeyond);
      const earlier = this.#news.size === 0 ? [...base.walks] : [...base.walks].map(withoutBeyond);
      const walks = [...own, ...earlier].slice(0, KEPT_WALKS);
      writeMemories(this.#file, this.#facts, merged, new Map(walks.reverse()));
      prune(this.place.folder);
      return undefined;
    } catch (error) {
      return error instanceof Failure ? error.detail : reasonOf(error);
    }
  }
}

function withoutBeyond([folder, { beyond: _, ...walked }]: readonly [string, Walked]) {
  return [folder, walked] as const;
}

export function withFile(scan: Findings, file: SourceFile) {
  return { kind: 'scan', file, ...scan } as const;
}

function makeFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true, mode });
  if (!lstatSync(folder).isDirectory()) throw Object.assign(new Error(folder), { code: 'ENOTDIR' });
}

/** A file of rules that a full disk left empty is written again. */
function hideFromGit(folder: string): void {
  const rules = join(folder, '.gitignore');
  const stats = lstatSync(rules, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isFile() && stats.size === 0)) writeFileSync(rules, '*\n');
}

function versionOf(file: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(file);
    return [ino, mtimeMs, size].join();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return '';
  }
}

function prune(folder: string): void {
  const aged = readdirSync(folder)
    .filter((name) => /\.(?:cache|tmp)$/.test(name))
    .map((name) => ({ name, time: timeOf(join(folder, name)) }))
    .sort((a, b) => b.time - a.time);
  const caches = aged.filter(({ name }) => name.endsWith('.cache')).slice(KEPT_FILES);
  const drafts = aged.filter(({ name, time }) => name.endsWith('.tmp') && time < Date.now() - DRAFT_LIFE);
  for (const { name } of [...caches, ...drafts]) rmSync(join(folder, name), { force: true });
}

/** Another run may have pruned it meanwhile. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
