import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { discover } from '../../src/workspace/discover.js';
import { PathPatterns, Rules } from '../../src/workspace/gitignore.js';
import { processorTime } from '../support/processor-time.js';
import { type Files, folderWith, git } from './folders.js';

const NAMES = ['a.py', 'b.py', 'ab.py', 'a b.py', '[a].py', 'sub/a.py', 'sub/deep/ab.py', 'sub/deep/a/b.py'];

/** Pieces that rules are made of, so that many of them are about something. */
const RULE = fc
  .array(
    fc.constantFrom(
      ...['a', 'b', 'sub', 'deep', '.py', '*', '**', '?', '/', '/**/', '**/', '/**', '[ab]', '[!a]', '[a-c]'],
      ...['\\', ' ', '!', '[', ']', '#', '[]a]', '[[:alpha:]]', '\\[', '\\*', '[^b]', '-', '[a\\-]'],
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((pieces) => pieces.join(''));

test('rules mean what they mean to git', () => {
  const rules = fc.sample(fc.array(RULE, { minLength: 1, maxLength: 3 }), { numRuns: 400, seed: 14 });
  const files: Record<string, string> = {};
  for (const [index, lines] of rules.entries()) {
    files[`r${index}/.gitignore`] = `${lines.join('\n')}\n`;
    for (const name of NAMES) files[`r${index}/${name}`] = '';
  }
  const cwd = folderWith(files satisfies Files);
  git(cwd, 'init', '--quiet');
  const seen = new Set(
    git(cwd, '-c', 'core.quotePath=false', 'ls-files', '-z', '--others', '--exclude-standard').split('\0'),
  );
  const found = new Set(discover(['.'], { cwd, excludes: () => false }).candidates.map(({ path }) => path));
  const wrong = rules.flatMap((lines, index) => {
    const differing = NAMES.filter(
      (name) => seen.has(`r${index}/${name}`) !== found.has(`r${index}/${name}`),
    );
    return differing.length === 0 ? [] : [[lines, differing]];
  });
  expect(wrong).toEqual([]);
  expect(found.size).toBeGreaterThan(800);
  expect(found.size).toBeLessThan(rules.length * NAMES.length - 300);
});

describe('rules of a hostile length', () => {
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index));

  test.each([
    ['names', (index: number) => `name${index}.py`],
    ['endings', (index: number) => `*.e${index}`],
    ['paths', (index: number) => `/folder${index}/__init__.py`],
    ['the same', () => 'same.py/'],
    ['exceptions', (index: number) => `!*x${index}.py`],
  ])('%s, a hundred thousand of them', (_, line) => {
    const text = `${lines(100_000, line).join('\n')}\nlast.py\n`;
    const names = [
      ...lines(200, (index) => `sub/f${index}.py`),
      ...lines(10, (index) => `sub${index}/__init__.py`),
    ];
    const others = names.map((name) => [name, ''] as const);
    const cwd = folderWith({
      '.gitignore': text,
      ...{ 'last.py': '', 'kept.py': '', 'folder7/__init__.py': '' },
      ...Object.fromEntries(others),
    });
    const taken = processorTime();
    const { candidates, skipped } = discover(['.'], { cwd, excludes: () => false });
    // It took eleven seconds and more.
    expect(taken()).toBeLessThan(3000);
    expect(skipped).toEqual([]);
    const paths = candidates.map(({ path }) => path);
    expect(paths).toContain('kept.py');
    expect(paths).not.toContain('last.py');
  });

  test('with more wildcards than anybody writes are named and not used', () => {
    const text = lines(100_000, (index) => `a*b*${index}`).join('\n');
    const cwd = folderWith({ '.gitignore': `kept.py\n${text}\n`, 'kept.py': '' });
    const { candidates, skipped } = discover(['.', '.'], { cwd, excludes: () => false });
    expect(candidates.map(({ path }) => path)).toEqual(['kept.py']);
    expect(skipped).toEqual([
      {
        kind: 'skipped',
        path: '.gitignore',
        reason: 'it has more than 64 KB of patterns with wildcards',
      },
    ]);
    expect(new PathPatterns('/p', text.split('\n')).problem).toBeDefined();
  });

  test('never take long to compare', () => {
    const name = `${'a'.repeat(250)}.py`;
    const path = `${'a/'.repeat(1000)}${name}`;
    const hostile = [
      `${'*a'.repeat(30)}*b`,
      `${'*a'.repeat(1000)}*b`,
      `${'**/a/'.repeat(500)}b`,
      `${'**/*a*/'.repeat(200)}*b.py`,
      '['.repeat(4000),
      `${'[a'.repeat(2000)}]`,
      `${'\\'.repeat(3999)}`,
      `${' '.repeat(4000)}x${' '.repeat(50)}`,
    ];
    const taken = processorTime();
    for (const rule of hostile) new Rules([rule]).ignores(name, false, path, 0);
    for (const rule of hostile) new PathPatterns('/p', [rule]).matches(`/p/${path}`);
    expect(taken()).toBeLessThan(10_000);
  });
});
