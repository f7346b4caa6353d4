import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Memory } from './cache.js';
import { codeOf } from './failure.js';
import type { Walked } from './ground.js';
import type { Stamp } from './read.js';

const FORMAT = 'memfix cache 4';

/** As it lies on disk: in columns, for most files are many and have nothing to tell. */
interface Columns {
  readonly paths: readonly string[];
  /** Four doubles for each file, in base64. */
  readonly stamps: string;
  /** Of files that have one, else 0. */
  readonly hashes: readonly (string | 0)[];
  /** What there is to tell, by the number of its file. */
  readonly told: readonly (readonly [number, Told])[];
  readonly walks: readonly (readonly [string, PackedWalk])[];
}

type PackedWalk = Omit<Walked, 'files' | 'stamps' | 'beyond'> & {
  /** By its number where it is remembered under this name. */
  readonly files: readonly (number | string)[];
  readonly stamps: string;
  readonly beyond?: { readonly seen: readonly string[]; readonly stamps: string };
};

type Told = Omit<Memory, 'stamp' | 'hash'>;

const NOTHING: Told = { explicit: false, lesson: { kind: 'nothing' }, relied: undefined };

/** What a cache file remembers, unpacked as it is asked for. */
export class Memories {
  readonly #numbers = new Map<string, number>();
  readonly #stamps: Float64Array;
  readonly #hashes: readonly (string | 0)[];
  readonly #told: ReadonlyMap<number, Told>;
  readonly walks: ReadonlyMap<string, Walked>;

  private constructor({ paths, stamps, hashes, told, walks }: Columns) {
    for (let number = 0; number < paths.length; number++) this.#numbers.set(paths[number] as string, number);
    this.#stamps = doublesIn(stamps);
    this.#hashes = hashes;
    this.#told = new Map(told);
    this.walks = new Map(walks.map(([folder, walk]) => [folder, unpacked(walk, paths)]));
  }

  /** Whatever cannot be read as a whole counts for nothing. */
  static in(file: string): Memories {
    const bytes = bytesOf(file);
    const end = bytes?.indexOf(0x0a) ?? -1;
    if (bytes === undefined || end === -1) return new Memories(EMPTY);
    const body = bytes.subarray(end + 1);
    const isWhole = bytes.toString('latin1', 0, end) === headOf(body);
    return new Memories(isWhole ? (JSON.parse(body.toString('utf8')) as Columns) : EMPTY);
  }

  get paths(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  /** Whether the file was as it is now, was passed over by itself, and there was nothing to tell. */
  hasNothing(path: string, stamp: Stamp): boolean {
    const number = this.#numbers.get(path);
    if (number === undefined || this.#told.has(number)) return false;
    for (let at = 0; at < 4; at++) if (this.#stamps[number * 4 + at] !== stamp[at]) return false;
    return true;
  }

  of(path: string): Memory | undefined {
    const number = this.#numbers.get(path);
    if (number === undefined) return undefined;
    const { explicit, lesson, relied } = this.#told.get(number) ?? NOTHING;
    return {
      explicit,
      lesson,
      relied,
      hash: this.#hashes[number] || undefined,
      stamp: stampIn(this.#stamps, number),
    };
  }

  *[Symbol.iterator](): Generator<readonly [string, Memory]> {
    for (const path of this.#numbers.keys()) {
      const memory = this.of(path);
      if (memory !== undefined) yield [path, memory];
    }
  }
}

function stampIn(stamps: Float64Array, number: number): Stamp {
  const at = number * 4;
  return [stamps[at] ?? 0, stamps[at + 1] ?? 0, stamps[at + 2] ?? 0, stamps[at + 3] ?? 0];
}

function unpacked({ beyond, ...walk }: PackedWalk, paths: readonly string[]): Walked {
  return {
    ...walk,
    files: walk.files.map((file) => (typeof file === 'string' ? file : (paths[file] ?? ''))),
    stamps: stampsIn(walk.stamps),
    ...(beyond && { beyond: { ...beyond, stamps: stampsIn(beyond.stamps) } }),
  };
}

function packed({ beyond, ...walk }: Walked, numbers: ReadonlyMap<string, number>): PackedWalk {
  return {
    ...walk,
    files: walk.files.map((file) => numbers.get(file) ?? file),
    stamps: base64Of(walk.stamps),
    ...(beyond && { beyond: { ...beyond, stamps: base64Of(beyond.stamps) } }),
  };
}

function stampsIn(base64: string): readonly Stamp[] {
  const doubles = doublesIn(base64);
  return Array.from({ length: doubles.length / 4 }, (_, number) => stampIn(doubles, number));
}

/** In one step: whoever reads meanwhile reads the old file or the new one. */
export function writeMemories(
  file: string,
  memories: ReadonlyMap<string, Memory>,
  walks: ReadonlyMap<string, Walked>,
): void {
  const body = Buffer.from(JSON.stringify(columnsOf(memories, walks)));
  const draft = join(dirname(file), `${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(draft, Buffer.concat([Buffer.from(`${headOf(body)}\n`), body]), { flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

const EMPTY: Columns = { paths: [], stamps: '', hashes: [], told: [], walks: [] };

function columnsOf(memories: ReadonlyMap<string, Memory>, walks: ReadonlyMap<string, Walked>): Columns {
  const all = [...memories.values()];
  const paths = [...memories.keys()];
  const numbers = new Map(paths.map((path, number) => [path, number]));
  return {
    paths,
    stamps: base64Of(all.map(({ stamp }) => stamp)),
    hashes: all.map(({ hash }) => hash ?? 0),
    told: all.flatMap(({ stamp: _stamp, hash: _hash, ...told }, number) =>
      isNothing(told) ? [] : [[number, told] as const],
    ),
    walks: [...walks].map(([folder, walk]) => [folder, packed(walk, numbers)]),
  };
}

function isNothing({ explicit, lesson, relied }: Told): boolean {
  return !explicit && lesson.kind === 'nothing' && relied === undefined;
}

function base64Of(stamps: readonly Stamp[]): string {
  return Buffer.from(Float64Array.from(stamps.flat()).buffer).toString('base64');
}

function doublesIn(base64: string): Float64Array {
  const bytes = Buffer.from(base64, 'base64');
  const doubles = new Float64Array(bytes.length / 8);
  bytes.copy(new Uint8Array(doubles.buffer));
  return doubles;
}

function headOf(body: Uint8Array): string {
  return `${FORMAT} ${createHash('sha1').update(body).digest('hex')}`;
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
