/** `memfix undo` of some files: only these go back, from the last apply that changed them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { TOYS } from './toys.js';

const files = { 'a.py': 'hold(1)\n', 'b.py': 'hold(2)\n', 'sub/c.py': 'hold(3)\n', 'sub/d.py': 'hold(4)\n' };
const read = (cwd: string) =>
  Object.keys(files).map((name) => readFileSync(join(cwd, name), 'utf8').startsWith('release'));

async function applied(cwd = repositoryWith(files)): Promise<string> {
  await memfix({ cwd, transforms: TOYS }, 'apply', '--allow-no-vcs');
  expect(read(cwd)).toEqual([true, true, true, true]);
  return cwd;
}

test.each([
  [['a.py'], [false, true, true, true]],
  [
    ['a.py', 'b.py'],
    [false, false, true, true],
  ],
  [
    ['a.py', 'a.py'],
    [false, true, true, true],
  ],
  [['sub'], [true, true, false, false]],
  [
    ['sub', 'sub/c.py'],
    [true, true, false, false],
  ],
  [
    ['sub/c.py', 'b.py'],
    [true, false, false, true],
  ],
  [['.'], [false, false, false, false]],
  [[], [false, false, false, false]],
])('undo %j', async (paths, left) => {
  const cwd = await applied();
  const { code, stderr } = await memfix({ cwd }, 'undo', ...paths);
  expect(code).toBe(0);
  expect(read(cwd)).toEqual(left);
  expect(stderr).toContain(`${left.filter((is) => !is).length} file`);
  // The rest of that apply can still be taken back, once.
  if (left.includes(true)) {
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect(read(cwd)).toEqual([false, false, false, false]);
  }
  expect((await memfix({ cwd }, 'undo')).code).toBe(2);
});

test('each file goes back by its own last apply', async () => {
  const cwd = await applied();
  put(cwd, { 'a.py': 'release(1)\nhold(5)\n' });
  await memfix({ cwd, transforms: TOYS }, 'apply', '--allow-dirty', 'a.py');
  const { stderr } = await memfix({ cwd }, 'undo', 'b.py');
  expect(stderr).toBe('restored b.py\n1 file restored.\n');
  await memfix({ cwd }, 'undo', 'a.py');
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('release(1)\nhold(5)\n');
});

test('a file that no apply changed is refused, and nothing else touched', async () => {
  const cwd = await applied(repositoryWith({ ...files, 'e.py': 'x = 1\n' }));
  const { code, stderr } = await memfix({ cwd }, 'undo', 'e.py');
  expect(code).toBe(2);
  expect(stderr).toContain('Nothing to undo');
  expect(stderr).toContain('Without a path, `memfix undo` takes back the whole last apply.');
  expect(read(cwd)).toEqual([true, true, true, true]);
});

test('a file that changed since is left and named, and its neighbour restored', async () => {
  const cwd = await applied();
  put(cwd, { 'a.py': 'release(1)\nmine()\n' });
  const { code, stderr } = await memfix({ cwd }, 'undo', 'a.py', 'b.py');
  expect(code).toBe(2);
  expect(stderr).toContain('restored b.py');
  expect(stderr).toContain('a.py: it changed after memfix wrote it');
});

test('an earlier apply is told of', async () => {
  const cwd = await applied();
  put(cwd, { 'e.py': 'hold(5)\n' });
  await memfix({ cwd, transforms: TOYS }, 'apply', '--allow-dirty', 'e.py');
  put(cwd, { 'e.py': 'release(5)\nmine()\n' });
  const refused = await memfix({ cwd }, 'undo');
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('What an earlier apply did to another file goes back by its name'),
  });
  expect(await memfix({ cwd }, 'undo')).toEqual(refused);
  put(cwd, { 'e.py': 'release(5)\n' });
  expect((await memfix({ cwd }, 'undo')).stderr).toBe(
    'restored e.py\n1 file restored.\nAn earlier apply changed 4 files: `memfix undo` again takes that back.\n',
  );
  expect((await memfix({ cwd }, 'undo')).stderr).toContain('4 files restored.\n');
});

test('without git, by the folder of the apply', async () => {
  const cwd = await applied(folderWith(files));
  expect((await memfix({ cwd }, 'undo', 'sub/c.py')).code).toBe(0);
  expect(read(cwd)).toEqual([true, true, false, true]);
  expect((await memfix({ cwd: join(cwd, '..') }, 'undo', cwd)).code).toBe(0);
  expect(read(cwd)).toEqual([false, false, false, false]);
});
