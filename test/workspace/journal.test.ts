import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Journal } from '../../src/workspace/journal.js';
import { cleanUp, undoLast } from '../../src/workspace/undo.js';
import { draftName, replaceBytes } from '../../src/workspace/write.js';
import { folderWith, git, listing, put, repositoryWith, stateOf } from './folders.js';

/** One apply: each file gets its new text, by way of the journal. */
function applyTo(root: string, changes: Readonly<Record<string, string>>): void {
  const journal = new Journal(stateOf(root));
  for (const [name, text] of Object.entries(changes)) {
    const path = join(root, name);
    const before = readFileSync(path);
    const draft = draftName();
    expect(journal.record(path, before, Buffer.from(text), draft)).toEqual({ ok: true });
    expect(replaceBytes(path, before, Buffer.from(text), draft)).toEqual({ ok: true });
  }
  journal.close();
}

/** An apply that was killed after the journal was written: `touch` says what became of the file and its draft. */
function killedIn(
  root: string,
  name: string,
  after: string,
  touch: (path: string, draft: string) => void,
  pid = 2 ** 30,
): void {
  const path = join(root, name);
  const draft = draftName();
  const journal = new Journal(stateOf(root));
  journal.record(path, readFileSync(path), Buffer.from(after), draft);
  const [mark = ''] = readdirSync(pagesOf(root)).filter((each) => each.endsWith('.open'));
  const text = readFileSync(join(pagesOf(root), mark), 'utf8');
  journal.close();
  writeFileSync(join(pagesOf(root), mark), text.replace(/"pid":\d+/, `"pid":${pid}`));
  touch(path, join(root, name, '..', draft));
}

const pagesOf = (root: string) => join(stateOf(root).folder, 'journal');
const read = (root: string, name: string) => readFileSync(join(root, name), 'latin1');

test('several undos go back in turn, byte for byte', () => {
  const root = folderWith({ 'a.py': Buffer.from([0xff, 0x0d, 0x0a]), 'sub/b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1', 'sub/b.py': 'b1' });
  applyTo(root, { 'a.py': 'a2' });
  expect(undoLast(stateOf(root))).toMatchObject({ restored: [join(root, 'a.py')], left: [] });
  expect(read(root, 'a.py')).toBe('a1');
  expect(undoLast(stateOf(root))?.restored).toHaveLength(2);
  expect(read(root, 'a.py')).toBe('\xff\r\n');
  expect(read(root, 'sub/b.py')).toBe('b0');
  expect(undoLast(stateOf(root))).toBeUndefined();
});

test('a file that one session wrote twice ends as it began', () => {
  const root = folderWith({ 'a.py': '0' });
  const journal = new Journal(stateOf(root));
  for (const [before, after] of [
    ['0', '1'],
    ['1', '2'],
  ] as const) {
    const draft = draftName();
    journal.record(join(root, 'a.py'), Buffer.from(before), Buffer.from(after), draft);
    replaceBytes(join(root, 'a.py'), Buffer.from(before), Buffer.from(after), draft);
  }
  journal.close();
  expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'a.py')]);
  expect(read(root, 'a.py')).toBe('0');
});

test('files with other bytes than ours, and files that are gone, are left and named', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0', 'c.py': 'c0' });
  applyTo(root, { 'a.py': 'a1', 'b.py': 'b1', 'c.py': 'c1' });
  writeFileSync(join(root, 'a.py'), 'mine');
  rmSync(join(root, 'c.py'));
  expect(undoLast(stateOf(root))).toMatchObject({
    restored: [join(root, 'b.py')],
    left: [
      { path: join(root, 'c.py'), reason: 'it does not exist' },
      { path: join(root, 'a.py'), reason: 'it changed after memfix wrote it' },
    ],
  });
  expect(read(root, 'a.py')).toBe('mine');
  // They stay in the journal.
  writeFileSync(join(root, 'a.py'), 'a1');
  writeFileSync(join(root, 'b.py'), 'b1');
  expect(undoLast(stateOf(root))).toMatchObject({
    restored: [join(root, 'a.py')],
    left: [{ path: join(root, 'c.py') }],
  });
  expect([read(root, 'a.py'), read(root, 'b.py')]).toEqual(['a0', 'b1']);
});

