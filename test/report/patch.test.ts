import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FileChange, patchOf, quotePath } from '../../src/report/patch.js';
import { decode, encode, type SourceText } from '../../src/text/decode.js';

const utf8: Omit<SourceText, 'text'> = { encoding: 'utf-8', bom: false };
const GNU_PATCH = 'patch';
/** Older ones cannot read quoted names; other makes of `patch` are not what this tests. */
const hasPatch = /^GNU patch (?:2\.[7-9]|[3-9])/.test(`${spawnSync(GNU_PATCH, ['--version']).stdout}`);
/** The user's git settings must not decide whether these tests pass, nor a hook's that runs them. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  LC_ALL: 'C',
};

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'memfix-patch-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the words of a patch', () => {
  test('one changed line in its context, as git writes it', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\n';
    expect(patch('pkg/train.py', before, before.replace('e\n', 'E\nE2\n'))).toBe(
      'diff --git a/pkg/train.py b/pkg/train.py\n--- a/pkg/train.py\n+++ b/pkg/train.py\n' +
        '@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n+E2\n f\n g\n h\n',
    );
  });

  test('a carriage return stays inside its line and a missing final newline is marked', () => {
    expect(patch('t.py', 'a\r\nb', 'a\r\nc')).toBe(
      'diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,2 @@\n a\r\n' +
        '-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n',
    );
  });

  test('a path with spaces ends in a TAB, others are quoted byte by byte', () => {
    expect(patch('my code/é.py', 'a\n', 'b\n').split('\n').slice(0, 3)).toEqual([
      'diff --git "a/my code/\\303\\251.py" "b/my code/\\303\\251.py"',
      '--- "a/my code/\\303\\251.py"\t',
      '+++ "b/my code/\\303\\251.py"\t',
    ]);
    expect(quotePath('a "b"\\\x01\x7f\t.py')).toBe('"a \\"b\\"\\\\\\001\\177\\t.py"');
    expect(quotePath('plain name.py')).toBe('plain name.py');
  });

  test('headers and hunks equal those of git itself', () => {
    const path = 'dir with space/naïve "q" 日本\t.py';
    const repo = freshRepo('same-as-git');
    const before = 'x = 1\r\ny = 2\nz = 3';
    const after = 'x = 1\r\ny = 3\nz = 3';
    write(repo, path, Buffer.from(before));
    git(repo, ['add', '.']);
    write(repo, path, Buffer.from(after));
    const theirs = git(repo, ['diff'])
      .toString('latin1')
      .replace(/^index .*\n/m, '');
    expect(patch(path, before, after)).toBe(theirs);
  });

  test('nothing changed is an empty patch', () => {
    expect(patch('t.py', 'a\n', 'a\n')).toBe('');
    expect(patchOf([])).toHaveLength(0);
  });

  test('bytes are those of the file, not of UTF-8', () => {
    const source = decoded(Buffer.from('# coding: latin-1\ns = "caf\xe9"\n', 'latin1'));
    const made = patchOf([{ path: 't.py', source, after: source.text.replace('caf', 'Caf') }]);
    expect(made.includes(Buffer.from('-s = "caf\xe9"\n+s = "Caf\xe9"\n', 'latin1'))).toBe(true);
  });

  test('text that the file cannot hold is refused', () => {
    const source = decoded(Buffer.from('# coding: latin-1\n'));
    expect(() => patchOf([{ path: 't.py', source, after: '# 日本\n' }])).toThrow(
      'the new text of t.py cannot be written in latin-1',
    );
  });
});

describe('a patch applies to exactly the bytes that would be written', () => {
  const corners: readonly [name: string, before: string, after: string][] = [
    ['empty file filled', '', 'a\nb\n'],
    ['file emptied', 'a\nb\n', ''],
    ['empty file filled without a newline', '', 'a'],
    ['final newline added', 'a', 'a\n'],
    ['final newline removed', 'a\nb\n', 'a\nb'],
    ['only the newline kind changed', 'a\r\nb\r\n', 'a\nb\r\n'],
    ['lone carriage returns', 'a\rb\rc\rd', 'a\rB\rc\rd'],
    ['form feed and vertical tab', 'a\n\f\nb\n\v\n', 'a\n\f\nB\n\v\n'],
    ['line separators are no newline to git', 'a\u2028b\u0085c\n', 'a\u2028B\u0085c\n'],
    ['lines that look like a patch', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n', '--- a/x\n+++ b/y\n'],
    ['repeated lines', 'x\n'.repeat(50), `${'x\n'.repeat(20)}y\n${'x\n'.repeat(29)}`],
    ['two distant hunks', numbered(40), numbered(40).replace('line 3\n', '').replace('line 35\n', 'new\n')],
    ['two hunks that meet', numbered(20), numbered(20).replace('line 5\n', '').replace('line 12\n', 'new\n')],
    [
      'two hunks just apart',
      numbered(20),
      numbered(20).replace('line 5\n', '').replace('line 13\n', 'new\n'),
    ],
  ];
  const cases = corners.flatMap(([name, before, after], index) => {
    const plain: FileChange = { path: `${index} ${name}.py`, source: { ...utf8, text: before }, after };
    const marked: FileChange = {
      path: `${index} bom.py`,
      source: { ...utf8, bom: true, text: before },
      after,
    };
    return [plain, marked];
  });

  test('corner cases through git apply', () => applyAndCompare('corners-git', cases, gitApply));
  test.runIf(hasPatch)('corner cases through GNU patch', () =>
    applyAndCompare('corners-patch', cases, gnuPatch),
  );

  test('a file of 40,000 lines with an edit every hundred', () => {
    const before = numbered(40_000);
    const after = before.replace(/line \d*00\n/g, (line) => `with guard():\n    ${line}`);
    applyAndCompare('large', [{ path: 'large.py', source: { ...utf8, text: before }, after }], gitApply);
  });

  test('from a subfolder, with paths from the root', () => {
    const repo = freshRepo('subfolder');
    const changes = ['src/deep/a.py', 'src/b c.py'].map((path) => change(path, 'one\ntwo\n', 'one\n2\n'));
    for (const item of changes) write(repo, item.path, bytesOf(item, item.source.text));
    const result = spawnSync('git', ['apply', '-'], { cwd: join(repo, 'src'), input: patchOf(changes), env });
    expect(result.stderr.toString()).toBe('');
    for (const item of changes)
      expect(readFileSync(join(repo, item.path))).toEqual(bytesOf(item, item.after));
  });

  test('random edits of random files through git apply', () => {
    let run = 0;
    fc.assert(
      fc.property(fc.array(randomChange(), { minLength: 20, maxLength: 60, size: 'max' }), (items) => {
        applyAndCompare(`random-git-${run++}`, distinctPaths(items), gitApply);
      }),
      { numRuns: 20 },
    );
  }, 60_000);

  test.runIf(hasPatch)(
    'random edits of random files through GNU patch',
    () => {
      let run = 0;
      fc.assert(
        fc.property(fc.array(randomChange(), { minLength: 20, maxLength: 60, size: 'max' }), (items) => {
          applyAndCompare(`random-patch-${run++}`, distinctPaths(items), gnuPatch);
        }),
        { numRuns: 20 },
      );
    },
    60_000,
  );
});

type Applier = (repo: string, patch: Buffer) => void;

function gitApply(repo: string, made: Buffer): void {
  const result = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: repo, input: made, env });
  expect(result.stderr.toString()).toBe('');
  expect(result.status).toBe(0);
}

function gnuPatch(repo: string, made: Buffer): void {
  const result = spawnSync(GNU_PATCH, ['-p1', '--binary', '--fuzz=0'], { cwd: repo, input: made, env });
  const remarks = `${result.stdout}${result.stderr}`
    .split('\n')
    .filter((line) => !/^patching file |^$/.test(line));
  expect(remarks).toEqual([]);
  expect(result.status).toBe(0);
}

function applyAndCompare(name: string, changes: readonly FileChange[], apply: Applier): void {
  const repo = freshRepo(name);
  for (const item of changes) write(repo, item.path, bytesOf(item, item.source.text));
  const made = patchOf(changes);
  if (made.length > 0) apply(repo, made);
  for (const item of changes) {
    const actual = readFileSync(join(repo, item.path));
    const expected = bytesOf(item, item.after);
    if (!actual.equals(expected))
      expect([item.path, actual.toString('latin1')]).toEqual([item.path, expected.toString('latin1')]);
  }
  const files = readdirSync(repo, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.parentPath.includes('/.git'),
  );
  expect(files).toHaveLength(changes.length);
  rmSync(repo, { recursive: true, force: true });
}

/** Lines drawn from a small alphabet, so that many repeat, with every kind of line end between them. */
function randomChange(): fc.Arbitrary<Omit<FileChange, 'path'> & { readonly folder: string }> {
  const kinds = [
    {
      cookie: '',
      alphabet: ['a', 'x = 1', '\t', '\f', 'é', '😀', '日本語', ' ', '', '--- a/x', '-', '+', '@@', '\\'],
    },
    { cookie: '# -*- coding: latin-1 -*-\n', alphabet: ['a', 'é', '\xa0', '\x85', '\xff', ' ', ''] },
    { cookie: '# coding: shift-jis\r\n', alphabet: ['a', '表示', 'ソ', 'ｱ', ' ', ''] },
  ];
  const ends = ['\n', '\n', '\n', '\r\n', '\r\n', '\r', ''];
  const folders = ['', 'pkg/', 'with space/', 'ünï/', 'q"uo\\te/', 'tab\there/', 'trailing /', '日本 語/'];
  return fc.constantFrom(...kinds).chain(({ cookie, alphabet }) => {
    const piece = fc
      .tuple(fc.constantFrom(...alphabet), fc.constantFrom(...ends))
      .map((parts) => parts.join(''));
    const text = (maxLength: number) =>
      fc.array(piece, { maxLength, size: 'max' }).map((pieces) => pieces.join(''));
    const splice = fc.record({ at: fc.nat(400), remove: fc.nat(6), insert: text(3) });
    return fc
      .record({
        body: text(60),
        bom: cookie === '' ? fc.boolean() : fc.constant(false),
        splices: fc.array(splice, { minLength: 1, maxLength: 6 }),
        folder: fc.constantFrom(...folders),
      })
      .map(({ body, bom, splices, folder }) => {
        const encoding = /latin-1|shift-jis/.exec(cookie)?.[0] ?? 'utf-8';
        const bytes = encode({ text: '', encoding, bom }, cookie + body);
        if (bytes === undefined) throw new Error(`the alphabet of ${encoding} holds a character it lacks`);
        const source = decoded(bytes);
        const characters = [...source.text];
        for (const { at, remove, insert } of splices) {
          characters.splice(at % (characters.length + 1), remove, ...insert);
        }
        return { source, after: characters.join(''), folder };
      });
  });
}

function distinctPaths(
  items: readonly (Omit<FileChange, 'path'> & { readonly folder: string })[],
): FileChange[] {
  return items.map(({ folder, ...item }, index) => ({
    ...item,
    path: `${folder}f${index}${index % 3 ? '' : ' é'}.py`,
  }));
}

function decoded(bytes: Buffer): SourceText {
  const result = decode(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.source;
}

function change(path: string, before: string, after: string): FileChange {
  return { path, source: { ...utf8, text: before }, after };
}

function patch(path: string, before: string, after: string): string {
  return patchOf([change(path, before, after)]).toString('latin1');
}

function bytesOf({ source }: FileChange, text: string): Buffer {
  const bytes = encode(source, text);
  if (bytes === undefined) throw new Error('not encodable');
  return bytes;
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
}

function freshRepo(name: string): string {
  const repo = join(root, name);
  mkdirSync(repo);
  git(repo, ['init', '--quiet']);
  return repo;
}

function git(cwd: string, args: readonly string[]): Buffer {
  const result = spawnSync('git', args, { cwd, env });
  if (result.status !== 0) throw new Error(result.stderr.toString());
  return result.stdout;
}

function write(repo: string, path: string, bytes: Buffer): void {
  const full = join(repo, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, bytes);
}
