import { describe, expect, test } from 'vitest';
import { applyEdits } from '../../src/edit/apply.js';
import { addEntries, readYaml, setEntry, type YamlScalar, type YamlSection } from '../../src/syntax/yaml.js';

function section(text: string, ...keys: readonly string[]): YamlSection {
  const read = readYaml(text, keys);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

function set(text: string, key: string, value: YamlScalar, ...keys: readonly string[]): string {
  const entry = section(text, ...keys).entries.get(key);
  if (entry === undefined) throw new Error(`no plain ${key}`);
  return applyEdits(text, [setEntry(text, entry, value)]);
}

function add(text: string, key: string, value: YamlScalar, ...keys: readonly string[]): string | undefined {
  const { room } = section(text, ...keys);
  return room && applyEdits(text, [addEntries(room, { [key]: value })]);
}

describe('a value on its own place', () => {
  test.each([
    ['use_cache: true\n', 'use_cache: false\n'],
    ['use_cache: True  # for decoding\n', 'use_cache: False  # for decoding\n'],
    ['use_cache:   yes', 'use_cache:   no'],
    ['use_cache: ON\r\nb: 1\r\n', 'use_cache: OFF\r\nb: 1\r\n'],
    ['{a: 1, use_cache: true}\n', '{a: 1, use_cache: false}\n'],
    ['# use_cache: true\n"use_cache" : true\n', '# use_cache: true\n"use_cache" : false\n'],
  ])('%j becomes %j', (before, after) => {
    expect(set(before, 'use_cache', false)).toBe(after);
  });

  test('keeps its quotes, and its neighbours', () => {
    expect(set('d: "float16" # half\n', 'd', 'bfloat16')).toBe('d: "bfloat16" # half\n');
    expect(set("a: {d: 'float16', e: 1}\n", 'd', 'bfloat16', 'a')).toBe("a: {d: 'bfloat16', e: 1}\n");
    expect(set('batch: 16\n', 'batch', 4)).toBe('batch: 4\n');
  });
});

describe('a new key', () => {
  test.each([
    ['a: 1\n', 'a: 1\nnew: true\n'],
    ['a: 1', 'a: 1\nnew: true'],
    ['a: 1  # one\r\nb: 2\r\n', 'a: 1  # one\r\nb: 2\r\nnew: true\r\n'],
    ['a: 1\nlist:\n  - x\n', 'a: 1\nnew: true\nlist:\n  - x\n'],
    ['a: 1\ntext: |\n  b: 2\n', 'a: 1\nnew: true\ntext: |\n  b: 2\n'],
  ])('in %j gives %j', (before, after) => {
    expect(add(before, 'new', true)).toBe(after);
  });

  test('has the indentation of its section, and no room where no entry ends its line', () => {
    expect(add('m:\n    a: 1\n    b: 2\nn: 3\n', 'new', 8, 'm')).toBe(
      'm:\n    a: 1\n    b: 2\n    new: 8\nn: 3\n',
    );
    expect(add('{a: 1}\n', 'new', true)).toBeUndefined();
    expect(add('list:\n  - x\n', 'new', true)).toBeUndefined();
  });
});

test.each([
  ['a:\n\tb: 1\n', 'it is not sound YAML: Tabs are not allowed as indentation'],
  ['a: 1\na: 2\n', 'it is not sound YAML: Map keys must be unique'],
  ['a: 1\n---\nb: 2\n', 'it is not sound YAML: Source contains multiple documents'],
  ['- a\n', 'it is not a mapping'],
  ['', 'it is not a mapping'],
])('%j is refused', (text, reason) => {
  expect(readYaml(text, [])).toBe(reason);
});

test('what is more than its text is not changed', () => {
  const text = [
    'a: &x true',
    'b: *x',
    'c: !!str true',
    `d: $${'{other}'}`,
    'e: |',
    '  true',
    'f:',
    '  - 1',
    'g:',
    'h: >-',
    '  a',
  ].join('\n');
  const { entries, others } = section(text);
  expect([...entries.keys()]).toEqual([]);
  expect([...others]).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  expect(readYaml('a: 1\n', ['b', 'c'])).toBe('it has no mapping at `b.c`');
});
