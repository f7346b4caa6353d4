import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { type Discovery, discover } from './discover.js';
import { repositoryRoot, shownFrom, slashed } from './places.js';
import { isSettled, type Stamp, sameStamp, stampAt } from './read.js';

/** A walk that can be known again: as long as nothing that it looked at has changed, it would find the same files. */
export interface Walked {
  /** Where the folder really is, and the root of its repository. */
  readonly place: string;
  readonly root: string | undefined;
  /** The folders that were listed and the ignore files that were read or missed. */
  readonly seen: readonly string[];
  /** Of what was seen; where there was nothing, `ABSENT`. */
  readonly stamps: readonly Stamp[];
  readonly folders: number;
  /** Relative to the folder, with forward slashes. */
  readonly files: readonly string[];
}

/** What earlier runs know about walks. */
export interface WalkMemory {
  recallWalk(folder: string): Walked | undefined;
  rememberWalk(folder: string, walked: Walked): void;
}

const ABSENT: Stamp = [0, 0, 0, 0];

/** The disk as one run finds it: a folder is walked once, and a file's stamp taken once. */
export class Ground {
  readonly #walks = new Map<string, Discovery>();
  readonly #stamps = new Map<string, Stamp | undefined>();
  memory: WalkMemory | undefined;

  constructor(private readonly cwd: string) {}

  /** The Python files below a folder, whatever a configuration leaves out; `most`: where the walk may give up. */
  walk(folder: string, most = Infinity): Discovery {
    let known = this.#walks.get(folder);
    if (known === undefined || (known.isCut && most === Infinity)) {
      known = this.#remembered(folder) ?? this.#fresh(folder, most);
      this.#walks.set(folder, known);
    }
    return known;
  }

  stamp(target: string): Stamp | undefined {
    let stamp = this.#stamps.get(target);
    if (stamp === undefined) {
      stamp = stampAt(target);
      this.#stamps.set(target, stamp);
    }
    return stamp;
  }

  #remembered(folder: string): Discovery | undefined {
    const walked = this.memory?.recallWalk(folder);
    if (walked === undefined || !isAsItWas(folder, walked)) return undefined;
    const { place, files, folders } = walked;
    const shown = shownFrom(this.cwd, folder);
    const inShown = shown === '.' ? '' : `${shown.replace(/\/$/, '')}/`;
    const inPlace = place.endsWith(sep) ? place : place + sep;
    const candidates = files.map((file) => ({
      path: inShown + file,
      target: inPlace + (sep === '/' ? file : file.replaceAll('/', sep)),
      explicit: false,
    }));
    return { candidates, skipped: [], folders, isCut: false, isPlain: true };
  }

  #fresh(folder: string, most: number): Discovery {
    const began = Date.now();
    const seen: string[] = [];
    const stamps: Stamp[] = [];
    const sees = (path: string) => {
      seen.push(path);
      stamps.push(stampAt(path) ?? ABSENT);
    };
    const found = discover([folder], { cwd: this.cwd, most, sees, excludes: () => false });
    if (found.isPlain && !found.isCut && stamps.every((stamp) => isSettled(stamp, began))) {
      const place = realpathSync.native(folder);
      const from = place.endsWith(sep) ? place.length : place.length + 1;
      const files = found.candidates.map(({ target }) => slashed(target.slice(from)));
      const { folders } = found;
      this.memory?.rememberWalk(folder, {
        place,
        root: repositoryRoot(folder),
        seen,
        stamps,
        folders,
        files,
      });
    }
    return found;
  }
}

function isAsItWas(folder: string, { place, root, seen, stamps }: Walked): boolean {
  if (repositoryRoot(folder) !== root || realpathSync.native(folder) !== place) return false;
  return seen.every((path, index) => sameStamp(stampAt(path) ?? ABSENT, stamps[index] ?? ABSENT));
}
