/** The table of bad input, row by row. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FORMAT_NAMES } from '../../src/report/formats/formats.js';
import { transforms } from '../../transforms/index.js';
import { availableParsers } from '../support/parsers.js';
import { processorTime } from '../support/processor-time.js';
import { commit, folderWith, listing, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const backends = (await availableParsers()).map(({ backend }) => backend);
const concise = ['--output-format', 'concise'] as const;

describe('a file that is not Python 3', () => {
  const FILES = {
    'broken.py': 'def f(:\n    hold()\n',
    'python2.py': 'hold()\nprint "hello"\n',
    'conflict.py': 'x = 1\n<<<<<<< HEAD\nhold()\n=======\nhold(1)\n>>>>>>> topic\n',
    'good.py': 'hold()\n',
  };

  test.each([['check'], ['apply']])('is skipped by %s with one line and its position', async (command) => {
    const cwd = repositoryWith(FILES);
    const { code, stdout, stderr } = await memfix({ cwd }, command, ...concise);
    expect(code).toBe(command === 'check' ? 1 : 0);
    const lines = stdout.split('\n').filter((line) => line.includes(': skipped: '));
    expect(lines.map((line) => line.replace(/(?<=Python 3: ).*/, '…'))).toEqual([
      'broken.py:1:7: skipped: not valid Python 3: …',
      expect.stringMatching(/^conflict\.py:2:\d+: skipped: it holds a merge conflict$/),
      expect.stringMatching(/^python2\.py:2:\d+: skipped: not valid Python 3: …$/),
    ]);
    expect(stdout + stderr).not.toMatch(/^ {4}at /m);
    for (const name of ['broken.py', 'python2.py', 'conflict.py'] as const) {
      expect(readFileSync(join(cwd, name), 'utf8')).toBe(FILES[name]);
    }
  });

  test.each([
    ['import .other as it\n'],
    ['import\n'],
    ['from . import\n'],
    ['class Broken\n    x = 1\n'],
    ['FOUND = {"a": f() "b": g()}\n'],
  ])('beside another one breaks nothing there: %j', async (broken) => {
    const build =
      'import torch\n\n\ndef build(model, path):\n    model.load_state_dict(torch.load(path))\n    return model.cuda()\n';
    const cwd = repositoryWith({ 'build.py': build, 'broken.py': broken });
    const { code, stdout, stderr } = await memfix({ cwd, transforms }, 'check', ...concise);
    expect(stderr).not.toContain('Internal error');
    expect([code, stdout]).toEqual([1, expect.stringContaining('build.py:5:33: load-map-location')]);
  });

  test('beside another one makes it no safer, whether all files are looked at or one is named', async () => {
    const evaluate =
      'import torch\nfrom nets import Net\n\n\ndef evaluate(net: Net, x):\n    net.eval()\n    return net(x).sum().item()\n';
    const nets =
      'from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = nn.Linear(3, 3)\n\n    def forward(self, x):\n        return self.body(x)\n';
    const cwd = repositoryWith({
      'evaluate.py': evaluate,
      'nets.py': nets,
      'broken.py': 'import torch\n\ndef forward(x:\n    return x\n',
    });
    const safety = async (path: string) => {
      const { stdout } = await memfix({ cwd, transforms }, 'check', ...concise, path);
      return /evaluate\.py:\S+ no-grad \[(\w+)\]/.exec(stdout)?.[1];
    };
    expect([await safety('.'), await safety('evaluate.py')]).toEqual(['unsafe', 'unsafe']);
  });

  test('is an error with --strict', async () => {
    const cwd = repositoryWith(FILES);
    for (const command of ['check', 'diff', 'apply']) {
      const { code, stderr } = await memfix({ cwd }, command, '--strict');
      expect(code).toBe(2);
      expect(stderr).toContain(
        'memfix: 3 files were skipped\n  `--strict` makes that an error; each is named above with its reason\n' +
          '  Next: Repair or exclude them, or leave `--strict` out.\n',
      );
    }
  });
});

describe('a file that is not Python 3 and that no transform would look at', () => {
  const FILES = {
    'a.py': 'x = 1\n',
    'net.py': 'from torch import nn\n\n\ndef f(:\n',
    // Looked at by a transform that finds nothing: only a part of it is parsed.
    'part.py': 'import torch\n\n\ndef f():\n    "hold()"\n\n\ndef g(:\n',
    'other.py': 'def other(:\n',
  };
  const named = (stdout: string) => stdout.match(/^[\w.]+(?=:\d+:\d+: skipped: not valid Python 3: )/gm);

  test('is named where torch is in it, twice over, and fails with --strict only', async () => {
    const cwd = repositoryWith(FILES);
    const setting = { cwd, build: 'one' };
    for (const _ of ['cold', 'warm']) {
      const { code, stdout, stderr } = await memfix(setting, 'check');
      expect(named(stdout)).toEqual(['net.py', 'part.py']);
      expect(code).toBe(0);
      expect(stderr).toContain('No findings in 2 files; 2 files skipped.');
    }
    expect((await memfix(setting, 'check', '--strict')).code).toBe(2);
  });

  test('is named in a large folder with --strict', async () => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`many/m${at}.py`, 'x = 1\n']));
    const setting = { cwd: repositoryWith({ ...FILES, ...many }), build: 'one' };
    expect(named((await memfix(setting, 'check')).stdout)).not.toContain('net.py');
    const strict = await memfix(setting, 'check', '--strict');
    expect(named(strict.stdout)).toEqual(['net.py', 'part.py']);
    expect(strict.code).toBe(2);
  });

  test('is one of few that a terminal shows', async () => {
    const old = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`o${at}.py`, 'import torch\nprint "x"\n']),
    );
    const cwd = repositoryWith(old);
    const shown = await memfix({ cwd, terminals: ['stdout'], env: { NO_COLOR: '1' } }, 'check', '--no-pager');
    expect(named(shown.stdout)).toHaveLength(5);
    expect(shown.stdout).toContain('4 more files skipped: not valid Python 3 (-v)\n');
    expect(named((await memfix({ cwd }, 'check')).stdout)).toHaveLength(9);
  });
});

