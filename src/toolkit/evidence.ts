import type { Transform, TransformMeta } from './contract.js';

/** One side of what `bench/gpu` measured: MiB, milliseconds and counts, and only what it looked at. */
export interface Quantities {
  /** At most allocated on the GPU. */
  readonly peak?: number | undefined;
  /** Kept by the allocator after the last step. */
  readonly reserved?: number | undefined;
  /** Allocated more after each step. */
  readonly growth?: number | undefined;
  /** At most taken of host memory. */
  readonly host?: number | undefined;
  /** The median step, the fastest and the slowest. */
  readonly ms?: number | undefined;
  readonly msLow?: number | undefined;
  readonly msHigh?: number | undefined;
  readonly steps?: number | undefined;
  /** How often a step waits for the GPU. */
  readonly syncs?: number | undefined;
  readonly warnings?: number | undefined;
  /** What was seen, where it is no quantity. */
  readonly outcome?: string | undefined;
}

export interface Figure {
  readonly what: string;
  readonly setup: string;
  readonly before: Quantities;
  readonly after: Quantities;
  /** How far losses or outputs lie apart at most. */
  readonly difference?: number | undefined;
}

export interface Machine {
  readonly gpu: string;
  readonly torch: string;
  readonly cuda: string;
  readonly transformers: string;
  readonly python: string;
  readonly date: string;
}

/** What a GPU says of one transform, or why nobody asked it. */
export type GpuEvidence =
  | { readonly machine: Machine; readonly figures: readonly Figure[] }
  | { readonly notMeasured: string };

/** `transforms/evidence.json`, as `bench/gpu/measure.py` writes it. */
export interface EvidenceFile {
  readonly machine: Machine;
  readonly measured: Readonly<Record<string, readonly Figure[] | undefined>>;
}

/** The transforms, each with what was measured of it. */
export function withEvidence(transforms: readonly Transform[], file: EvidenceFile): readonly Transform[] {
  return transforms.map((transform) => {
    const { meta } = transform;
    const figures = file.measured[meta.id];
    if (figures === undefined) return transform;
    const gpu: GpuEvidence = { machine: file.machine, figures };
    return { ...transform, meta: { ...meta, evidence: { ...meta.evidence, gpu } } };
  });
}

/** The verdict begins with it. */
export function saysNil({ evidence }: Pick<TransformMeta, 'evidence'>): boolean {
  return /^(?:Nil|No effect|Saves nothing|Next to nothing)\b/.test(evidence.verdict);
}
