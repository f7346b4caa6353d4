import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Files, folderWith, git, listing, put, repositoryWith } from '../workspace/folders.js';
import { type Answer, memfix } from './command-line.js';

const FAKE_TORCH = join(import.meta.dirname, '../support/fake-torch');
const MIB = 1024 * 1024;

/** `hold` takes a megabyte more in every step, `release` does not; toys put the one in the place of the other. */
const TRICKS = `import torch
def hold():
    torch.cuda.allocate(${MIB})
    torch.Tensor().item()
def release():
    pass
`;
const TRAIN = `import torch, tricks
torch.cuda.wake()
torch.cuda.allocate(${10 * MIB})
optimizer = torch.optim.SGD()
for step in range(20):
    loss = torch.Tensor(1 / (1 + step))
    loss.backward()
    optimizer.step()
    tricks.hold()
    print("loss: %.4f" % loss.value)
`;
const PROJECT = { 'train.py': TRAIN, 'tricks.py': TRICKS };
const COMMAND = ['--', 'python3', 'train.py'];

function env(): Record<string, string | undefined> {
  return { ...process.env, PYTHONPATH: FAKE_TORCH };
}

/** Copies are made in a folder of the test's own, so that what is left of them shows. */
async function prove(cwd: string, ...words: readonly string[]): Promise<Answer> {
  const temporary = folderWith();
  vi.stubEnv('TMPDIR', temporary);
  try {
    return await memfix({ cwd, env: env() }, 'prove', ...words);
  } finally {
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
  }
}

/** What `--json` tells, figures by their labels. */
function told({ stdout }: Answer) {
  const json = JSON.parse(stdout);
  const figures = (list: readonly { label: string; before: Median; after: Median; judgement: string }[]) =>
    Object.fromEntries(
      list.map(({ label, before, after, judgement }) => [label, [before?.median, after?.median, judgement]]),
    );
  return { ...json, figures: figures(json.figures) };
}
type Median = { readonly median: number } | null;

test('a table of both runs, in which the fixed one is better', async () => {
  const cwd = repositoryWith(PROJECT);
  const { code, stdout, stderr } = await prove(cwd, 'train.py', ...COMMAND);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^python3 train\.py\n {2}1 fix in 1 file: drop-hold\n/);
  expect(stdout).toMatch(/\n {2}GPU 0 peak allocated +30\.00 MiB +10\.00 MiB +−66\.7 %\n/);
  expect(stdout).toMatch(/\n {2}GPU 0 growth per step +1\.00 MiB +0 B +−1\.00 MiB\n/);
  expect(stdout).toMatch(/\n {2}synchronisations +20 +0 +−100\.0 %\n/);
  expect(stdout).toMatch(/\n {2}exit code +0 +0\n/);
  expect(stdout).toContain('\n  loss at backward():  identical (20 values)\n');
  expect(stdout).toMatch(
    /\nThe command ends well with the fixes and computes the same values\. Better: GPU 0 peak/,
  );
  expect(stderr).toContain('Copies hold: 2 files.\n');
});

test('the tree is not touched, and no work tree is left', async () => {
  const cwd = repositoryWith(PROJECT);
  const writing = "open('made.txt', 'w').write('x'); open('train.py', 'a').write('# gone')";
  put(cwd, { 'train.py': `${TRAIN}${writing}\n`, 'new.py': 'import os\n' });
  const state = () => [
    git(cwd, 'status', '--porcelain', '--ignored'),
    git(cwd, 'worktree', 'list'),
    git(cwd, 'branch', '--all'),
    listing(cwd).map((name) => [name, readFileSync(join(cwd, name), 'utf8')]),
  ];
  const before = state();
  const { code, stderr } = await prove(cwd, 'train.py', ...COMMAND);
  expect(code).toBe(0);
  expect(state()).toEqual(before);
  expect(stderr).toContain('Copies hold: 3 files, 2 with uncommitted changes.\n');
});