test('bytes, folders, pipes and links that are no source are skipped with a reason', async () => {
  const cwd = folderWith({
    'bytes.py': Buffer.from('hold()\n\xff\xfe\n', 'latin1'),
    'nul.py': 'hold()\n\0\n',
    'utf16.py': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hold()\n')]),
    'cookie.py': '# coding: klingon\nhold()\n',
    'good.py': 'hold()\n',
  });
  mkdirSync(join(cwd, 'x.py'));
  spawnSync('mkfifo', [join(cwd, 'pipe.py')]);
  symlinkSync('loop.py', join(cwd, 'loop.py'));
  symlinkSync('..', join(cwd, 'up'));
  const { code, stdout, stderr } = await memfix({ cwd }, 'check', ...concise);
  expect(code).toBe(1);
  expect(stdout.split('\n').sort()).toEqual([
    '',
    'bytes.py: skipped: its bytes are not valid utf-8 (the default for Python source)',
    'cookie.py: skipped: its coding cookie names an unknown encoding "klingon"',
    'good.py:1:1: drop-hold [safe] hold costs memory',
    'loop.py: skipped: its symlinks lead back to themselves',
    'nul.py: skipped: it contains NUL bytes',
    'pipe.py: skipped: it is a named pipe, not a file',
    'utf16.py: skipped: it is UTF-16 or UTF-32, which Python source may not be',
    'x.py: skipped: it is a folder, not a file',
  ]);
  expect(stderr).toBe(
    '1 safe finding in 1 file: 1 frees memory; 7 files skipped. Run `memfix apply` to fix 1. Without git, add `--allow-no-vcs`.\n',
  );
});

test('a file that may not be read is skipped with a reason', async () => {
  const cwd = folderWith({ 'secret.py': 'hold()\n' });
  chmodSync(cwd, 0o755);
  chmodSync(join(cwd, 'secret.py'), 0o000);
  const reader = new URL('./toy-main.ts', import.meta.url).pathname;
  const words = [process.execPath, '--import', import.meta.resolve('tsx'), reader, 'check', ...concise];
  // Root may read everything, so ask as nobody where we can.
  const isRoot = process.getuid?.() === 0;
  const command = isRoot
    ? [
        'setpriv',
        '--bounding-set=-dac_override,-dac_read_search',
        '--inh-caps=-dac_override,-dac_read_search',
        ...words,
      ]
    : words;
  const answer = spawnSync(command[0] ?? '', command.slice(1), { cwd, encoding: 'utf8' });
  expect(answer.stdout).toBe('secret.py: skipped: permission denied\n');
});

