/** What memfix writes, and the commands that it proposes: what is pasted does what was said. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask } from '../../src/semantic/question.js';
import { Proof } from '../../src/toolkit/proof.js';
import { factoryDevice } from '../../transforms/factory-device.js';
import { toy } from '../support/toy.js';
import { commit, folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { TOYS } from './toys.js';

const MANY = 'hold()\nrisk()\nhint()\nrare()\n';

/** The commands that a run proposes, without their program. */
function proposed(text: string): readonly (readonly string[])[] {
  const told = [...text.matchAll(/`memfix (apply[^`]*)`|^ +.*?memfix (apply.*)$/gm)];
  return told.map(([, quoted, listed]) => (quoted ?? listed ?? '').trim().split(' '));
}

test('a proposed command keeps what the findings came from', async () => {
  const cwd = repositoryWith({ 'memfix.toml': 'select = ["peak"]\n', 'a.py': MANY });
  const { stderr } = await memfix({ cwd }, 'check', '--isolated', '--extend-select', 'rare-word', 'a.py');
  const commands = proposed(stderr);
  expect(stderr).toContain('Most worth fixing:');
  expect(commands.length).toBeGreaterThan(2);
  for (const words of commands) expect(words).toContain('--isolated');
  const [first = []] = commands.filter((words) => words.includes('drop-hold'));
  await memfix({ cwd }, ...first);
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe(MANY.replace('hold', 'release'));
});

test('a proposed command fixes what was shown, also where a transform finds more when it is named', async () => {
  const forward = [1, 2, 3, 4].map((each) => `        a${each} = torch.ones(x.size(${each})).to(x.device)\n`);
  const text = `import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, where):\n        self.table = torch.zeros(10).to(where)\n\n    def forward(self, x):\n${forward.join('')}        return x, a1, a2, a3, a4\n`;
  const cwd = repositoryWith({ 'a.py': text });
  const setting = { cwd, transforms: [factoryDevice, ...TOYS] };
  const { stdout, stderr } = await memfix(setting, 'check', '--ignore', 'drop-hold', 'a.py');
  expect(stdout).not.toContain('self.table');
  const [words = []] = proposed(stderr).filter((each) => each.includes('factory-device'));
  expect(words.join(' ')).toBe('apply --fixable factory-device --ignore drop-hold a.py');
  expect(stderr).toContain(
    '  `--fixable`, since `--select factory-device` would look for more than is shown here.\n',
  );
  const named = await memfix(setting, 'check', '--select', 'factory-device', 'a.py');
  const [selected = []] = proposed(named.stderr).filter((each) => each.includes('factory-device'));
  expect(selected.join(' ')).toBe('apply --select factory-device a.py');
  expect(named.stderr).not.toContain('would look for more');
  await memfix(setting, ...words);
  const now = readFileSync(join(cwd, 'a.py'), 'utf8');
  expect([now.match(/device=x\.device/g)?.length, now.includes('torch.zeros(10).to(where)')]).toEqual([
    4,
    true,
  ]);
});

test('what only gives reserved memory back is less worth than what lowers a peak', async () => {
  const word = (id: string, text: string, symptom: 'fragmentation' | 'peak') =>
    toy(id, text, (edit, node) => void edit.replace(node, 'done'), { symptom });
  const transforms = [word('give-back', 'back', 'fragmentation'), word('lower-peak', 'peak', 'peak')];
  const cwd = repositoryWith({ 'a.py': 'back()\nback()\npeak()\npeak()\n' });
  const { stderr } = await memfix({ cwd, transforms }, 'check', 'a.py');
  expect(proposed(stderr).flatMap((words) => words.filter((each) => /-(?:back|peak)$/.test(each)))).toEqual([
    ...['lower-peak', 'give-back'],
  ]);
});

test('of what is unsafe, that with the fewest questions is most worth', async () => {
  const word = (id: string, text: string, questions: readonly string[]) =>
    toy(id, text, (edit, node) => {
      const proof = new Proof();
      for (const each of questions) proof.require('unknown', ask('known')`Is \`${each}\` known?`);
      edit.replace(node, 'done');
      return edit.done('Do it', proof);
    });
  const transforms = [word('ask-much', 'much', ['a', 'b', 'c']), word('ask-little', 'little', ['a'])];
  const cwd = repositoryWith({ 'a.py': 'much()\nmuch()\nlittle()\nlittle()\n' });
  const { stderr } = await memfix({ cwd, transforms }, 'check', 'a.py');
  expect(proposed(stderr).flatMap((words) => words.filter((each) => each.startsWith('ask-')))).toEqual([
    ...['ask-little', 'ask-much'],
  ]);
});

test('after a part of all was asked for, nothing is said of the rest', async () => {
  const cwd = repositoryWith({ 'a.py': MANY });
  const { stderr } = await memfix({ cwd }, 'apply', '--select', 'drop-hold', 'a.py');
  expect(stderr).toContain('Nothing else was found with `--select drop-hold`.');
});

