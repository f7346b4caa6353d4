import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { folderWith, git, repositoryWith } from '../workspace/folders.js';
import { type Answer, memfix } from './command-line.js';

const FAKE_TORCH = join(import.meta.dirname, '../support/fake-torch');

// A dozen runs of Python each.
vi.setConfig({ testTimeout: 180_000 });

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
torch.cuda.allocate(1024)
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
      /By `python3 train\.py` \(Python [\d.]+, torch 0\.0-fake, Fake GPU, \d+ runs in \d+ s\); compared: losses/,
    );
    expect(stderr).toContain('  verified  taken train.py:9 drop-hold\n');
    expect(stderr).toContain('  verified  taken train.py:10 calm-risk\n');
    expect(stderr).toContain(
      '  rejected  left  train.py:12 calm-risk: loss at backward(): 8 values instead of 4\n',
    );
    expect(stderr).toContain('  verified  taken train.py:13 calm-risk\n');
    expect(stderr).toContain(
      '  not run   left  train.py:15 calm-risk: a part of its change was not executed, line 15\n',
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
      / {2}rejected {2}left {2}train\.py:9 drop-hold: it ends with 1: RuntimeError: oh no\n/,
    );
    expect(stderr).toContain('  not run   taken train.py:15 drop-hold');
    expect(trained(cwd)).toContain('    tricks.hold()\n    tricks.risk()\n');
    expect(trained(cwd)).toContain('        tricks.release()\n');
  });

  test('what only another fix brings to light waits for the next run, also where it has the same key', async () => {
    const cwd = repositoryWith({
      'train.py': `import torch\ndef mark(*given, **more):\n    pass\ntorch.Tensor(1.0).backward()\nmark(1)\nmark(2)\nmark(3)\n`,
    });
    const rules = folderWith({
      'mark.mjs': `export default { apiVersion: 1, transforms: ({ keywordArgument, argumentsOf, Proof, ask }) => [{
        meta: { id: 'mark-first', summary: 'Mark the first', symptom: 'peak', moments: ['forward'], safety: 'unsafe', numerics: 'bit-identical',
          docs: { why: 'a test', does: 'a test', refuses: ['never'] }, example: 'fix-plain' },
        prefilter: ['mark('],
        *detect(module) {
          const calls = module.at('mark(').map((node) => node.closest('call')).filter((call) => call !== undefined);
          const call = calls.find((each) => keywordArgument(each, 'done') === undefined);
          if (call !== undefined) yield { node: call.function, call, message: 'not marked' };
        },
        fix({ call }, edit) {
          edit.appendKeyword(call, 'done', 'True');
          return edit.done('Mark it', new Proof().require('unknown', ask('marked')\`May it be marked?\`));
        },
      }] };\n`,
    });
    const { stderr } = await run(
      cwd,
      folderWith(),
      ...['apply', '--unsafe-fixes', '--select', 'mark-first', '--plugin', join(rules, 'mark.mjs')],
      ...['--verify', 'python3 train.py', 'train.py'],
    );
    expect(stderr).toContain('  verified  taken train.py:5 mark-first\n');
    expect(trained(cwd)).toContain('mark(1, done=True)\nmark(2)\nmark(3)\n');
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
    expect(stderr).toContain('  undecided taken train.py:9 drop-hold: the time was up');
    expect(stderr).toContain('  undecided left  train.py:10 calm-risk: the time was up');
  });

  test('a command that does not do the same twice verifies nothing, however wrong a fix is', async () => {
    const noisy = TRAIN.replace('1 / (1 + step)', '1 / (1 + step) + time.time() % 1').replace(
      'torch,',
      'time, torch,',
    );
    const cwd = repositoryWith({ ...PROJECT, 'train.py': noisy });
    const words = ['apply', '--unsafe-fixes', '--verify', 'python3 train.py', 'train.py'];
    const { stderr } = await run(cwd, folderWith(), ...words);
    expect(stderr).toMatch(
      / {2}undecided left {2}train\.py:12 calm-risk: two runs as it is differ by .* % in loss/,
    );
    expect(stderr).toMatch(/ {2}undecided taken train\.py:9 drop-hold: two runs as it is differ/);
    expect(stderr).not.toContain('  verified ');
  });

  test('--deterministic sets what chance depends on, here and in a prepared folder', async () => {
    const told =
      'import os\nprint(os.environ.get("CUBLAS_WORKSPACE_CONFIG"), os.environ.get("PYTHONHASHSEED"))\n';
    const cwd = repositoryWith({ ...PROJECT, 'train.py': `${told}${TRAIN}`, '.gitignore': 'out\n' });
    const words = [
      'apply',
      '--deterministic',
      '--verify',
      'python3 train.py',
      '--prepare',
      'out',
      'train.py',
    ];
    await run(cwd, folderWith(), ...words);
    const env = { ...process.env, PYTHONPATH: FAKE_TORCH };
    spawnSync('python3', ['verify.py'], { cwd: join(cwd, 'out'), env });
    const log = readFileSync(join(cwd, 'out/runs/as-it-is-1/log.txt'), 'utf8');
    expect(log).toContain(':4096:8 0\n');
    const plain = ['apply', '--verify', 'python3 train.py', '--prepare', 'plain', 'train.py'];
    await run(cwd, folderWith(), ...plain);
    expect(JSON.parse(readFileSync(join(cwd, 'plain/verify.json'), 'utf8'))).toMatchObject({ env: {} });
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
    [['--interactive'], '`--verify` lets a run decide; it does not go with `--interactive`.'],
    [['--read', 'out'], '`--read` runs nothing; leave the command out.'],
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
    expect(stderr).toContain('  verified  taken train.py:10 calm-risk\n');
    expect(stderr).toContain('  rejected  left  train.py:12 calm-risk');
    expect(trained(cwd)).toContain('tricks.calm()');
  });
});

