import { expect, test } from 'vitest';
import { resembling } from '../../src/text/resemblance.js';
import type { TransformMeta } from '../../src/toolkit/contract.js';
import { Vocabulary } from '../../src/workspace/selection.js';
import { transforms } from '../../transforms/index.js';
import { metaOf } from '../support/toy.js';

const vocabularyOf = (metas: readonly TransformMeta[]) => new Vocabulary({ entries: metas, metas });

const vocabulary = vocabularyOf([
  metaOf('stack-losses', { symptom: 'leak' }),
  metaOf('no-grad', { symptom: 'peak' }),
  metaOf('pin-memory', { symptom: 'sync', group: 'opt-in' }),
  metaOf('old-news', { symptom: 'leak', group: 'documented' }),
]);

const resolve = (select: readonly string[], ignore: readonly string[] = []) => [
  ...vocabulary.resolve({ select, ignore }),
];

test.each([
  [['default'], [], ['stack-losses', 'no-grad']],
  [['all'], [], ['stack-losses', 'no-grad', 'pin-memory']],
  [['opt-in'], [], ['pin-memory']],
  [['documented'], [], ['old-news']],
  [['leak'], [], ['stack-losses']],
  [['old-news'], [], ['old-news']],
  [['default', 'pin-memory'], ['no-grad'], ['stack-losses', 'pin-memory']],
  [['all'], ['leak'], ['no-grad', 'pin-memory']],
  // The more particular name wins, on either side; between equals, ignoring does.
  [['no-grad'], ['peak'], ['no-grad']],
  [['peak'], ['default'], ['no-grad']],
  [['no-grad'], ['no-grad'], []],
  [['default'], ['all'], []],
  [['all'], ['default'], ['pin-memory']],
  [[], [], []],
])('select %j ignore %j gives %j', (select, ignore, expected) => {
  expect(resolve(select, ignore)).toEqual(expected);
});

test('a former id means the same as its own', () => {
  const renamed = vocabularyOf([metaOf('no-grad', { aliases: ['grad-off'] }), metaOf('other-one')]);
  renamed.check(['grad-off'], '`--select`');
  expect([...renamed.resolve({ select: ['grad-off'], ignore: [] })]).toEqual(['no-grad']);
  expect([...renamed.resolve({ select: ['all'], ignore: ['grad-off'] })]).toEqual(['other-one']);
  expect(renamed.meta('grad-off').id).toBe('no-grad');
  expect(renamed.ids).toEqual(['no-grad', 'grad-off', 'other-one']);
  expect(() => renamed.meta('grad-of')).toThrow('Did you mean `grad-off`?');
});

test('every name of a real transform means one thing', () => {
  const { ids } = vocabularyOf(transforms.map(({ meta }) => meta));
  const names = [...ids, 'all', 'default', 'opt-in', 'documented', 'leak', 'peak', 'sync', 'host-memory'];
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('an unknown name is an error with a suggestion', () => {
  expect(() => vocabulary.check(['no-grda'], '`--select`')).toThrow(
    'Unknown transform: `no-grda` in `--select` is no transform, group or symptom. Did you mean `no-grad`?',
  );
  expect(() => vocabulary.check(['xyz'], '`--ignore`')).toThrow(/symptom\.$/);
  expect(() => vocabulary.meta('stack-loses')).toThrow('Did you mean `stack-losses`?');
});

test.each([
  ['selct', 'select'],
  ['ignroe', 'ignore'],
  ['Exclude', 'exclude'],
  ['unsafe_fixes', 'unsafe-fixes'],
  ['banana', undefined],
  ['', undefined],
])('%j resembles %j', (typed, expected) => {
  expect(resembling(typed, ['select', 'ignore', 'exclude', 'unsafe-fixes'])).toBe(expected);
});

test('a transform with findings beyond the default set runs with them where its name, its group or all are asked for', () => {
  const everywhere = { type: 'boolean', default: false, whenNamed: true, summary: 'also elsewhere' } as const;
  const more = vocabularyOf([metaOf('some-sites', { options: { everywhere } }), metaOf('no-grad')]);
  expect([...more.resolve({ select: ['opt-in'], ignore: [] })]).toEqual([]);
  for (const name of ['default', 'leak']) expect(more.isNamed([name], 'some-sites')).toBe(false);
  for (const name of ['some-sites', 'opt-in', 'all'])
    expect(more.isNamed(['default', name], 'some-sites')).toBe(true);
});
