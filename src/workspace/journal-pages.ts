import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { regularBytes } from './bounded.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import type { State } from './state.js';
import { isDraftName } from './write.js';

export const VERSION = 3;
/** A page holds the old and the new bytes of all files of one apply. */
const LARGEST_PAGE = 2 * 1024 ** 3;
const LAST_NUMBER = 999_999_999;
/** A mark that is older says nothing about a process that runs: process numbers are given again. */
const MARK_LIFE = 60 * 60 * 1000;

/** One file of an apply. */
export interface Entry {
  /** Relative to the root that the journal belongs to, with forward slashes. */
  readonly path: string;
  readonly before: Buffer;
  readonly after: Buffer;
  /** Under this name, in the same folder, the new bytes were written first; absent where the file itself was overwritten. */
  readonly draft?: string;
  /** There was no such file before. */
  readonly isNew?: true;
  /** The file, by its path, that it was changed with: both go back together. */
  readonly with?: string;
}

/** What an apply put into the git index in place of something else. */
export interface IndexStep {
  readonly path: string;
  /** Names of objects in the repository; `null`: the file was not in the index. */
  readonly before: { readonly mode: string; readonly id: string } | null;
  readonly after: { readonly mode: string; readonly id: string };
}

/** The pages of a project's undo journal: one for each apply, by number. */
export class Pages {
  readonly folder: string;

  constructor(state: State) {
    this.folder = join(state.folder, 'journal');
  }

  /** In the order in which they were written. */
  get numbers(): readonly number[] {
    return this.#numbers(/^(\d{1,9})\.jsonl$/);
  }

  /** Of pages that somebody writes by, or did when it was killed. */
  get marked(): readonly number[] {
    return this.#numbers(/^(\d{1,9})\.open$/);
  }

  get next(): number {
    const next = 1 + (this.numbers.at(-1) ?? 0);
    if (next <= LAST_NUMBER) return next;
    throw new Failure(
      'The undo journal is full',
      `${this.file(LAST_NUMBER)} has the last number there is`,
      `Delete the folder ${this.folder}. Nothing was written.`,
    );
  }

  file(number: number): string {
    return join(this.folder, `${String(number).padStart(6, '0')}.jsonl`);
  }

  /** Says that the files of a page are being written, so that whoever comes after a kill cleans up. */
  mark(number: number): void {
    writeFileSync(this.#mark(number), JSON.stringify({ pid: process.pid, host: hostname() }), {
      mode: 0o600,
    });
  }

  unmark(number: number): void {
    removeIfPossible(this.#mark(number));
  }

  remove(number: number): void {
    removeIfPossible(this.file(number));
    this.unmark(number);
  }

  /** Whether the process that made the mark is gone, as far as can be seen from here. */
  isAbandoned(number: number): boolean {
    const file = this.#mark(number);
    const marked = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Math.abs(Date.now() - marked) > MARK_LIFE) return true;
    const mark = markIn(file);
    return mark?.host === hostname() && !isRunning(mark.pid);
  }

  /** Empty where a kill left no whole line. */
  read(number: number): readonly Entry[] {
    const file = this.file(number);
    const values = this.#values(file).filter((value) => !isIndexLine(value));
    return values.map((value) => entryOf(value) ?? fail(damaged(file)));
  }

  /** What the apply put into the index. */
  indexSteps(number: number): readonly IndexStep[] {
    const file = this.file(number);
    const values = this.#values(file).filter(isIndexLine);
    return values.map((value) => indexStepOf(value) ?? fail(damaged(file)));
  }

  /** Takes the lines about some files out of a page: they have been taken back. */
  cut(number: number, paths: ReadonlySet<string>): void {
    const file = this.file(number);
    const [header, ...lines] = linesIn(this.#bytes(file));
    const left = lines.filter(
      (line) => !paths.has(String((parsed(line) as { path?: unknown } | null)?.path)),
    );
    if (header === undefined || left.length === 0) {
      this.remove(number);
      return;
    }
    const fresh = `${file}.new`;
    const newline = Buffer.from('\n');
    writeFileSync(fresh, Buffer.concat([header, ...left].flatMap((line) => [line, newline])), {
      mode: 0o600,
    });
    renameSync(fresh, file);
    this.unmark(number);
  }

  /** The lines of a page, parsed, without the first. */
  #values(file: string): readonly unknown[] {
    const [header, ...values] = linesIn(this.#bytes(file)).map(parsed);
    if (header === undefined) return [];
    const version = (header as { version?: unknown } | null)?.version;
    if (version !== VERSION) throw damaged(file);
    return values;
  }

  #bytes(file: string): Buffer {
    try {
      return regularBytes(file, LARGEST_PAGE);
    } catch (error) {
      throw unreadable(file, reasonOf(error));
    }
  }

  #mark(number: number): string {
    return join(this.folder, `${String(number).padStart(6, '0')}.open`);
  }

  #numbers(name: RegExp): readonly number[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder)
      .flatMap((each) => name.exec(each)?.[1] ?? [])
      .filter((digits) => digits === String(Number(digits)).padStart(6, '0'))
      .map(Number)
      .sort((a, b) => a - b);
  }
}