const UNSAFE = ['--unsafe-fixes', 'train.py'];

/** A verification that writes nothing, and leaves its evidence in a file. */
async function evidenceFor(cwd: string, state = folderWith()): Promise<Answer> {
  const words = ['diff', '--verify', 'python3 train.py', '--save-evidence', 'verified.json', ...UNSAFE];
  return run(cwd, state, ...words);
}

interface Told {
  readonly line: number;
  readonly safety: string;
  readonly verified: { readonly verdict: string; readonly words: string; readonly setup: object } | null;
}

async function toldIn(cwd: string, state: string): Promise<readonly Told[]> {
  const words = ['check', '--evidence', 'verified.json', '--output-format', 'json', ...UNSAFE];
  return (JSON.parse((await run(cwd, state, ...words)).stdout) as { findings: Told[] }).findings;
}

describe('what a run has shown is kept', () => {
  test('in a file: reports, a patch and the session tell it, until the code is another one', async () => {
    const cwd = repositoryWith(PROJECT);
    const state = folderWith();
    const { stdout } = await evidenceFor(cwd, state);
    expect(trained(cwd)).toBe(TRAIN);
    expect(stdout).toContain('+    tricks.release()\n');
    expect(stdout).not.toContain('+    wild.calm()');
    expect(stdout).toMatch(
      /calm-risk, line 10, verified by your run: `python3 train\.py` \(Python [\d.]+, torch 0\.0-fake, Fake GPU\); all 4 together: GPU 0 peak allocated 5\.00 KiB → 1\.00 KiB/,
    );
    const told = await toldIn(cwd, state);
    expect(told.map(({ line, verified }) => [line, verified?.verdict])).toEqual([
      [9, 'verified'],
      [10, 'verified'],
      [11, 'verified'],
      [12, 'rejected'],
      [13, 'verified'],
      [15, 'idle'],
    ]);
    expect(told[3]?.verified?.words).toMatch(/^rejected by your run: loss at backward\(\): 8 values instead/);
    expect(told[1]?.verified?.setup).toMatchObject({ torch: '0.0-fake', devices: ['Fake GPU'] });
    const text = (await run(cwd, state, 'check', '--evidence', 'verified.json', ...UNSAFE)).stdout;
    expect(text).toMatch(/train\.py:10:12 {2}calm-risk {2}verified/);
    const short = ['check', '--output-format', 'concise', '--evidence', 'verified.json', ...UNSAFE];
    expect((await run(cwd, state, ...short)).stdout).toMatch(/train\.py:10:12: calm-risk \[verified\]/);
    const markdown = ['check', '--output-format', 'markdown', '--evidence', 'verified.json', ...UNSAFE];
    expect((await run(cwd, state, ...markdown)).stdout).toContain('- rejected by your run: loss at backward');
    const sarif = ['check', '--output-format', 'sarif', '--evidence', 'verified.json', ...UNSAFE];
    const log = JSON.parse((await run(cwd, state, ...sarif)).stdout) as {
      runs: { results: { message: { text: string }; properties: { verified?: { verdict: string } } }[] }[];
    };
    expect(log.runs[0]?.results[1]?.properties.verified?.verdict).toBe('verified');
    expect(log.runs[0]?.results[1]?.message.text).toContain('verified by your run: `python3 train.py`');
    // Comments and where a line stands are no code.
    writeFileSync(join(cwd, 'train.py'), `# new\n\n${TRAIN}`);
    expect((await toldIn(cwd, state))[1]).toMatchObject({ line: 12, verified: { verdict: 'verified' } });
    // Neither the file of the fix nor any other that ran may say something else.
    writeFileSync(
      join(cwd, 'tricks.py'),
      TRICKS.replace('def calm():\n    pass', 'def calm():\n    print(1)'),
    );
    expect((await toldIn(cwd, state))[1]?.verified).toMatchObject({
      verdict: 'stale',
      words: 'stale: verified by `python3 train.py`, and `tricks.py` has changed since',
    });
    const stale = await run(cwd, state, 'check', '--evidence', 'verified.json', ...UNSAFE);
    expect(stale.stdout).toMatch(/train\.py:12:12 {2}calm-risk {2}unsafe/);
  });

  test('after apply, what is left is known as rejected, and what was written as verified', async () => {
    const cwd = repositoryWith(PROJECT);
    const words = ['--verify', 'python3 train.py', '--save-evidence', 'verified.json', ...UNSAFE];
    const { stdout } = await run(cwd, folderWith(), 'apply', '--output-format', 'json', ...words);
    const report = JSON.parse(stdout) as { applied: Told[]; findings: Told[] };
    expect(report.applied.map(({ line, verified }) => [line, verified?.verdict])).toEqual([
      [9, 'verified'],
      [10, 'verified'],
      [11, 'verified'],
      [13, 'verified'],
    ]);
    expect(report.findings.map(({ line, verified }) => [line, verified?.verdict])).toEqual([
      [12, 'rejected'],
      [15, 'idle'],
    ]);
    const again = await toldIn(cwd, folderWith());
    expect(again.map(({ verified }) => verified?.verdict)).toEqual(['rejected', 'idle']);
  });

  test('runs of several commands stand beside each other; the one that shows a fix to be wrong counts', async () => {
    const cwd = repositoryWith(PROJECT);
    const state = folderWith();
    await evidenceFor(cwd, state);
    const other = ['diff', '--verify', 'python3 ./train.py', '--save-evidence', 'verified.json', ...UNSAFE];
    await run(cwd, state, ...other);
    const file = readFileSync(join(cwd, 'verified.json'), 'utf8');
    expect(file.match(/"command"/g)).toHaveLength(2);
    await evidenceFor(cwd, state);
    expect(readFileSync(join(cwd, 'verified.json'), 'utf8').match(/"command"/g)).toHaveLength(2);
    expect((await toldIn(cwd, state))[3]?.verified?.verdict).toBe('rejected');
    writeFileSync(join(cwd, 'verified.json'), file.replace('"verdict":"idle"', '"verdict":"maybe"'));
    const bad = await run(cwd, state, 'check', '--evidence', 'verified.json', ...UNSAFE);
    expect([bad.code, bad.stderr.includes('No evidence there')]).toEqual([2, true]);
  });

  test('no file outside of the project is read for it', async () => {
    const cwd = repositoryWith(PROJECT);
    const state = folderWith();
    await evidenceFor(cwd, state);
    const outside = folderWith({ 'tricks.py': TRICKS });
    rmSync(join(cwd, 'tricks.py'));
    symlinkSync(join(outside, 'tricks.py'), join(cwd, 'tricks.py'));
    expect((await toldIn(cwd, state))[1]?.verified?.verdict).toBe('stale');
  });
});

