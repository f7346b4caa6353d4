import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { codeOf, reasonOf, Unreadable } from './failure.js';
import { isInside } from './places.js';

/**
 * The one way to the content of a file. A file is read only if it is a regular one, not larger than its kind may be, and,
 * where it is read on behalf of a project, inside that project by its real path. `test/support/house.ts` names the few
 * files that may open others by themselves.
 */

const MB = 1024 * 1024;
/** A source or a lock file. */
export const LARGEST_FILE = 20 * MB;
/** What people write by hand: requirements, ignore rules. */
export const LARGEST_SETTINGS = 4 * MB;
/** The same in TOML, whose parser takes a second for this. */
export const LARGEST_TOML = MB;
/** What memfix wrote itself, such as the record of a repository. */
const LARGEST_OWN = 256 * MB;

/** Opening a named pipe must not wait for a writer that never comes, and a terminal must not become ours. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** For a file of ours that is opened to be changed: no link is followed, and the other end of a pipe not waited for. */
export const CAREFULLY = NO_FOLLOW | (constants.O_NONBLOCK ?? 0);

export interface Bounds {
  /** Bytes. */
  readonly most: number;
  /** The real path of the folder that the file must be in. */
  readonly root?: string;
}

/** Bytes that hold until the same reader reads the next file, and what the system said about the file before. */
export interface Content {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** Reads files one after the other into the same memory. */
export class BoundedReader {
  /** Little at first: of many small projects, each has readers of its own. */
  #memory = Buffer.allocUnsafe(16 * 1024);

  /** Throws what the system says, or why the file is refused. */
  read(path: string, { most, root }: Bounds): Content {
    const descriptor =
      root === undefined
        ? openSync(path, OPEN_FLAGS)
        : openSync(realPathInside(path, root), OPEN_FLAGS | NO_FOLLOW);
    try {
      return this.readOpen(descriptor, most);
    } finally {
      closeSync(descriptor);
    }
  }

  /** The same of a file that is open, from where it is. */
  readOpen(descriptor: number, most: number): Content {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Unreadable(notAFile(stats));
    if (stats.size > most) throw new Unreadable(tooLarge(stats.size, most));
    return { bytes: this.#drain(descriptor, stats.size, most), stats };
  }

  /**
   * A file may grow while it is read, and `/proc` files claim to be empty: read until there is no more. Where there was room
   * for more than the file has, and no more came, there is none.
   */
  #drain(descriptor: number, expected: number, most: number): Buffer {
    this.#reserve(expected + 1, 0);
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, this.#memory, length, this.#memory.length - length, null);
      length += read;
      if (length > most) throw new Unreadable(tooLarge(length, most));
      if (read === 0 || length === expected) return this.#memory.subarray(0, length);
      if (length === this.#memory.length) this.#reserve(length * 2, length);
    }
  }

  #reserve(size: number, keep: number): void {
    if (this.#memory.length >= size) return;
    const larger = Buffer.allocUnsafe(Math.max(size, 2 * this.#memory.length));
    this.#memory.copy(larger, 0, 0, keep);
    this.#memory = larger;
  }
}

function realPathInside(path: string, root: string): string {
  const real = realpathSync.native(path);
  if (!isInside(real, root)) throw new Unreadable(LEADS_OUT);
  return real;
}

export const LEADS_OUT = 'it is a symlink out of the project';

/** All bytes of a file that memfix or the user named; throws what the system says, or why the file is refused. */
export function bytesOf(path: string, most = LARGEST_OWN): Buffer {
  return new BoundedReader().read(path, { most }).bytes;
}

/** A copy of them, or undefined where there is no such file or it cannot be read. */
export function bytesAt(path: string): Buffer | undefined {
  try {
    return Buffer.from(bytesOf(path));
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Those of what memfix keeps or is about to change, which is never a link. */
export function regularBytes(path: string, most: number): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(path, OPEN_FLAGS | NO_FOLLOW);
  } catch (error) {
    // What the system says about a link that is not to be followed, and about a socket.
    throw ['ELOOP', 'EMLINK', 'ENXIO'].includes(codeOf(error) ?? '') ? new Unreadable(NOT_REGULAR) : error;
  }
  try {
    return openBytes(descriptor, most);
  } finally {
    closeSync(descriptor);
  }
}

const NOT_REGULAR = 'it is not a regular file';

/** The same of a file that is open. */
export function openBytes(descriptor: number, most: number): Buffer {
  return new BoundedReader().readOpen(descriptor, most).bytes;
}

/** The text of a file of ours that may as well not be there, be a folder, or be closed to us. */
export function textOf(path: string, most = LARGEST_OWN): string | undefined {
  try {
    // To learn it from an error takes ten times as long.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    return bytesOf(path, most).toString('utf8');
  } catch (error) {
    reasonOf(error);
    return undefined;
  }
}

/**
 * The text of a file that belongs to a project and may as well not be there. One that is there and is not read is named to
 * `refused`, with the reason.
 */
export function settingsText(
  path: string,
  bounds: Bounds,
  refused: (reason: string) => void,
): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return undefined;
    // Some devices act when they are opened.
    if (!stats.isFile()) throw new Unreadable(notAFile(stats));
    return new BoundedReader().read(path, bounds).bytes.toString('utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') refused(reasonOf(error));
    return undefined;
  }
}

/** The first characters of a file; undefined where it cannot be read. */
export function startOf(path: string, length: number): string | undefined {
  const memory = Buffer.alloc(length);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    return memory.toString('latin1', 0, readSync(descriptor, memory, 0, length, 0));
  } catch (error) {
    reasonOf(error);
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

type Kind = Pick<Dirent, 'isDirectory' | 'isFIFO' | 'isSocket'>;

export function kindOf(entry: Kind): string {
  if (entry.isDirectory()) return 'a folder';
  if (entry.isFIFO()) return 'a named pipe';
  return entry.isSocket() ? 'a socket' : 'a device';
}

export function notAFile(entry: Kind): string {
  return `it is ${kindOf(entry)}, not a file`;
}

export function tooLarge(size: number, most: number): string {
  return `it is ${megabytes(size)}, over the limit of ${megabytes(most)}`;
}

export function megabytes(size: number): string {
  return `${(size / MB).toFixed(1).replace(/\.0$/, '')} MB`;
}
