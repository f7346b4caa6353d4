import { describe, expect, it } from 'vitest';
import { allFixtures } from '../src/dev/torture/subject.js';
import { loadParser } from '../src/syntax/parser.js';
import { neutral, Renaming, suggestive, type Violation } from '../src/testing/wording/renaming.js';
import { transforms } from '../transforms/index.js';

/**
 * A name is never a proof: other names for the same things must not make a finding safe. `MEMFIX_LONG=1` also changes every
 * name by itself, which takes minutes.
 */
const LONG = process.env['MEMFIX_LONG'] === '1';

/** Where a name makes a finding stricter than the code alone would, or the finding is another one. */
const STRICTER: ReadonlyMap<string, string> = new Map([
  ['no-grad/fix-unsafe-written-for-old-torch', '`loss.data[0]` is a sign of torch 0.3'],
  ['no-grad/keep-attack', 'a parameter called `attack` is run, and nothing in the project differentiates'],
  ['no-grad/keep-forces', 'a network that gives `forces` may differentiate'],
  ['no-grad/keep-hands-on-the-optimizer', 'what gets an `optimizer` may train'],
  ['no-grad/keep-old-idiom-beside-new-torch', '`loss.data[0]` is a sign of torch 0.3'],
  ['no-grad/keep-looks-at-the-graph', 'a `scaler` scales losses'],
  ['factory-device/fix-cuda-without-index', 'shorter names make a shorter line'],
  ['factory-device/keep-by-default-long-line', 'shorter names make a shorter line'],
  ['memory-scope/keep-already-scoped', 'the helper that the fix writes is known by its name'],
  ['no-grad-block/fix-branches-under-one-with', 'where `no_grad` runs in one branch, the other stands alone'],
  ['memory-logging/fix-two-optimizers', 'with one optimizer by its name, its step is the last of the loop'],
  ['hoist-constant-tensor/fix-without-a-name', 'with no device in line 9, line 10 is the first to be named'],
]);

/** Where a name still makes a finding safe. It may become shorter. */
const BELIEVED: ReadonlyMap<string, string> = new Map([
  ['factory-device/keep-dtype-or-device', '`device` is taken for a device where nothing else tells'],
]);

describe('a change of names', async () => {
  const fixtures = allFixtures();
  const renaming = new Renaming({ parser: await loadParser(), transforms }, fixtures);
  const wrong = (violations: readonly Violation[]) =>
    violations.filter(({ at }) => {
      const fixture = at.slice(0, at.lastIndexOf(':'));
      return !STRICTER.has(fixture) && !BELIEVED.has(fixture);
    });

  it.each([
    ['that say nothing', neutral],
    ['that promise much', suggestive(1)],
  ])('makes no finding safe, with names %s', { timeout: 1_200_000 }, (_, choose) => {
    const { violations, words } = renaming.all(choose);
    expect(words).toBeGreaterThan(8000);
    expect(wrong(violations)).toEqual([]);
  });

  it('makes no finding safe, with one name at a time', { timeout: 1_200_000 }, () => {
    const { violations, words } = renaming.each(suggestive(2), LONG ? 1 : 40);
    expect(words).toBeGreaterThan(200);
    expect(wrong(violations)).toEqual([]);
  });

  it.runIf(LONG)('makes no finding safe, with many names', { timeout: 1_200_000 }, () => {
    for (let seed = 3; seed < 40; seed++)
      expect(wrong(renaming.all(suggestive(seed)).violations)).toEqual([]);
  });

  it('names only fixtures that there are', () => {
    const names = new Set(fixtures.map(({ folder }) => folder.split(/[\\/]/).slice(-2).join('/')));
    for (const name of [...STRICTER.keys(), ...BELIEVED.keys()]) expect(names).toContain(name);
  });
});
