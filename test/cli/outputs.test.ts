import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FORMAT_NAMES } from '../../src/report/formats/formats.js';
import { folderWith, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const FILES = { 'sub/a.py': 'hold()\n', 'b.py': 'risk()\n' };

test.each(FORMAT_NAMES)('%s goes to standard output, or to its file, the same', async (format) => {
  const cwd = folderWith(FILES);
  const { code, stdout } = await memfix({ cwd }, 'check', '--output-format', format);
  expect(code).toBe(1);
  expect(stdout).toContain('sub/a.py');
  const filed = await memfix({ cwd, terminals: ['stdout'] }, 'check', '--output-format', `${format}=out`);
  expect(filed).toMatchObject({ code: 1, stdout: '' });
  expect(readFileSync(join(cwd, 'out'), 'utf8')).toBe(stdout);
  expect(filed.stderr).toMatch(/^2 findings /);
});

test('several at once, one of them on standard output', async () => {
  const cwd = folderWith(FILES);
  mkdirSync(join(cwd, 'reports'));
  const { stdout } = await memfix(
    { cwd },
    ...['check', '--output-format', 'concise', '--output-format', 'sarif=reports/m.sarif'],
    ...['--output-format=junit=reports/a=b,c.xml', '.'],
  );
  expect(stdout).toMatch(/^sub\/a\.py:1:1: drop-hold .*\nb\.py:1:1: calm-risk/);
  expect(JSON.parse(readFileSync(join(cwd, 'reports/m.sarif'), 'utf8')).runs[0].results).toHaveLength(2);
  expect(existsSync(join(cwd, 'reports/a=b,c.xml'))).toBe(true);
});

test('--statistics takes the place of standard output, not of files', async () => {
  const cwd = folderWith(FILES);
  const { stdout } = await memfix({ cwd }, 'check', '--statistics', '--output-format', 'json=out.json');
  expect(stdout).toContain('drop-hold');
  expect(stdout).not.toContain('sub/a.py');
  expect(JSON.parse(readFileSync(join(cwd, 'out.json'), 'utf8')).summary.findings).toBe(2);
});

test('forges get paths from the root of the repository', async () => {
  const cwd = join(repositoryWith(FILES), 'sub');
  for (const format of ['sarif', 'github', 'gitlab', 'junit', 'markdown'])
    expect((await memfix({ cwd }, 'check', '--output-format', format)).stdout).toMatch(/[^/\w]sub\/a\.py/);
  const { stdout } = await memfix({ cwd }, 'check', '--output-format', 'json');
  expect(JSON.parse(stdout).findings[0].path).toBe('a.py');
});

test('apply reports what remains in any format', async () => {
  const cwd = repositoryWith(FILES);
  const { stdout } = await memfix({ cwd }, 'apply', '--output-format', 'gitlab');
  expect(JSON.parse(stdout)).toMatchObject([{ check_name: 'calm-risk' }]);
});

test.each([
  [['--output-format', 'sarfi'], 'Did you mean `sarif`?'],
  [['--output-format', 'sarif='], 'names no file'],
  [
    ['--output-format', 'json', '--output-format', 'github'],
    '`json` and `github` cannot share standard output',
  ],
  [['--output-format', 'json=a', '--output-format', 'github=a'], 'names the file `a` twice'],
])('%j is wrong usage', async (words, told) => {
  const answer = await memfix({ cwd: folderWith(FILES) }, 'check', ...words);
  expect([answer.code, answer.stdout]).toEqual([2, '']);
  expect(answer.stderr).toContain(told);
});

test('a file that cannot be written is an error', async () => {
  const answer = await memfix({ cwd: folderWith(FILES) }, 'check', '--output-format', 'json=no/where.json');
  expect(answer.code).toBe(2);
  expect(answer.stderr).toContain('Give `--output-format` a file in a folder that exists');
});
