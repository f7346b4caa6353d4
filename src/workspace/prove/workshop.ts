import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { textOf } from '../bounded.js';
import { codeOf, Failure, reasonOf } from '../failure.js';
import { askGit } from '../git.js';
import { endMarked } from './child.js';
import { fill } from './copy.js';
import type { Tree } from './tree.js';
import { RECORDS } from './trial.js';

const PREFIX = 'memfix-prove-';
const OWNER = 'owner.json';

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly root: string;
}

/**
 * A temporary folder with copies of a tree. It goes away with `close`, at the latest when the process exits; what a
 * killed run left is cleared by the next one.
 */
export class Workshop {
  readonly folder: string;
  readonly #trees = new Set<string>();
  readonly #onExit = () => void this.close();

  constructor(private readonly tree: Tree) {
    clearStale(tree.root);
    this.folder = realpathSync.native(mkdtempSync(join(tmpdir(), PREFIX)));
    const owner: Owner = { pid: process.pid, host: hostname(), root: tree.root };
    writeFileSync(join(this.folder, OWNER), JSON.stringify(owner));
    process.on('exit', this.#onExit);
  }

  /** A copy by this name, new each time: what an earlier run of the command left is not in it. Its root folder. */
  copy(name: string): string {
    const { root, commit } = this.tree;
    const place = join(this.folder, name, basename(root) || 'tree');
    this.discard(place);
    mkdirSync(dirname(place), { recursive: true });
    if (commit !== undefined) addWorktree(root, place, commit);
    this.#trees.add(place);
    fill(this.tree, place);
    return place;
  }

  discard(place: string): void {
    if (this.#trees.delete(place)) removeTree(this.tree.root, place);
  }

  /** Why something is left, if so. */
  close(): string | undefined {
    process.off('exit', this.#onExit);
    try {
      for (const place of this.#trees) this.discard(place);
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
      return undefined;
    } catch (error) {
      return `${this.folder}: ${reasonOf(error)}`;
    }
  }
}

/** Without checking anything out: no hook and no filter runs, and the files come from the user's tree. */
function addWorktree(root: string, place: string, commit: string): void {
  const { status, stderr } = askGit(root, [
    'worktree',
    'add',
    '--quiet',
    '--detach',
    '--no-checkout',
    place,
    commit,
  ]);
  if (status !== 0) {
    throw new Failure(
      'No work tree could be made',
      `\`git worktree add\` in ${root} said: ${stderr.trim()}`,
      'Run `git worktree list` there to see what is in the way.',
    );
  }
  // So that `git status` and `git diff` in the copy speak of the user's changes, not of everything.
  askGit(place, ['read-tree', commit]);
}

function removeTree(root: string, place: string): void {
  if (existsSync(root) && existsSync(join(place, '.git')))
    askGit(root, ['worktree', 'remove', '--force', '--force', place]);
  rmSync(place, { recursive: true, force: true, maxRetries: 3 });
}

/** What runs left that were killed: their processes and folders, and this repository's memory of work trees in them. Nothing else. */
function clearStale(root: string): void {
  const parent = realpathSync.native(tmpdir());
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    const folder = join(parent, name);
    const owner = ownerOf(folder);
    if (owner !== undefined && owner.host === hostname() && !isAlive(owner.pid)) clear(folder, owner);
  }
  const { stdout } = askGit(root, ['worktree', 'list', '--porcelain']);
  for (const [, place = ''] of stdout.matchAll(/^worktree (.+)$/gm)) {
    if (place.startsWith(join(parent, PREFIX)) && !existsSync(place))
      askGit(root, ['worktree', 'remove', '--force', '--force', place]);
  }
}

function clear(folder: string, { root }: Owner): void {
  try {
    endMarked(`${RECORDS}=${join(folder, '/')}`);
    for (const entry of readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory())) {
      removeTree(root, join(folder, entry.name, basename(root) || 'tree'));
    }
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Whatever is in the way there is not in ours.
    reasonOf(error);
  }
}

function ownerOf(folder: string): Owner | undefined {
  const text = textOf(join(folder, OWNER));
  if (text === undefined) return undefined;
  try {
    const owner: Partial<Owner> = JSON.parse(text);
    const { pid, host, root } = owner;
    return pid === undefined || host === undefined || root === undefined ? undefined : { pid, host, root };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
