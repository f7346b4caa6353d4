import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Transform } from '../../src/toolkit/contract.js';
import { folderWith, git, listing, put, repositoryWith, stateOf } from '../workspace/folders.js';
import { type Answer, memfix, type Setting } from './command-line.js';
import { TOYS } from './toys.js';

/** Toys that count how many files they looked into. */
function counted() {
  const looked: string[] = [];
  const transforms = TOYS.map(
    (each): Transform => ({
      ...each,
      detect(module, options) {
        looked.push(module.path);
        return each.detect(module, options);
      },
    }),
  );
  const seen = () => [...new Set(looked.splice(0))].sort();
  return { transforms, seen };
}

const FILES = {
  'a.py': 'hold()\nfine()\n',
  'b.py': 'risk()  # memfix: ignore[calm-risk] known\n',
  'c.py': '# nothing\n',
  'd.py': 'hold(:\n',
  'e.py': '# @generated\nhold()\n',
  'tests/f.py': 'x = 1  # memfix: ignore[drop-hold]\nhint()\n',
};

/** Longer than the clock's grain, so that the times of files are to be trusted. */
const settled = () => wait(2100);

/** A cache holds everything twice. */
const twice = (bytes: Buffer, change: (half: string) => string) =>
  Buffer.from(change(bytes.toString('latin1', 0, bytes.length / 2)).repeat(2), 'latin1');

const plain = ({ code, stdout, stderr }: Answer) => ({ code, stdout, stderr });

describe('a second run', () => {
  test('says the same and looks into nothing', async () => {
    const cwd = repositoryWith(FILES);
    await settled();
    const { transforms, seen } = counted();
    const setting = { cwd, transforms, build: '1' };
    for (const words of [
      ['check', '-v'],
      ['check', '--output-format', 'json'],
      ['check', '--statistics'],
      ['diff', '--select', 'peak'],
    ]) {
      const fresh = plain(await memfix({ cwd, transforms }, ...words));
      expect(seen()).not.toEqual([]);
      expect(plain(await memfix(setting, ...words))).toEqual(fresh);
      seen();
      expect(plain(await memfix(setting, ...words))).toEqual(fresh);
      expect(seen()).toEqual([]);
    }
    expect(git(cwd, 'status', '--porcelain')).toBe('');
    expect(listing(cwd)).toEqual(Object.keys(FILES));
  });

  test('looks only into what changed, and by content where only times did', async () => {
    const cwd = repositoryWith(FILES);
    await settled();
    const { transforms, seen } = counted();
    const setting = { cwd, transforms, build: '1' };
    await memfix(setting, 'check');
    seen();
    utimesSync(join(cwd, 'a.py'), 1, 1);
    put(cwd, { 'b.py': 'hold()\nhold()\n' });
    const { stdout } = await memfix(setting, 'check', '--output-format', 'concise');
    expect(stdout.match(/^b\.py:.*drop-hold/gm)).toHaveLength(2);
    expect(seen()).toEqual(['b.py']);
  });

  test.each([
    ['at once', false],
    ['later', true],
  ])('notices a change of the same size with the old time, %s', async (_, isLater) => {
    const cwd = repositoryWith(FILES);
    if (isLater) await settled();
    const setting = { cwd, build: '1' };
    const { mtime, atime } = statSync(join(cwd, 'a.py'));
    await memfix(setting, 'check');
    put(cwd, { 'a.py': 'risk()\nfine()\n' });
    utimesSync(join(cwd, 'a.py'), atime, mtime);
    const { stdout } = await memfix(setting, 'check', '--output-format', 'concise');
    expect(stdout).toMatch(/^a\.py:1:1: calm-risk/m);
    expect(stdout).not.toMatch(/^a\.py.*drop-hold/m);
  });

  test('finds new files, and loses those that are gone', async () => {
    const cwd = repositoryWith(FILES);
    await settled();
    const setting = { cwd, build: '1' };
    const concise = async () => (await memfix(setting, 'check', '--output-format', 'concise')).stdout;
    await concise();
    await settled();
    await concise();
    put(cwd, { 'tests/new.py': 'hold()\n' });
    expect(await concise()).toContain('tests/new.py:1:1: drop-hold');
    rmSync(join(cwd, 'tests/new.py'));
    expect(await concise()).not.toContain('tests/new.py');
    writeFileSync(join(cwd, '.gitignore'), 'a.py\n');
    expect(await concise()).not.toContain('a.py');
  });

  test('looks again where it could mean something else', async () => {
    const cwd = repositoryWith(FILES);
    const { transforms, seen } = counted();
    const setting = { cwd, transforms, build: '1' };
    const looksAgain = async (change: Partial<Setting>, ...words: readonly string[]) => {
      await memfix(setting, 'check');
      seen();
      await memfix({ ...setting, ...change }, 'check', ...words);
      expect(seen()).toContain('a.py');
    };
    await looksAgain({ build: '2' });
    await looksAgain({}, '--ignore', 'calm-risk');
    await looksAgain({}, '--unfixable', 'drop-hold');
    await looksAgain({}, '--no-cache');
    await looksAgain({}, 'a.py');
    put(cwd, { 'memfix.toml': '[per-file-ignores]\n"c.py" = ["drop-hold"]\n' });
    await looksAgain({}, '--isolated');
  });

  test('of apply finds what apply has left', async () => {
    const cwd = repositoryWith(FILES);
    const setting = { cwd, build: '1' };
    await memfix(setting, 'check');
    await memfix(setting, 'apply');
    expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('release()\nfine()\n');
    expect(plain(await memfix(setting, 'check'))).toEqual(plain(await memfix({ cwd }, 'check')));
    await memfix(setting, 'undo');
    expect(plain(await memfix(setting, 'check'))).toEqual(plain(await memfix({ cwd }, 'check')));
  });
});

