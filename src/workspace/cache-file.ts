import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { regularBytes } from './bounded.js';
import type { Lesson, Memory } from './cache.js';
import { codeOf, Failure } from './failure.js';
import type { Walked } from './ground.js';
import type { Stamp } from './read.js';

const FORMAT = 'memfix cache 6';
const LARGEST = 1024 ** 3;

/** The first line of a cache file: what it is about, and how long the parts are that follow. */
interface Head {
  /** Everything that results depend on besides the files themselves. */
  readonly facts: string;
  readonly files: number;
  readonly lead?: LeadingWalk;
  /** Bytes of the stamps, of what they are of, of what there is to tell, and of the rest. */
  readonly sizes: readonly number[];
}

/** A walk whose files are the first in the cache; what it saw, and what was looked at beyond it, comes after all files. */
type LeadingWalk = Omit<Walked, 'files' | 'seen' | 'stamps' | 'beyond'> & {
  readonly folder: string;
  readonly files: number;
  readonly seen: number;
};

type Told = Pick<Memory, 'explicit' | 'lesson'>;

/** By the number of their file. */
type Numbered<T> = readonly (readonly [number, T])[];

/** What only runs need that find something changed. */
interface Rest {
  /** Of files that have one, else 0. */
  readonly hashes: readonly (string | 0)[];
  readonly relied: Numbered<Memory['relied']>;
  readonly walks: readonly (readonly [string, Walked])[];
}

/** A walk with all that is known of its files. */
export interface Lead extends LeadingWalk {
  /** Of files, and then of what else was looked at. */
  readonly names: readonly string[];
  /** Four doubles for each name. */
  readonly stamps: Float64Array;
  /** All names from this on are not of files of the cache. */
  readonly others: number;
  readonly lessons: ReadonlyMap<number, Lesson>;
}

const NOTHING: Told = { explicit: false, lesson: { kind: 'nothing' } };
const EMPTY: Head = { facts: '', files: 0, sizes: [] };
const REST: Rest = { hashes: [], relied: [], walks: [] };

/** What a cache file remembers, unpacked as it is asked for: most of it is not, where nothing has changed. */
export class Memories {
  readonly #parts: readonly Buffer[];
  readonly #names: () => readonly string[];
  readonly #stamps: () => Float64Array;
  readonly #told: () => ReadonlyMap<number, Told>;
  readonly #rest: () => Rest;
  readonly #relied: () => ReadonlyMap<number, Memory['relied']>;
  readonly #numbers: () => ReadonlyMap<string, number>;
  readonly #walks: () => ReadonlyMap<string, Walked>;
  readonly #lessons: () => ReadonlyMap<number, Lesson>;

  private constructor(
    private readonly file: string,
    private readonly head: Head,
    body: Buffer,
  ) {
    let end = 0;
    this.#parts = head.sizes.map((size) => {
      end += size;
      return body.subarray(end - size, end);
    });
    this.#stamps = once(() => doublesIn(this.#part(0)));
    this.#names = once(() => this.#part(1).toString('utf8').split('\0'));
    this.#told = once(() => new Map(this.#json(2, isList<Numbered<Told>[number]>) ?? []));
    this.#lessons = once(() => new Map([...this.#told()].map(([number, { lesson }]) => [number, lesson])));
    this.#rest = once(() => this.#json(3, isRest) ?? REST);
    this.#relied = once(() => new Map(this.#rest().relied));
    this.#numbers = once(() => new Map(this.paths.map((path, number) => [path, number])));
    this.#walks = once(() => {
      const lead = head.lead && this.lead(head.lead.folder);
      return new Map([...this.#rest().walks, ...(lead ? [[lead.folder, walkOf(lead)] as const] : [])]);
    });
  }

  /** Whatever cannot be read as a whole, or is about something else, counts for nothing. */
  static in(file: string, facts: string): Memories {
    const bytes = wholeIn(file);
    if (bytes?.toString('latin1', 0, FORMAT.length) !== FORMAT) return new Memories(file, EMPTY, NO_BYTES);
    const end = bytes.indexOf(0x0a);
    const body = bytes.subarray(end + 1);
    const head = parsed(bytes.subarray(FORMAT.length, end)) as Head | null | undefined;
    return new Memories(file, head?.facts === facts && describes(head, body) ? head : EMPTY, body);
  }

  get paths(): readonly string[] {
    return this.head.files === 0 ? [] : this.#names().slice(0, this.head.files);
  }

  get walks(): ReadonlyMap<string, Walked> {
    return this.#walks();
  }

  /** The walk of a folder, where all of its files are remembered. */
  lead(folder: string): Lead | undefined {
    const { lead, files } = this.head;
    if (lead?.folder !== folder) return undefined;
    return {
      ...lead,
      names: this.#names(),
      stamps: this.#stamps(),
      others: files,
      lessons: this.#lessons(),
    };
  }

  /** Whether the file was as it is now, was passed over by itself, and there was nothing to tell. */
  hasNothing(path: string, stamp: Stamp): boolean {
    const number = this.#numbers().get(path);
    if (number === undefined || this.#told().has(number) || this.#relied().has(number)) return false;
    const stamps = this.#stamps();
    for (let at = 0; at < 4; at++) if (stamps[number * 4 + at] !== stamp[at]) return false;
    return true;
  }

  of(path: string): Memory | undefined {
    const number = this.#numbers().get(path);
    if (number === undefined) return undefined;
    return {
      ...(this.#told().get(number) ?? NOTHING),
      relied: this.#relied().get(number),
      hash: this.#rest().hashes[number] || undefined,
      stamp: stampIn(this.#stamps(), number),
    };
  }

  *[Symbol.iterator](): Generator<readonly [string, Memory]> {
    for (const path of this.paths) {
      const memory = this.of(path);
      if (memory !== undefined) yield [path, memory];
    }
  }

  #part(index: number): Buffer {
    return this.#parts[index] ?? NO_BYTES;
  }

  /** To go on without a part would be to forget findings. */
  #json<T>(index: number, is: (value: unknown) => value is T): T | undefined {
    const part = this.#part(index);
    if (part.length === 0) return undefined;
    const value = parsed(part);
    if (is(value)) return value;
    throw new Failure(
      'The cache cannot be read',
      `${this.file} was not written by memfix`,
      'Delete it, or add `--no-cache`.',
    );
  }
}

