import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, memfix } from './program.js';
import type { Random } from './random.js';
import { sampleIn, write } from './tree.js';

const BRANCH = 'memfix/fixes';
const NAMES = ['one', 'two', 'three'] as const;

/** Bare repositories with something to fix, and what an undisturbed campaign makes of them. */
export interface Remotes {
  readonly folder: string;
  /** The tree of each one's new branch. */
  readonly trees: Readonly<Record<string, string>>;
  readonly milliseconds: number;
}

/** A campaign over copies of them. */
export interface Campaign {
  readonly folder: string;
  readonly remotes: string;
}

function git(cwd: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', words, {
    cwd,
    encoding: 'utf8',
    env: environment({ state: '/nonexistent' }),
  });
  if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`);
  return stdout.trim();
}

export async function remotesIn(folder: string, random: Random): Promise<Remotes> {
  const remotes = join(folder, 'remotes');
  for (const name of NAMES) {
    const { folder: work, before } = await sampleIn(join(folder, name), 3, random);
    write(work, before);
    git(work, 'init', '--quiet', '--initial-branch=main');
    git(work, 'add', '.');
    git(work, 'commit', '--quiet', '-m', 'Begin');
    git(folder, 'clone', '--quiet', '--bare', work, join(remotes, `${name}.git`));
    const hook = join(remotes, `${name}.git`, 'hooks', 'post-receive');
    mkdirSync(join(hook, '..'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\necho pushed >> pushes\n');
    chmodSync(hook, 0o755);
  }
  const { folder: camp, remotes: copies } = campaignIn(join(folder, 'undisturbed'), remotes);
  const run = await memfix(
    { cwd: camp, state: join(folder, 'undisturbed-state') },
    'migrate',
    'run',
    '--push',
  );
  if (run.status !== 0) throw new Error(`an undisturbed campaign fails: ${run.stdout}${run.stderr}`);
  return { folder: remotes, trees: treesOf(copies), milliseconds: run.milliseconds };
}

function treesOf(remotes: string): Readonly<Record<string, string>> {
  return Object.fromEntries(NAMES.map((name) => [name, treeIn(join(remotes, `${name}.git`))]));
}

/** Empty where there was nothing to fix, so that nothing was pushed. */
function treeIn(bare: string): string {
  return git(bare, 'for-each-ref', '--format=%(tree)', `refs/heads/${BRANCH}`);
}

export function campaignIn(folder: string, remotes: string): Campaign {
  const copies = join(folder, 'remotes');
  const camp = join(folder, 'campaign');
  mkdirSync(camp, { recursive: true });
  cpSync(remotes, copies, { recursive: true });
  writeFileSync(join(camp, 'campaign.toml'), `repositories = ['${copies}']\nverify = 'compileall'\n`);
  return { folder: camp, remotes: copies };
}

/** How the remotes differ from what an undisturbed campaign leaves; undefined where they do not. */
export function difference({ folder, remotes }: Campaign, { trees }: Remotes): string | undefined {
  for (const name of NAMES) {
    const bare = join(remotes, `${name}.git`);
    const branches = git(bare, 'for-each-ref', '--format=%(refname:short)', 'refs/heads');
    if (trees[name] === '' && branches === 'main' && !existsSync(join(bare, 'pushes'))) continue;
    if (branches !== `main\n${BRANCH}`) return `${name} has the branches ${branches.replace('\n', ', ')}`;
    if (git(bare, 'rev-list', '--count', `main..${BRANCH}`) !== '1')
      return `${name} has more than one commit`;
    if (git(bare, 'rev-parse', `${BRANCH}^{tree}`) !== trees[name]) return `${name} has other files`;
    const pushes = existsSync(join(bare, 'pushes')) ? readFileSync(join(bare, 'pushes'), 'utf8') : '';
    if (pushes !== 'pushed\n') return `${name} was pushed ${pushes.split('\n').length - 1} times`;
  }
  const work = join(folder, 'trees');
  const left = existsSync(work) ? readdirSync(work) : [];
  return left.length === 0 ? undefined : `work trees are left: ${left.join(', ')}`;
}