test('a refusal is not followed by an older apply, which its own file can be named for', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1' });
  applyTo(root, { 'b.py': 'b1' });
  writeFileSync(join(root, 'b.py'), 'mine');
  for (let time = 0; time < 2; time++)
    expect(undoLast(stateOf(root))).toMatchObject({
      restored: [],
      left: [{ path: join(root, 'b.py') }],
      earlier: 1,
    });
  expect(read(root, 'a.py')).toBe('a1');
  expect(undoLast(stateOf(root), join(root, 'a.py'))).toMatchObject({ restored: [join(root, 'a.py')] });
  writeFileSync(join(root, 'b.py'), 'b1');
  expect(undoLast(stateOf(root))).toMatchObject({ restored: [join(root, 'b.py')], left: [] });
  expect([read(root, 'a.py'), read(root, 'b.py')]).toEqual(['a0', 'b0']);
  expect(undoLast(stateOf(root))).toBeUndefined();
});

test('a file that one session wrote twice and somebody changed is named once', () => {
  const root = folderWith({ 'a.py': '0' });
  const journal = new Journal(stateOf(root));
  journal.record(join(root, 'a.py'), Buffer.from('0'), Buffer.from('1'), undefined);
  journal.record(join(root, 'a.py'), Buffer.from('1'), Buffer.from('2'), undefined);
  journal.close();
  writeFileSync(join(root, 'a.py'), 'mine');
  expect(undoLast(stateOf(root))?.left).toHaveLength(1);
  writeFileSync(join(root, 'a.py'), '2');
  undoLast(stateOf(root));
  expect(read(root, 'a.py')).toBe('0');
});

test('a file that cannot be written now can be restored later', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1', 'b.py': 'b1' });
  chmodSync(join(root, 'a.py'), 0o444);
  expect(undoLast(stateOf(root))?.left).toEqual([{ path: join(root, 'a.py'), reason: 'it is read-only' }]);
  chmodSync(join(root, 'a.py'), 0o644);
  expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'a.py')]);
  expect(read(root, 'a.py')).toBe('a0');
});

test('a kill between the journal and the file, or in the middle of a line, leaves a good journal', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0' });
  applyTo(root, { 'a.py': 'a1' });
  const journal = new Journal(stateOf(root));
  journal.record(join(root, 'b.py'), Buffer.from('b0'), Buffer.from('b1'), undefined);
  journal.close();
  const [, page = ''] = readdirSync(pagesOf(root)).sort();
  appendFileSync(join(pagesOf(root), page), '{"path":"a.py","aft');
  expect(undoLast(stateOf(root))).toMatchObject({ restored: [join(root, 'a.py')], left: [] });
  expect(read(root, 'a.py')).toBe('a0');
  expect(read(root, 'b.py')).toBe('b0');
});

test('a page cannot reach outside its root, nor the files of git', () => {
  const root = folderWith({ 'repo/.git/config': 'c0', 'victim.py': 'v0' });
  const state = stateOf(join(root, 'repo'));
  const journal = new Journal(state);
  journal.record(join(root, 'victim.py'), Buffer.from('evil'), Buffer.from('v0'), undefined);
  journal.record(join(root, 'repo/.git/config'), Buffer.from('evil'), Buffer.from('c0'), undefined);
  journal.close();
  const reason = `it lies outside ${join(root, 'repo')}`;
  expect(undoLast(state)?.left).toEqual([
    { path: join(root, 'repo/.git/config'), reason },
    { path: join(root, 'victim.py'), reason },
  ]);
  expect([read(root, 'victim.py'), read(root, 'repo/.git/config')]).toEqual(['v0', 'c0']);
});

test('nothing is restored through a link that took the place of a folder or a file', () => {
  const root = folderWith({ 'repo/sub/a.py': 'a0', 'repo/b.py': 'b0', 'outside/a.py': 'a1', 'b.py': 'b1' });
  const repo = join(root, 'repo');
  applyTo(repo, { 'sub/a.py': 'a1', 'b.py': 'b1' });
  rmSync(join(repo, 'sub'), { recursive: true });
  symlinkSync(join(root, 'outside'), join(repo, 'sub'));
  rmSync(join(repo, 'b.py'));
  symlinkSync(join(root, 'b.py'), join(repo, 'b.py'));
  expect(undoLast(stateOf(repo))?.left).toEqual([
    { path: join(repo, 'b.py'), reason: 'it is not a regular file' },
    { path: join(repo, 'sub/a.py'), reason: 'a link leads to it' },
  ]);
  expect([read(root, 'outside/a.py'), read(root, 'b.py')]).toEqual(['a1', 'b1']);
});

test.each([
  ['of another version', '{"version":99}\n{}\n'],
  ['with a line that is none of ours', '{"version":2}\n{}\n'],
  ['with a draft of another name', '{"version":2}\n{"path":"a.py","before":"","after":"","draft":"a.py"}\n'],
  ['that is no journal', 'hello\n'],
])('a page %s is an error in three parts', (_, text) => {
  const root = folderWith();
  const state = stateOf(root);
  state.open();
  put(pagesOf(root), { '000001.jsonl': text });
  expect(() => undoLast(state)).toThrow(
    /The undo journal cannot be read: .*000001\.jsonl: it was not written by this version/,
  );
});

