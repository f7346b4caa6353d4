import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { folderWith, git, repositoryWith } from '../workspace/folders.js';
import { type Answer, memfix } from './command-line.js';

const FAKE_TORCH = join(import.meta.dirname, '../support/fake-torch');

/** `hold` and `risk` are what toys put `release` and `calm` in the place of; `wild.calm` computes something else. */
const TRICKS = `import torch
def hold():
    torch.cuda.allocate(1024)
def release():
    pass
def risk():
    pass
def calm():
    pass
`;
const WILD = `import torch
def risk():
    pass
def calm():
    torch.Tensor(7.0).backward()
`;
const TRAIN = `import torch, tricks, wild
torch.cuda.wake()
optimizer = torch.optim.SGD()
for step in range(4):
    loss = torch.Tensor(1 / (1 + step))
    loss.backward()
    optimizer.step()
    tricks.hold()
    tricks.risk()
    tricks.risk()
    wild.risk()
    tricks.risk()
    if step > 9:
        tricks.risk()
`;
const PROJECT = { 'train.py': TRAIN, 'tricks.py': TRICKS, 'wild.py': WILD };

/** Copies are made in a folder of the test's own, so that what is left of them shows. */
async function run(cwd: string, state: string, ...words: readonly string[]): Promise<Answer> {
  const temporary = folderWith();
  vi.stubEnv('TMPDIR', temporary);
  const env = { ...process.env, PYTHONPATH: FAKE_TORCH, MEMFIX_STATE_DIR: state };
  try {
    return await memfix({ cwd, env }, ...words);
  } finally {
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
  }
}

const trained = (cwd: string): string => readFileSync(join(cwd, 'train.py'), 'utf8');

describe('apply --verify', () => {
  test('takes what the run shows to be right, and finds the one fix among others that is wrong', async () => {
    const cwd = repositoryWith(PROJECT);
    const words = ['apply', '--unsafe-fixes', '--verify', 'python3 train.py', 'train.py'];
    const { stderr } = await run(cwd, folderWith(), ...words);
    expect(stderr).toMatch(
      /By `python3 train\.py` \(torch 0\.0-fake, Fake GPU, \d+ runs in \d+ s\); compared: losses/,
    );
    expect(stderr).toContain('  verified  taken train.py:8 drop-hold\n');
    expect(stderr).toContain('  verified  taken train.py:9 calm-risk\n');
    expect(stderr).toContain(
      '  rejected  left  train.py:11 calm-risk: loss at backward(): 8 values instead of 4\n',
    );
    expect(stderr).toContain('  verified  taken train.py:12 calm-risk\n');
    expect(stderr).toContain(
      '  not run   left  train.py:14 calm-risk: nothing of its change at line 14 was executed\n',
    );
    expect(trained(cwd)).toBe(
      TRAIN.replace('tricks.hold', 'tricks.release')
        .replace('tricks.risk()\n    tricks.risk()\n    wild', 'tricks.calm()\n    tricks.calm()\n    wild')
        .replace('wild.risk()\n    tricks.risk', 'wild.risk()\n    tricks.calm'),
    );
    // Three to know the command, one for all, then about two for each halving.
    expect(Number(/(\d+) runs in/.exec(stderr)?.[1])).toBeLessThanOrEqual(3 + 1 + 2 * 3);
  });

  test('a safe fix that the run does not get to is taken; one that it shows to be wrong is not', async () => {
    const cwd = repositoryWith({
      ...PROJECT,
      'train.py': TRAIN.replace('        tricks.risk()', '        tricks.hold()'),
      'tricks.py': TRICKS.replace('    pass', '    raise RuntimeError("oh no")'),
    });
    const { stderr } = await run(cwd, folderWith(), 'apply', '--verify', 'python3 train.py', 'train.py');
    expect(stderr).toMatch(
      / {2}rejected {2}left {2}train\.py:8 drop-hold: it ends with 1: RuntimeError: oh no\n/,
    );
    expect(stderr).toContain('  not run   taken train.py:14 drop-hold');
    expect(trained(cwd)).toContain('    tricks.hold()\n    tricks.risk()\n');
    expect(trained(cwd)).toContain('        tricks.release()\n');
  });

  test('goes on where it was before: what was tried is not tried again', async () => {
    const cwd = repositoryWith({
      'train.py': 'import torch, wild\ntorch.Tensor(1.0).backward()\nwild.risk()\n',
      'wild.py': WILD,
    });
    const state = folderWith();
    const words = ['apply', '--unsafe-fixes', '--verify', 'python3 train.py', 'train.py'];
    expect((await run(cwd, state, ...words)).stderr).toContain(', 4 runs in ');
    const again = await run(cwd, state, ...words);
    expect(again.stderr).toContain(', 3 runs in ');
    expect(again.stderr).toContain('rejected  left  train.py:3 calm-risk');
    expect(git(cwd, 'status', '--porcelain')).toBe('');
  });

  test('with no time left, what is open is named and left', async () => {
    const cwd = repositoryWith({ ...PROJECT, 'train.py': `${TRAIN}import time\ntime.sleep(0.4)\n` });
    const words = ['apply', '--unsafe-fixes', '--budget', '1', '--verify', 'python3 train.py', 'train.py'];
    const { stderr } = await run(cwd, folderWith(), ...words);
    expect(stderr).toContain('  undecided taken train.py:8 drop-hold: the time was up');
    expect(stderr).toContain('  undecided left  train.py:9 calm-risk: the time was up');
  });

  test.each([
    ['fails by itself', 'python3 nowhere.py', 'The command fails as it is'],
    ['shows nothing', 'python3 -c "import time; print(time.time_ns())"', 'The run shows nothing to compare'],
  ])('a command that %s decides nothing', async (_, command, title) => {
    const cwd = repositoryWith(PROJECT);
    const { code, stderr } = await run(cwd, folderWith(), 'apply', '--verify', command, 'train.py');
    expect(code).toBe(2);
    expect(stderr).toContain(`memfix: ${title}\n`);
    expect(trained(cwd)).toBe(TRAIN);
  });

  test.each([
    [['--dry-run'], '`--verify` decides by itself and writes files; it does not go with `--dry-run`.'],
    [['--metric', '('], '`--metric` is no regular expression'],
    [['--budget', 'soon'], '`--budget` cannot be `soon`'],
  ])('%j is heard of before anything runs', async (more, message) => {
    const cwd = repositoryWith(PROJECT);
    const words = ['apply', '--verify', 'python3 train.py', ...more, 'train.py'];
    const { code, stderr } = await run(cwd, folderWith(), ...words);
    expect([code, stderr.includes(message), stderr.includes('Run 1')]).toEqual([2, true, false]);
  });

  test('prove --apply does the same', async () => {
    const cwd = repositoryWith(PROJECT);
    const words = ['prove', '--apply', '--unsafe-fixes', 'train.py', '--', 'python3', 'train.py'];
    const { stderr } = await run(cwd, folderWith(), ...words);
    expect(stderr).toContain('  verified  taken train.py:9 calm-risk\n');
    expect(stderr).toContain('  rejected  left  train.py:11 calm-risk');
    expect(trained(cwd)).toContain('tricks.calm()');
  });
});
