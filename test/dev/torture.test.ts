import { describe, expect, it, vi } from 'vitest';
import { Random } from '../../src/dev/torture/random.js';
import { torture } from '../../src/dev/torture/run.js';
import type { Scenario } from '../../src/dev/torture/scenario.js';
import { scenarios } from '../../src/dev/torture/scenarios.js';

/** These start processes, on machines that may be busy. */
vi.setConfig({ testTimeout: 300_000 });

/** A taste of each, always the same. `npm run torture` has more. */
const TASTE: Readonly<Record<string, number>> = {
  mutations: 300,
  'kill-apply': 3,
  'damaged-state': 3,
  signals: 8,
};

describe.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', (name, scenario) => {
  it('breaks no promise', async (context) => {
    const { counts, failures, skipped } = await torture(scenario, { seed: 14, count: TASTE[name] ?? 1 });
    if (skipped !== undefined) context.skip(skipped);
    expect(failures).toEqual([]);
    expect([...counts.values()].some((times) => times > 0)).toBe(true);
  });
});

describe('the harness', () => {
  const failing: Scenario = {
    name: 'failing',
    summary: 'fails where its number says so',
    tries: { short: 1, long: 1 },
    async run(trial) {
      for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
        trial.counted('attempts');
        if (trial.random(attempt).below(4) === 0)
          trial.failed({ attempt, law: 'a law', detail: `${attempt}` });
      }
    },
  };

  it('repeats a failure by its seed and number', async () => {
    const all = await torture(failing, { seed: 1, count: 40 });
    expect(all.counts.get('attempts')).toBe(40);
    expect(all.failures.length).toBeGreaterThan(2);
    for (const { attempt } of all.failures)
      expect((await torture(failing, { seed: 1, from: attempt, count: 1 })).failures).toHaveLength(1);
  });

  it('gives other numbers for other seeds, and the same for the same', () => {
    const numbers = (...seeds: readonly number[]) => {
      const random = new Random(...seeds);
      return Array.from({ length: 8 }, () => random.below(1000));
    };
    expect(numbers(1, 2)).toEqual(numbers(1, 2));
    const all = [numbers(1, 2), numbers(2, 1), numbers(1, 3), numbers(1), numbers(2)];
    expect(new Set(all.map(String)).size).toBe(all.length);
  });
});
