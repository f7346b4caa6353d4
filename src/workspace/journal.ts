import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { bytesOf } from './bounded.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import { isInside, slashed } from './places.js';
import { replaceBytes, syncFolder, type Written, writeAll } from './write.js';

/** How many applies can be taken back. */
const KEPT = 50;
const VERSION = 1;

interface Entry {
  /** Relative to the root that the journal belongs to. */
  readonly path: string;
  /** SHA-256 of the bytes that memfix wrote. */
  readonly after: string;
  /** The bytes there were, base64. */
  readonly before: string;
}

/** memfix's own folder in a project; git is told to look away. */
export function stateFolder(root: string): string {
  const folder = join(root, '.memfix');
  mkdirSync(folder, { recursive: true });
  const rules = join(folder, '.gitignore');
  if (!existsSync(rules)) writeFileSync(rules, '*\n');
  return folder;
}

/** What one apply overwrites below one root. Each line is on disk before the file that it can bring back is touched. */
export class Journal {
  #page: { readonly descriptor: number; length: number } | undefined;

  constructor(readonly root: string) {}

  record(path: string, before: Uint8Array, after: Uint8Array): Written {
    try {
      this.#page ??= this.#newPage();
      const entry: Entry = {
        path: slashed(relative(this.root, path)),
        after: digest(after),
        before: Buffer.from(before).toString('base64'),
      };
      this.#append(this.#page, entry);
      return { ok: true };
    } catch (error) {
      return { ok: false, reason: `the undo journal could not be written: ${reasonOf(error)}` };
    }
  }

  close(): void {
    if (this.#page !== undefined) closeSync(this.#page.descriptor);
    this.#page = undefined;
  }

  #newPage(): { descriptor: number; length: number } {
    const folder = pagesFolder(stateFolder(this.root));
    mkdirSync(folder, { recursive: true });
    const pages = pageNames(folder);
    for (const old of pages.slice(0, Math.max(0, pages.length - KEPT + 1))) rmSync(join(folder, old));
    for (let number = 1 + Number.parseInt(pages.at(-1) ?? '0', 10); ; number++) {
      const path = join(folder, `${String(number).padStart(6, '0')}.jsonl`);
      // Another memfix may be writing here too; each apply has a page of its own.
      if (existsSync(path)) continue;
      const page = { descriptor: openSync(path, 'wx', 0o600), length: 0 };
      this.#append(page, { version: VERSION });
      syncFolder(folder);
      return page;
    }
  }

  /** The whole line or nothing of it: a torn line would spoil the next. */
  #append(page: { readonly descriptor: number; length: number }, line: object): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      writeAll(page.descriptor, bytes, page.length);
      fsyncSync(page.descriptor);
      page.length += bytes.length;
    } catch (error) {
      ftruncateSync(page.descriptor, page.length);
      throw error;
    }
  }
}

export interface Undone {
  readonly restored: readonly string[];
  /** Files that were left as they are, and why. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** Takes back the last apply that still has an effect; undefined when there is none. */
export function undoLast(root: string): Undone | undefined {
  const folder = pagesFolder(join(root, '.memfix'));
  for (const name of pageNames(folder).reverse()) {
    const page = join(folder, name);
    const undone = takeBack(root, readPage(page));
    if (!undone.tryAgain) rmSync(page);
    if (undone.restored.length + undone.left.length > 0) return undone;
  }
  return undefined;
}

function takeBack(root: string, entries: readonly Entry[]): Undone & { readonly tryAgain: boolean } {
  const restored = new Set<string>();
  const left: { path: string; reason: string }[] = [];
  let tryAgain = false;
  // Last written, first taken back: a file that one session wrote twice ends as it began.
  for (const entry of [...entries].reverse()) {
    const path = resolve(root, entry.path);
    const answer = restore(root, path, entry);
    if (answer === 'untouched') continue;
    if (answer === 'restored') restored.add(path);
    else {
      left.push({ path, reason: answer.reason });
      tryAgain ||= answer.tryAgain;
    }
  }
  return { restored: [...restored], left, tryAgain };
}

type Restored = 'restored' | 'untouched' | { readonly reason: string; readonly tryAgain: boolean };

function restore(root: string, path: string, entry: Entry): Restored {
  if (!isInside(path, root)) return { reason: `it lies outside ${root}`, tryAgain: false };
  const before = Buffer.from(entry.before, 'base64');
  let current: Buffer;
  try {
    current = bytesOf(path);
  } catch (error) {
    return { reason: reasonOf(error), tryAgain: codeOf(error) !== 'ENOENT' };
  }
  // memfix was stopped after the journal and before the file, or someone else already put it back.
  if (Buffer.compare(current, before) === 0) return 'untouched';
  if (digest(current) !== entry.after) return { reason: 'it changed after memfix wrote it', tryAgain: false };
  const written = replaceBytes(path, current, before);
  return written.ok ? 'restored' : { reason: written.reason, tryAgain: true };
}

function readPage(path: string): readonly Entry[] {
  const [header, ...lines] = bytesOf(path).toString('utf8').split('\n');
  if (header === undefined || header === '') return [];
  const damaged = new Failure(
    'The undo journal cannot be read',
    `${path} was not written by this version of memfix, or is damaged`,
    'Use git to take the changes back, and delete that file.',
  );
  // A kill in the middle of a line leaves it without its newline; the file it speaks of was not touched.
  const whole = lines.slice(0, -1);
  try {
    const { version } = JSON.parse(header) as { version?: unknown };
    if (version !== VERSION) throw damaged;
    return whole.map((line) => {
      const entry: unknown = JSON.parse(line);
      if (!isEntry(entry)) throw damaged;
      return entry;
    });
  } catch {
    throw damaged;
  }
}

function isEntry(value: unknown): value is Entry {
  const entry = value as Partial<Record<keyof Entry, unknown>> | null;
  return [entry?.path, entry?.after, entry?.before].every((part) => typeof part === 'string');
}

function pagesFolder(state: string): string {
  return join(state, 'journal');
}

function pageNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d+\.jsonl$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
