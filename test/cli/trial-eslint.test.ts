/** What somebody complained of who knows ESLint. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SIZES, seen } from '../support/seen.js';
import { folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const FILES = {
  'a.py': 'hold()\n',
  'src/b.py': 'hold()\n',
  'src/deep/c.py': 'hold()\n',
  'src/deep/.gitignore': 'd.py\n',
  'src/deep/d.py': 'hold()\n',
  'other/e.py': 'hold()\n',
};

const found = (text: string) =>
  text
    .split('\n')
    .flatMap((line) => /^(\S+?):\d/.exec(line)?.[1] ?? [])
    .sort();

describe('a pattern in quotes', () => {
  test.each([
    ['src/**/*.py', ['src/b.py', 'src/deep/c.py']],
    ['**/*.py', ['a.py', 'other/e.py', 'src/b.py', 'src/deep/c.py']],
    ['*.py', ['a.py']],
    ['src/*.py', ['src/b.py']],
    ['{src,other}/*.{py,ipynb}', ['other/e.py', 'src/b.py']],
    ['./src/?.py', ['src/b.py']],
  ])('means files: %s', async (pattern, files) => {
    const cwd = repositoryWith(FILES);
    for (const words of [['check', pattern], [pattern]])
      expect(found((await memfix({ cwd }, ...words, '-f', 'concise')).stdout)).toEqual(files);
  });

  test('goes with paths, configs and excludes, and is named where it means nothing', async () => {
    const cwd = repositoryWith({ ...FILES, 'src/memfix.toml': 'exclude = ["deep"]\n' });
    const { stdout } = await memfix({ cwd }, 'check', 'src/**', 'src/b.py', 'other', '-f', 'concise');
    expect(found(stdout)).toEqual(['other/e.py', 'src/b.py']);
    expect(await memfix({ cwd }, 'check', 'src/*.txt')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no Python file and no notebook is meant by `src/*.txt`'),
    });
    // A file of that name is a file.
    put(cwd, { 'x[1].py': 'risk()\n' });
    expect((await memfix({ cwd }, 'check', 'x[1].py', '-f', 'concise')).stdout).toContain('calm-risk');
  });

  test('is fixed and taken back like paths', async () => {
    const cwd = repositoryWith(FILES);
    await memfix({ cwd }, '--fix', 'src/*.py');
    expect(git(cwd, 'status', '--porcelain')).toBe(' M src/b.py\n');
    await memfix({ cwd }, 'undo');
    expect(git(cwd, 'status', '--porcelain')).toBe('');
  });
});

test('words of other tools have their hint, also where no command is named', async () => {
  const cwd = folderWith(FILES);
  const told = async (...words: readonly string[]) =>
    (await memfix({ cwd }, ...words)).stderr.replace(/\s+/g, ' ');
  expect(await told('--fix-dry-run', '.')).toContain('Did you mean `memfix diff`?');
  expect(await told('--print-config', 'a.py')).toContain('Did you mean `memfix config`?');
  expect(await told('--ext', '.py', 'src')).toContain('name others as paths');
  expect(await told('check', '-f', './mine.js')).toContain('reads what `--output-format json` prints');
  expect(await told('check', '--rulesdir', 'rules')).toContain('Did you mean `--plugin`?');
});

test('a path that is empty, as by a variable that is not set, is never the whole folder', async () => {
  const cwd = repositoryWith(FILES);
  for (const name of ['check', 'apply', 'diff', 'baseline'])
    expect(await memfix({ cwd }, name, '')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('One of the paths is empty'),
    });
  expect(git(cwd, 'status', '--porcelain')).toBe('');
});

test('`--color` alone asks for colour', async () => {
  const cwd = folderWith(FILES);
  expect((await memfix({ cwd }, 'check', '--color', 'a.py')).stdout).toContain('\x1b[');
  expect((await memfix({ cwd }, 'check', 'a.py', '--color')).stdout).toContain('\x1b[');
  expect((await memfix({ cwd }, 'check', '--color', 'never', 'a.py')).stdout).not.toContain('\x1b[');
});

test('a file that looks like a config is named', async () => {
  const cwd = folderWith({ 'a.py': '', '.memfixrc.json': '{}' });
  expect((await memfix({ cwd }, 'check')).stderr).toContain(
    '.memfixrc.json is not read: a config is memfix.toml',
  );
  expect((await memfix({ cwd }, 'check', '--isolated')).stderr).not.toContain('memfixrc');
  put(cwd, { 'memfix.toml': '[tool.memfix]\nselect = ["leak"]\n' });
  expect((await memfix({ cwd }, 'check')).stderr.replace(/\s+/g, ' ')).toContain('keys stand at the top');
});

