import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const FILE = 'memfix-baseline.json';
const concise = ['check', '--output-format', 'concise'] as const;

const repository = () =>
  repositoryWith({
    'a.py': 'hold()\nrisk()\n',
    'sub/b.py': 'def f():\n    hold()\n    hold()\nfine()\n',
    'c.py': 'hint()\n',
  });

describe('memfix baseline', () => {
  test('records findings at the root, whatever folder it is run in, one in each line', async () => {
    const cwd = repository();
    expect(await memfix({ cwd: join(cwd, 'sub') }, 'baseline', '..')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('Recorded 5 findings (5 new) in '),
    });
    const text = readFileSync(join(cwd, FILE), 'utf8');
    expect(text.match(/"path":"[^"]*","id":"[^"]*"/g)).toEqual([
      '"path":"a.py","id":"calm-risk"',
      '"path":"a.py","id":"drop-hold"',
      '"path":"c.py","id":"hear-hint"',
      '"path":"sub/b.py","id":"drop-hold"',
      '"path":"sub/b.py","id":"drop-hold"',
    ]);
    expect(text).not.toMatch(/line|hold\(\)/);
    await memfix({ cwd }, 'baseline');
    expect(readFileSync(join(cwd, FILE), 'utf8')).toBe(text);
  });

  test('keeps what this run did not look for, and forgets what is gone', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    put(cwd, { 'a.py': 'risk()\n', 'c.py': 'hint()\nhint()\n' });
    const { stderr } = await memfix({ cwd }, 'baseline', 'a.py');
    expect(stderr).toContain('Recorded 4 findings (1 gone) in memfix-baseline.json.');
    rmSync(join(cwd, 'sub'), { recursive: true });
    // It may have another name outside of what was looked at.
    expect((await memfix({ cwd }, 'baseline', 'a.py')).stderr).toContain('Recorded 4 findings in');
    expect((await memfix({ cwd }, 'baseline')).stderr).toContain('Recorded 3 findings (1 new, 2 gone)');
  });

  test.each([['--since', 'HEAD'], ['--select', 'leak'], ['--ignore', 'drop-hold'], ['--changed']])(
    'a run narrowed by %s forgets nothing, and calls nothing gone',
    async (...narrowed) => {
      const cwd = repository();
      const setting = { cwd, build: 'warm' };
      await memfix(setting, 'baseline');
      const text = readFileSync(join(cwd, FILE), 'utf8');
      commit(cwd);
      put(cwd, { 'a.py': 'hold()\nrisk()\nx = 1\n' });
      await memfix(setting, 'check');
      const { code, stderr } = await memfix(setting, 'baseline', ...narrowed);
      expect([code, stderr]).toEqual([0, expect.stringContaining('Recorded 5 findings in')]);
      expect(readFileSync(join(cwd, FILE), 'utf8')).toBe(text);
      expect((await memfix(setting, 'check', '--baseline', ...narrowed)).stderr).not.toContain('gone');
    },
  );

  test('a file that does not parse today keeps its debts', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    put(cwd, { 'a.py': 'hold()\nrisk()\nx = = 1\n' });
    expect((await memfix({ cwd }, ...concise, '--baseline')).stderr).not.toContain('gone');
    expect((await memfix({ cwd }, 'baseline')).stderr).toContain('Recorded 5 findings in');
  });

  test('-o names another file, and - is standard output', async () => {
    const cwd = repository();
    const { stdout } = await memfix({ cwd }, 'baseline', '-o', '-');
    mkdirSync(join(cwd, 'notes'));
    await memfix({ cwd }, 'baseline', '-o', 'notes/debts.json');
    const names = (text: string) => JSON.parse(text).findings.map(({ path }: { path: string }) => path);
    expect(names(stdout)).toContain('sub/b.py');
    expect(names(readFileSync(join(cwd, 'notes/debts.json'), 'utf8'))).toContain('../sub/b.py');
    expect((await memfix({ cwd }, ...concise, '--baseline=notes/debts.json', '.')).code).toBe(0);
  });
});

