import { expect, test } from 'vitest';
import { folderWith, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const cwd = () => folderWith({});

test('apply: the result goes to standard output, in the same bytes', async () => {
  const stdin = Buffer.from('# coding: latin-1\r\nhold("\xe9")\r\nrisk()', 'latin1');
  const answer = await memfix({ cwd: cwd(), stdin }, 'apply', '-');
  expect(answer.data.toString('latin1')).toBe('# coding: latin-1\r\nrelease("\xe9")\r\nrisk()');
  expect(answer).toMatchObject({ code: 1, stderr: '' });
  expect((await memfix({ cwd: cwd(), stdin: 'hold()\n' }, 'apply', '-')).code).toBe(0);
});

test('apply: what cannot be fixed comes out as it went in', async () => {
  for (const stdin of ['def f(:\n  hold()\n', Buffer.from('hold()\xff\n', 'latin1'), 'x = 1', '']) {
    const answer = await memfix({ cwd: cwd(), stdin }, 'apply', '-');
    expect(answer.data).toEqual(Buffer.from(stdin));
    expect(answer.code).toBe(0);
  }
  const answer = await memfix({ cwd: cwd(), stdin: 'def f(:\n  hold()\n' }, 'apply', '-', '--strict');
  expect(answer.code).toBe(2);
  expect(answer.stderr).toMatch(/^stdin\.py:1:7: skipped: not valid Python 3: /);
});

test('check: findings under the name given', async () => {
  const answer = await memfix(
    { cwd: cwd(), stdin: 'hold()\n' },
    'check',
    '-',
    '--stdin-filename',
    'src/a.py',
    '--output-format',
    'concise',
  );
  expect(answer).toMatchObject({ code: 1, stdout: 'src/a.py:1:1: drop-hold [safe] hold costs memory\n' });
});

test('check: the name chooses the config', async () => {
  const folder = folderWith({ 'app/memfix.toml': 'ignore = ["drop-hold"]\n' });
  const setting = { cwd: folder, stdin: 'hold()\n' };
  expect((await memfix(setting, 'check', '-', '--stdin-filename', 'app/a.py')).code).toBe(0);
  expect((await memfix(setting, 'check', '-', '--stdin-filename', 'a.py')).code).toBe(1);
});

test('diff: the patch, relative to the repository', async () => {
  const root = repositoryWith({ 'sub/a.py': '' });
  const answer = await memfix(
    { cwd: `${root}/sub`, stdin: 'hold()\n' },
    'diff',
    '-',
    '--stdin-filename',
    'a.py',
  );
  expect(answer).toMatchObject({
    code: 0,
    stdout:
      'diff --git a/sub/a.py b/sub/a.py\n--- a/sub/a.py\n+++ b/sub/a.py\n@@ -1 +1 @@\n-hold()\n+release()\n',
  });
});

test.each([['--changed'], ['--staged'], ['--since', 'HEAD']])(
  '`-` is no file for `%s`',
  async (...filter) => {
    const { code, stderr } = await memfix({ cwd: cwd() }, 'check', ...filter, '-');
    expect(code).toBe(2);
    expect(stderr).toContain(`\`${filter[0]}\` chooses among files; \`-\` reads standard input.`);
  },
);

test('`-` stands alone', async () => {
  expect((await memfix({ cwd: cwd() }, 'check', '-', 'a.py')).stderr).toBe(
    'memfix: Wrong usage\n  `-` stands alone: it cannot be combined with other paths.\n' +
      '  Next: Run `memfix check --help` to see what there is.\n',
  );
});