describe('--prepare and --read', () => {
  const prepare = ['apply', '--verify', 'python3 train.py', '--prepare', 'out', ...UNSAFE];
  const read = ['apply', '--read', 'out', ...UNSAFE];

  function script(cwd: string): SpawnSyncReturns<string> {
    const env = { ...process.env, PYTHONPATH: FAKE_TORCH };
    return spawnSync('python3', ['verify.py'], { cwd: join(cwd, 'out'), encoding: 'utf8', env });
  }

  test('carry the whole procedure: one script runs all, the reading decides as runs here do, and applies', async () => {
    const cwd = repositoryWith({ ...PROJECT, '.gitignore': 'out\n' });
    const there = await run(cwd, folderWith(), ...prepare);
    expect([there.code, there.stderr.includes('out is ready, with 6 fixes.')]).toEqual([0, true]);
    expect(trained(cwd)).toBe(TRAIN);
    const early = await run(cwd, folderWith(), ...read);
    expect([early.code, early.stderr.includes('lacks a run of the unchanged command')]).toEqual([2, true]);
    const { status, stderr } = script(cwd);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/memfix: \d+ runs made in \d+ s\./)]);
    const names = readdirSync(join(cwd, 'out/runs'));
    expect(names).toEqual(expect.arrayContaining(['as-it-is-1', 'as-it-is-2', 'lines']));
    expect(script(cwd).stderr).toContain('memfix: 0 runs made');
    expect(trained(cwd)).toBe(TRAIN);
    const answer = await run(cwd, folderWith(), ...read, '--save-evidence', 'verified.json');
    expect(answer.stderr).toMatch(new RegExp(`, ${names.length} runs in \\d+ s\\)`));
    const lines = (text: string) =>
      text.split('\n').filter((line) => /^ {2}(verified|rejected|not run) /.test(line));
    const fixed = trained(cwd);
    const other = repositoryWith(PROJECT);
    const own = await run(other, folderWith(), 'apply', '--verify', 'python3 train.py', ...UNSAFE);
    expect(lines(answer.stderr)).toEqual(lines(own.stderr));
    expect(lines(own.stderr)).toHaveLength(6);
    expect(fixed).toBe(trained(other));
    expect((await toldIn(cwd, folderWith())).map(({ verified }) => verified?.verdict)).toEqual([
      'rejected',
      'idle',
    ]);
  });

  test('what the script did not think of is asked for, and run by it', async () => {
    const cwd = repositoryWith({ ...PROJECT, '.gitignore': 'out\n' });
    await run(cwd, folderWith(), ...prepare);
    script(cwd);
    for (const name of readdirSync(join(cwd, 'out/runs')))
      if (/^[0-9a-f]{16}$/.test(name)) rmSync(join(cwd, 'out/runs', name), { recursive: true });
    const answer = await run(cwd, folderWith(), ...read);
    expect([answer.code, answer.stderr.includes('One more set of fixes has to run')]).toEqual([2, true]);
    expect(trained(cwd)).toBe(TRAIN);
    // Where nothing says what fixes make together, only the whole files that the reading asks for can be run.
    const plan = join(cwd, 'out/verify.json');
    const whole = JSON.parse(readFileSync(plan, 'utf8')) as object;
    writeFileSync(
      plan,
      JSON.stringify({ ...whole, clusters: [{ members: [0, 1, 2, 3, 4, 5], subsets: {} }] }),
    );
    for (let round = 0; round < 12 && trained(cwd) === TRAIN; round++) {
      expect(script(cwd).status).toBe(0);
      await run(cwd, folderWith(), ...read);
    }
    expect(trained(cwd)).toContain('tricks.release()');
  });

  test('code that has changed meanwhile, and other options, are heard of', async () => {
    const cwd = repositoryWith({ ...PROJECT, '.gitignore': 'out\n' });
    await run(cwd, folderWith(), ...prepare);
    script(cwd);
    const fewer = await run(cwd, folderWith(), 'apply', '--read', 'out', 'train.py');
    expect(fewer.stderr).toContain('6 fixes were prepared, and 1 are offered now');
    expect(fewer.stderr).toContain('`--unsafe-fixes`');
    writeFileSync(join(cwd, 'wild.py'), `${WILD}\nx = 1\n`);
    const changed = await run(cwd, folderWith(), ...read);
    expect([changed.code, changed.stderr.includes('The runs loaded wild.py, which is another file')]).toEqual(
      [2, true],
    );
    expect(trained(cwd)).toBe(TRAIN);
  });
});
