import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceBytes } from '../../src/workspace/write.js';
import { folderWith, listing } from './folders.js';

const OLD = Buffer.from('old\r\n');
const NEW = Buffer.from('new\r\nlonger\r\n');

test('replaces the bytes, keeps the mode, leaves nothing behind', () => {
  const folder = folderWith({ 'a.py': OLD });
  const path = join(folder, 'a.py');
  chmodSync(path, 0o751);
  expect(replaceBytes(path, OLD, NEW)).toEqual({ ok: true });
  expect(readFileSync(path)).toEqual(NEW);
  expect(statSync(path).mode & 0o7777).toBe(0o751);
  expect(listing(folder)).toEqual(['a.py']);
});

test('keeps the owner where the system allows it', () => {
  const path = join(folderWith({ 'a.py': OLD }), 'a.py');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) spawnSync('chown', ['12345:23456', path]);
  expect(replaceBytes(path, OLD, NEW)).toEqual({ ok: true });
  const { uid, gid } = statSync(path);
  expect([uid, gid]).toEqual(isRoot ? [12345, 23456] : [process.getuid?.(), process.getgid?.()]);
});

test('writes through a symlink, which stays one', () => {
  const folder = folderWith({ 'real/a.py': OLD });
  symlinkSync('real/a.py', join(folder, 'link.py'));
  expect(replaceBytes(join(folder, 'link.py'), OLD, NEW)).toEqual({ ok: true });
  expect(lstatSync(join(folder, 'link.py')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'real/a.py'))).toEqual(NEW);
});

test.each([
  [
    'that changed',
    () => 'it changed on disk after it was read',
    (path: string) => writeFileSync(path, 'mine'),
  ],
  ['that is read-only', () => 'it is read-only', (path: string) => chmodSync(path, 0o444)],
  ['that is gone', () => 'it does not exist', (path: string) => rmSync(path)],
])('leaves a file %s', (_, reason, change) => {
  const folder = folderWith({ 'a.py': OLD });
  const path = join(folder, 'a.py');
  change(path);
  const before = listing(folder).map((name) => readFileSync(join(folder, name)));
  expect(replaceBytes(path, OLD, NEW)).toEqual({ ok: false, reason: reason() });
  expect(listing(folder).map((name) => readFileSync(join(folder, name)))).toEqual(before);
});

test('a write that runs out of room leaves the old file whole and no draft', () => {
  const folder = folderWith({ 'a.py': OLD });
  const script = `
    import { replaceBytes } from ${JSON.stringify(join(import.meta.dirname, '../../src/workspace/write.ts'))};
    const big = Buffer.alloc(4 * 1024 * 1024, 'x');
    process.stdout.write(JSON.stringify(replaceBytes('a.py', Buffer.from('old\\r\\n'), big)));
  `;
  // The shell's file size limit stands in for the end of the disk: a write stops in the middle of the file.
  const shell = spawnSync(
    'sh',
    [
      '-c',
      `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`,
      process.execPath,
      '--import',
      tsx,
      '--input-type=module',
      '--eval',
      script,
    ],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, TSX_DISABLE_CACHE: '1' },
    },
  );
  expect(shell.stderr).toBe('');
  expect(JSON.parse(shell.stdout)).toEqual({
    ok: false,
    reason: 'it would exceed the largest file size allowed here',
  });
  expect(readFileSync(join(folder, 'a.py'))).toEqual(OLD);
  expect(listing(folder)).toEqual(['a.py']);
});

const tsx = import.meta.resolve('tsx');