describe('the cache', () => {
  const caches = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.cache'));

  test.each<readonly [string, (text: Buffer) => Uint8Array]>([
    ['cut off', (bytes) => bytes.subarray(0, bytes.length - 40)],
    ['empty', () => Buffer.alloc(0)],
    [
      'of a later version',
      (bytes) => Buffer.from(bytes.toString('latin1').replace(/cache \d+/, 'cache 999'), 'latin1'),
    ],
    ['forged, with a head that is no JSON', (bytes) => twice(bytes, (half) => half.replace('{', '!'))],
    [
      'forged, with a number of files that is none',
      (bytes) => twice(bytes, (half) => half.replace(/"files":\d+/, '"files":-1')),
    ],
    [
      'forged, with lengths that do not fit',
      (bytes) => twice(bytes, (half) => half.replace(/"sizes":\[\d+/, '"sizes":[3')),
    ],
    [
      'changed in one byte',
      (bytes) => Buffer.from(bytes.map((byte, at) => (at === bytes.length - 9 ? byte ^ 1 : byte))),
    ],
  ])('counts for nothing when it is %s', async (_, spoil) => {
    const cwd = repositoryWith(FILES);
    const { transforms, seen } = counted();
    const setting = { cwd, transforms, build: '1' };
    const fresh = plain(await memfix(setting, 'check'));
    const folder = join(stateOf(cwd).folder, 'cache');
    for (const name of caches(folder))
      writeFileSync(join(folder, name), spoil(readFileSync(join(folder, name))));
    seen();
    expect(plain(await memfix(setting, 'check'))).toEqual(fresh);
    expect(seen()).toContain('a.py');
    seen();
    await memfix(setting, 'check');
    expect(seen()).toEqual([]);
  });

  test('whose findings were replaced by no JSON is an error, and not a run without findings', async () => {
    const cwd = repositoryWith(FILES);
    const folder = folderWith();
    const words = ['check', '--cache-dir', folder];
    await memfix({ cwd, build: '1' }, ...words);
    for (const name of caches(folder)) {
      const bytes = readFileSync(join(folder, name));
      writeFileSync(
        join(folder, name),
        twice(bytes, (half) => half.replace('[[0,{', '![0,{')),
      );
    }
    const answer = await memfix({ cwd, build: '1' }, ...words);
    expect(answer.code).toBe(2);
    expect(answer.stderr).toMatch(/^memfix: The cache cannot be read\n {2}\S+ was not written by memfix\n/);
  });

  test('is kept small, and never holds what is gone', async () => {
    const cwd = repositoryWith(FILES);
    for (let build = 0; build < 12; build++) await memfix({ cwd, build: `${build}` }, 'check');
    const folder = join(stateOf(cwd).folder, 'cache');
    expect(caches(folder)).toHaveLength(8);
    rmSync(join(cwd, 'a.py'));
    await memfix({ cwd, build: '11' }, 'check');
    expect(
      caches(folder).filter((name) => readFileSync(join(folder, name), 'latin1').includes('a.py')),
    ).toHaveLength(7);
    expect(listing(cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('lies where it is asked to, and nowhere for standard input, guests and folders out of reach', async () => {
    const cwd = repositoryWith(FILES);
    const elsewhere = join(folderWith(), 'deep/cache');
    await memfix({ cwd, build: '1' }, 'check', '--cache-dir', elsewhere);
    expect(caches(elsewhere)).toHaveLength(1);
    await memfix({ cwd, build: '1', stdin: 'hold()\n' }, 'check', '-');
    await memfix({ cwd, build: '1' }, 'check', '--no-cache');
    await memfix({ cwd }, 'check');
    await memfix({ cwd: folderWith(), build: '1' }, 'check', folderWith(FILES));
    expect(existsSync(stateOf(cwd).folder)).toBe(false);
  });

  test('is done without where it cannot be written', async () => {
    const cwd = folderWith(FILES);
    const fresh = plain(await memfix({ cwd }, 'check'));
    const file = join(folderWith({ file: '' }), 'file');
    const env = { MEMFIX_STATE_DIR: file };
    expect(plain(await memfix({ cwd, build: '1', env }, 'check'))).toEqual(fresh);
    writeFileSync(join(cwd, '.memfix_cache'), 'a file');
    const { stderr } = await memfix({ cwd, build: '1' }, 'check', '-q', '--cache-dir', '.memfix_cache');
    expect(stderr).toMatch(/^memfix: The cache could not be kept\n {2}\.memfix_cache: .+\n {2}Next: /);
    rmSync(join(cwd, '.memfix_cache'));
    const trap = folderWith();
    symlinkSync(trap, join(cwd, '.memfix_cache'));
    expect(plain(await memfix({ cwd, build: '1' }, 'check'))).toEqual(fresh);
    expect(listing(trap)).toEqual([]);
  });

  test('is shared by runs at the same time', async () => {
    const cwd = repositoryWith(FILES);
    const fresh = plain(await memfix({ cwd }, 'check'));
    const runs = Array.from({ length: 8 }, () => memfix({ cwd, build: '1' }, 'check'));
    for (const run of runs) expect(plain(await run)).toEqual(fresh);
    expect(plain(await memfix({ cwd, build: '1' }, 'check'))).toEqual(fresh);
  });
});

const LINES = [
  'hold()\n',
  'risk()\n',
  'hint()\n',
  'x = 1\n',
  'hold(:\n',
  '# @generated\n',
  'hold()  # memfix: ignore[drop-hold]\n',
];
const NAMES = ['a.py', 'tests/d.py'];

test('whatever happens to the files, a run that remembers says what a fresh one says', {
  timeout: 120_000,
}, async () => {
  const name = fc.constantFrom(...NAMES);
  const edit = fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      name,
      lines: fc.array(fc.constantFrom(...LINES), { maxLength: 2 }),
    }),
    fc.record({ kind: fc.constantFrom('touch' as const, 'remove' as const, 'close' as const), name }),
    fc.record({ kind: fc.constant('move' as const), name, to: name }),
    fc.record({ kind: fc.constant('apply' as const) }),
  );
  const words = fc.constantFrom(
    ['check'],
    ['check', 'a.py', 'tests'],
    ['diff'],
    ['check', '--select', 'all'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(edit, words), { minLength: 8, maxLength: 12 }), async (steps) => {
      const cwd = repositoryWith({ 'a.py': 'hold()\n', 'tests/d.py': 'risk()\n' });
      for (const [step, command] of steps) {
        mkdirSync(join(cwd, 'tests'), { recursive: true });
        await happen(cwd, step);
        put(cwd, existsSync(join(cwd, 'a.py')) ? {} : { 'a.py': '' });
        expect(plain(await memfix({ cwd, build: '1' }, ...command))).toEqual(
          plain(await memfix({ cwd }, ...command)),
        );
      }
    }),
    { numRuns: 25 },
  );
});

type Step =
  | { kind: 'write'; name: string; lines: string[] }
  | { kind: 'touch' | 'remove' | 'close'; name: string }
  | { kind: 'move'; name: string; to: string }
  | { kind: 'apply' };

async function happen(cwd: string, step: Step): Promise<void> {
  if (step.kind === 'apply') {
    await memfix({ cwd, build: '1' }, 'apply', '--allow-dirty');
    return;
  }
  const path = join(cwd, step.name);
  if (step.kind === 'write') put(cwd, { [step.name]: step.lines.join('') });
  else if (!existsSync(path)) return;
  else if (step.kind === 'move') renameSync(path, join(cwd, step.to));
  else if (step.kind === 'touch') utimesSync(path, new Date(), new Date(Date.now() - 1e6));
  else if (step.kind === 'remove') rmSync(path);
  else chmodSync(path, 0o400);
}
