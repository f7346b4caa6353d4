import { expect, test } from 'vitest';
import { covers } from '../../src/cli/session-remember.js';
import { ask, type Question } from '../../src/semantic/question.js';
import { assumptionIn, entryFor, isCovered, type Reach } from '../../src/workspace/assumptions.js';

const version = (subject: string) => ask('version')`Is ${subject}?`;
const sized = (subject: string) => ask('sized')`Does \`${subject}\` have a length?`;

function isAnswered(entry: string, transform: string, question: Question) {
  const assumption = assumptionIn(entry, '/home');
  if (typeof assumption === 'string') throw new Error(assumption);
  return isCovered([assumption], transform, question, '/home/a.py');
}

test('a yes to a version is one to all older ones, whoever asks', () => {
  const yes = 'no-grad/version(torch 1.0 or newer)';
  const answered = (transform: string, subject: string) => isAnswered(yes, transform, version(subject));
  expect(answered('no-grad', 'torch 1.0 or newer')).toBe(true);
  expect(answered('no-grad', 'torch 0.4 or newer')).toBe(true);
  expect(answered('amp-api', 'torch 0.4 or newer')).toBe(true);
  expect(answered('amp-api', 'torch 2.3 or newer')).toBe(false);
  expect(answered('no-grad', 'peft 0.4 or newer')).toBe(false);
});

test('a yes to anything else is for the transform that asked', () => {
  expect(isAnswered('no-grad/sized(loader)', 'no-grad', sized('loader'))).toBe(true);
  expect(isAnswered('no-grad/sized(loader)', 'amp-api', sized('loader'))).toBe(false);
});

test('like questions about a version are those about the same one', () => {
  const entry = (reach: Reach) => entryFor('no-grad', version('torch 1.0 or newer'), { path: 'a.py' }, reach);
  expect([entry('here'), entry('file'), entry('everywhere')]).toEqual([
    'no-grad/version(torch 1.0 or newer)@a.py',
    'no-grad/version(torch 1.0 or newer)@a.py',
    'no-grad/version(torch 1.0 or newer)',
  ]);
  expect(entryFor('no-grad', sized('loader'), { path: 'a.py' }, 'everywhere')).toBe('no-grad/sized');
});

test('in a session, a yes for this place is one for its function', () => {
  const yes = covers('no-grad', [sized('loader')], { path: 'a.py', within: 'f' }, 'here');
  const answered = [['a.py', 'f'], ['a.py', 'f.g'], ['a.py'], ['b.py', 'f']] as const;
  expect(answered.map(([path, within]) => yes('no-grad', sized('loader'), path, within))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('in a session, a yes for good answers what the entry that is written answers', () => {
  for (const reach of ['here', 'file', 'everywhere'] as const) {
    const yes = covers('no-grad', [version('torch 1.0 or newer'), sized('loader')], { path: 'a.py' }, reach);
    expect(yes('amp-api', version('torch 0.4 or newer'), 'a.py')).toBe(true);
    expect(yes('no-grad', version('torch 2.3 or newer'), 'a.py')).toBe(false);
    expect(yes('no-grad', sized('batches'), 'a.py')).toBe(reach !== 'here');
    expect(yes('amp-api', sized('loader'), 'a.py')).toBe(false);
    expect(yes('no-grad', version('torch 0.4 or newer'), 'b.py')).toBe(reach === 'everywhere');
  }
});
