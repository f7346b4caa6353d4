import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { FOREIGN } from '../discover.js';
import { codeOf, Failure, reasonOf } from '../failure.js';
import { isInside } from '../places.js';
import type { Tree } from './tree.js';

/** Fills a folder with what the user sees in a tree. Nothing that is written there reaches the tree, links apart. */
export function fill(tree: Tree, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const copier = new Copier(tree.root, folder);
  for (const path of tree.files) copier.copy(path);
  for (const { path } of tree.copied) copier.copy(path);
  for (const { path } of tree.linked) copier.link(path);
}

class Copier {
  readonly #made = new Set<string>();

  constructor(
    private readonly root: string,
    private readonly folder: string,
  ) {}

  copy(path: string): void {
    const from = join(this.root, path);
    const stats = lstatSync(from, { throwIfNoEntry: false });
    // Deleted, though git still knows it: the user does not see it either.
    if (stats === undefined) return;
    const to = this.#placeFor(path);
    try {
      if (stats.isSymbolicLink()) symlinkSync(this.#leadingOut(path, readlinkSync(from)), to);
      else if (stats.isDirectory()) this.#copyFolder(path);
      // Where the file system can, the two share their blocks until one of them is written.
      else if (stats.isFile()) copyFileSync(from, to, constants.COPYFILE_FICLONE);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return;
      throw new Failure(
        'The tree could not be copied',
        `${from}: ${reasonOf(error)}`,
        'Make room (TMPDIR says where copies go), or make the file readable.',
      );
    }
  }

  link(path: string): void {
    symlinkSync(realpathSync.native(join(this.root, path)), this.#placeFor(path));
  }

  #copyFolder(path: string): void {
    mkdirSync(join(this.folder, path), { recursive: true });
    for (const name of readdirSync(join(this.root, path))) {
      if (!FOREIGN.has(name)) this.copy(join(path, name));
    }
  }

  /** A link that stays in the tree stays in the copy; one that leaves the tree still leads where it led. */
  #leadingOut(path: string, target: string): string {
    const at = resolve(dirname(join(this.root, path)), target);
    if (!isInside(at, this.root)) return at;
    return isAbsolute(target) ? join(this.folder, relative(this.root, at)) : target;
  }

  #placeFor(path: string): string {
    const place = join(this.folder, path);
    const parent = dirname(place);
    if (!this.#made.has(parent)) mkdirSync(parent, { recursive: true });
    this.#made.add(parent);
    return place;
  }
}
