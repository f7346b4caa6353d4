import type { Run } from './memory.js';

/** How much less, and how much more, the real peak may be. */
export function marginOf(run: Run): readonly [below: number, above: number] {
  const [below, above] = ofPass(run);
  // Which of its outputs a loss by hand still holds depends on how it is written.
  const isByHand = (run.passes ?? 1) > 1 || (run.others ?? []).some(({ passes }) => passes > 0);
  return [Math.max(below, run.leaner ?? 0, isByHand ? 0.25 : 0), Math.max(above, isByHand ? 0.1 : 0)];
}

function ofPass(run: Run): readonly [below: number, above: number] {
  const { shape, gpus, offload, given } = run;
  if (given.activations !== undefined) return [0.1, 0.1];
  if (shape.kind === 'convolutional') return [0.06, 0.06];
  if (shape.guessed) return [0.2, 0.2];
  if (!shape.family.measured || run.attention === 'flash') return [0.1, 0.1];
  return gpus > 1 || offload !== 'none' ? [0.1, 0.15] : [0.04, 0.04];
}
