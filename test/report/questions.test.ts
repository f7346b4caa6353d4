import { expect, test } from 'vitest';
import { askedTogether } from '../../src/report/questions.js';
import { ask } from '../../src/semantic/question.js';

const never = (name: string) => ask('another-function')`Is \`${name}\` never \`train\` (engine.py:3)?`;

test('questions that differ only in whom they ask about are one', () => {
  expect(
    askedTogether([
      never('layer'),
      ask('sized')`Does \`${'loader'}\` have a length?`,
      never('table[key]'),
      never('model'),
    ]),
  ).toEqual([
    'Is `layer` never `train` (engine.py:3)? And `table[key]`, `model`?',
    'Does `loader` have a length?',
  ]);
});

test('another function, or another kind of question, is another question', () => {
  const other = ask('another-function')`Is \`${'model'}\` never \`fit\` (engine.py:3)?`;
  const kind = ask('another-network')`Is \`${'model'}\` never \`train\` (engine.py:3)?`;
  expect(askedTogether([never('layer'), other, kind])).toHaveLength(3);
});

test('a version that a newer one implies is not asked for', () => {
  const version = (subject: string) => ask('version')`Is ${subject}?`;
  expect(
    askedTogether(
      ['torch 2.3 or newer', 'torch 1.12 or newer', 'peft 0.1 or newer', 'torch 1.9 or newer'].map(version),
    ),
  ).toEqual(['Is torch 2.3 or newer?', 'Is peft 0.1 or newer?']);
});
