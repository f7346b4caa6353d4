import type { Terms } from '../../../src/report/prove/compare.js';
import type { ProcessRecord, Sample, Trial, Variant } from '../../../src/report/prove/record.js';

export function record(more: Partial<ProcessRecord> = {}): ProcessRecord {
  return {
    pid: 1,
    forked: false,
    rank: null,
    python: '3.12.0',
    platform: 'linux',
    cpu: null,
    transformers: null,
    seconds: 10,
    final: true,
    host: 1e9,
    torch: '2.9.0',
    devices: [],
    steps: 0,
    samples: [],
    autograd: null,
    syncs: null,
    losses: [],
    gradients: [],
    state: null,
    lines: {},
    strayed: [],
    loaded: [],
    errors: {},
    ...more,
  };
}

export function samples(count: number, at: (step: number) => Partial<Sample>): readonly Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    step: index + 1,
    seconds: index,
    host: null,
    devices: [],
    autograd: null,
    ...at(index + 1),
  }));
}

export function trial(more: Partial<Trial> = {}): Trial {
  return {
    ending: { kind: 'exited', code: 0 },
    seconds: 12,
    records: [record()],
    logged: [],
    tail: '',
    ...more,
  };
}

export function variant(measured: readonly Trial[], counted: readonly Trial[] = []): Variant {
  return { measured, counted };
}

export const BIT_IDENTICAL: Terms = { numerics: 'bit-identical', changed: [], metric: undefined };