test('JSON has every figure with its values', async () => {
  const cwd = repositoryWith(PROJECT);
  const answer = await prove(cwd, '--json', '--repeat', '3', 'train.py', ...COMMAND);
  const { figures, ...json } = told(answer);
  expect(json).toMatchObject({
    version: 1,
    kind: 'memfix prove',
    command: ['python3', 'train.py'],
    repeats: 3,
    verdict: 'better',
    setup: { torch: '0.0-fake', devices: ['Fake GPU'] },
    fixes: [{ transform: 'drop-hold', findings: 1, files: ['train.py'], numerics: 'bit-identical' }],
    endings: { before: { kind: 'exited', code: 0 }, after: { kind: 'exited', code: 0 } },
    parities: [{ of: 'loss at backward()', before: 20, after: 20, most: 0, outcome: 'identical' }],
    perFix: [],
  });
  expect(figures).toMatchObject({
    'GPU 0 peak allocated': [30 * MIB, 10 * MIB, 'better'],
    'GPU 0 peak reserved': [60 * MIB, 20 * MIB, 'better'],
    'GPU 0 growth per step': [MIB, 0, 'better'],
    synchronisations: [20, 0, 'better'],
  });
  expect(JSON.parse(answer.stdout).figures[0].before.values).toHaveLength(3);
  expect(figures['host memory, peak'][0]).toBeGreaterThan(MIB);
});

describe('what the fixes do wrong', () => {
  test('a command that only the fixes break is the first thing one reads', async () => {
    const cwd = repositoryWith({
      ...PROJECT,
      'tricks.py': TRICKS.replace('    pass', '    raise RuntimeError("oh no")'),
    });
    const { code, stdout, stderr } = await prove(cwd, 'train.py', ...COMMAND);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /memfix: The fixes broke your command\n {2}With them, it exits with 1\. The last it printed:\n[\s\S]*RuntimeError: oh no\n/,
    );
    expect(stdout).toMatch(/\n {2}exit code +0 +1\n/);
    expect(stdout).toMatch(
      /\nThe fixes broke your command: it exits with 1, and without them it ends well\.\n$/,
    );
  });

  test('one that hangs is ended', async () => {
    const cwd = repositoryWith({
      ...PROJECT,
      'tricks.py': TRICKS.replace('    pass', '    while True: pass'),
    });
    const { code, stdout } = await prove(cwd, '--timeout', '10', '--no-counts', 'train.py', ...COMMAND);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n {2}exit code +0 +timed out \(10 s\)\n/);
  });

  test('other losses are no proof, unless chance explains them', async () => {
    const other = 'def release():\n    torch.Tensor(3.5).backward()\n';
    const same = 'def hold():\n    torch.Tensor(3.25).backward()\n';
    const cwd = repositoryWith({ ...PROJECT, 'tricks.py': `import torch\n${same}${other}` });
    const answer = await prove(cwd, '--json', 'train.py', ...COMMAND);
    expect(answer.code).toBe(1);
    expect(told(answer)).toMatchObject({
      verdict: 'different',
      parities: [{ outcome: 'different', most: 0.25, chance: 0, first: 0, last: 0.25 }],
    });
    // Each run has another loss, whether it is changed or not.
    const runs = join(folderWith(), 'runs');
    const chance = `with open('${runs}', 'a') as runs:\n    runs.write('.')\n    loss = runs.tell()\n`;
    const hold = 'def hold():\n    torch.Tensor(loss).backward()\nrelease = hold\n';
    put(cwd, { 'tricks.py': `import torch\n${chance}${hold}` });
    const by = await prove(cwd, '--json', 'train.py', ...COMMAND);
    expect(by.code).toBe(0);
    expect(told(by)).toMatchObject({ parities: [{ outcome: 'chance' }] });
  });

  test('more memory than before is told', async () => {
    const cwd = repositoryWith({
      ...PROJECT,
      'tricks.py': TRICKS.replace('    pass', '    torch.cuda.allocate(2**22)'),
    });
    const { code, stdout } = await prove(cwd, 'train.py', ...COMMAND);
    expect(code).toBe(1);
    expect(stdout).toMatch(/needs more memory: GPU 0 peak allocated \+200\.0 %/);
  });
});

test('--metric compares what is printed: first, last and largest difference', async () => {
  const cwd = repositoryWith({
    ...PROJECT,
    'tricks.py': `${TRICKS}    print('loss: 2')\n`.replace(
      'allocate(1048576)',
      "allocate(1); print('loss: 1.5')",
    ),
  });
  const metric = '(?:loss: ([0-9.]+)|never (x))';
  const words = ['--metric', metric, '--json', 'train.py', ...COMMAND];
  expect(told(await prove(cwd, ...words))).toMatchObject({
    verdict: 'different',
    parities: [
      { of: 'loss at backward()', outcome: 'identical' },
      {
        of: `logged ${metric}`,
        before: 40,
        after: 40,
        first: 0.5,
        last: 0,
        most: 0.5,
        outcome: 'different',
      },
    ],
  });
  const bare = await prove(cwd, '--no-counts', ...words);
  expect(told(bare)).toMatchObject({
    parities: [{ of: `logged ${metric}`, chance: 0, outcome: 'different' }],
  });
  expect(bare.stderr).not.toContain('counted');
  const none = await prove(repositoryWith(PROJECT), '--metric', 'accuracy (.*)', 'train.py', ...COMMAND);
  expect(none.stdout).toContain('Nothing that the command printed matches `accuracy (.*)`.');
});