/** Undefined where it is no JSON. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isList<T>(value: unknown): value is readonly T[] {
  return Array.isArray(value);
}

function isRest(value: unknown): value is Rest {
  const { hashes, relied, walks } = (value ?? {}) as Partial<Record<keyof Rest, unknown>>;
  return [hashes, relied, walks].every(isList);
}

/** Whether a head is about a body of this length. */
function describes({ files, sizes }: Head, body: Buffer): boolean {
  const all: readonly unknown[] = Array.isArray(sizes) ? [files, ...sizes] : [undefined];
  if (!all.every((each) => Number.isSafeInteger(each) && Number(each) >= 0)) return false;
  return sizes.reduce((sum, size) => sum + size, 0) === body.length && (sizes[0] ?? 0) % 8 === 0;
}

const NO_BYTES = Buffer.alloc(0);

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function stampIn(stamps: Float64Array, number: number): Stamp {
  const at = number * 4;
  return [stamps[at] ?? 0, stamps[at + 1] ?? 0, stamps[at + 2] ?? 0, stamps[at + 3] ?? 0];
}

function walkOf({ place, root, shown, folders, ignored, files, seen, others, names, stamps }: Lead): Walked {
  const end = others + seen;
  const stampsOf = (from: number, to?: number) =>
    names.slice(from, to).map((_, index) => stampIn(stamps, from + index));
  return {
    ...{ place, root, shown, folders, ignored },
    files: names.slice(0, files).map((name) => name.slice(shown.length)),
    seen: names.slice(others, end),
    stamps: stampsOf(others, end),
    beyond: { seen: names.slice(end), stamps: stampsOf(end) },
  };
}

/** In one step: whoever reads meanwhile reads the old file or the new one. */
export function writeMemories(
  file: string,
  facts: string,
  memories: ReadonlyMap<string, Memory>,
  walks: ReadonlyMap<string, Walked>,
): void {
  const body = bodyOf(facts, memories, walks);
  const draft = join(dirname(file), `${process.pid}-${Date.now()}-${Math.random()}.tmp`);
  try {
    writeFileSync(draft, Buffer.concat([body, body]), { flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function bodyOf(
  facts: string,
  memories: ReadonlyMap<string, Memory>,
  walks: ReadonlyMap<string, Walked>,
): Buffer {
  const [folder, lead] = [...walks].reverse().find(([, walk]) => isLead(walk, memories)) ?? [];
  const first = lead?.files.map((name) => lead.shown + name) ?? [];
  const paths = [...new Set([...first, ...memories.keys()])];
  const all = paths.map((path) => memories.get(path) as Memory);
  const names = [...paths, ...(lead?.seen ?? []), ...(lead?.beyond?.seen ?? [])];
  const stamps = [...all.map(({ stamp }) => stamp), ...(lead?.stamps ?? []), ...(lead?.beyond?.stamps ?? [])];
  const told: Numbered<Told> = all.flatMap(({ explicit, lesson }, number) =>
    explicit || lesson.kind !== 'nothing' ? [[number, { explicit, lesson }] as const] : [],
  );
  const rest: Rest = {
    hashes: all.map(({ hash }) => hash ?? 0),
    relied: all.flatMap(({ relied }, number) => (relied === undefined ? [] : [[number, relied] as const])),
    walks: [...walks].filter(([each]) => each !== folder),
  };
  const parts = [
    Buffer.from(Float64Array.from(stamps.flat()).buffer),
    Buffer.from(names.join('\0')),
    Buffer.from(JSON.stringify(told)),
    Buffer.from(JSON.stringify(rest)),
  ];
  const head: Head = {
    facts,
    files: paths.length,
    ...(lead !== undefined && folder !== undefined && { lead: leadOf(folder, lead) }),
    sizes: parts.map(({ length }) => length),
  };
  return Buffer.concat([Buffer.from(`${FORMAT}${JSON.stringify(head)}\n`), ...parts]);
}

function leadOf(folder: string, walked: Walked): LeadingWalk {
  const { place, root, shown, folders, ignored, files, seen } = walked;
  return { folder, place, root, shown, folders, ignored, files: files.length, seen: seen.length };
}

/** All that depends on it is known, and every file of it is remembered as a walk finds it. */
function isLead({ shown, files, beyond }: Walked, memories: ReadonlyMap<string, Memory>): boolean {
  return beyond !== undefined && files.every((name) => memories.get(shown + name)?.explicit === false);
}

function doublesIn(bytes: Buffer): Float64Array {
  const doubles = new Float64Array(bytes.length / 8);
  bytes.copy(new Uint8Array(doubles.buffer));
  return doubles;
}

/** It is there twice, and both must be the same: comparing takes less than the fastest sum that Node has to load. */
function wholeIn(file: string): Buffer | undefined {
  let bytes: Buffer;
  try {
    bytes = regularBytes(file, LARGEST);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
  const half = bytes.subarray(0, bytes.length / 2);
  return half.equals(bytes.subarray(half.length)) ? half : undefined;
}
