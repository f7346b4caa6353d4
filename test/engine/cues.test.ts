import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Glimpse } from '../../src/syntax/glimpse.js';
import { defaultsOf } from '../../src/testing/defaults.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { transforms } from '../../transforms/index.js';

const LENGTH = 50_000;
/** Far more than any cue needs, even on a busy machine: linear ones end within milliseconds. */
const PATIENCE = { timeout: 60_000 };

const HOSTILE: readonly string[] = [
  ' ',
  '\t',
  '\n',
  ' \n',
  '\\\n',
  '#',
  '(',
  ')',
  ')\n',
  '[',
  '{',
  '*',
  '@',
  '@(',
  '"',
  "'''",
  ',',
  '.',
  ':',
  '=',
  '=\n',
  'a ',
  'a=',
  'a,',
  'a.',
  'x.',
  'a@',
  'aa',
  '0',
  '_a',
  'a_word_',
  'import ',
  'from torch ',
  'for ',
  'def f(',
  'class A(',
  'with a:\n ',
  'loss ',
  'loss +',
  'logits',
  'torch.',
  '.to(',
  '.float(',
  'load(',
  'f(a, ',
];

const withCue = transforms.filter((each) => each.cue !== undefined);

describe.each(withCue.map((each) => [each.meta.id, each] as const))('the cue of %s', (_id, transform) => {
  it('ends quickly on hostile texts', () => {
    expect(slowTexts(transform)).toEqual([]);
  });
});

it('a quick reading of hostile texts is quick', () => {
  expect(HOSTILE.filter((unit) => !ends(() => new Glimpse(repeated(unit)).stretches))).toEqual([]);
});

/** The literals of the transform itself, so that its cue gets far, and then one thing over and over. */
function slowTexts(transform: Transform): readonly string[] {
  const literals = transform.prefilter.flat();
  return [...HOSTILE, ...literals].filter((unit) => {
    const glimpse = new Glimpse(`${literals.join('\n')}\n${repeated(unit)}\n${literals.join('\n')}`);
    return !ends(() => transform.cue?.(glimpse.text, 'src/train.py', glimpse, defaultsOf(transform)));
  });
}

function repeated(unit: string): string {
  return unit.repeat(LENGTH / unit.length);
}

function ends(run: () => unknown): boolean {
  try {
    runInNewContext('run()', { run }, PATIENCE);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      return false;
    throw error;
  }
}

describe('the cue of debug-left-on', () => {
  const debugLeftOn = transforms.find(({ meta }) => meta.id === 'debug-left-on');
  const text = 'torch.autograd.set_detect_anomaly(True)\n';

  it.each([
    ['debug_nans.py', false],
    ['tools/memory_profiler.py', false],
    ['train_debug.py', false],
    ['train_anomaly_detector.py', true],
    ['memory_bank.py', true],
    ['train.py', true],
  ])('looks at %s: %s', (path, looksAt) => {
    expect(debugLeftOn?.cue?.(text, path, new Glimpse(text), {})).toBe(looksAt);
  });
});
