import { precisionOf } from './block.js';
import type { OtherModel, Run } from './memory.js';
import { generationOf, onePass, type Pass } from './pass.js';
import { weightBytes } from './state.js';

/** Tensors of the size of the logits that the loss of a distillation makes, as measured. */
const COMPARED = 2.5;

/** A step with all its passes: those of the trained model that share a backward, and those of other models. */
export function passOf(run: Run): Pass {
  const one = onePass(run);
  const { passes = 1, others = [] } = run;
  const called = others.filter((other) => other.passes > 0);
  if (passes === 1 && called.length === 0) return one;
  const { narrow, autocast } = precisionOf(run);
  const there = called.map((other) => ({ other, pass: onePass(alone(run, other)) }));
  // Logits and what a softmax makes of them, by hand: of each pass until the loss is there.
  const soft = autocast ? 4 : narrow;
  const both = (narrow + soft) / narrow;
  const outputs = there.reduce((sum, { other, pass }) => sum + other.passes * pass.outputs, 0);
  const caches = there.reduce((sum, { other, pass }) => sum + other.passes * pass.caches, 0);
  const moment = Math.max(0, ...there.map(({ other }) => generationOf(alone(run, other)).moment));
  const whole = (one.outputs * soft) / narrow;
  // A divergence between the logits of two models makes tensors of their size.
  const compared = passes === 1 ? COMPARED * whole : 0;
  return {
    ...one,
    kept: passes * one.kept,
    ends: passes * one.ends,
    // The earlier graphs are there while the last one is taken apart.
    atFirst: one.atFirst + (passes - 1) * (one.kept + one.ends),
    lossForward: Math.max(one.lossForward, both * (passes * one.outputs + outputs) + compared),
    lossBackward: Math.max(one.lossBackward, (passes + 3) * whole),
    outputs: passes * one.outputs,
    caches: passes * one.caches,
    cached: passes * one.cached + caches + moment,
  };
}

/** The run of a model that keeps nothing. */
function alone(run: Run, { parameters, shape }: OtherModel): Run {
  return { ...run, parameters, shape, checkpointing: false, chunkedLoss: false };
}

/** Weights of the models that are not trained. */
export function otherBytes(run: Run): number {
  return (run.others ?? []).reduce(
    (sum, { parameters, shape, dtype = run.dtype }) =>
      sum + weightBytes({ ...run, parameters, shape, dtype }),
    0,
  );
}
