import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { draftName, replaceBytes } from '../../src/workspace/write.js';
import { folderWith, listing } from './folders.js';

const OLD = Buffer.from('old\r\n');
const NEW = Buffer.from('new\r\nlonger\r\n');

test('replaces the bytes, keeps the mode, leaves nothing behind', () => {
  const folder = folderWith({ 'a.py': OLD });
  const path = join(folder, 'a.py');
  chmodSync(path, 0o751);
  expect(replaceBytes(path, OLD, NEW, draftName())).toEqual({ ok: true });
  expect(readFileSync(path)).toEqual(NEW);
  expect(statSync(path).mode & 0o7777).toBe(0o751);
  expect(listing(folder)).toEqual(['a.py']);
});

test('keeps the owner where the system allows it', () => {
  const path = join(folderWith({ 'a.py': OLD }), 'a.py');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) spawnSync('chown', ['12345:23456', path]);
  expect(replaceBytes(path, OLD, NEW, draftName())).toEqual({ ok: true });
  const { uid, gid } = statSync(path);
  expect([uid, gid]).toEqual(isRoot ? [12345, 23456] : [process.getuid?.(), process.getgid?.()]);
});

test.runIf(process.getuid?.() === 0)('overwrites a file whose owner a new one could not have', () => {
  const folder = folderWith({ 'a.py': OLD });
  const path = join(folder, 'a.py');
  chmodSync(folder, 0o777);
  chmodSync(path, 0o666);
  const { ino } = statSync(path);
  const script = `
    import { draftName, replaceBytes } from ${JSON.stringify(join(import.meta.dirname, '../../src/workspace/write.ts'))};
    const written = replaceBytes(process.cwd() + '/a.py', Buffer.from('old\\r\\n'), Buffer.from('new'), draftName());
    process.stdout.write(JSON.stringify(written));
  `;
  const nobody = { uid: 65534, gid: 65534 };
  const words = ['--import', tsx, '--input-type=module', '--eval', script];
  const answer = spawnSync(process.execPath, words, {
    ...{ cwd: folder, encoding: 'utf8', ...nobody },
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
  });
  expect([answer.stderr, answer.stdout]).toEqual(['', '{"ok":true}']);
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path)).toMatchObject({ ino, uid: 0, gid: 0 });
  expect(listing(folder)).toEqual(['a.py']);
});

test('follows no link, neither the file nor a folder on its way', () => {
  const folder = folderWith({ 'real/a.py': OLD });
  symlinkSync('real/a.py', join(folder, 'link.py'));
  symlinkSync('real', join(folder, 'sub'));
  for (const name of ['link.py', 'sub/a.py'])
    for (const draft of [draftName(), undefined])
      expect(replaceBytes(join(folder, name), OLD, NEW, draft)).toEqual({
        ok: false,
        reason: 'a link leads to it',
      });
  expect(readFileSync(join(folder, 'real/a.py'))).toEqual(OLD);
  expect(listing(folder)).toEqual(['link.py', 'real/a.py', 'sub']);
});

test('without a draft, the file stays the same file', () => {
  const path = join(folderWith({ 'a.py': NEW }), 'a.py');
  chmodSync(path, 0o640);
  const { ino, mode } = statSync(path);
  expect(replaceBytes(path, NEW, OLD, undefined)).toEqual({ ok: true });
  expect(readFileSync(path)).toEqual(OLD);
  expect(statSync(path)).toMatchObject({ ino, mode });
});

test('a file of which there are hard links is left, with all its names', () => {
  const folder = folderWith({ 'a.py': OLD });
  linkSync(join(folder, 'a.py'), join(folder, 'b.py'));
  for (const draft of [draftName(), undefined])
    expect(replaceBytes(join(folder, 'a.py'), OLD, NEW, draft)).toEqual({
      ok: false,
      reason: 'it is one of 2 hard links to the same file; give it a copy of its own first',
    });
  expect(['a.py', 'b.py'].map((name) => readFileSync(join(folder, name)))).toEqual([OLD, OLD]);
});

test.runIf(process.getuid?.() === 0)('keeps the group where the folder would give it another one', () => {
  const folder = folderWith({ 'a.py': OLD });
  spawnSync('chown', [':23456', folder]);
  chmodSync(folder, 0o2755);
  expect(replaceBytes(join(folder, 'a.py'), OLD, NEW, draftName())).toEqual({ ok: true });
  expect(statSync(join(folder, 'a.py')).gid).toBe(process.getgid?.());
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
  expect(replaceBytes(path, OLD, NEW, draftName())).toEqual({ ok: false, reason: reason() });
  expect(listing(folder).map((name) => readFileSync(join(folder, name)))).toEqual(before);
});

test.each([
  ['beside the file', 'draftName()'],
  ['to the file itself', 'undefined'],
])('a write %s that runs out of room leaves the old file whole and no draft', (_, draft) => {
  const folder = folderWith({ 'a.py': OLD });
  const script = `
    import { draftName, replaceBytes } from ${JSON.stringify(join(import.meta.dirname, '../../src/workspace/write.ts'))};
    const big = Buffer.alloc(4 * 1024 * 1024, 'x');
    process.stdout.write(JSON.stringify(replaceBytes(process.cwd() + '/a.py', Buffer.from('old\\r\\n'), big, ${draft})));
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