describe('check --baseline', () => {
  test('reports only what is new, and says what it left out', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    expect(await memfix({ cwd }, ...concise, '--baseline')).toMatchObject({
      code: 0,
      stdout: '',
      stderr:
        'No new findings. 1 suspicious site was left alone, a leak: `memfix check -v --baseline` says why. 5 known findings of the baseline are left out.\n',
    });
    put(cwd, { 'a.py': 'hold()\nrisk()\nhold()\n' });
    const answer = await memfix({ cwd }, ...concise, '--baseline', '.');
    expect(answer.code).toBe(1);
    expect(answer.stdout).toBe('a.py:3:1: drop-hold [safe] hold costs memory\n');
    expect(answer.stderr).toContain('5 known findings of the baseline are left out.');
  });

  test('moved lines, other indentation and a renamed file stay known; an edit does not', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    put(cwd, { 'sub/b.py': '# new\n\n\ndef f():\n        hold()\n        hold()\n' });
    renameSync(join(cwd, 'a.py'), join(cwd, 'renamed.py'));
    expect((await memfix({ cwd }, ...concise, '--baseline')).stdout).toBe('');
    put(cwd, { 'sub/b.py': 'def g():\n    hold()\n' });
    expect((await memfix({ cwd }, ...concise, '--baseline')).stdout).toContain('sub/b.py:2:5: drop-hold');
  });

  test('what is recorded of one file excuses nothing in another', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    put(cwd, { 'a.py': 'risk()\n', 'd.py': 'hold()\n' });
    const { stdout, stderr } = await memfix({ cwd }, ...concise, '--baseline');
    expect(stdout).toBe('d.py:1:1: drop-hold [safe] hold costs memory\n');
    // `memfix baseline` would forget the one and record the other.
    expect(stderr).toContain('4 known findings of the baseline are left out; 1 is gone. ');
    rmSync(join(cwd, 'd.py'));
    expect((await memfix({ cwd }, ...concise, '--baseline')).stderr).toContain(
      '1 is gone: `memfix baseline` forgets it.',
    );
  });

  test('counts as gone only what was looked at', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    put(cwd, { 'a.py': 'x = 1\n', 'c.py': 'y = 1\n' });
    const { stdout } = await memfix({ cwd }, 'check', '--output-format', 'json', '--baseline', 'a.py');
    expect(JSON.parse(stdout).summary.baseline).toEqual({ known: 0, gone: 2 });
  });

  test('counts only files of its own findings as changed', async () => {
    const cwd = repository();
    await memfix({ cwd }, 'baseline');
    put(cwd, { 'sub/b.py': 'def f():\n    hold()\n    hold()\n', 'd.py': 'hold()\n' });
    const { stderr } = await memfix({ cwd }, ...concise, '--baseline');
    expect(stderr).toContain('1 fix is in a file with uncommitted changes');
    commit(cwd);
    expect((await memfix({ cwd }, ...concise, '--baseline', '--changed')).stderr).not.toContain('baseline');
  });

  test('a file without = is wrong usage, and not a path to look at', async () => {
    const cwd = repository();
    const { code, stderr } = await memfix({ cwd }, ...concise, '--baseline', 'debts.json');
    expect(code).toBe(2);
    expect(stderr).toContain('write `--baseline=debts.json`');
  });

  test.each([
    [undefined, 'There is no baseline'],
    ['{"version": 2, "findings": []}', 'No baseline in that file'],
    ['[]', 'No baseline in that file'],
    ['{"version": 1, "findings": [{"path": 1}]}', 'No baseline in that file'],
    ['nothing', 'No baseline in that file'],
  ])('%j: %s', async (text, title) => {
    const cwd = folderWith({ 'a.py': 'hold()\n', ...(text !== undefined && { [FILE]: text }) });
    expect(await memfix({ cwd }, ...concise, '--baseline')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`memfix: ${title}\n  memfix-baseline.json`),
    });
  });
});

describe('--fail-on', () => {
  test.each([
    [[], 1],
    [['--fail-on', 'any'], 1],
    [['--fail-on', 'safe'], 0],
    [['--fail-on', 'leak'], 0],
    [['--fail-on', 'peak'], 1],
    [['--fail-on', 'leak,peak'], 1],
    [['--fail-on', 'never'], 0],
    [['--exit-zero'], 0],
  ])('%j exits with %i', async (flags, code) => {
    const cwd = folderWith({ 'a.py': 'risk()\nfine()\n' });
    const answer = await memfix({ cwd }, ...concise, ...flags);
    expect(answer.code).toBe(code);
    expect(answer.stdout).toContain('calm-risk');
  });

  test.each([
    [['--fail-on', 'leek'], 'Did you mean `leak`?'],
    [['--fail-on', 'never,leak'], 'cannot be combined'],
    [['--fail-on', 'leak', '--exit-zero'], 'cannot be combined'],
  ])('%j is wrong usage, said before anything is looked at', async (flags, words) => {
    const { code, stdout, stderr } = await memfix(
      { cwd: folderWith({ 'a.py': 'hold()\n' }) },
      ...concise,
      ...flags,
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  test.each([
    ['fail-on = "safe"', [], 0],
    ['fail-on = "peak"', [], 1],
    ['fail-on = ["leak", "peak"]', [], 1],
    ['fail-on = "never"', [], 0],
    ['fail-on = "never"', ['--fail-on', 'any'], 1],
    ['fail-on = "any"', ['--exit-zero'], 0],
    // Of a stranger's config, which may only make things stricter.
    ['fail-on = "never"', ['--strict-config'], 1],
  ])('is `%s` of the config, with %j', async (line, flags, code) => {
    const cwd = folderWith({ 'a.py': 'risk()\nfine()\n', 'memfix.toml': `${line}\n` });
    const answer = await memfix({ cwd }, ...concise, ...flags);
    expect(answer.code).toBe(code);
    expect(answer.stdout).toContain('calm-risk');
    const piped = await memfix({ cwd, stdin: 'risk()\n' }, ...concise, ...flags, '-');
    expect(piped.code).toBe(code);
  });

  test.each([
    ['fail-on = "leek"', 'Did you mean `leak`?'],
    ['fail-on = ["never", "leak"]', 'cannot be combined'],
    ['fail-on = 1', '`fail-on` must be'],
    ['severity = "warn"', '`fail-on` says what fails a run'],
  ])('`%s` of a config is an error', async (line, words) => {
    const cwd = folderWith({ 'a.py': 'hold()\n', 'memfix.toml': `${line}\n` });
    const { code, stderr } = await memfix({ cwd }, ...concise);
    expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(words)]);
  });

  test('is told by --show-settings and by memfix config', async () => {
    const cwd = folderWith({ 'a.py': 'hold()\n', 'memfix.toml': 'fail-on = ["leak", "peak"]\n' });
    expect((await memfix({ cwd }, 'check', '--show-settings')).stdout).toContain('fail on: leak, peak\n');
    expect((await memfix({ cwd }, 'check', '--show-settings', '--fail-on', 'safe')).stdout).toContain(
      'fail on: safe\n',
    );
    expect((await memfix({ cwd }, 'config')).stdout).toMatch(/fail-on .*leak.*peak.*memfix\.toml/);
  });
});
