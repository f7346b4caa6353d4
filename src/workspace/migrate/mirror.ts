import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Base } from '../../report/migrate/record.js';

import { bytesOf, textOf } from '../bounded.js';
import type { Failure } from '../failure.js';

import { type Git, type GitAnswer, type GitCall, gitFailure } from './git.js';
import { lendGitFolder, resetSettings, TEMPLATE } from './mirror-settings.js';
import { headIn, noBranch, onlyBranchIn } from './remote-head.js';
import { Outdated } from './setback.js';
import { writeWhole } from './whole-file.js';

/** A commit to be made. */
export interface CommitPlan {
  /** The file that it is made from. */
  readonly patch: string;
  readonly message: string;
}

const BASE = 'refs/memfix/base';
const SHALLOW = ['--quiet', '--depth=1', '--no-tags'];
/** Files come when they are asked for; a server that does not know how sends all of them. */
const PARTIAL = '--filter=blob:none';
/** What a look at a repository may read. */
const SOURCES = `${[
  ...['*.py', '*.pyi', '*.toml', '*.cfg', '*.ini', '*.txt', '*.in', '*.yml', '*.yaml', '*.lock', '*.sh'],
  ...['*.bash', '*.ipynb', '.gitignore', '.gitattributes'],
].join('\n')}\n`;

/** Comes after the name of a work tree, for another one with the files of the base. */
export const BASE_TREE = '.base';

/** How a mirror is filled. */
export interface Manner {
  readonly clone: 'shallow' | 'partial';
  /** Seconds that the remote may take. */
  readonly timeout: number;
}

/** A shallow copy of one repository, and a work tree of it elsewhere. It appears when it is complete. */
export class Mirror {
  /** The commit whose files the work tree has, all or only the sources, where nobody has been at them since. */
  #untouched: { readonly commit: string; readonly isWhole: boolean } | undefined;

  constructor(
    readonly folder: string,
    private readonly url: string,
    private readonly git: Git,
    private readonly manner: Manner,
  ) {}

  /** Where its objects are: all of it that a work tree that is lent needs. */
  get objects(): string {
    return join(this.folder, 'objects');
  }