test.each([
  ['a name of 240 digits', `${'9'.repeat(240)}.jsonl`],
  ['a number beyond those that count by one', '9007199254740992.jsonl'],
  ['a number with other zeros than ours', '0000000007.jsonl'],
])('%s is no page', (_, name) => {
  const root = folderWith({ 'a.py': 'a0' });
  stateOf(root).open();
  put(pagesOf(root), { [name]: '{"version":2}\n' });
  applyTo(root, { 'a.py': 'a1' });
  expect(readdirSync(pagesOf(root)).sort()).toEqual(['000001.jsonl', name].sort());
  expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'a.py')]);
});

test('after the last number, nothing is written, and nothing loops', () => {
  const root = folderWith({ 'a.py': 'a0' });
  stateOf(root).open();
  put(pagesOf(root), { '999999999.jsonl': '' });
  expect(() => applyTo(root, { 'a.py': 'a1' })).toThrow('The undo journal is full');
  expect(read(root, 'a.py')).toBe('a0');
});

test('an undo while an apply goes on takes its page; what is written then is on another', () => {
  const root = folderWith({ 'a.py': 'a0', 'b.py': 'b0' });
  const journal = new Journal(stateOf(root));
  const write = (name: string, before: string, after: string) => {
    journal.record(join(root, name), Buffer.from(before), Buffer.from(after), undefined);
    replaceBytes(join(root, name), Buffer.from(before), Buffer.from(after), undefined);
  };
  write('a.py', 'a0', 'a1');
  expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'a.py')]);
  write('b.py', 'b0', 'b1');
  journal.close();
  expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'b.py')]);
});

test('a flipped bit of the old bytes is not brought back', () => {
  const root = folderWith({ 'a.py': 'print("before")\n' });
  applyTo(root, { 'a.py': 'print("after")\n' });
  const page = join(pagesOf(root), '000001.jsonl');
  const old = Buffer.from('print("before")\n').toString('base64');
  const text = readFileSync(page, 'utf8');
  expect(text).toContain(old);
  writeFileSync(page, text.replace(old, Buffer.from('print("befoqe")\n').toString('base64')));
  expect(() => undoLast(stateOf(root))).toThrow('The undo journal cannot be read');
  expect(read(root, 'a.py')).toBe('print("after")\n');
});

test('the project gets nothing', () => {
  const root = repositoryWith({ 'a.py': 'a0' });
  applyTo(root, { 'a.py': 'a0 ' });
  put(root, { 'a.py': 'a0' });
  expect(git(root, 'status', '--porcelain', '--ignored')).toBe('');
});

test('fifty applies are kept', () => {
  const root = folderWith({ 'a.py': '0' });
  for (let apply = 1; apply <= 53; apply++) applyTo(root, { 'a.py': `${apply}` });
  let undone = 0;
  while (undoLast(stateOf(root)) !== undefined) undone++;
  expect(undone).toBe(50);
  expect(read(root, 'a.py')).toBe('3');
});

test('a draft of a killed apply is removed, and no other file', () => {
  const root = folderWith({ 'sub/a.py': 'a0', 'sub/.memfix-0123456789ab.tmp': 'not ours' });
  killedIn(root, 'sub/a.py', 'a1', (_, draft) => writeFileSync(draft, 'a'));
  expect(listing(root)).toHaveLength(3);
  expect(cleanUp(stateOf(root)).drafts).toHaveLength(1);
  expect(listing(root)).toEqual(['sub/.memfix-0123456789ab.tmp', 'sub/a.py']);
  expect(cleanUp(stateOf(root)).drafts).toEqual([]);
  expect(undoLast(stateOf(root))).toMatchObject({ restored: [], left: [], isGone: true });
});

test('the draft of a process that runs is left, for an hour', () => {
  const root = folderWith({ 'a.py': 'a0' });
  killedIn(root, 'a.py', 'a1', (_, draft) => writeFileSync(draft, 'a'), process.ppid);
  expect(cleanUp(stateOf(root)).drafts).toEqual([]);
  const [mark = ''] = readdirSync(pagesOf(root)).filter((each) => each.endsWith('.open'));
  const earlier = new Date(Date.now() - 2 * 60 * 60 * 1000);
  utimesSync(join(pagesOf(root), mark), earlier, earlier);
  expect(cleanUp(stateOf(root)).drafts).toHaveLength(1);
});

