import { describe, expect, test } from 'vitest';
import { type Effect, effectOf } from '../../src/toolkit/effect.js';
import { transforms } from '../../transforms/index.js';

const classes = (wanted: Effect, group?: string) =>
  transforms
    .filter(({ meta }) => effectOf(meta) === wanted && (group === undefined || meta.group === group))
    .map(({ meta }) => meta.id);

describe('what a fix is good for', () => {
  test('follows from the symptom', () => {
    expect(classes('frees-memory')).toEqual(
      expect.arrayContaining(['no-grad', 'detach-accumulated-loss', 'load-map-location', 'lazy-dataset']),
    );
    expect(classes('saves-time')).toEqual(
      expect.arrayContaining(['factory-device', 'hoist-constant-tensor']),
    );
    expect(classes('future-proof')).toEqual(expect.arrayContaining(['amp-api', 'legacy-training-args']));
  });

  test('but nothing that measures nil, or that frees nothing itself, counts as more than tidy', () => {
    expect(classes('tidy')).toEqual(
      expect.arrayContaining([
        'stack-losses',
        'device-guard',
        'memory-logging',
        'training-use-cache',
        'bf16-dtype',
      ]),
    );
  });

  test('by default nothing is changed that only tidies', () => {
    const edits = transforms.filter(({ meta }) => meta.safety !== 'advice').map(({ meta }) => meta.id);
    expect(classes('tidy', 'default').filter((id) => edits.includes(id))).toEqual([]);
  });
});
