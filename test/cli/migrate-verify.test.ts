import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Transform } from '../../src/toolkit/contract.js';
import { toy } from '../support/toy.js';
import { folderWith, git, put } from '../workspace/folders.js';
import { BRANCH, branchesOf, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';
import { TOYS } from './toys.js';

const FAKE_TORCH = join(import.meta.dirname, '../support/fake-torch');
const MIB = 1024 * 1024;

/** Over one repository with these files, after `migrate run --push`. */
async function campaign(
  files: Readonly<Record<string, string>>,
  verify: string,
  transforms: readonly Transform[] = TOYS,
  more = '',
) {
  const bare = join(remotesWith({ one: files }), 'one.git');
  const camp = folderWith({ 'campaign.toml': `repositories = ["${bare}"]\nverify = '${verify}'\n${more}` });
  const env = { ...WORLD, PYTHONPATH: FAKE_TORCH };
  const { code, stderr } = await memfix({ cwd: camp, env, transforms }, 'migrate', 'run', '--push');
  const report = JSON.parse((await memfix({ cwd: camp, env }, 'migrate', 'report')).stdout);
  const [repository] = report.repositories;
  const log = readFileSync(join(camp, 'logs', `${repository.id}.log`), 'utf8');
  const [logs, trees] = ['logs', 'trees'].map((name) => readdirSync(join(camp, name)).sort());
  return { code, stderr, camp, bare, repository, log, logs, trees };
}

describe('compileall', () => {
  test('compiles the files that change, and only those', async () => {
    const broken = { 'old.py': 'print "python 2"\n', 'with space.py': 'hold()\n', 'a.py': 'hold()\n' };
    const { code, repository, bare } = await campaign(broken, 'compileall');
    expect([code, repository.status]).toEqual([0, 'pushed']);
    expect(repository.verified).toMatchObject({ command: 'compileall' });
    expect(git(bare, 'ls-tree', '-r', '--name-only', BRANCH)).toBe('a.py\nold.py\nwith space.py\n');
  });

  /** Both parsers take it; CPython alone says that nothing can be returned from there. */
  const RETURNS = toy('return-ruin', 'ruin', (edit, node) => void edit.replace(node, 'return'));

  test('keeps what Python no longer compiles from being committed', async () => {
    const files = { 'a.py': 'ruin\n', 'b.py': 'hold()\n' };
    const { code, repository, bare } = await campaign(files, 'compileall', [RETURNS, ...TOYS]);
    expect([code, repository.status, repository.failure.stage]).toEqual([1, 'failed', 'verify']);
    expect(repository.failure.title).toBe('Files do not compile with the fixes, and only with them');
    expect(repository.failure.detail).toContain("'return' outside function");
    expect(branchesOf(bare)).toEqual(['main']);
  });

  test('leaves out of it what Python did not compile before', async () => {
    const files = { 'a.py': 'hold()\nreturn\n', 'b.py': 'hold()\n' };
    const { code, repository, bare, log, trees } = await campaign(files, 'compileall');
    expect([code, repository.status]).toEqual([0, 'pushed']);
    expect(log).toContain('a.py: it did not compile without the fixes either');
    expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('release()\nreturn\n');
    expect(trees).toEqual([]);
  });

  test('still sees what breaks beside what was broken', async () => {
    const files = { 'a.py': 'hold()\nreturn\n', 'b.py': 'ruin\n' };
    const { code, repository } = await campaign(files, 'compileall', [RETURNS, ...TOYS]);
    expect([code, repository.status]).toEqual([1, 'failed']);
    expect(repository.failure.detail).toContain('b.py');
  });
});

describe('a command that fails', () => {
  test('with the fixes is tried without them: only the fixes break it', async () => {
    const verify = 'if grep -q release a.py; then echo broken; exit 3; else echo fine; fi';
    const { code, stderr, repository, bare, log, logs, trees, camp } = await campaign(
      { 'a.py': 'hold()\n' },
      verify,
    );
    expect([code, repository.status, repository.failure.stage]).toEqual([1, 'failed', 'verify']);
    expect(repository.failure).toMatchObject({
      title: 'The verify command fails with the fixes, and only with them',
      detail: expect.stringMatching(/exit 3 with the fixes, exit 0 without them\nbroken$/),
      next: expect.stringMatching(/See .*\.log, .* Then run `memfix migrate run --push --failed`\.$/),
    });
    expect(stderr).toContain('failed (verify): The verify command fails with the fixes, and only with them');
    expect(log).toMatch(/broken\n$/);
    expect(logs).toEqual([`${repository.id}.base.log`, `${repository.id}.log`]);
    expect(readFileSync(join(camp, 'logs', logs?.[0] ?? ''), 'utf8')).toMatch(/fine\n$/);
    // What it left is there to be looked at.
    expect(trees).toEqual([repository.id]);
    expect(readFileSync(join(camp, 'trees', repository.id, 'a.py'), 'utf8')).toBe('release()\n');
    expect(branchesOf(bare)).toEqual(['main']);
  });

  test('without the fixes, too, says nothing about them, and has a state of its own', async () => {
    const verify = 'if grep -q hold a.py; then echo never worked; exit 4; else exit 5; fi';
    const { code, stderr, repository, bare, camp } = await campaign({ 'a.py': 'hold()\n' }, verify);
    expect([code, repository.status, repository.failure.stage]).toEqual([1, 'not verifiable', 'verify']);
    expect(repository.failure).toMatchObject({
      title: 'The verify command fails without the fixes, too',
      detail: expect.stringMatching(/exit 5 with the fixes, exit 4 without them\nnever worked$/),
    });
    expect(stderr).toContain('1 repository: 1 not verifiable.');
    expect(branchesOf(bare)).toEqual(['main']);
    put(camp, { 'campaign.toml': `repositories = ["${bare}"]\nverify = 'true'\n` });
    expect(await memfix({ cwd: camp, env: WORLD }, 'migrate', 'run', '--push', '--failed')).toMatchObject({
      code: 0,
    });
    expect(readdirSync(join(camp, 'logs'))).toEqual([`${repository.id}.log`]);
  });

  test('is not tried a second time where it succeeds', async () => {
    const { code, repository, logs } = await campaign({ 'a.py': 'hold()\n' }, 'echo tried');
    expect([code, logs]).toEqual([0, [`${repository.id}.log`]]);
  });

  test('has the same time for both tries', async () => {
    const limits = '[limits]\nverify-timeout = "1s"\n';
    const { repository } = await campaign({ 'a.py': 'hold()\n' }, 'sleep 100', TOYS, limits);
    expect(repository.status).toBe('not verifiable');
    expect(repository.failure.detail).toContain(
      '`sleep 100`: timed out (1 s) with the fixes, timed out (1 s) without them',
    );
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
  const PROVE = 'prove: python3 train.py';
  const TRAIN = train('pass')['train.py'] ?? '';

  test('says of each fix whether it is verified, with versions, machine and figures', async () => {
    const { code, repository, bare, log } = await campaign(train('pass'), PROVE);
    expect([code, repository.status]).toEqual([0, 'pushed']);
    expect(repository.verified).toMatchObject({
      command: PROVE,
      proof: {
        setup: { torch: '0.0-fake', devices: ['Fake GPU'] },
        figures: [
          { label: 'GPU 0 peak allocated', before: 30 * MIB, after: 10 * MIB },
          { label: 'GPU 0 growth per step', before: MIB, after: 0 },
        ],
        compared: expect.arrayContaining(['losses']),
        runs: 4,
        fixes: [{ path: 'train.py', line: 9, transform: 'drop-hold', verdict: 'verified', because: null }],
      },
    });
    expect(log).toMatch(
      /\nverified {2}train\.py:9 drop-hold\nGPU 0 peak allocated 30\.00 MiB → 10\.00 MiB\n/,
    );
    expect(git(bare, 'show', `${BRANCH}:train.py`)).toContain('tricks.release()');
  });

  test('the longer spelling means the same; a fix that is not executed rests on the code alone', async () => {
    const files = { ...train('pass'), 'train.py': `${TRAIN}    if step > 99:\n        tricks.hold()\n` };
    const { repository } = await campaign(files, 'memfix prove -- python3 train.py');
    expect([repository.status, repository.verified.proof.fixes]).toEqual([
      'pushed',
      [
        { path: 'train.py', line: 9, transform: 'drop-hold', verdict: 'verified', because: null },
        {
          ...{ path: 'train.py', line: 11, transform: 'drop-hold', verdict: 'idle' },
          because: 'line 11 was not executed',
        },
      ],
    ]);
  });

  test('finds the one wrong fix among others by halves, in other files and on neighbouring lines', async () => {
    const files = {
      ...train('pass'),
      'wild.py':
        '# memfix: file-ignore[drop-hold]\nimport torch\ndef hold():\n    pass\ndef release():\n    torch.Tensor(7.0).backward()\n',
      'more.py':
        'import tricks, wild\ndef more():\n    tricks.hold()\n    wild.hold()\n    tricks.hold()  # ü\n',
      'train.py': TRAIN.replace('import torch, tricks', 'import torch, tricks, more').replace(
        '    tricks.hold()',
        '    tricks.hold()\n    more.more()',
      ),
    };
    const { code, repository, bare } = await campaign(files, PROVE);
    expect([code, repository.status, repository.failure.stage]).toEqual([1, 'failed', 'verify']);
    expect(repository.failure.title).toBe('The run shows fixes to be wrong');
    expect(repository.failure.detail).toContain(
      'rejected  more.py:4 drop-hold: loss at backward(): 40 values instead of 20',
    );
    expect(repository.failure.detail.match(/^verified /gm)).toHaveLength(3);
    expect(repository.failure.next).toMatch(/^Reject it with `memfix review`\./);
    expect(branchesOf(bare)).toEqual(['main']);
  });

  test.each([
    [
      'fails with the fixes',
      train('raise SystemExit(3)'),
      'failed',
      'rejected  train.py:9 drop-hold: it ends with 3',
    ],
    [
      'needs more memory',
      train(`torch.cuda.allocate(${2 * MIB})`),
      'failed',
      'rejected  train.py:9 drop-hold: more memory: GPU 0 peak allocated',
    ],
    [
      'never runs what changes',
      {
        ...train('pass'),
        'train.py': 'import torch\ntorch.Tensor(1.0).backward()\n',
        'other.py': 'hold()\n',
      },
      'failed',
      'not run   other.py:1 drop-hold: line 1 was not executed',
    ],
    [
      'fails without the fixes, too',
      { ...train('pass'), 'train.py': `${TRAIN}raise SystemExit(4)\n` },
      'not verifiable',
      'Unchanged, it ends with 4.',
    ],
    [
      'does not do the same twice',
      { ...train('pass'), 'train.py': TRAIN.replace('1 / (1 + step)', '__import__("random").random()') },
      'not verifiable',
      'undecided train.py:9 drop-hold: two runs as it is differ by',
    ],
  ])('keeps back what %s', async (_, files, status, why) => {
    const { code, repository, bare } = await campaign(files, PROVE);
    expect([code, repository.status, repository.failure.stage]).toEqual([1, status, 'verify']);
    expect(repository.failure.detail).toContain(why);
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
