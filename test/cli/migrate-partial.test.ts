import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, git } from '../workspace/folders.js';
import { BRANCH, push, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const WEIGHTS = 'weights '.repeat(5000);
const FILES = { 'a.py': 'hold()\n', 'deep/b.py': 'hold()\n', 'deep/weights.bin': WEIGHTS, LICENSE: 'free\n' };

function remote(files: Readonly<Record<string, string>>, knowsFilters: boolean): string {
  const bare = join(remotesWith({ one: files }), 'one.git');
  git(bare, 'config', 'uploadpack.allowFilter', String(knowsFilters));
  git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  return bare;
}

async function campaign(bare: string, more = '') {
  const camp = folderWith({
    'campaign.toml': `repositories = ["file://${bare}"]\nclone = "partial"\n${more}`,
  });
  const migrate = async (...words: readonly string[]) => {
    const { code, stderr } = await memfix({ cwd: camp, env: WORLD }, 'migrate', ...words);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    return JSON.parse((await memfix({ cwd: camp, env: WORLD }, 'migrate', 'report')).stdout).repositories[0];
  };
  /** The sizes of the files that came from the remote. */
  const came = (): readonly number[] => {
    const [mirror = ''] = readdirSync(join(camp, 'mirrors')).filter((name) => !name.includes('.'));
    const format = '--batch-check=%(objecttype) %(objectsize)';
    const listed = git(join(camp, 'mirrors', mirror), 'cat-file', format, '--batch-all-objects');
    return listed.split('\n').flatMap((line) => (line.startsWith('blob ') ? [Number(line.slice(5))] : []));
  };
  return { migrate, came };
}

test('only what memfix reads is fetched, and nothing is lost of the rest', async () => {
  const bare = remote(FILES, true);
  const { migrate, came } = await campaign(bare);
  expect(await migrate('run', '--push')).toMatchObject({
    status: 'pushed',
    planned: { checked: 2, files: 2 },
  });
  expect(came()).not.toContain(WEIGHTS.length);
  expect(came()).not.toContain('free\n'.length);
  expect(git(bare, 'diff', '--name-only', 'main', BRANCH)).toBe('a.py\ndeep/b.py\n');
  expect(git(bare, 'show', `${BRANCH}:deep/weights.bin`)).toBe(WEIGHTS);
  git(bare, 'fsck', '--strict');
});

test('a verify command has all files', async () => {
  const bare = remote(FILES, true);
  const { migrate, came } = await campaign(bare, "verify = 'test -s deep/weights.bin && test -s LICENSE'\n");
  expect(await migrate('run', '--push')).toMatchObject({ status: 'pushed' });
  expect(came()).toContain(WEIGHTS.length);
});

test('a newer commit is fetched in the same manner', async () => {
  const bare = remote({ 'a.py': 'x = 1\n' }, true);
  const { migrate, came } = await campaign(bare);
  expect(await migrate('plan')).toMatchObject({ status: 'no change' });
  push(bare, FILES);
  expect(await migrate('plan', '--update')).toMatchObject({ status: 'planned', planned: { files: 2 } });
  expect(came()).not.toContain(WEIGHTS.length);
  expect(await migrate('run', '--push')).toMatchObject({ status: 'pushed' });
});

test('a server that knows no filters sends everything', async () => {
  const { migrate, came } = await campaign(remote(FILES, false));
  expect(await migrate('run', '--push')).toMatchObject({ status: 'pushed', planned: { files: 2 } });
  expect(came()).toContain(WEIGHTS.length);
});

test('anything else is no manner to clone', async () => {
  const camp = folderWith({ 'campaign.toml': 'repositories = []\nclone = "deep"\n' });
  const { code, stderr } = await memfix({ cwd: camp, env: WORLD }, 'migrate', 'plan');
  expect([code, stderr]).toEqual([2, expect.stringContaining('`clone` must be one of shallow, partial')]);
});
