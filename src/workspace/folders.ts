import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Bounds, settingsText } from './bounded.js';
import { realPath } from './places.js';

/** What lies in folders, each listed once. */
export class Folders {
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #roots = new Map<string, string>();
  readonly #answers = new Map<string, boolean>();

  constructor(
    /** Where a way up ends that meets no repository. */
    private readonly top: string,
    /** Hears of everything before it is looked at. */
    private readonly sees: (path: string) => void = () => undefined,
    /** Hears of files that are there and are not read, and why. */
    private readonly refuses: (path: string, reason: string) => void = () => undefined,
  ) {}

  /** A folder that cannot be listed, or that does not exist as for text on standard input, has nothing in it. */
  names(folder: string): ReadonlySet<string> {
    let names = this.#names.get(folder);
    if (names === undefined) {
      this.sees(folder);
      names = new Set(listed(folder));
      this.#names.set(folder, names);
    }
    return names;
  }

  /** Of a file that may as well not be there, for a project whose root is `bounds.root`. */
  text(path: string, bounds: Bounds): string {
    this.sees(path);
    return settingsText(path, bounds, (reason) => this.refuses(path, reason)) ?? '';
  }

  /** The real path of the uppermost folder of a project; what is read for it lies below. */
  rootOf(folder: string): string {
    const top = this.upward(folder).at(-1) ?? folder;
    const root = this.#roots.get(top) ?? realPath(top);
    this.#roots.set(top, root);
    return root;
  }

  /** Whether there is something of this name, in its own case; no folder is listed that is not there. */
  has(path: string): boolean {
    let answer = this.#answers.get(path);
    if (answer === undefined) {
      answer = this.#finds(path);
      this.#answers.set(path, answer);
    }
    return answer;
  }

  #finds(path: string): boolean {
    const folder = dirname(path);
    if (folder === path) return true;
    const isThere = folder === this.top || this.#names.has(folder) || this.has(folder);
    return isThere && this.names(folder).has(basename(path));
  }

  /** What lies above the root of a repository is someone else's. */
  isTop(folder: string): boolean {
    return folder === this.top || this.names(folder).has('.git') || dirname(folder) === folder;
  }

  /** A folder and those above it, up to the project's. */
  upward(folder: string): readonly string[] {
    const folders = [folder];
    for (let at = folder; !this.isTop(at); folders.push(at)) at = dirname(at);
    return folders;
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