test.each([
  ['longer', 'one\n', 'the first\n'],
  ['shorter', 'the first\n', 'one\n'],
])(
  'a file that was being overwritten by something %s gets the rest, and undo its old bytes',
  (_, old, now) => {
    for (let at = 1; at <= now.length; at++) {
      const torn = now.slice(0, at) + old.slice(at);
      if (torn === now) continue;
      const root = folderWith({ 'a.py': old });
      killedIn(root, 'a.py', now, (path) => writeFileSync(path, torn));
      expect(cleanUp(stateOf(root)).finished).toEqual([join(root, 'a.py')]);
      expect(read(root, 'a.py')).toBe(now);
      writeFileSync(join(root, 'a.py'), torn);
      expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'a.py')]);
      expect(read(root, 'a.py')).toBe(old);
    }
  },
);

test('an undo does not depend on room for its own files', () => {
  const root = folderWith({ 'a.py': 'a0' });
  applyTo(root, { 'a.py': 'a1' });
  mkdirSync(join(pagesOf(root), '000001.open'));
  expect(undoLast(stateOf(root))?.restored).toEqual([join(root, 'a.py')]);
  expect(read(root, 'a.py')).toBe('a0');
  expect(cleanUp(stateOf(root))).toEqual({ drafts: [], finished: [] });
});

test('what a person wrote after the kill stays', () => {
  const root = folderWith({ 'a.py': 'old text\n' });
  killedIn(root, 'a.py', 'new words\n', (path) => writeFileSync(path, 'new thing\n'));
  expect(cleanUp(stateOf(root))).toEqual({ drafts: [], finished: [] });
  expect(undoLast(stateOf(root))?.left).toEqual([
    { path: join(root, 'a.py'), reason: 'it changed after memfix wrote it' },
  ]);
  expect(read(root, 'a.py')).toBe('new thing\n');
});

test('a mark without a page, or with one that cannot be read, does no harm', () => {
  const root = folderWith({ 'a.py': 'a0' });
  killedIn(root, 'a.py', 'a1', () => undefined);
  renameSync(join(pagesOf(root), '000001.jsonl'), join(pagesOf(root), '000002.jsonl'));
  put(pagesOf(root), { '000003.open': '', '000003.jsonl': 'hello\n' });
  mkdirSync(join(pagesOf(root), '000004.jsonl'));
  put(pagesOf(root), { '000004.open': '{"pid":1073741824}' });
  const long = new Date(0);
  for (const name of ['000003.open', '000004.open']) utimesSync(join(pagesOf(root), name), long, long);
  expect(cleanUp(stateOf(root))).toEqual({ drafts: [], finished: [] });
  expect(existsSync(join(pagesOf(root), '000001.open'))).toBe(false);
});

test('files that changed together go back together, and the rest of the apply stays', () => {
  const root = folderWith({ 'a.py': 'a0', 'a.yaml': 'y0', 'b.py': 'b0' });
  const journal = new Journal(stateOf(root));
  for (const [name, main] of [
    ['a.py', 'a.py'],
    ['a.yaml', 'a.py'],
    ['b.py', 'b.py'],
  ] as const) {
    const path = join(root, name);
    const before = readFileSync(path);
    const after = Buffer.from(`${name[0]}1`);
    expect(journal.record(path, before, after, undefined, join(root, main))).toEqual({ ok: true });
    writeFileSync(path, after);
  }
  journal.close();
  const places = (undone: ReturnType<typeof undoLast>) => [...(undone?.restored ?? [])].sort();
  expect(places(undoLast(stateOf(root), join(root, 'a.yaml')))).toEqual([
    join(root, 'a.py'),
    join(root, 'a.yaml'),
  ]);
  expect([read(root, 'a.py'), read(root, 'a.yaml'), read(root, 'b.py')]).toEqual(['a0', 'y0', 'b1']);
  expect(places(undoLast(stateOf(root)))).toEqual([join(root, 'b.py')]);
  expect(undoLast(stateOf(root))).toBeUndefined();
});

test('a file that memfix made is taken away where it is as it was made, and only then', () => {
  for (const [now, removed] of [
    ['new', true],
    ['new and mine', false],
  ] as const) {
    const root = folderWith({ 'b.py': 'b0' });
    const path = join(root, 'memfix.toml');
    const journal = new Journal(stateOf(root));
    journal.record(path, undefined, Buffer.from('new'), undefined);
    journal.close();
    writeFileSync(path, now);
    const undone = undoLast(stateOf(root));
    expect(undone?.removed).toEqual(removed ? [path] : []);
    expect(undone?.left.map(({ reason }) => reason)).toEqual(
      removed ? [] : ['it changed after memfix wrote it'],
    );
    expect(existsSync(path)).toBe(!removed);
  }
});
