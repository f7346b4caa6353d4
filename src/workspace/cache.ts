import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding, Skipped, SourceFile, SuppressionNote } from '../engine/outcome.js';
import type { Relied } from '../semantic/surroundings.js';
import { codeOf, reasonOf } from './failure.js';
import { textOf } from './places.js';
import { isSettled, type Stamp } from './read.js';

/** What a scan found in a file, without the file. */
export interface Findings {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  readonly notes: readonly SuppressionNote[];
}

export type Lesson =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'generated' }
  | { readonly kind: 'skipped'; readonly skipped: Omit<Skipped, 'path'> }
  | { readonly kind: 'scan'; readonly scan: Findings };

/** What is remembered of one file, under the name it is reported by: some transforms look at names. */
export interface Memory {
  readonly stamp: Stamp;
  /** Absent where a look at the bytes is as fast as hashing them. */
  readonly hash?: string;
  /** Named by the user, who hears more than a walk would say. */
  readonly explicit: boolean;
  readonly lesson: Lesson;
  /** What of the project the lesson depends on; absent where it depends on nothing. */
  readonly relied?: Relied;
}

const FORMAT = 'memfix cache 2';
/** Different settings have a file each; these many are kept. */
const KEPT_FILES = 8;
const DRAFT_LIFE = 60 * 60 * 1000;

/**
 * The results of earlier runs with the same memfix and the same settings. One file, replaced in one step: runs at the
 * same time may forget each other's news, never spoil it. Whatever cannot be read as a whole counts for nothing.
 */
export class Cache {
  readonly #file: string;
  readonly #known: Map<string, Memory>;
  readonly #version: string;
  readonly #news = new Map<string, Memory>();

  /** `facts`: everything that results depend on besides the files themselves. */
  constructor(
    private readonly folder: string,
    facts: unknown,
  ) {
    const name = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32);
    this.#file = join(folder, `${name}.cache`);
    this.#version = versionOf(this.#file);
    this.#known = read(this.#file);
  }

  recall(path: string, explicit: boolean): Memory | undefined {
    const memory = this.#known.get(path);
    return memory?.explicit === explicit ? memory : undefined;
  }

  remember(path: string, memory: Memory, readAt: number): void {
    const [, , size, inode] = memory.stamp;
    const stamp: Stamp = isSettled(memory.stamp, readAt) ? memory.stamp : [0, 0, size, inode];
    this.#news.set(path, { ...memory, stamp });
  }

  /** Keeps what this run learnt; `all`: the run saw everything there is, so the rest is gone. Says why it could not. */
  save(all: ReadonlySet<string> | undefined): string | undefined {
    const gone = all === undefined ? [] : [...this.#known.keys()].filter((path) => !all.has(path));
    if (this.#news.size + gone.length === 0) return undefined;
    try {
      openFolder(this.folder);
      const base = versionOf(this.#file) === this.#version ? this.#known : read(this.#file);
      const merged = new Map([...base, ...this.#news]);
      for (const path of gone) merged.delete(path);
      write(this.#file, merged);
      prune(this.folder);
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return a.every((part, index) => part === b[index]);
}

export function withFile(scan: Findings, file: SourceFile) {
  return { kind: 'scan', file, ...scan } as const;
}

/** memfix's own; git is told to look away. A link is someone's trick, or at least not ours. */
function openFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (!lstatSync(folder).isDirectory()) throw Object.assign(new Error(folder), { code: 'ENOTDIR' });
  const rules = join(folder, '.gitignore');
  if (!existsSync(rules)) writeFileSync(rules, '*\n');
}

function read(file: string): Map<string, Memory> {
  const text = textOf(file);
  const end = text?.indexOf('\n') ?? -1;
  if (text === undefined || end === -1) return new Map();
  const body = text.slice(end + 1);
  return text.slice(0, end) === headOf(body) ? new Map(JSON.parse(body) as [string, Memory][]) : new Map();
}

function write(file: string, memories: ReadonlyMap<string, Memory>): void {
  const body = JSON.stringify([...memories]);
  const draft = join(dirname(file), `${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(draft, `${headOf(body)}\n${body}`, { flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function headOf(body: string): string {
  return `${FORMAT} ${createHash('sha1').update(body).digest('hex')}`;
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