test('--per-fix ranks the transforms by what each saves alone, and names the one that breaks', async () => {
  const tricks = `${TRICKS}
def rare():
    torch.cuda.allocate(${4 * MIB})
common = release
risk = release
def calm():
    raise SystemExit(9)
`;
  const train = TRAIN.replace('tricks.hold()', 'tricks.hold(); tricks.rare()').concat('tricks.risk()\n');
  const cwd = repositoryWith({ 'train.py': train, 'tricks.py': tricks });
  const select = ['--per-fix', '--select', 'drop-hold,rare-word,calm-risk'];
  const good = await prove(cwd, ...select, '--json', 'train.py', ...COMMAND);
  expect(good.code).toBe(0);
  expect(
    told(good).perFix.map((each: { transform: string; verdict: string }) => [each.transform, each.verdict]),
  ).toEqual([
    ['rare-word', 'better'],
    ['drop-hold', 'better'],
  ]);
  const bad = await prove(cwd, ...select, '--unsafe-fixes', 'train.py', ...COMMAND);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(
    /\nEach fix alone\n[^\n]*\n {2}rare-word [\s\S]*\n {2}drop-hold [\s\S]*\n {2}calm-risk .* breaks the command\n/,
  );
  expect(bad.stdout).toMatch(/Alone, `calm-risk`\sdoes\./);
});