test('a file of patterns is named with the key that it was meant to be', async () => {
  const cwd = folderWith({ 'a.py': '', '.memfixignore': '*.py\n' });
  expect((await memfix({ cwd }, 'check')).stderr).toContain('passed over by its `exclude`');
});

test.each([
  ['ignores', '["src"]', 'Did you mean `exclude`?'],
  ['fix', 'true', '`memfix apply` writes fixes'],
  ['output-format', '"github"', 'an option of the command line: `--output-format`'],
])('`%s` of another config leads to ours', async (key, value, hint) => {
  const cwd = folderWith({ 'a.py': '', 'memfix.toml': `${key} = ${value}\n` });
  const { code, stderr } = await memfix({ cwd }, 'check');
  expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(hint)]);
});

test.each([
  ['nothere.py', '`nothere.py` does not exist, and is no command.'],
  ['src/nothere', '`src/nothere` does not exist, and is no command.'],
  ['!src', 'Did you mean `--exclude src`?'],
])('without a command, `%s` is a path', async (word, hint) => {
  const { code, stderr } = await memfix({ cwd: folderWith(FILES) }, word);
  expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(hint)]);
});

test('without a command, `-` is a text to check', async () => {
  const { code, stdout } = await memfix({ cwd: folderWith(FILES), stdin: 'hold()\n' }, '-');
  expect([code, stdout]).toEqual([1, expect.stringContaining('drop-hold')]);
});

test('an effect is no name, and its symptoms are', async () => {
  const { code, stderr } = await memfix({ cwd: folderWith(FILES) }, 'check', '--select', 'saves-time');
  expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([
    2,
    expect.stringContaining('chosen by its symptoms: sync.'),
  ]);
});

test('a nested config is read with the plugins that the run has', async () => {
  const cwd = repositoryWith({ 'pk/memfix.toml': 'plugins = ["../rules/acme-cache.mjs"]\n', 'pk/x.py': '' });
  expect((await memfix({ cwd }, 'new-transform', 'acme-cache', 'rules')).code).toBe(0);
  const told = async (...words: readonly string[]) => {
    const { stdout, stderr } = await memfix({ cwd }, 'check', '--exclude', 'rules', ...words);
    return stdout + stderr;
  };
  expect(await told()).toContain('pk/memfix.toml: skipped: it is read without `plugins`');
  expect(await told('--plugin', './rules/acme-cache.mjs')).not.toContain('read without');
});

describe.each(SIZES)('new-transform at $cols × $rows', (size) => {
  test('names the config that counts, and a path from there', async () => {
    const cwd = repositoryWith({ 'memfix.toml': '', 'app/x.py': '' });
    const { lines, text } = await seen({ cwd: join(cwd, 'app'), ...size }, 'new-transform', 'acme-cache');
    const [plugin] = /plugins = .*/.exec(text) ?? [];
    expect(plugin).toBe('plugins = ["./app/memfix_rules/acme-cache.mjs"]');
    expect(text).not.toContain('[tool.memfix]');
    for (const line of lines) if (!line.startsWith('  ')) expect(line.length).toBeLessThanOrEqual(size.cols);
    put(cwd, { 'memfix.toml': `${plugin}\n` });
    expect(readFileSync(join(cwd, 'app/memfix_rules/acme-cache.mjs'), 'utf8')).toContain('acme-cache');
    const trusted = await seen({ cwd, ...size }, 'trust');
    expect([trusted.code, trusted.text]).toEqual([0, expect.stringContaining('acme-cache.mjs')]);
  });
});

describe('an option that is not ours', () => {
  test.each([
    [['--max-warnings=10', '.'], '`--max-warnings` is no option of memfix. Any finding exits with 1'],
    [['--rule', 'no-grad:off', '.'], '`--fail-on` says which findings fail a run'],
    [['-i', '.'], '`-i` is no option of memfix. It is an option of `memfix apply`'],
    [['check', '--allow-dirty', '.'], 'It is an option of `memfix apply` and `memfix prove`.'],
    [['check', '--ignore-path', '.gitignore'], 'What git ignores is passed over as it is'],
  ])('%j leads to one that is', async (words, hint) => {
    const { code, stderr } = await memfix({ cwd: folderWith(FILES) }, ...words);
    expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(hint)]);
  });
});

