import { describe, expect, test } from 'vitest';
import { folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const HOLD = 'hold()\n';

describe('words of other tools', () => {
  test.each([
    ['--diff', ['check', '--diff'], 1],
    ['--diff with --fix', ['check', '--fix', '--diff'], 1],
    ['apply --diff', ['apply', '--diff'], 0],
  ])('%s prints the patch and writes nothing', async (_, words, status) => {
    const cwd = repositoryWith({ 'a.py': HOLD });
    const { code, stdout } = await memfix({ cwd }, ...words);
    expect([code, stdout]).toEqual([status, (await memfix({ cwd }, 'diff')).stdout]);
    expect(stdout).toContain('-hold()\n+release()\n');
    expect(git(cwd, 'status', '--porcelain')).toBe('');
  });

  test.each([
    [['.'], ['check', '.']],
    [
      ['a.py', '--output-format', 'concise'],
      ['check', 'a.py', '--output-format', 'concise'],
    ],
    [['--output-format=concise'], ['check', '--output-format=concise']],
    [
      ['--diff', '.'],
      ['diff', '--exit-code', '.'],
    ],
    [
      ['check', '-f', 'concise'],
      ['check', '--output-format', 'concise'],
    ],
    [
      ['check', '--no-color', '.'],
      ['check', '--color', 'never', '.'],
    ],
    [
      ['-q', '.'],
      ['check', '--quiet', '.'],
    ],
    [
      ['--no-color', '.'],
      ['check', '--color=never', '.'],
    ],
  ])('%j is %j', async (typed, meant) => {
    const cwd = repositoryWith({ 'a.py': HOLD });
    const answer = await memfix({ cwd }, ...typed);
    expect(answer).toEqual(await memfix({ cwd }, ...meant));
    expect(answer.code).toBe(1);
  });

  test('--fix . applies', async () => {
    const cwd = repositoryWith({ 'a.py': HOLD });
    expect(await memfix({ cwd }, '--fix', '.')).toMatchObject({ code: 0 });
    expect(git(cwd, 'status', '--porcelain')).toContain('M a.py');
  });

  test.each([
    [['check', '--max-warnings', '0'], 'Any finding exits with 1; `--fail-on safe`'],
    [['init'], 'A config is optional: `[tool.memfix]` in pyproject.toml, or memfix.toml;'],
    [['--init'], 'A config is optional:'],
    [['check', '--no-ignore'], 'A file that is named is read, also where git ignores it.'],
    [['check', '--stdin'], 'Did you mean `-`?'],
    [['check', '-c', 'x'], 'Did you mean `--config`?'],
  ])('%j says where to go', async (words, hint) => {
    const { code, stderr } = await memfix({ cwd: folderWith() }, ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
  });

  test.each([
    ['# memfix: ignore[drop-hold]\nhold()\n', 0, ''],
    ['def f():\n    # memfix: ignore[drop-hold] why\n\n    # more\n    hold()\n', 0, ''],
    ['hold(\n    # memfix: ignore[drop-hold]\n)\n', 0, ''],
    ['# memfix: ignore[drop-hold]\nx = 1\nhold()\n', 1, 'unused `# memfix: ignore[drop-hold]`'],
    ['x = 1  # memfix: ignore[drop-hold]\nhold()\n', 1, 'unused `# memfix: ignore[drop-hold]`'],
    ['hold()\n# memfix: ignore[drop-hold]\n', 1, 'unused `# memfix: ignore[drop-hold]`'],
  ])('a comment with a line to itself is about the code below: %j', async (text, code, note) => {
    const answer = await memfix({ cwd: folderWith({ 'a.py': text }) }, 'check');
    expect([answer.code, answer.stdout]).toEqual([code, expect.stringContaining(note)]);
    if (note === '') expect(answer.stdout).toBe('');
  });

  test('version is --version', async () => {
    const cwd = folderWith();
    expect(await memfix({ cwd }, 'version')).toEqual(await memfix({ cwd }, '--version'));
  });

  test.each([
    [['check', '--extend-exclude', 'x'], 'Did you mean `--exclude`?'],
    [['check', '--silent'], 'Did you mean `--quiet`?'],
    [['check', '-e'], 'Did you mean `--exit-zero`?'],
    [['check', '-w'], 'Did you mean `--watch`?'],
    [['diff', '--stat'], 'Did you mean `memfix check --statistics`?'],
    [['check', '--per-file-ignores', 'x'], 'It is a key of the config: `[tool.memfix.per-file-ignores]`.'],
    [['check', '--output-format', 'stylish'], 'Did you mean `short`?'],
    [['check', '--output-format', 'pylint=x'], 'Did you mean `concise`?'],
    [['check', '--target-version', 'py310'], 'Did you mean `python=3.10`?'],
    [['check', '--config', 'select=["x"]'], '`--config` takes a file;'],
    [['linter'], 'Did you mean `memfix list`?'],
    [['why', 'no-grad'], 'Did you mean `memfix explain`?'],
    [['config', '--init'], 'A config is optional: `[tool.memfix]` in pyproject.toml'],
    [['undo', '--dry-run'], 'until then `git diff` shows what would go'],
    [['explain', 'drop-ho'], 'Did you mean `drop-hold`?'],
    [['check', '--select', 'nothing'], 'symptoms: leak, peak, sync'],
    [['apply', '-pv'], '`--interactive` needs a terminal'],
    [['check', '--exclude', 'a[', '.'], undefined],
  ])('%j says what memfix has instead', async (words, hint) => {
    const { code, stderr } = await memfix({ cwd: folderWith({ 'a.py': '' }) }, ...words);
    if (hint === undefined) expect(code).toBe(0);
    else expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
  });

  test.each([
    ['extend-exclude = ["a"]', 'Did you mean `exclude`?'],
    ['extend-ignore = ["a"]', 'Did you mean `ignore`?'],
    [
      'lint = { select = ["a"] }',
      'they stand at the top of a memfix.toml, in `[tool.memfix]` of a pyproject.toml.',
    ],
    [
      'extend-ignore = ["a"]\nextend-exclude = ["a"]',
      '`extend-exclude` is none either. Did you mean `exclude`?',
    ],
  ])('the key %s of another config', async (line, hint) => {
    const cwd = folderWith({ 'memfix.toml': `${line}\n` });
    expect((await memfix({ cwd }, 'check')).stderr).toContain(hint);
  });

  test.each([
    ['# noqa: drop-hold', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: disable-line drop-hold', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# pylint: disable=drop-hold', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix-disable-line drop-hold', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# eslint-disable-line drop-hold', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: disable', 'silences nothing here; write `# memfix: ignore[id]`'],
    ['# memfix: igonre[drop-hold]', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# MEMFIX: Ignore[drop-hold]', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix ignore[drop-hold]', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: ignore(drop-hold)', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: ignore [drop-hold]', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: ignore[drop-hold', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: ignore-next-line[drop-hold]', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: ignroe[drop-hodl]', 'silences nothing here; write `# memfix: ignore[drop-hold]`'],
    ['# memfix: fileignore[drop-hold]', 'silences nothing here; write `# memfix: file-ignore[drop-hold]`'],
    ['# memfix: ignore', 'silences nothing here; write `# memfix: ignore[id]`'],
    ['# memfix: ignore[leak]', 'names no transform that exists; `memfix list` shows their ids'],
    ['# memfix: ignore[drop_hold]', 'names no transform that exists. Did you mean `drop-hold`?'],
  ])('the comment %s is told to be none', async (comment, note) => {
    const cwd = folderWith({ 'a.py': `hold()  ${comment}\n` });
    const { code, stdout } = await memfix({ cwd }, 'check', '--output-format', 'concise');
    expect([code, stdout]).toEqual([1, expect.stringContaining(`a.py:1:9: note: \`${comment}\` ${note}`)]);
  });

  test.each([
    ...['# noqa: E501', '# noqa', '# memfix: a loop', '# type: ignore', 's = "# noqa: drop-hold"'],
    ...['# memfix ignores this', '# memfix did drop-hold here (twice)', '# noqa: E501 (drop-hodl)'],
    ...['# memfix: see drop-hold', 's = "# memfix: igonre[drop-hold]"'],
  ])('%s is none of our business', async (words) => {
    const cwd = folderWith({ 'a.py': `hold()\n${words}\n` });
    expect((await memfix({ cwd }, 'check')).stdout).not.toContain('note:');
  });

  test('a comment for another tool beside ours', async () => {
    const ours = '# memfix: ignore[drop-hold]';
    for (const both of [
      `# noqa: E501  ${ours}`,
      `${ours}  # noqa: E501`,
      `# pylint: disable=C0301 ${ours} why`,
    ]) {
      const cwd = folderWith({ 'a.py': `hold()  ${both}\n` });
      expect(await memfix({ cwd }, 'check', '-f', 'concise')).toMatchObject({ code: 0, stdout: '' });
    }
  });
});

test.each([
  [['leak'], 'leak: memory grows with every step'],
  [['Opt-In'], '`memfix list opt-in` shows its transforms.'],
  [['safe'], 'every precondition of the fix is proven'],
  [['bit-identical'], 'every number of the run stays the same'],
  [['frees', 'memory'], 'frees memory: less memory was measured'],
  [['tidy'], 'no gain was measured'],
])('the words beside a finding are explained: %j', async (words, meaning) => {
  const { code, stdout } = await memfix({ cwd: folderWith() }, 'explain', ...words);
  expect([code, stdout.replace(/\s+/g, ' ')]).toEqual([0, expect.stringContaining(meaning)]);
});

describe('which files', () => {
  const FILES = { 'a.py': HOLD, 'old/b.py': HOLD, 'old/deep/c.py': HOLD, 'other/d.py': HOLD };

  test('--exclude passes over files, folders and patterns, besides those of the config', async () => {
    const cwd = folderWith({ ...FILES, 'memfix.toml': 'exclude = ["other"]\n' });
    const places = async (...words: string[]) =>
      (await memfix({ cwd }, 'check', '--output-format', 'concise', ...words)).stdout.match(/^[\w/]+\.py/gm);
    expect(await places('--exclude', 'old')).toEqual(['a.py']);
    expect(await places('--exclude', 'old/deep,a.py')).toEqual(['old/b.py']);
    expect(await places('--exclude', 'deep', '--isolated')).toEqual(['a.py', 'old/b.py', 'other/d.py']);
    const { stderr } = await memfix({ cwd }, 'check', '--exclude', 'old');
    expect(stderr).toContain('Run `memfix apply --exclude old` to fix 1.');
  });

  test('--show-files lists what would be looked at, and looks at nothing', async () => {
    const cwd = folderWith(FILES);
    const { code, stdout } = await memfix({ cwd }, 'check', '--show-files', '--exclude', 'deep');
    expect([code, stdout]).toEqual([0, 'a.py\nold/b.py\nother/d.py\n']);
  });

  test('what is named and passed over is said, by apply too', async () => {
    const cwd = repositoryWith({ ...FILES, 'memfix.toml': 'exclude = ["old"]\n' });
    for (const command of ['check', 'apply']) {
      const { code, stderr } = await memfix({ cwd }, command, 'old');
      expect(stderr).toBe(
        'There were no Python files to look at besides those that `exclude` passes over (old).\n',
      );
      expect(code).toBe(0);
    }
    const empty = repositoryWith({ 'notes.txt': '' });
    expect((await memfix({ cwd: empty }, 'apply')).stderr).toBe('There were no Python files to look at.\n');
  });

  test('a file that cannot be read is no file without findings', async () => {
    const cwd = folderWith({ 'bad.py': 'def f(:\n  hold()\n' });
    expect((await memfix({ cwd }, 'check')).stderr).toBe('No file was looked at; 1 file skipped.\n');
    put(cwd, { 'good.py': 'x = "hold"\n' });
    for (const build of ['1', '1']) {
      const { stderr } = await memfix({ cwd, build }, 'check');
      expect(stderr).toBe('No findings in 1 file; 1 file skipped.\n');
    }
  });
});

describe('what is said is true', () => {
  test('-v counts what comments silence, and does not point to itself', async () => {
    const cwd = folderWith({ 'a.py': 'hold()  # memfix: ignore[drop-hold]\n' });
    expect((await memfix({ cwd }, 'check', '-v')).stderr).toContain(
      'No findings in 1 file; 1 silenced by comments.\n',
    );
    expect((await memfix({ cwd }, 'check')).stderr).toBe('No findings in 1 file.\n');
  });

  test('--unsafe-fixes stays in the next command', async () => {
    const cwd = folderWith({ 'a.py': 'hold()\nrisk()\n' });
    expect((await memfix({ cwd }, 'check', '--unsafe-fixes')).stderr).toContain(
      'Run `memfix apply --unsafe-fixes` to take the unsafe ones too, or `memfix apply -i` to be asked.',
    );
  });

  test('--output says where it wrote', async () => {
    const cwd = folderWith({ 'a.py': HOLD });
    expect((await memfix({ cwd }, 'check', '-o', 'out.txt')).stderr).toContain('Written to out.txt.\n');
  });

  test('an apply that git put away can be taken back when git has brought it again', async () => {
    const cwd = repositoryWith({ 'a.py': HOLD });
    await memfix({ cwd }, 'apply');
    git(cwd, 'stash');
    expect(await memfix({ cwd }, 'undo')).toMatchObject({
      code: 0,
      stderr: 'The files are as they were before the last apply: there is nothing to take back.\n',
    });
    git(cwd, 'stash', 'pop');
    expect(await memfix({ cwd }, 'undo')).toMatchObject({
      code: 0,
      stderr: 'restored a.py\n1 file restored.\n',
    });
    expect((await memfix({ cwd }, 'undo')).stderr).toContain('Nothing to undo');
  });
});