describe('a command that proves nothing', () => {
  test.each<readonly [string, Files, readonly string[], RegExp]>([
    [
      'fails',
      { 'train.py': 'print("hm")\nhold()\n' },
      COMMAND,
      /The command fails as it is\n {2}Unchanged, it exits with 1\. The last it printed:\n {4}hm\n[\s\S]*NameError/,
    ],
    [
      'fails and prints nothing',
      { 'train.py': 'hold = exit; hold(3)\n' },
      COMMAND,
      /Unchanged, it exits with 3, and it printed nothing\./,
    ],
    [
      'is not there',
      PROJECT,
      ['--', 'pyhton', 'train.py'],
      /Command not found\n {2}there is no program `pyhton`\n {2}Next: Check the spelling/,
    ],
    ['is one word', PROJECT, ['--', 'python3 train.py'], /Command not found\n[\s\S]*Leave the quotes out/],
    [
      'may not be run',
      PROJECT,
      ['--', './train.py'],
      /The command cannot be run\n {2}`\.\/train\.py` may not be executed/,
    ],
    [
      'hangs',
      { 'train.py': 'hold = 1\nwhile hold: pass\n' },
      ['--timeout', '1', '--no-counts', ...COMMAND],
      /The command does not end\n {2}Unchanged, it is timed out \(1 s\)/,
    ],
  ])('%s', async (_, files, words, message) => {
    const cwd = repositoryWith(files);
    const end = words.indexOf('--');
    const { code, stdout, stderr } = await prove(
      cwd,
      ...words.slice(0, end),
      'train.py',
      ...words.slice(end),
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  test.each<readonly [string, string, string]>([
    [
      'needs no torch',
      'hold = 1\n',
      'The command never imports torch: only time and host memory can be compared.',
    ],
    ['makes no step', 'import torch\nhold = 1\n', 'No optimizer step was seen'],
    [
      'makes few steps',
      'import torch\nhold = torch.optim.SGD()\nhold.step()\n',
      'Too few steps for a growth per step',
    ],
  ])('%s', async (_, program, remark) => {
    const { code, stdout } = await prove(repositoryWith({ 'train.py': program }), ...COMMAND);
    expect(code).toBe(0);
    expect(stdout).toContain(remark);
  });

  test('never loads what is fixed', async () => {
    const { code, stdout } = await prove(repositoryWith(PROJECT), 'train.py', '--', 'python3', '-c', 'pass');
    expect(code).toBe(2);
    expect(stdout).toContain('Never loaded by the command, so that their fixes are not exercised: train.py.');
    expect(stdout).toMatch(
      /\nNothing is proven: the command never loads the files that the fixes change\. .*\n$/,
    );
  });

  test('starts no Python that can be measured', async () => {
    const { code, stdout } = await prove(
      repositoryWith(PROJECT),
      'train.py',
      '--',
      'python3',
      '-I',
      '-c',
      'pass',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\n {2}wall time .*\n {2}exit code +0 +0\n\n {2}• Nothing was measured inside the command/,
    );
  });

  test('has nothing to be fixed', async () => {
    const cwd = repositoryWith({ 'train.py': 'risk()\n' });
    const { code, stdout, stderr } = await prove(cwd, ...COMMAND);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toBe('Nothing to prove: there is no fix to apply. 1 fix would need `--unsafe-fixes`.\n');
    expect(told(await prove(cwd, '--json', ...COMMAND))).toMatchObject({
      verdict: 'nothing to prove',
      fixes: [],
    });
  });
});

test('a command that runs out of memory, and with the fixes no longer does', async () => {
  const full = TRICKS.replace(
    '    torch.Tensor',
    '    if torch.cuda.allocated[0] > 2**24: raise RuntimeError("CUDA out of memory.")\n    torch.Tensor',
  );
  const { code, stdout } = await prove(
    repositoryWith({ ...PROJECT, 'tricks.py': full }),
    'train.py',
    ...COMMAND,
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n {2}exit code +1 +0\n/);
  expect(stdout).toMatch(/\nWithout the fixes the command runs out of memory; with them it ends well\.\n$/);
});

describe('what git ignores', () => {
  const READS = `${TRAIN}print(open('data/x.txt').read())\n`;

  test('is copied where it is small', async () => {
    const cwd = repositoryWith({ ...PROJECT, 'train.py': READS, '.gitignore': 'data/\n' });
    put(cwd, { 'data/x.txt': 'x', 'src/__pycache__/a.pyc': '' });
    const { code, stderr } = await prove(cwd, 'train.py', ...COMMAND);
    expect(code).toBe(0);
    expect(stderr).toContain('Ignored by git, copied: data.\n');
  });

  test('is named where it is large, and linked when asked', async () => {
    const cwd = repositoryWith({ ...PROJECT, 'train.py': READS, '.gitignore': 'data/\n' });
    put(cwd, { 'data/x.txt': 'x', 'data/large.bin': '' });
    truncateSync(join(cwd, 'data/large.bin'), 300 * MIB);
    const without = await prove(cwd, 'train.py', ...COMMAND);
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('Not in the copies, being more than 256.0 MiB together: data.');
    expect(without.stderr).toContain('The copy lacks what git ignores: data; `--link` or `--copy` it.');
    const linked = await prove(cwd, '--link', 'data', 'train.py', ...COMMAND);
    expect(linked.code).toBe(0);
    expect(linked.stderr).toContain('Linked, not copied: data.\n');
  });

  test('an environment is linked', async () => {
    const cwd = repositoryWith({ ...PROJECT, '.gitignore': 'env/\n' });
    put(cwd, { 'env/pyvenv.cfg': '', 'env/run': '#!/bin/sh\nexec "$@"\n' });
    spawnSync('chmod', ['+x', join(cwd, 'env/run')]);
    const { code, stderr } = await prove(cwd, 'train.py', '--', 'env/run', 'python3', 'train.py');
    expect([code, stderr]).toEqual([0, expect.stringContaining('Linked, not copied: env.\n')]);
  });

  test('a fix never goes through a link', async () => {
    const cwd = repositoryWith(PROJECT);
    put(cwd, { 'linked/more.py': 'hold = 1\n' });
    const { code, stderr } = await prove(cwd, '--link', 'linked', 'linked/more.py', ...COMMAND);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'A fix could not be written into the copy\n  linked/more.py: it is only linked\n',
    );
    expect(readFileSync(join(cwd, 'linked/more.py'), 'utf8')).toBe('hold = 1\n');
  });

  test('a link to what is not there is wrong', async () => {
    const { code, stderr } = await prove(repositoryWith(PROJECT), '--link', 'data', 'train.py', ...COMMAND);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^(?:.*\n)*memfix: Not in the tree\n {2}`--link data`: it does not exist\n/);
  });
});

test('outside git, the folder is copied', async () => {
  const cwd = folderWith(PROJECT);
  const { code, stderr } = await prove(cwd, 'train.py', ...COMMAND);
  expect(code).toBe(0);
  expect(stderr).toContain(`Copies hold: ${cwd}, which is no git repository with a commit.\n`);
  expect(listing(cwd)).toEqual(['train.py', 'tricks.py']);
});

test('runs where the user stands, and paths of the tree lead into the copy', async () => {
  const cwd = repositoryWith({
    'sub/train.py': TRAIN,
    'tricks.py': TRICKS,
    'main.py': 'import runpy, sys\nrunpy.run_path(sys.argv[1].split("=")[1])\n',
  });
  const words = ['--', 'python3', '../main.py', `--script=${join(cwd, 'sub/train.py')}`];
  const { code, stdout } = await prove(join(cwd, 'sub'), 'train.py', ...words);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n {2}GPU 0 peak allocated +30\.00 MiB +10\.00 MiB /);
});