test('what `check` says about a file with changes is a command that works', async () => {
  const cwd = repositoryWith({ 'a.py': 'x = 1\n' });
  put(cwd, { 'a.py': 'hold()\n' });
  const { stderr } = await memfix({ cwd }, 'check', 'a.py');
  expect(stderr).toContain('or run `memfix apply --allow-dirty a.py`.');
  expect((await memfix({ cwd }, 'apply', '--allow-dirty', 'a.py')).stdout).toContain('fixed');
});

test.each([
  ['# memfix-disable drop-hold\nx = 1\nhold()\n', '`# memfix: file-ignore[drop-hold]`'],
  ['# memfix-disable-next-line drop-hold\nhold()\n', '`# memfix: ignore[drop-hold]`'],
  ['x = 1\n# memfix-disable drop-hold\nhold()\n', '`# memfix: ignore[drop-hold]`'],
  [
    '# memfix: ignore drop-hold\nhold()\n',
    '`# memfix: ignore drop-hold` silences nothing here; write `# memfix: ignore[drop-hold]`',
  ],
])('the comment that a note proposes silences: %j', async (text, proposed) => {
  const cwd = folderWith({ 'a.py': text });
  const told = await memfix({ cwd }, 'check', 'a.py');
  expect([told.code, told.stdout]).toEqual([1, expect.stringContaining(proposed)]);
  const comment = /write `(# memfix: [^`]+)`/.exec(told.stdout)?.[1] ?? '';
  put(cwd, { 'a.py': text.replace(/# memfix.*/, comment) });
  expect((await memfix({ cwd }, 'check', 'a.py')).code).toBe(0);
});

test.each([
  ['rules = { drop-hold = "off" }', '`select` and `ignore` are lists of transforms'],
  ['max-warnings = 0', '`fail-on` says what fails a run'],
  ['select = ["recommended"]', 'Did you mean `default`?'],
  ['transforms.drop-hold = "off"', '`ignore = ["drop-hold"]` switches it off'],
  ['transforms.drop-hold.severity = "warn"', 'It has no options; `ignore` switches it off.'],
])('a config that says `%s` hears how it is said here', async (line, hint) => {
  const cwd = folderWith({ 'a.py': '', 'memfix.toml': `${line}\n` });
  const { code, stderr } = await memfix({ cwd }, 'check');
  expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(hint)]);
});

test('a plugin that breaks is told once for all files, with its line, and is no all-clear', async () => {
  const cwd = folderWith({ 'a.py': 'empty_cache()\n', 'b.py': 'empty_cache()\n', 'c.py': 'empty_cache()\n' });
  await memfix({ cwd }, 'new-transform', 'acme-cache', 'rules');
  const path = join(cwd, 'rules/acme-cache.mjs');
  const broken = readFileSync(path, 'utf8').replace('const statement =', 'mop();\n        const statement =');
  put(cwd, { 'rules/acme-cache.mjs': broken });
  const line = broken.split('\n').findIndex((each) => each.includes('mop();')) + 1;
  const { code, stderr } = await memfix(
    { cwd },
    'check',
    '--exclude',
    'rules',
    '--plugin',
    './rules/acme-cache.mjs',
  );
  expect(code).toBe(2);
  expect(stderr).toContain('A plugin failed on 3 files');
  expect(stderr.match(/mop is not defined/g)).toHaveLength(1);
  expect(stderr).toContain(`mop is not defined (line ${line})\n      and the same in 2 more`);
  expect(stderr).toContain('No findings, but 3 files of 3 could not be looked at by every transform.');
});

describe.each(SIZES)('help at $cols × $rows', (size) => {
  test('has whole paragraphs: no line ends early where its sentence goes on', async () => {
    const { text } = await seen({ cwd: folderWith(), ...size }, 'config', '--help');
    const [, about = ''] = /\n\n(Every setting[\s\S]*?)\n\n/.exec(text) ?? [];
    const lines = about.split('\n');
    for (const [at, line] of lines.slice(0, -1).entries()) {
      const [next = ''] = (lines[at + 1] ?? '').split(' ');
      expect(line.endsWith('.') || `${line} ${next}`.length > size.cols, line).toBe(true);
    }
  });
});
