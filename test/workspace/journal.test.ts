import { appendFileSync, chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Journal, undoLast } from '../../src/workspace/journal.js';
import { replaceBytes } from '../../src/workspace/write.js';
import { folderWith, git, put, repositoryWith } from './folders.js';

/** One apply: each file gets its new text, by way of the journal. */
function applyTo(root: string, changes: Readonly<Record<string, string>>): void {
  const journal = new Journal(root);
  for (const [name, text] of Object.entries(changes)) {
    const path = join(root, name);
    const before = readFileSync(path);
    expect(journal.record(path, before, Buffer.from(text))).toEqual({ ok: true });
    expect(replaceBytes(path, before, Buffer.from(text))).toEqual({ ok: true });
  }
  journal.close();
}

const read = (root: string, name: string) => readFileSync(join(root, name), 'latin1');

test('several undos go back in turn, byte for byte', () => {
  const root = folderWith({ 'a.py': Buffer.from([0xff, 0x0d, 0x0a]), 'sub/b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1', 'sub/b.py': 'b1' });
  applyTo(root, { 'a.py': 'a2' });
  expect(undoLast(root)).toMatchObject({ restored: [join(root, 'a.py')], left: [] });
  expect(read(root, 'a.py')).toBe('a1');
  expect(undoLast(root)?.restored).toHaveLength(2);
  expect(read(root, 'a.py')).toBe('\xff\r\n');
  expect(read(root, 'sub/b.py')).toBe('b0');
  expect(undoLast(root)).toBeUndefined();
});

test('a file that one session wrote twice ends as it began', () => {
  const root = folderWith({ 'a.py': '0' });
  const journal = new Journal(root);
  for (const [before, after] of [
    ['0', '1'],
    ['1', '2'],
  ] as const) {
    journal.record(join(root, 'a.py'), Buffer.from(before), Buffer.from(after));
    replaceBytes(join(root, 'a.py'), Buffer.from(before), Buffer.from(after));
  }
  journal.close();
  expect(undoLast(root)?.restored).toEqual([join(root, 'a.py')]);
  expect(read(root, 'a.py')).toBe('0');
});

test('files with other bytes than ours, and files that are gone, are left and named', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0', 'c.py': 'c0' });
  applyTo(root, { 'a.py': 'a1', 'b.py': 'b1', 'c.py': 'c1' });
  writeFileSync(join(root, 'a.py'), 'mine');
  rmSync(join(root, 'c.py'));
  expect(undoLast(root)).toMatchObject({
    restored: [join(root, 'b.py')],
    left: [
      { path: join(root, 'c.py'), reason: 'it does not exist' },
      { path: join(root, 'a.py'), reason: 'it changed after memfix wrote it' },
    ],
  });
  expect(read(root, 'a.py')).toBe('mine');
});

test('a file that cannot be written now can be restored later', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1', 'b.py': 'b1' });
  chmodSync(join(root, 'a.py'), 0o444);
  expect(undoLast(root)?.left).toEqual([{ path: join(root, 'a.py'), reason: 'it is read-only' }]);
  chmodSync(join(root, 'a.py'), 0o644);
  expect(undoLast(root)?.restored).toEqual([join(root, 'a.py')]);
  expect(read(root, 'a.py')).toBe('a0');
});

test('a kill between the journal and the file, or in the middle of a line, leaves a good journal', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1' });
  const journal = new Journal(root);
  journal.record(join(root, 'b.py'), Buffer.from('b0'), Buffer.from('b1'));
  journal.close();
  const [, page = ''] = readdirSync(join(root, '.memfix/journal')).sort();
  appendFileSync(join(root, '.memfix/journal', page), '{"path":"a.py","aft');
  expect(undoLast(root)).toMatchObject({ restored: [join(root, 'a.py')], left: [] });
  expect(read(root, 'a.py')).toBe('a0');
  expect(read(root, 'b.py')).toBe('b0');
});

test('a journal from elsewhere cannot reach outside its root', () => {
  const root = folderWith({ 'repo/x.py': '', 'victim.py': 'v0' });
  const outside = new Journal(join(root, 'repo'));
  outside.record(join(root, 'victim.py'), Buffer.from('evil'), Buffer.from('v0'));
  outside.close();
  expect(undoLast(join(root, 'repo'))?.left).toEqual([
    { path: join(root, 'victim.py'), reason: `it lies outside ${join(root, 'repo')}` },
  ]);
  expect(read(root, 'victim.py')).toBe('v0');
});

test('a journal that is not ours is an error in three parts', () => {
  const root = folderWith({ '.memfix/journal/000001.jsonl': '{"version":99}\n{}\n' });
  expect(() => undoLast(root)).toThrow(
    /The undo journal cannot be read: .*000001\.jsonl was not written by this version/,
  );
});

test('git does not see the journal', () => {
  const root = repositoryWith({ 'a.py': 'a0' });
  applyTo(root, { 'a.py': 'a0 ' });
  put(root, { 'a.py': 'a0' });
  expect(git(root, 'status', '--porcelain')).toBe('');
});

test('fifty applies are kept', () => {
  const root = folderWith({ 'a.py': '0' });
  for (let apply = 1; apply <= 53; apply++) applyTo(root, { 'a.py': `${apply}` });
  let undone = 0;
  while (undoLast(root) !== undefined) undone++;
  expect(undone).toBe(50);
  expect(read(root, 'a.py')).toBe('3');
});
