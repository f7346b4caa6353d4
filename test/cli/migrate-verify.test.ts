import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderWith, git } from '../workspace/folders.js';
import { BRANCH, branchesOf, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const FAKE_TORCH = join(import.meta.dirname, '../support/fake-torch');
const MIB = 1024 * 1024;

/** Over one repository with these files, after `migrate run --push`. */
async function campaign(files: Readonly<Record<string, string>>, verify: string) {
  const bare = join(remotesWith({ one: files }), 'one.git');
  const camp = folderWith({ 'campaign.toml': `repositories = ["${bare}"]\nverify = '${verify}'\n` });
  const env = { ...WORLD, PYTHONPATH: FAKE_TORCH };
  const { code, stderr } = await memfix({ cwd: camp, env }, 'migrate', 'run', '--push');
  const report = JSON.parse((await memfix({ cwd: camp, env }, 'migrate', 'report')).stdout);
  const [repository] = report.repositories;
  const [log = ''] = readdirSync(join(camp, 'logs'));
  return { code, stderr, bare, repository, log: readFileSync(join(camp, 'logs', log), 'utf8') };
}

describe('compileall', () => {
  test('compiles the files that change, and only those', async () => {
    const broken = { 'old.py': 'print "python 2"\n', 'with space.py': 'hold()\n', 'a.py': 'hold()\n' };
    const { code, repository, bare } = await campaign(broken, 'compileall');
    expect([code, repository.status]).toEqual([0, 'pushed']);
    expect(repository.verified).toMatchObject({ command: 'compileall' });
    expect(git(bare, 'ls-tree', '-r', '--name-only', BRANCH)).toBe('a.py\nold.py\nwith space.py\n');
  });

  test('keeps what Python does not compile from being committed', async () => {
    // Both parsers take it; CPython alone says that nothing can be returned from there.
    const { code, repository, bare } = await campaign({ 'a.py': 'hold()\nreturn\n' }, 'compileall');
    expect([code, repository.status, repository.failure.stage]).toEqual([1, 'failed', 'verify']);
    expect(repository.failure.detail).toContain("'return' outside function");
    expect(branchesOf(bare)).toEqual(['main']);
  });
});

describe('memfix prove', () => {
  const train = (lines: string) => ({
    'tricks.py': `# memfix: file-ignore[drop-hold]
import torch
def hold():
    torch.cuda.allocate(${MIB})
def release():
    ${lines}
`,
    'train.py': `import torch, tricks
torch.cuda.wake()
torch.cuda.allocate(${10 * MIB})
optimizer = torch.optim.SGD()
for step in range(20):
    loss = torch.Tensor(1 / (1 + step))
    loss.backward()
    optimizer.step()
    tricks.hold()
`,
  });
  const PROVE = 'memfix prove -- python3 train.py';

  test('lets pass what needs less memory', async () => {
    const { code, repository, bare, log } = await campaign(train('pass'), PROVE);
    expect([code, repository.status]).toEqual([0, 'pushed']);
    expect(repository.verified).toMatchObject({ command: PROVE, verdict: 'better' });
    expect(log).toMatch(/GPU 0 peak allocated +30\.00 MiB +10\.00 MiB/);
    expect(git(bare, 'show', `${BRANCH}:train.py`)).toContain('tricks.release()');
  });

  test.each([
    [
      'fails with the fixes',
      train('raise SystemExit(3)'),
      'The command fails with the fixes, and only with them',
    ],
    [
      'needs more memory',
      train(`torch.cuda.allocate(${2 * MIB})`),
      'The command needs more memory with the fixes',
    ],
    [
      'never runs what changes',
      { ...train('pass'), 'train.py': 'import torch\n', 'other.py': 'hold()\n' },
      'never loads',
    ],
  ])('keeps back what %s', async (_, files, why) => {
    const { code, repository, bare } = await campaign(files, PROVE);
    expect([code, repository.status, repository.failure.stage]).toEqual([1, 'failed', 'verify']);
    expect(repository.failure.title).toContain(why);
    expect(branchesOf(bare)).toEqual(['main']);
  });

  test('takes no options there', async () => {
    const bare = join(remotesWith({ one: { 'a.py': 'hold()\n' } }), 'one.git');
    const cwd = folderWith();
    const words = ['init', 'camp', bare, '--verify', 'memfix prove --repeat 3 -- python3 train.py'];
    expect(await memfix({ cwd, env: WORLD }, 'migrate', ...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('takes no options'),
    });
  });
});
