import { expect, test } from 'vitest';
import { askedTogether } from '../../src/report/questions.js';
import { ask, implies } from '../../src/semantic/question.js';

const HOME = 'src/train.py';
const never = (name: string) => ask('another-function')`Is \`${name}\` never \`train\` (engine.py:3)?`;

test('questions that differ only in whom they ask about are one', () => {
  expect(
    askedTogether(
      [
        never('layer'),
        ask('sized')`Does \`${'loader'}\` have a length?`,
        never('table[key]'),
        never('model'),
      ],
      HOME,
    ),
  ).toEqual([
    'Is `layer` never `train` (engine.py:3)? And `table[key]`, `model`?',
    'Does `loader` have a length?',
  ]);
});

test('so are those that differ in one other name, with what is said about it', () => {
  const unreached = (by: string) =>
    ask('unreached-attribute')`Is \`${'self.mean'}\` out of reach of \`${by}\`?`;
  const runs = (name: string, place: string) =>
    ask('runs-without')`Does \`${name}\` (${place}), which has a network, run without differentiating it?`;
  expect(
    askedTogether(
      [
        unreached('__dict__'),
        runs('tracker', 'a.py:3: `Tracker(net)`'),
        unreached('self.__dict__'),
        runs('logger', 'b.py:7: `watch(net)`'),
      ],
      HOME,
    ),
  ).toEqual([
    'Is `self.mean` out of reach of `__dict__`? And `self.__dict__`?',
    'Does `tracker` (a.py:3: `Tracker(net)`), which has a network, run without differentiating it? And `logger` (b.py:7: `watch(net)`)?',
  ]);
});

test('one that is asked twice is asked once', () => {
  expect(askedTogether([never('layer'), never('layer'), never('model'), never('model')], HOME)).toEqual([
    'Is `layer` never `train` (engine.py:3)? And `model`?',
  ]);
});

test('those that differ in two names, or another kind of question, are not one', () => {
  const other = ask('another-function')`Is \`${'model'}\` never \`fit\` (engine.py:3)?`;
  const kind = ask('another-network')`Is \`${'model'}\` never \`train\` (engine.py:3)?`;
  expect(askedTogether([never('layer'), other, kind], HOME)).toHaveLength(3);
  const second = ask('another-function')`Is \`${'layer'}\` never \`fit\` (engine.py:3)?`;
  expect(askedTogether([never('layer'), never('model'), second], HOME)).toEqual([
    'Is `layer` never `train` (engine.py:3)? And `model`?',
    'Is `layer` never `fit` (engine.py:3)?',
  ]);
});

test('a version that a newer one implies is not asked for', () => {
  const version = (subject: string) => ask('version')`Is ${subject}?`;
  expect(
    askedTogether(
      [
        ...['torch 2.3 or newer', 'torch 1.12 or newer', 'peft 0.1 or newer', 'torch 1.9 or newer'],
        ...['trl older than 0.9', 'trl older than 0.10', 'torch newer than 2.9'],
      ].map(version),
      HOME,
    ),
  ).toEqual(['Is peft 0.1 or newer?', 'Is trl older than 0.9?', 'Is torch newer than 2.9?']);
  const isImplied = (yes: string, other: string) => implies(version(yes), version(other));
  expect(isImplied('torch 1.0 or newer', 'torch 0.4 or newer')).toBe(true);
  expect(isImplied('torch 1.0 or newer', 'torch 1.0.1 or newer')).toBe(false);
  expect(isImplied('torch 1.0 or newer', 'trl 0.4 or newer')).toBe(false);
  expect(isImplied('torch 2.9.1 or newer', 'torch newer than 2.9')).toBe(false);
  expect(isImplied('torch 3 or newer', 'torch older than 4')).toBe(false);
});

test('the own file is not named again', () => {
  const asked = (text: string, path: string) =>
    askedTogether([{ kind: 'on-gpu', subject: '', text }], path)[0];
  expect(asked('Does `src/train.py` use a GPU?', HOME)).toBe('Does this file use a GPU?');
  expect(asked('Does `src/train.py:12` take it (src/train.py:14)?', HOME)).toBe(
    'Does line 12 take it (line 14)?',
  );
  const notebook = 'books/1 (b).ipynb';
  expect(asked(`Does \`${notebook}: cell 3, line 12\` in \`${notebook}\` take it?`, notebook)).toBe(
    'Does cell 3, line 12 in this notebook take it?',
  );
  const others = 'Does `a/src/train.py:12`, `src/train.pyx` or `src/train.py/b` take it?';
  expect(asked(others, HOME)).toBe(others);
});
