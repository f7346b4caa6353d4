import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from '../../src/semantic/question.js';
import { assumptionIn, entryFor, isCovered } from '../../src/workspace/assumptions.js';
import { assumeFile, writeAssumptions } from '../../src/workspace/remember.js';
import { folderWith } from './folders.js';

const ONE = 'no-grad/only-read(x)@a.py';
const TWO = 'amp-api/version(torch 2.3 or newer)';

/** What becomes of a file when both are remembered. */
function remembered(name: string, text: string, ...entries: readonly string[]): string {
  const folder = folderWith({ [name]: text });
  writeAssumptions(join(folder, name), entries.length === 0 ? [ONE, TWO] : entries);
  return readFileSync(join(folder, name), 'utf8');
}

it.each([
  [
    'a table without a list',
    'pyproject.toml',
    '[project]\nname = "x"\n\n[tool.memfix] # ours\nselect = ["all"]\n\n[tool.ruff]\nline-length = 100\n',
    `[project]\nname = "x"\n\n[tool.memfix] # ours\nassume = [\n    "${ONE}",\n    "${TWO}",\n]\nselect = ["all"]\n\n[tool.ruff]\nline-length = 100\n`,
  ],
  [
    'no table of ours',
    'pyproject.toml',
    '[project]\nname = "x"',
    `[project]\nname = "x"\n\n[tool.memfix]\nassume = [\n    "${ONE}",\n    "${TWO}",\n]\n`,
  ],
  [
    'a list on one line',
    'memfix.toml',
    'select = ["all"]\nassume = ["a/b", \'c/d(])\']  # kept\n[transforms.no-grad]\n',
    `select = ["all"]\nassume = ["a/b", 'c/d(])', "${ONE}", "${TWO}"]  # kept\n[transforms.no-grad]\n`,
  ],
  [
    'a list on lines, with comments and a comma at its end',
    'memfix.toml',
    'assume = [\n  "a/b", # said by me ]\n  # and this\n  "c/d",\n]\nignore = []\n',
    `assume = [\n  "a/b", # said by me ]\n  # and this\n  "c/d",\n  "${ONE}",\n  "${TWO}",\n]\nignore = []\n`,
  ],
  [
    'a list on lines without a comma at its end',
    'memfix.toml',
    'assume = [\r\n\t"a/b"\r\n]\r\n',
    `assume = [\r\n\t"a/b",\r\n\t"${ONE}",\r\n\t"${TWO}"\r\n]\r\n`,
  ],
  ['an empty list', 'memfix.toml', 'assume = []\n', `assume = ["${ONE}", "${TWO}"]\n`],
  [
    'lists that begin lines with brackets',
    'pyproject.toml',
    '[tool.memfix]\nexclude = [\n  "a",\n]\n[tool.memfix.transforms]\n',
    `[tool.memfix]\nassume = [\n    "${ONE}",\n    "${TWO}",\n]\nexclude = [\n  "a",\n]\n[tool.memfix.transforms]\n`,
  ],
])('%s changes in that list only', (_, name, before, after) => {
  expect(remembered(name, before)).toBe(after);
});

it('an entry that is there is not written again', () => {
  const text = `assume = ["${ONE}"]\n`;
  expect(remembered('memfix.toml', text, ONE)).toBe(text);
});

it('a file that is written in another way stays as it is, and the failure says what to write', () => {
  for (const text of [
    'tool.memfix = { assume = ["a/b"] }\n',
    '[tool]\nmemfix.select = ["all"]\n',
    'assume = """\n[tool.memfix]\n"""\n[tool.memfix]\nassume = 3\n',
    'not toml [',
  ]) {
    const folder = folderWith({ 'pyproject.toml': text });
    const path = join(folder, 'pyproject.toml');
    expect(() => writeAssumptions(path, [ONE]), text).toThrow('was not written down');
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

it('goes into the config in force, else into pyproject.toml, else into a new memfix.toml', () => {
  const folder = folderWith({ 'a.py': '' });
  expect(assumeFile(undefined, folder)).toBe(join(folder, 'memfix.toml'));
  writeAssumptions(join(folder, 'memfix.toml'), [ONE]);
  expect(readFileSync(join(folder, 'memfix.toml'), 'utf8')).toBe(`assume = [\n    "${ONE}",\n]\n`);
  const shared = folderWith({ 'pyproject.toml': '' });
  expect(assumeFile(undefined, shared)).toBe(join(shared, 'pyproject.toml'));
  expect(assumeFile('/x/other.toml', shared)).toBe('/x/other.toml');
});

it('an entry means as much as it names', () => {
  const question = ask('only-read')`Is \`${'f(a, b)'}\` only read?`;
  const other = ask('only-read')`Is \`${'other'}\` only read?`;
  const covered = (entry: string, asked = question, path = '/p/src/a [1].py', id = 'no-grad') => {
    const found = assumptionIn(entry, '/p');
    if (typeof found === 'string') throw new Error(found);
    return isCovered([found], id, asked, path);
  };
  const here = entryFor('no-grad', question, { path: 'src/a [1].py' }, 'here');
  expect(here).toBe('no-grad/only-read(f(a, b))@src/a \\[1\\].py');
  expect(covered(here)).toBe(true);
  expect(covered(here, other)).toBe(false);
  expect(covered(here, question, '/p/src/b.py')).toBe(false);
  expect(covered(here, question, '/p/sub/src/a [1].py')).toBe(false);
  expect(covered(here, question, '/p/src/a [1].py', 'no-grad-block')).toBe(false);
  const file = entryFor('no-grad', question, { path: 'src/a [1].py' }, 'file');
  expect([covered(file, other), covered(file, other, '/p/b.py')]).toEqual([true, false]);
  const everywhere = entryFor('no-grad', question, { path: 'src/a [1].py' }, 'everywhere');
  expect([covered(everywhere, other, '/p/b.py'), covered(everywhere, other, '/p/b.py', 'x')]).toEqual([
    true,
    false,
  ]);
  expect(covered('no-grad/only-read@src/', other, '/p/src/deep/b.py')).toBe(true);
  expect(typeof assumptionIn('no-grad', '/p')).toBe('string');
});

it('an entry for this place is one for the function around it', () => {
  const question = ask('only-read')`Is \`${'x'}\` only read?`;
  const covered = (entry: string, path: string, around?: string) => {
    const found = assumptionIn(entry, '/p');
    if (typeof found === 'string') throw new Error(found);
    return isCovered([found], 'no-grad', question, path, around);
  };
  for (const within of ['évaluer', 'Net.__call__', 'f.g2']) {
    const here = entryFor('no-grad', question, { path: 'bin/train', within }, 'here');
    expect(here).toBe(`no-grad/only-read(x)@bin/train:${within}`);
    expect(covered(here, '/p/bin/train', within)).toBe(true);
    expect(covered(here, '/p/bin/train', `${within}.h`)).toBe(false);
    expect(covered(here, '/p/bin/train')).toBe(false);
    expect(covered(here, '/p/bin/other', within)).toBe(false);
  }
  const file = entryFor('no-grad', question, { path: 'a.py', within: 'f' }, 'file');
  expect(file).toBe('no-grad/only-read@a.py');
  const odd = 'no-grad/only-read(x)@a:b.py';
  expect([covered(odd, '/p/a:b.py', 'f'), covered(odd, '/p/a', 'b.py')]).toEqual([true, false]);
});

it('writes down once what several questions come to', () => {
  expect(remembered('memfix.toml', '', ONE, ONE, TWO, ONE)).toBe(
    `assume = [\n    "${ONE}",\n    "${TWO}",\n]\n`,
  );
});