test('--prepare makes a folder that needs no memfix, and --read compares what came of it', async () => {
  const cwd = repositoryWith({ 'sub/train.py': TRAIN, 'sub/tricks.py': TRICKS });
  const out = join(folderWith(), 'out');
  const { code, stderr } = await prove(
    join(cwd, 'sub'),
    '--prepare',
    out,
    '--repeat',
    '2',
    'train.py',
    ...COMMAND,
  );
  expect(code).toBe(0);
  expect(stderr).toContain('is ready. There: `sh run.sh`.');
  expect((await prove(cwd, '--read', out)).stderr).toMatch(/The runs are not complete/);
  const ran = spawnSync('sh', [join(out, 'run.sh')], { encoding: 'utf8', env: env(), cwd: folderWith() });
  expect([ran.status, ran.stdout]).toEqual([0, '']);
  const answer = await prove(cwd, '--read', out, '--json');
  expect(answer.code).toBe(0);
  expect(told(answer)).toMatchObject({
    verdict: 'better',
    repeats: 2,
    figures: { 'GPU 0 peak allocated': [30 * MIB, 10 * MIB, 'better'], synchronisations: [20, 0, 'better'] },
    parities: [{ outcome: 'identical' }],
  });
  expect(git(cwd, 'status', '--porcelain', '--ignored')).toBe('');
  expect((await prove(cwd, '--prepare', out, 'sub/train.py', ...COMMAND)).stderr).toContain(
    'The folder is not empty',
  );
});

test('--evidence puts what was measured into a patch that still applies, and into reports', async () => {
  const cwd = repositoryWith({ ...PROJECT, 'other.py': 'hold()\nrare()\n' });
  expect((await prove(cwd, '--json', '-o', 'prove.json', 'train.py', ...COMMAND)).code).toBe(0);
  const words = ['--evidence', 'prove.json', '--extend-select', 'rare-word', 'train.py', 'other.py'];
  const { code, stdout, data } = await memfix({ cwd }, 'diff', ...words);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^# memfix prove -- python3 train\.py\n# {3}torch 0\.0-fake · Fake GPU · one run each; fixes: drop-hold; better\n/,
  );
  expect(stdout).toContain('# drop-hold: better: GPU 0 peak allocated 30.00 MiB → 10.00 MiB');
  expect(stdout).toContain('\n# rare-word: not measured\ndiff --git a/other.py b/other.py\n');
  for (const program of [
    ['git', 'apply'],
    ['patch', '-p1', '--dry-run'],
  ]) {
    const [name = '', ...rest] = program;
    const answer = spawnSync(name, rest, { cwd, input: data, encoding: 'utf8' });
    if (answer.error === undefined) expect([name, answer.status, answer.stderr]).toEqual([name, 0, '']);
    if (name === 'git') git(cwd, 'checkout', '--', '.');
  }
  const full = await memfix({ cwd }, 'check', ...words);
  expect(full.stdout).toMatch(/\n {2}measured on your run: better: GPU 0/);
  const json = JSON.parse((await memfix({ cwd }, 'check', '--output-format', 'json', ...words)).stdout);
  expect(json.proven[0]).toBe('memfix prove -- python3 train.py');
  expect(
    json.findings.map((each: { measured: string | null }) => each.measured?.slice(0, 6) ?? null),
  ).toEqual(['better', 'better', null]);
  writeFileSync(join(cwd, 'prove.json'), '{}');
  expect((await memfix({ cwd }, 'diff', ...words)).stderr).toMatch(/^memfix: No evidence there\n/);
});

test.each<readonly [readonly string[], string]>([
  [['.'], 'needs your command after `--`'],
  [['--'], 'needs your command after `--`'],
  [['-', '--', 'true'], 'cannot read standard input'],
  [['--repeat', '0', '--', 'true'], '`--repeat` cannot be `0`'],
  [['--timeout', 'soon', '--', 'true'], '`--timeout` cannot be `soon`'],
  [['--metric', '(', '--', 'true'], '`--metric` is no regular expression'],
  [['--read', 'x', '--', 'true'], '`--read` runs nothing'],
])('memfix prove %j is said to be wrong', async (words, detail) => {
  const { code, stdout, stderr } = await prove(folderWith({ 'a.py': 'hold()\n' }), ...words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^memfix: Wrong usage\n {2}.*\n {2}Next: .*\n$/);
  expect(stderr).toContain(detail);
});