test('with a baseline, it fixes what is new and nothing that was recorded', async () => {
  const cwd = repositoryWith({ 'old.py': 'hold()\n' });
  await memfix({ cwd }, 'baseline');
  put(cwd, { 'old.py': 'hold()\nx = 1\nhold(x)\n', 'new.py': 'hold()\n' });
  commit(cwd);
  const { stderr, code } = await memfix({ cwd }, 'check', '--baseline', '.');
  expect([code, stderr]).toEqual([1, expect.stringContaining('`memfix apply --baseline .` to fix 2')]);
  const patch = (await memfix({ cwd }, 'diff', '--baseline')).stdout;
  expect(patch.match(/^\+release.*/gm)).toEqual(['+release()', '+release(x)']);
  const [words = []] = proposed(stderr);
  expect((await memfix({ cwd }, ...words)).code).toBe(0);
  expect(readFileSync(join(cwd, 'old.py'), 'utf8')).toBe('hold()\nx = 1\nrelease(x)\n');
  expect(readFileSync(join(cwd, 'new.py'), 'utf8')).toBe('release()\n');
  const loose = await memfix({ cwd }, 'apply', '--baseline', 'memfix-baseline.json');
  expect(loose).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`--baseline=memfix-baseline.json`'),
  });
});

describe('an output', () => {
  const FILES = {
    'train.py': 'hold()\n',
    'book.ipynb': '{}',
    'notes.txt': 'mine\n',
    'package.json': '{"name": "x"}',
  };

  test('never takes the place of code, or of what a person has put into git', async () => {
    const cwd = repositoryWith(FILES);
    const uses = [
      ['check', '-o', 'train.py'],
      ['check', '-o', 'book.ipynb'],
      ['check', '-o', 'notes.txt', '.'],
      ['check', '--output-format', 'json=package.json'],
      ['diff', '-o', 'train.py'],
      ['list', '-o', 'train.py'],
    ];
    for (const words of uses)
      expect(await memfix({ cwd }, ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('That file would be lost'),
      });
    for (const [path, text] of Object.entries(FILES))
      expect(readFileSync(join(cwd, path), 'utf8')).toBe(text);
    expect(git(cwd, 'status', '--porcelain')).toBe('');
  });

  test('may replace an earlier one, in git or not, and a file that is nobody’s', async () => {
    const cwd = repositoryWith(FILES);
    writeFileSync(join(cwd, 'loose.txt'), 'mine, and not in git\n');
    expect((await memfix({ cwd }, 'check', '-o', 'loose.txt')).code).toBe(1);
    const formats = [
      'short',
      'full',
      'concise',
      'json',
      'json-lines',
      'sarif',
      'github',
      'gitlab',
      'junit',
      'markdown',
    ];
    for (const format of formats) {
      const words = ['check', '--output-format', format, '-o', `out.${format}`];
      expect((await memfix({ cwd }, ...words)).code).toBe(1);
      commit(cwd);
      expect([format, (await memfix({ cwd }, ...words)).code]).toEqual([format, 1]);
    }
    expect((await memfix({ cwd }, 'diff', '-o', 'all.patch')).code).toBe(0);
    commit(cwd);
    expect((await memfix({ cwd }, 'diff', '-o', 'all.patch')).code).toBe(0);
  });

  test('of a text on standard input is Python, and may go where it came from', async () => {
    const cwd = folderWith(FILES);
    await memfix({ cwd, stdin: 'hold()\n' }, 'apply', '-', '-o', 'train.py');
    expect(readFileSync(join(cwd, 'train.py'), 'utf8')).toBe('release()\n');
  });
});

test('a file that was only renamed has no new lines; one that was changed as well has those', async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `x${at} = ${at}\n`).join('');
  const cwd = repositoryWith({ 'old.py': `hold()\n${lines}`, 'odd "name".py': `hold()\n${lines}y = 1\n` });
  git(cwd, 'switch', '--quiet', '--create', 'topic');
  git(cwd, 'mv', 'old.py', 'new.py');
  git(cwd, 'mv', 'odd "name".py', 'even "name".py');
  commit(cwd);
  const since = () => memfix({ cwd }, 'check', '--since', 'main', '--output-format', 'concise');
  expect(await since()).toMatchObject({ code: 0, stdout: '' });
  put(cwd, { 'new.py': `hold()\n${lines}hold(1)\n` });
  commit(cwd);
  expect((await since()).stdout).toMatch(/^new\.py:22:1: drop-hold[^\n]*\n$/);
});

describe('a comment above, or on the first line', () => {
  const silenced = async (text: string) => {
    const { code, stdout, stderr } = await memfix({ cwd: folderWith({ 'a.py': text }) }, 'check');
    return { code, isUnused: `${stdout}${stderr}`.includes('unused') };
  };

  test.each([
    '# memfix: ignore[drop-hold]\nx = (1 +\n     hold())\n',
    'x = (1 +  # memfix: ignore[drop-hold]\n     hold())\n',
    '# memfix: ignore[drop-hold]\nx = [\n  1,\n  hold(),\n  2,\n]\n',
    '# memfix: ignore[drop-hold]\nif (x and\n    hold()):\n    pass\n',
    '# memfix: ignore[drop-hold]\n@known\ndef f(a=hold()):\n    pass\n',
  ])('silences a finding anywhere in its statement: %j', async (text) => {
    expect(await silenced(text)).toEqual({ code: 0, isUnused: false });
  });

  test('does not reach into the body of a statement', async () => {
    expect(await silenced('# memfix: ignore[drop-hold]\nif x:\n    hold()\n')).toEqual({
      code: 1,
      isUnused: true,
    });
  });
});