/** A mark that stays makes the next run look again, and a page that stays has nothing left to restore. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

/** One line of a page. */
export function lineOf({ path, before, after, draft, isNew, with: main }: Entry): Buffer {
  const line = { path, draft, before: before.toString('base64'), after: after.toString('base64') };
  const whole = { ...line, ...(isNew && { isNew }), ...(main !== undefined && { with: main }) };
  return Buffer.from(`${JSON.stringify({ ...whole, digest: digestOf(whole) })}\n`);
}

/** Another one, about the index. */
export function indexLineOf({ path, before, after }: IndexStep): Buffer {
  const index = { before, after };
  return Buffer.from(`${JSON.stringify({ path, index, digest: indexDigest(path, index) })}\n`);
}

/** A damaged disk must not bring back bytes that nobody wrote. */
function digestOf(line: Readonly<Record<string, unknown>>): string {
  const { path, draft, before, after, isNew, with: main } = line;
  const more = isNew === undefined && main === undefined ? [] : [isNew ?? null, main ?? null];
  return createHash('sha256')
    .update(JSON.stringify([path, draft ?? null, before, after, ...more]))
    .digest('base64');
}

function indexDigest(path: unknown, index: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([path, index]))
    .digest('base64');
}

function isIndexLine(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'index' in value;
}

function indexStepOf(value: unknown): IndexStep | undefined {
  const { path, index, digest } = value as Readonly<Record<string, unknown>>;
  if (typeof path !== 'string' || digest !== indexDigest(path, index)) return undefined;
  const { before, after } = (index ?? {}) as Readonly<Record<string, unknown>>;
  const [old, now] = [blobOf(before), blobOf(after)];
  if (now === undefined || (old === undefined && before !== null)) return undefined;
  return { path, before: old ?? null, after: now };
}

function blobOf(value: unknown): { readonly mode: string; readonly id: string } | undefined {
  const { mode, id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof mode !== 'string' || !/^\d{6}$/.test(mode)) return undefined;
  return typeof id === 'string' && /^[0-9a-f]{40,64}$/.test(id) ? { mode, id } : undefined;
}

/** A kill in the middle of a line leaves it without its newline; the file it is about was not touched. */
function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; ; ) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) return lines;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return null;
  }
}

function entryOf(value: unknown): Entry | undefined {
  const line = (value ?? {}) as Readonly<Record<string, unknown>>;
  const { path, before, after, draft, digest, isNew, with: main } = line;
  if (typeof path !== 'string' || typeof before !== 'string' || typeof after !== 'string') return undefined;
  if (digest !== digestOf(line)) return undefined;
  if (![undefined, true].includes(isNew as true) || !['undefined', 'string'].includes(typeof main))
    return undefined;
  if (draft !== undefined && !(typeof draft === 'string' && isDraftName(draft))) return undefined;
  const bytes = { before: Buffer.from(before, 'base64'), after: Buffer.from(after, 'base64') };
  return {
    ...{ path, ...bytes, ...(draft !== undefined && { draft }) },
    ...(isNew === true && { isNew }),
    ...(typeof main === 'string' && { with: main }),
  };
}

function markIn(file: string): { readonly pid: number; readonly host: string } | undefined {
  try {
    const mark = parsed(regularBytes(file, 4096)) as { pid?: unknown; host?: unknown } | null;
    const { pid, host } = mark ?? {};
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** A mark with our own number is of an earlier process: this one cleans up before it makes any. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

function damaged(file: string): Failure {
  return unreadable(file, 'it was not written by this version of memfix, or is damaged');
}

function unreadable(file: string, reason: string): Failure {
  return new Failure(
    'The undo journal cannot be read',
    `${file}: ${reason}`,
    'Use git to take the changes back, and delete that file.',
  );
}

function fail(error: Error): never {
  throw error;
}
