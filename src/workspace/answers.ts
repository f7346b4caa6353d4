import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision } from '../engine/outcome.js';
import { encode, type SourceText } from '../text/decode.js';
import { regularBytes } from './bounded.js';
import { Failure, reasonOf } from './failure.js';
import type { State } from './state.js';

const LARGEST = 256 * 1024 * 1024;

/** A finding of a file. */
export interface Asked {
  readonly path: string;
  /** Of the bytes of the file in which it was seen. */
  readonly hash: string;
  /** Of a session, what was shown: the answer holds wherever that is still the same. */
  readonly key: string;
}

/** What was said to a finding (`null` takes it back); `isWritten`: it was carried out. */
interface Said {
  readonly decision: Decision | null;
  readonly isWritten?: true;
}

/** One line of the journal: what was said to a finding, or a text its editor left. */
export type Entry = Asked & (Said | { readonly draft: string });

/** What an earlier session said to a finding that is there, and whether it was carried out then. */
export interface Recalled {
  readonly decision: Decision;
  readonly isWritten: boolean;
}

/**
 * The answers of an interactive session, appended as they are given, so that a session that ended
 * anywhere can go on. Later lines win. A torn line, as a killed process leaves, counts for nothing.
 */
export class AnswerBook {
  readonly #file: string;
  readonly #earlier: ReadonlyMap<string, Entry>;
  /** What this session asks, by file. */
  readonly #here = new Map<string, { readonly hash: string; readonly names: Set<string> }>();
  #isOpen = false;

  constructor(
    private readonly state: State,
    private readonly resume: boolean,
  ) {
    this.#file = join(state.folder, 'answers.jsonl');
    this.#earlier = state.objection === undefined ? read(this.#file) : new Map();
  }

  /** What an earlier session left for a finding that this one asks about, whether it goes on with it or not. */
  recall(asked: Asked): Recalled | undefined {
    const here = this.#here.get(asked.path) ?? { hash: asked.hash, names: new Set() };
    this.#here.set(asked.path, here);
    here.names.add(asked.key);
    const entry = this.#earlier.get(nameOf(asked, 'decision'));
    if (entry === undefined || !('decision' in entry) || entry.decision === null) return undefined;
    return { decision: entry.decision, isWritten: entry.isWritten === true };
  }

  recallDraft(asked: Asked): string | undefined {
    const entry = this.resume ? this.#earlier.get(nameOf(asked, 'draft')) : undefined;
    return entry !== undefined && 'draft' in entry ? entry.draft : undefined;
  }

  /** An earlier session's answers are dropped only when a new session that does not resume them says something. */
  record(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    if (!this.#isOpen) this.#open();
    appendFileSync(this.#file, linesOf(entries));
  }

  /** What other sessions left about other findings stays. */
  remove(): void {
    const others = this.#others();
    if (others.length === 0) rmSync(this.#file, { force: true });
    else this.#rewrite(others);
  }

  #open(): void {
    this.state.open();
    this.#rewrite(this.resume ? [...this.#earlier.values()] : this.#others());
    this.#isOpen = true;
  }

  /** About files that this session does not ask about, or about other findings of a file that is as it was. */
  #others(): readonly Entry[] {
    return [...this.#earlier.values()].filter(({ path, hash, key }) => {
      const here = this.#here.get(path);
      return here === undefined || (here.hash === hash && !here.names.has(key));
    });
  }

  #rewrite(entries: readonly Entry[]): void {
    const fresh = `${this.#file}.new`;
    writeFileSync(fresh, linesOf(entries), { mode: 0o600 });
    renameSync(fresh, this.#file);
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function contentHash(source: SourceText, text = source.text): string {
  const bytes = encode(source, text);
  if (bytes === undefined) throw new RangeError(`the text cannot be written in ${source.encoding}`);
  return hashOf(bytes);
}

function linesOf(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

function read(file: string): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of textOf(file).split('\n')) {
    const entry = parse(line);
    if (entry === undefined) continue;
    const name = nameOf(entry, 'draft' in entry ? 'draft' : 'decision');
    if ('decision' in entry && entry.decision === null) entries.delete(name);
    else entries.set(name, entry);
  }
  return entries;
}

function textOf(file: string): string {
  try {
    return existsSync(file) ? regularBytes(file, LARGEST).toString('utf8') : '';
  } catch (error) {
    throw new Failure(
      'The answers of an earlier session cannot be read',
      `${file}: ${reasonOf(error)}`,
      'Make the file readable to go on with them, or delete it to start over.',
    );
  }
}

function nameOf(asked: Asked, what: 'decision' | 'draft'): string {
  return JSON.stringify([what, asked.path, asked.key]);
}

function parse(line: string): Entry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { path, hash, key, decision, isWritten, draft } = value;
  if (typeof path !== 'string' || typeof hash !== 'string' || typeof key !== 'string') return undefined;
  if (typeof draft === 'string') return { path, hash, key, draft };
  if (decision === null) return { path, hash, key, decision };
  const known = decisionOf(decision);
  if (known === undefined) return undefined;
  return { path, hash, key, decision: known, ...(isWritten === true && { isWritten }) };
}

function decisionOf(value: unknown): Decision | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, reason, text } = value;
  if (kind === 'apply' || kind === 'skip') return { kind };
  if (kind === 'suppress') return typeof reason === 'string' ? { kind, reason } : { kind };
  return kind === 'edited' && typeof text === 'string' ? { kind, text } : undefined;
}

function isRecord(
  value: unknown,
): value is Record<
  'path' | 'hash' | 'key' | 'decision' | 'isWritten' | 'draft' | 'kind' | 'reason' | 'text',
  unknown
> {
  return typeof value === 'object' && value !== null;
}