  get #isPartial(): boolean {
    return this.manner.clone === 'partial';
  }

  async has(object: string): Promise<boolean> {
    if (!existsSync(this.folder)) return false;
    return (await this.#ask(['cat-file', '-e', object])).status === 0;
  }

  /**
   * Brings a commit, or else the newest one of a branch of the remote, which is its default branch unless another is named;
   * null when it has none. A clone fills the work tree, too.
   */
  async bring(wanted: Base | undefined, tree: string, branch?: string): Promise<Base | null> {
    if (!existsSync(this.folder)) return await this.#clone(wanted, tree, branch);
    const base = wanted ?? (await this.#head(branch));
    if (base === null) return null;
    if ((await this.has(base.commit)) || (await this.#fetched(this.folder, base.commit)).status === 0)
      return base;
    return await this.#clone(base, tree, branch);
  }

  /** A clone that was cut off is thrown away. */
  async #clone(wanted: Base | undefined, tree: string, branch: string | undefined): Promise<Base | null> {
    mkdirSync(dirname(this.folder), { recursive: true });
    const draft = `${this.folder}.draft`;
    remove(draft);
    this.removeTree(tree);
    const { timeout } = this.manner;
    const sparing = this.#isPartial ? [PARTIAL, '--no-checkout'] : [];
    const into = [`--template=${TEMPLATE}`, `--separate-git-dir=${draft}`, '--', this.url, tree];
    // A branch that is gone is no reason not to bring a commit of it.
    const of = branch === undefined || wanted !== undefined ? [] : ['--branch', branch];
    const words = ['clone', ...SHALLOW, ...sparing, ...of, '--no-local', ...into];
    const answer = await this.git.ask(words, { timeout });
    try {
      if (answer.status !== 0) throw gitFailure('The repository cannot be cloned', answer, { timeout });
      // Of a template that is missing, git only says so.
      if (!existsSync(join(draft, 'info', 'attributes'))) throw new Error(`there is nothing in ${TEMPLATE}`);
      resetSettings(draft, this.url);
      const head = headIn(draft);
      const base = wanted ?? head ?? (await this.#onlyBranch());
      if (base === null) return null;
      if (base.commit !== head?.commit) await this.#fetchOne(draft, base.commit, wanted !== undefined);
      writeAnew(join(draft, 'HEAD'), `${base.commit}\n`);
      remove(this.folder);
      renameSync(draft, this.folder);
      if (head !== null && !this.#isPartial) {
        this.#open(tree);
        this.#untouched = { commit: head.commit, isWhole: true };
      }
      return base;
    } finally {
      remove(draft);
    }
  }

  async #fetchOne(folder: string, commit: string, isLocked: boolean): Promise<void> {
    const answer = await this.#fetched(folder, commit);
    if (answer.status === 0) return;
    if (!isLocked) throw gitFailure('The repository cannot be cloned', answer, this.manner);
    throw new Outdated(
      'The locked commit is gone',
      `the remote does not give out ${commit}, which repos.lock names: ${answer.stderr}`,
      'Take the commits that are there now instead.',
    );
  }

  #fetched(folder: string, commit: string): Promise<GitAnswer> {
    // Only of a remote that git knows by name does it know that the rest can be asked for later.
    const from = this.#isPartial ? [PARTIAL, '--', 'origin'] : ['--', this.url];
    const words = ['fetch', ...SHALLOW, '--no-write-fetch-head', ...from, `+${commit}:${BASE}`];
    return this.#ask(words, { timeout: this.manner.timeout }, folder);
  }

  /** Where a branch of the remote is, or else its HEAD; null when it has no commit. */
  async #head(wanted: string | undefined): Promise<Base | null> {
    if (wanted !== undefined) {
      const commit = await this.remoteBranch(wanted);
      if (commit !== undefined) return { commit, branch: wanted };
      throw noBranch(wanted);
    }
    const answer = await this.#listed(['--symref'], 'HEAD');
    const commit = /^([0-9a-f]{40,64})\tHEAD$/m.exec(answer)?.[1];
    const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(answer)?.[1];
    return commit === undefined ? await this.#onlyBranch() : { commit, branch: branch ?? null };
  }

  /** For a remote whose HEAD names a branch that does not exist: the one that does; null when there is none. */
  async #onlyBranch(): Promise<Base | null> {
    return onlyBranchIn(await this.#listed(['--heads'], 'refs/heads/*'));
  }

  /** Where a branch of the remote is now. */
  async remoteBranch(branch: string): Promise<string | undefined> {
    return /^([0-9a-f]{40,64})\t/.exec(await this.#listed([], `refs/heads/${branch}`))?.[1];
  }

  async #listed(options: readonly string[], ref: string): Promise<string> {
    const { timeout } = this.manner;
    const answer = await this.#ask(['ls-remote', ...options, '--', this.url, ref], { timeout });
    if (answer.status !== 0) throw gitFailure('The repository cannot be reached', answer, { timeout });
    return answer.stdout;
  }

  /**
   * The files of a commit in a work tree, as staged changes upon another where that is given. For code that is not ours:
   * the git folder of the tree is its own and leads to no remote, and the files are not trusted afterwards.
   */
  async lend(commit: string, tree: string, upon = commit): Promise<void> {
    await this.#fill(commit, tree, true);
    this.touch();
    this.#setHead(upon);
    lendGitFolder(this.folder, tree, upon);
  }

  /** Ends that: what was written into the git folder of the tree is gone. */
  takeBack(tree: string): void {
    this.touch();
    const isThere = lstatSync(tree, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isThere) this.#open(tree);
  }

  /** The same for what memfix reads and changes: of a partial clone, the other files are not even here. */
  async checkOutSources(commit: string, tree: string): Promise<void> {
    await this.#fill(commit, tree, !this.#isPartial);
    this.#setHead(commit);
  }

  async #fill(commit: string, tree: string, isWhole: boolean): Promise<void> {
    const there = this.#untouched;
    if (there?.commit === commit && (there.isWhole || !isWhole) && existsSync(tree)) return;
    this.removeTree(tree);
    rmSync(join(this.folder, 'index'), { force: true });
    mkdirSync(tree, { recursive: true });
    this.#open(tree);
    resetSettings(this.folder, this.url);
    if (!isWhole) writeAnew(join(this.folder, 'info', 'sparse-checkout'), SOURCES);
    const only = ['-c', `core.sparseCheckout=${!isWhole}`];
    await this.git.tell('The files cannot be checked out', [...only, 'read-tree', '--reset', '-u', commit], {
      ...this.#at(tree),
      ...(this.#isPartial && { timeout: this.manner.timeout }),
    });
    this.#untouched = { commit, isWhole };
  }

  /** Lets git find the mirror from a work tree. */
  #open(tree: string): void {
    writeAnew(join(tree, '.git'), `gitdir: ${this.folder}\n`);
  }

  /** On no branch. */
  #setHead(commit: string): void {
    const head = join(this.folder, 'HEAD');
    if (textOf(head) !== `${commit}\n`) writeWhole(head, `${commit}\n`, 'later');
  }

  /** Someone is about to change the files of the work tree. */
  touch(): void {
    this.#untouched = undefined;
  }

  removeTree(tree: string): void {
    this.touch();
    remove(tree);
    remove(`${tree}${BASE_TREE}`);
  }

  /** Commits upon a base, on no branch. Made again with the same words at the same date, they are the same commits. */
  async commit(
    base: string,
    plans: readonly CommitPlan[],
    date: string,
    tree: string,
  ): Promise<readonly string[]> {
    await this.checkOutSources(base, tree);
    const isWhole = this.#untouched?.isWhole === true;
    this.touch();
    const commits: string[] = [];
    const dated = { ...this.#at(tree), env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } };
    resetSettings(this.folder, this.url);
    for (const { patch, message } of plans) {
      const apply = ['apply', '--index', '--whitespace=nowarn', '--', patch];
      const commit = ['commit', '--quiet', '--no-verify', '--cleanup=verbatim', '--message', message];
      await this.git.inTurn(
        [
          { title: 'The patch cannot be applied', words: apply },
          { title: 'The commit cannot be made', words: commit },
        ],
        dated,
      );
      commits.push(bytesOf(join(this.folder, 'HEAD')).toString('utf8').trim());
    }
    const last = commits.at(-1);
    if (last !== undefined) this.#untouched = { commit: last, isWhole };
    return commits;
  }

  /** The files that differ between two commits. */
  async changed(from: string, to: string): Promise<readonly string[]> {
    const answer = await this.#ask(['diff', '--name-only', '--no-renames', '-z', from, to]);
    if (answer.status !== 0) throw gitFailure('The commits cannot be compared', answer);
    return answer.stdout.split('\0').filter((path) => path !== '');
  }

  /** As `git update-ref` would, without a process: the mirror is ours, and so is the way it keeps its branches. */
  setBranch(branch: string, commit: string): void {
    writeWhole(join(this.folder, 'refs', 'heads', branch), `${commit}\n`, 'later');
  }

  /** Only where there is no such branch yet; answers why it was not taken. */
  async push(branch: string, commit: string): Promise<Failure | undefined> {
    const ref = `refs/heads/${branch}`;
    const { timeout } = this.manner;
    const words = ['push', '--quiet', '--no-verify', `--force-with-lease=${ref}:`, '--', this.url];
    const answer = await this.#ask([...words, `${commit}:${ref}`], { timeout });
    return answer.status === 0 ? undefined : gitFailure('The push was rejected', answer, { timeout });
  }

  /** Git with the settings that memfix wrote just now: some of these calls have the user's credentials. */
  #ask(
    words: readonly string[],
    call: { readonly timeout?: number } = {},
    folder = this.folder,
  ): Promise<GitAnswer> {
    resetSettings(folder, this.url);
    return this.git.ask(words, { ...call, gitFolder: folder });
  }

  /** The mirror with a work tree; what the tree itself says about its git folder does not count. */
  #at(tree: string): Pick<GitCall, 'folder' | 'gitFolder'> {
    return { folder: tree, gitFolder: this.folder };
  }

  remove(): void {
    remove(this.folder);
  }

  /** What git locks at work leave behind when they are killed; only for who knows that none is at work. */
  unlock(): void {
    if (!existsSync(this.folder)) return;
    for (const entry of filesBelow(this.folder)) if (entry.endsWith('.lock')) rmSync(entry, { force: true });
  }
}

/** Never through a link. Some file systems hurry to the disk with what replaces the bytes of a file, and the writer waits. */
function writeAnew(file: string, text: string): void {
  rmSync(file, { recursive: true, force: true });
  writeFileSync(file, text, { flag: 'wx' });
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A git of a killed run may still be writing there. */
function remove(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