describe('a word that memfix does not know', () => {
  test.each([
    [
      ['check', '--select', 'drop-hodl'],
      '`drop-hodl` in `--select` is no transform, group or symptom. Did you mean `drop-hold`?',
    ],
    [
      ['apply', '--ignore', 'lead'],
      '`lead` in `--ignore` is no transform, group or symptom. Did you mean `leak`?',
    ],
    [['diff', '--unfixable', 'zzzzzz'], '`zzzzzz` in `--unfixable` is no transform, group or symptom.'],
    [['explain', 'calm-rsk'], 'There is no transform `calm-rsk`. Did you mean `calm-risk`?'],
    [['chekc'], '`chekc` is no command. Did you mean `check`?'],
    [['check', '--selet=x'], '`--selet` is no option of `memfix check`. Did you mean `--select`?'],
    [
      ['check', '--color', 'allways'],
      '`--color` cannot be `allways`: it is one of auto, always, never. Did you mean `always`?',
    ],
    [
      ['check', '--output-format', 'jsno'],
      `\`--output-format\` cannot be \`jsno\`: it is one of ${FORMAT_NAMES.join(', ')}. Did you mean \`json\`?`,
    ],
    [['check', '--changed', '--staged'], '`--changed` and `--staged` cannot be combined.'],
    [
      ['check', '--stdin-filename', 'a.py'],
      '`--stdin-filename` names the text on standard input; give `-` as the path to read it.',
    ],
    [['check', '--since'], expect.stringContaining('--since')],
    [['undo', 'gone.py', '.'], '`gone.py`: it does not exist'],
    [
      ['explain'],
      '`memfix explain` takes the id of one transform, or a place such as `train.py:42` or `train.ipynb:7:3` (cell 7, line 3); `memfix list` shows all transforms.',
    ],
    [['check', '--changed'], expect.stringMatching(/^`--changed` asks git, and .* is in no repository$/)],
    [['check', 'gone.py'], '`gone.py` does not exist'],
    [['check', 'good.py/x'], '`good.py/x` does not exist'],
    [['check', '--config', 'gone.toml'], expect.stringMatching(/gone\.toml: it does not exist$/)],
  ])('memfix %j', async (words, detail) => {
    const cwd = folderWith({ 'good.py': 'hold()\n' });
    const { code, stdout, stderr } = await memfix({ cwd }, ...words);
    expect([code, stdout]).toEqual([2, '']);
    const [title, second, next, ...rest] = stderr.split('\n');
    expect(title).toMatch(/^memfix: [A-Z]/);
    expect(second?.slice(2)).toEqual(detail);
    expect(next).toMatch(/^ {2}Next: [A-Z]/);
    expect(rest).toEqual(['']);
  });

  test('in a config file, also when another command would not need it', async () => {
    const cwd = folderWith({ 'memfix.toml': 'exlude = []\n', 'a.py': '' });
    expect(await memfix({ cwd }, 'check')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('memfix.toml is no key of memfix. Did you mean `exclude`?'),
    });
  });

  test('MEMFIX_PARSER', async () => {
    const cwd = folderWith({ 'a.py': 'hold()\n' });
    expect(await memfix({ cwd, env: { MEMFIX_PARSER: 'rust' } }, 'check')).toMatchObject({
      code: 2,
      stderr:
        'memfix: Unknown parser\n  MEMFIX_PARSER is `rust`\n' +
        '  Next: Set it to `native` or `wasm`, or unset it to let memfix choose.\n',
    });
    expect((await memfix({ cwd, env: { MEMFIX_PARSER: 'wasm' } }, 'check', '-v')).stderr).toContain(
      'parser: wasm\n',
    );
  });
});

test('a config that does not parse is shown with its place', async () => {
  const cwd = folderWith({ 'pyproject.toml': '[tool.memfix]\nselect = leak\n' });
  const { code, stderr } = await memfix({ cwd }, 'check');
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^memfix: Config does not parse\n {2}.*\/pyproject\.toml:2:\d+: .+\n[\s\S]*select = leak[\s\S]*\n {2}Next: .*TOML\.\n$/,
  );
});

describe('files that are too much', () => {
  test('100 MB, and a line of 5 MB, are skipped in bounded time', async () => {
    const cwd = repositoryWith({
      'line.py': `hold("${'x'.repeat(5 * 1024 * 1024)}")\n`,
      'good.py': 'hold()\n',
      'returns.py': `hold()\r${'# a short line\r'.repeat(80_000)}`,
      'huge.py': 'hold()\n',
    });
    truncateSync(join(cwd, 'huge.py'), 100 * 1024 * 1024);
    commit(cwd);
    const taken = processorTime();
    const { stdout } = await memfix({ cwd }, 'check', ...concise);
    expect(taken()).toBeLessThan(20_000);
    expect(stdout).toBe(
      'good.py:1:1: drop-hold [safe] hold costs memory\n' +
        'returns.py:1:1: drop-hold [safe] hold costs memory\n' +
        'huge.py: skipped: it is 100 MB, over the limit of 20 MB\n' +
        'line.py: skipped: it has a line of 5 MB, over the limit of 1 MB\n',
    );
  });

  test.each(backends)('10,000 levels of nesting are handled or skipped (%s)', async (parser) => {
    const depth = 10_000;
    const cwd = folderWith({
      'brackets.py': `hold()\nx = ${'['.repeat(depth)}${']'.repeat(depth)}\n`,
      'calls.py': `hold()\n${'f('.repeat(depth)}${')'.repeat(depth)}\n`,
      'sum.py': `hold()\nx = ${'1 + '.repeat(depth)}1\n`,
      'good.py': 'hold()\n',
    });
    const taken = processorTime();
    const { code, stdout, stderr } = await memfix(
      { cwd, env: { MEMFIX_PARSER: parser } },
      'check',
      ...concise,
    );
    expect(taken()).toBeLessThan(60_000);
    expect(stderr).not.toContain('Internal error');
    expect(code).toBe(1);
    expect(stdout).toContain('good.py:1:1: drop-hold');
    expect(stdout).toMatch(
      /^brackets\.py(?:: skipped: (?:not valid Python 3: )?it is nested too deeply|:\d+:\d+: )/m,
    );
  });
});

test('nothing is left behind by any of it', async () => {
  const cwd = repositoryWith({ 'broken.py': 'hold(:\n', 'good.py': 'x = 1\n' });
  await memfix({ cwd }, 'apply');
  expect(listing(cwd)).toEqual(['broken.py', 'good.py']);
});
