import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import type { Skipped } from '../engine/outcome.js';
import { type Candidate, type Discovery, discover } from './discover.js';
import { repositoryRoot, shownFrom, slashed } from './places.js';
import { isSettled, Reader, type Stamp, sameStamp, stampAt } from './read.js';

/** A walk that can be known again: as long as nothing that it looked at has changed, it would find the same files. */
export interface Walked {
  /** Where the folder really is, and the root of its repository. */
  readonly place: string;
  readonly root: string | undefined;
  /** How the names of its files begin in reports. */
  readonly shown: string;
  /** The folders that were listed and the ignore files that were read or missed. */
  readonly seen: readonly string[];
  /** Of what was seen; where there was nothing, `ABSENT`. */
  readonly stamps: readonly Stamp[];
  readonly folders: number;
  /** Relative to the folder, with forward slashes. */
  readonly files: readonly string[];
  /** The same of those that git ignores. */
  readonly ignored: readonly string[];
  /** What else was looked at to find out about these files; absent where that is not known. */
  readonly beyond?: Beyond;
}

/** As long as these are as they were, and so are the files of the walk, all questions about the project have the same answers. */
export interface Beyond {
  readonly seen: readonly string[];
  readonly stamps: readonly Stamp[];
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
  readonly #walked = new Map<string, Walked>();
  /** What was looked at outside of walks. */
  readonly #seen = new Set<string>();
  readonly #began = Date.now();
  /** Files that are there and were not read, by path. */
  readonly #refused = new Map<string, Skipped>();
  memory: WalkMemory | undefined;

  /** `staged`: what counts as the bytes of some files. */
  constructor(
    private readonly cwd: string,
    private readonly staged?: ReadonlyMap<string, Uint8Array>,
  ) {}

  reader(): Reader {
    return new Reader(this.staged);
  }

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

  /** Called before something outside of walks is looked at. */
  sees(path: string): void {
    this.#seen.add(path);
    this.stamp(path);
  }

  /** A file that is not read, outside of walks: it is named to the user once, and the run goes on without it. */
  refuses(path: string, reason: string): void {
    this.refuse([{ kind: 'skipped', path: shownFrom(this.cwd, path), reason }]);
  }

  refuse(files: readonly Skipped[]): void {
    for (const file of files) this.#refused.set(file.path, file);
  }

  get refused(): readonly Skipped[] {
    return [...this.#refused.values()];
  }

  /** Whether all that was looked at for the files of this walk is as an earlier run left it, the files themselves aside. */
  isUndisturbed(folder: string): boolean {
    const beyond = this.#walked.get(folder)?.beyond;
    return beyond?.seen.every((path, index) => this.#isAs(path, beyond.stamps[index])) === true;
  }

  /** To be called where every question about the files of this walk has been answered: from now on they need not be asked. */
  settle(folder: string): void {
    // What was refused is to be named by the next run, too.
    if (this.#refused.size > 0) return;
    const walked = this.#walked.get(folder);
    const others = [...this.#walks.keys()].filter((each) => each !== folder);
    if (walked === undefined || !others.every((each) => this.#walked.has(each))) return;
    const seen = new Set(this.#seen);
    for (const each of others) {
      for (const path of this.#walked.get(each)?.seen ?? []) seen.add(path);
      for (const { target } of this.#walks.get(each)?.candidates ?? []) seen.add(target);
    }
    for (const path of walked.seen) seen.delete(path);
    for (const { target } of this.#walks.get(folder)?.candidates ?? []) seen.delete(target);
    const stamps = [...seen].map((path) => this.stamp(path) ?? ABSENT);
    if (!stamps.every((stamp) => isSettled(stamp, this.#began))) return;
    this.memory?.rememberWalk(folder, { ...walked, beyond: { seen: [...seen], stamps } });
  }

  #isAs(path: string, stamp = ABSENT): boolean {
    return sameStamp(this.stamp(path) ?? ABSENT, stamp);
  }

  #remembered(folder: string): Discovery | undefined {
    const walked = this.memory?.recallWalk(folder);
    if (walked === undefined || !isAsItWas(folder, walked)) return undefined;
    this.#walked.set(folder, walked);
    const { place, files, ignored, folders } = walked;
    const shown = this.#shown(folder);
    const inPlace = place.endsWith(sep) ? place : place + sep;
    const candidate = (file: string) => ({
      path: shown + file,
      target: inPlace + (sep === '/' ? file : file.replaceAll('/', sep)),
      explicit: false,
    });
    return {
      candidates: files.map(candidate),
      ignored: ignored.map(candidate),
      ...{ skipped: [], folders, isCut: false, isPlain: true },
    };
  }

  #shown(folder: string): string {
    const shown = shownFrom(this.cwd, folder);
    return shown === '.' ? '' : `${shown.replace(/\/$/, '')}/`;
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
      const within = ({ target }: Candidate) => slashed(target.slice(from));
      const { folders } = found;
      const walked = {
        place,
        root: repositoryRoot(folder),
        shown: this.#shown(folder),
        seen,
        stamps,
        folders,
        files: found.candidates.map(within),
        ignored: found.ignored.map(within),
      };
      this.#walked.set(folder, walked);
      this.memory?.rememberWalk(folder, walked);
    }
    return found;
  }
}

function isAsItWas(folder: string, { place, root, seen, stamps }: Walked): boolean {
  if (repositoryRoot(folder) !== root || realpathSync.native(folder) !== place) return false;
  return seen.every((path, index) => sameStamp(stampAt(path) ?? ABSENT, stamps[index] ?? ABSENT));
}
