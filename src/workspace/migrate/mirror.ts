import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Base } from '../../report/migrate/record.js';
import { Failure } from '../failure.js';
import { type Git, type GitAnswer, type GitCall, gitFailure } from './git.js';

/** A commit to be made. */
export interface CommitPlan {
  readonly tree: string;
  readonly message: string;
}

/** Nothing is converted on its way between a tree and its files: no line ends, no encodings, no LFS. */
const AS_THEY_ARE = '* -text !eol !ident !filter !working-tree-encoding\n';
const BASE = 'refs/memfix/base';

/**
 * A bare, shallow copy of one repository. It appears when it is complete; commits are made in it from trees and patches,
 * never from a folder that a command has been at.
 */
export class Mirror {
  constructor(
    readonly folder: string,
    private readonly url: string,
    private readonly git: Git,
    /** Seconds that the remote may take. */
    private readonly timeout: number,
  ) {}

  /** Where the remote's HEAD is; null when it has no commit. */
  async head(): Promise<Base | null> {
    const { timeout } = this;
    const words = ['ls-remote', '--symref', '--', this.url, 'HEAD'];
    const answer = await this.git.tell('The repository cannot be reached', words, { timeout });
    const commit = /^([0-9a-f]{40,64})\tHEAD$/m.exec(answer)?.[1];
    const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(answer)?.[1];
    return commit === undefined ? null : { commit, branch: branch ?? null };
  }

  /** Where a branch of the remote is now. */
  async remoteBranch(branch: string): Promise<string | undefined> {
    const { timeout } = this;
    const words = ['ls-remote', '--', this.url, `refs/heads/${branch}`];
    const answer = await this.git.tell('The repository cannot be reached', words, { timeout });
    return /^([0-9a-f]{40,64})\t/.exec(answer)?.[1];
  }

  async has(object: string): Promise<boolean> {
    if (!existsSync(this.folder)) return false;
    const { status } = await this.git.ask(['--git-dir', this.folder, 'cat-file', '-e', object]);
    return status === 0;
  }

  /** Brings the base commit, to what is there already where that goes; a clone that was cut off is thrown away. */
  async fetch({ commit, branch }: Base): Promise<void> {
    if (existsSync(this.folder) && (await this.#isFetched(this.folder, `+${commit}:${BASE}`))) return;
    const parent = dirname(this.folder);
    mkdirSync(parent, { recursive: true });
    const name = basename(this.folder);
    for (const left of readdirSync(parent).filter((each) => each.startsWith(`${name}.draft-`)))
      remove(join(parent, left));
    const draft = `${this.folder}.draft-${process.pid}`;
    const format = commit.length === 64 ? 'sha256' : 'sha1';
    await this.git.tell('The mirror cannot be made', [
      ...['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, draft],
    ]);
    mkdirSync(join(draft, 'info'), { recursive: true });
    writeFileSync(join(draft, 'info', 'attributes'), AS_THEY_ARE);
    await this.#fetchInto(draft, commit, branch);
    remove(this.folder);
    renameSync(draft, this.folder);
  }

  async #isFetched(folder: string, refspec: string): Promise<boolean> {
    return (await this.#askFetch(folder, refspec)).status === 0;
  }

  #askFetch(folder: string, refspec: string): Promise<GitAnswer> {
    const words = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--'];
    const { timeout } = this;
    return this.git.ask(['--git-dir', folder, ...words, this.url, refspec], { timeout });
  }

  /** A server that gives out no commit by its name may still have it at the tip of its branch. */
  async #fetchInto(folder: string, commit: string, branch: string | null): Promise<void> {
    const byName = await this.#askFetch(folder, `+${commit}:${BASE}`);
    if (byName.status === 0) return;
    const tip = branch === null ? 'HEAD' : `refs/heads/${branch}`;
    if (!(await this.#isFetched(folder, `+${tip}:${BASE}`)))
      throw gitFailure('The repository cannot be cloned', byName, { timeout: this.timeout });
    const { stdout } = await this.git.ask(['--git-dir', folder, 'rev-parse', BASE]);
    if (stdout.trim() === commit) return;
    throw new Failure(
      'The locked commit is gone',
      `the remote no longer gives out ${commit}, which repos.lock names`,
      'Run `memfix migrate plan --update` to take the commit that is there now.',
    );
  }

  /** The files of a commit in a fresh work tree. */
  async checkOut(commit: string, tree: string): Promise<void> {
    this.removeTree(tree);
    mkdirSync(dirname(tree), { recursive: true });
    const words = ['worktree', 'add', '--quiet', '--force', '--detach', tree, commit];
    await this.git.tell('The files cannot be checked out', ['--git-dir', this.folder, ...words]);
  }

  /** Makes the files of a fresh work tree those of `tree`, staged. */
  async fill(folder: string, tree: string): Promise<void> {
    await this.git.tell('The patch cannot be applied', ['read-tree', '--reset', '-u', tree], { cwd: folder });
  }

  removeTree(tree: string): void {
    remove(tree);
    remove(join(this.folder, 'worktrees', basename(tree)));
  }

  /** The tree after each of these patches, one upon the other. */
  async treesAfter(commit: string, patches: readonly Uint8Array[]): Promise<readonly string[]> {
    const index = join(this.folder, 'memfix-index');
    const call: GitCall = { env: { GIT_INDEX_FILE: index } };
    const own = ['--git-dir', this.folder];
    const title = 'The patch cannot be applied';
    rmSync(`${index}.lock`, { force: true });
    await this.git.tell(title, [...own, 'read-tree', commit], call);
    const trees: string[] = [];
    for (const input of patches) {
      const words = [...own, 'apply', '--cached', '--whitespace=nowarn', '-'];
      await this.git.tell(title, words, { ...call, input });
      trees.push((await this.git.tell(title, [...own, 'write-tree'], call)).trim());
    }
    rmSync(index, { force: true });
    return trees;
  }

  /** Made again with the same words at the same date, they are the same commits. */
  async commit(base: string, plans: readonly CommitPlan[], date: string): Promise<readonly string[]> {
    const commits: string[] = [];
    const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    for (const { tree, message } of plans) {
      const words = ['--git-dir', this.folder, 'commit-tree', tree, '-p', commits.at(-1) ?? base, '-F', '-'];
      commits.push((await this.git.tell('The commit cannot be made', words, { input: message, env })).trim());
    }
    return commits;
  }

  async setBranch(branch: string, commit: string): Promise<void> {
    const words = ['--git-dir', this.folder, 'update-ref', `refs/heads/${branch}`, commit];
    await this.git.tell('The branch cannot be made', words);
  }

  /** Only where there is no such branch yet; answers why it was not taken. */
  async push(branch: string, commit: string): Promise<Failure | undefined> {
    const ref = `refs/heads/${branch}`;
    const words = ['push', '--quiet', '--no-verify', `--force-with-lease=${ref}:`, '--', this.url];
    const answer = await this.git.ask(['--git-dir', this.folder, ...words, `${commit}:${ref}`], {
      timeout: this.timeout,
    });
    return answer.status === 0 ? undefined : gitFailure('The push was rejected', answer);
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

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A git of a killed run may still be writing there. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
