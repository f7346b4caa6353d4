import { describe, expect, test } from 'vitest';
import { fitInto, PROPOSED, verdictOf } from '../../src/budget/fit.js';
import type { Run } from '../../src/budget/memory.js';
import { shapeFor } from '../../src/budget/shape.js';
import { transforms } from '../../transforms/index.js';

function run(changes: Partial<Run> = {}): Run {
  const parameters = changes.parameters ?? 1e9;
  return {
    task: 'train',
    attention: 'sdpa',
    padded: false,
    keepsOutputs: false,
    accumulates: false,
    parameters,
    trainable: parameters,
    shape: shapeFor(parameters),
    dtype: 'fp32',
    optimizer: 'adamw',
    masterWeights: false,
    batch: 8,
    sequence: 2048,
    checkpointing: false,
    chunkedLoss: false,
    gpus: 1,
    parallel: 'data',
    offload: 'none',
    given: {},
    ...changes,
  };
}

const names = (changes: Partial<Run>, gb: number) => {
  const { steps, verdict } = fitInto(run(changes), gb * 1e9);
  return [verdict, ...steps.map(({ name }) => name)];
};

describe('a proposal', () => {
  test('is empty where it fits already', () => {
    expect(names({}, 141)).toEqual(['fits']);
  });

  test('takes what changes nothing before what changes the training', () => {
    expect(names({}, 48)).toEqual(['fits', 'gradient checkpointing']);
    expect(names({}, 26)).toEqual(['fits', 'gradient checkpointing', 'smaller batch, more accumulation']);
    const { steps } = fitInto(run(), 12e9);
    expect(steps.map(({ tier }) => tier)).toEqual([1, 2, 2]);
  });

  test('makes the batch no smaller than needed', () => {
    const { steps } = fitInto(run(), 26e9);
    expect(steps.at(-1)?.what).toMatch(/^batch 8 → 4, accumulation × 2$/);
  });

  test('fuses the optimizer where its step is the peak', () => {
    const changes = { batch: 1, sequence: 128, checkpointing: true };
    expect(names(changes, 20)).toEqual(['fits', 'fused optimizer']);
  });

  test('shards before it changes numbers', () => {
    const [verdict, ...steps] = names({ parameters: 7e9, dtype: 'bf16', gpus: 8, batch: 1 }, 26);
    expect(verdict).toBe('fits');
    expect(steps).toEqual(['sharding']);
  });

  test('lets gradients of DDP be views of the buckets, and says no more than that gains', () => {
    const ddp = {
      parameters: 1.1e9,
      dtype: 'bf16',
      gpus: 2,
      batch: 1,
      sequence: 256,
      checkpointing: true,
    } as const;
    const { steps } = fitInto(run(ddp), 14.5e9);
    expect(steps.map(({ name }) => name)).toContain('gradients in the buckets');
    expect(fitInto(run({ ...ddp, gpus: 1 }), 8e9).steps.map(({ name }) => name)).not.toContain(
      'gradients in the buckets',
    );
  });

  test('ends with what it takes to hold a model at all', () => {
    const steps = names({ parameters: 7e9, batch: 1 }, 12);
    expect(steps[0]).toBe('fits');
    expect(steps).toEqual(expect.arrayContaining(['low-rank adapters', 'base model in 4 bits']));
  });

  test('says so when nothing reaches it, with what comes closest', () => {
    const { verdict, steps, budget } = fitInto(run({ parameters: 405e9 }), 24e9);
    expect(verdict).toBe('no');
    expect(steps.at(-1)?.name).toBe('base model in 4 bits');
    expect(steps.at(-1)?.after).toBe(budget.peak);
  });

  test('never makes it worse, and each step starts where the last one ended', () => {
    for (const gb of [8, 12, 16, 24, 32, 40, 48, 80]) {
      const { steps, budget } = fitInto(run({ parameters: 3e9, dtype: 'mixed' }), gb * 1e9);
      for (const [index, step] of steps.entries()) {
        expect(step.after).toBeLessThan(0.996 * step.before);
        expect(steps[index + 1]?.before ?? budget.peak).toBe(step.after);
      }
    }
  });

  test('shrinks activations that were given as the estimate shrinks', () => {
    const { steps } = fitInto(run({ given: { activations: 60e9 } }), 40e9);
    expect(steps.map(({ name }) => name)).toEqual(['gradient checkpointing']);
    expect(steps[0]?.after).toBeLessThan(40e9);
  });
});

test('what may be too much is tight, what is too much is no fit', () => {
  const verdicts = [9, 9.9, 10.1].map((peak) => verdictOf({ peak, high: peak * 1.04 }, 10));
  expect(verdicts).toEqual(['fits', 'tight', 'no']);
});

test('every transform that is proposed exists', () => {
  const ids = new Set(transforms.map(({ meta }) => meta.id));
  expect(PROPOSED.filter((id) => !ids.has(id))).toEqual([]);
});
