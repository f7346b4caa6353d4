/**
 *   for x, y in loader:                     accumulation_steps = 4
 *       optimizer.zero_grad()               optimizer.zero_grad()
 *       loss = criterion(model(x), y)       for batch_index, (x, y) in enumerate(loader):
 *       loss.backward()                         loss = criterion(model(x), y)
 *       optimizer.step()                        (loss / accumulation_steps).backward()
 *                                               if (batch_index + 1) % accumulation_steps == 0 or batch_index + 1 == len(loader):
 *                                                   optimizer.step()
 *                                                   optimizer.zero_grad()
 *
 * The strict shape only: one loss, one optimizer, each call a statement of the loop, or of both arms of one `if`, with a gradient
 * scaler and without. Clipping and a schedule between and
 * behind them go along; the last batch always steps. `loss` itself is not scaled, so that what is logged stays the same.
 * Always unsafe: the effective batch grows, unless the loader's batch is made smaller by the same factor.
 */
import {
  ask,
  copyOf,
  countPasses,
  type EditBuilder,
  freeName,
  isTestCode,
  mayTrain,
  onOneLine,
  Proof,
  type PyModule,
  type Site,
  shown,
  type Transform,
  trainingLoops,
  Unfixable,
} from '../src/toolkit/index.js';
import { type ArmedLoop, armedLoop } from './gradient-accumulation-loop/accumulation-arms.js';
import {
  accumulatesElsewhere,
  hasLength,
  isNoMean,
  type StrictLoop,
  strictLoop,
} from './gradient-accumulation-loop/accumulation-loop.js';

const STEPS = 'accumulation_steps';
const INDEX = 'batch_index';
const TURN = 'is_step';

interface LoopSite extends Site {
  /** The shape, or why it is not the strict one. */
  readonly shape: StrictLoop | ArmedLoop | string;
}

export const gradientAccumulationLoop: Transform<LoopSite> = {
  meta: {
    id: 'gradient-accumulation-loop',
    summary: 'Step the optimizer every few batches of a hand-written training loop',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    afterwards: "make the loader's batch smaller by as much: memory falls only then.",
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {
      steps: { type: 'integer', default: 4, summary: 'how many batches make one step' },
    },
    requires: {},
    docs: {
      why: 'The activations of a whole batch are held until its backward. The same gradient can be gathered from several smaller batches, of which only one is held at a time.',
      does: 'Divides the loss by the number of batches per step, moves clipping, `step()`, the schedule and `zero_grad()` below a condition that holds every few batches and on the last one, and counts batches with the counter the loop has or with `enumerate`. **Then make the batch of the loader smaller by the same factor**: without that, memory stays as it was and the effective batch grows.',
      refuses: [
        'the loop has more than one backward or optimizer, a closure, or calls that are not statements of the loop itself; a gradient scaler, unless an `if … else …` has one step with it and one without',
        'other statements stand between the backward and the step, or use the optimizer, its schedule or a moving average in every batch',
        '`continue`, `break`, `return` or `yield` could leave gradients without their step',
        'the number of batches is not known: a `while` loop, `zip`, a generator',
        'the loss is a sum over the batch, or compares the examples of a batch with each other',
        'accelerate, DeepSpeed or Lightning, which accumulate by a setting; FSDP with offloaded parameters, which loses gradients',
      ],
      limits: [
        'The last step of an epoch may gather fewer batches than the others; its gradient is divided by the full number all the same.',
        'Batch norm sees the smaller batches. A mean over tokens is then a mean of means.',
        'A schedule in the loop is stepped once per optimizer step: its total must be counted in steps, not in batches.',
        'Under DistributedDataParallel gradients are synchronised in every batch; wrap the others in `model.no_sync()` to save that time.',
      ],
    },
    evidence: {
      verdict:
        'Real only when the batch is made smaller by the same factor: 56 % less memory for 20 % more time at 4 × 2 instead of 1 × 8. Alone it takes 6 % more memory, because the gradients live through the forward passes',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization implementation report', section: 'Subtask 1.3', fidelity: 'same' },
    ],
    example: 'fix-plain-loop',
  },

  skipsTests: true,
  prefilter: ['.backward(', '.step(', '.zero_grad('],
  cue: mayTrain,

  *detect(module) {
    for (const training of trainingLoops(module)) {
      const strict = strictLoop(module, training);
      const shape = typeof strict === 'string' ? (armedLoop(module, training) ?? strict) : strict;
      const [step] = training.steps;
      const node = step?.function?.attribute;
      if (shape === undefined || node === undefined || isTestCode(module, node)) continue;
      yield {
        node,
        shape,
        message:
          'every batch is a step of its own, so the activations of the whole effective batch are held at once',
      };
    }
  },

  fix({ shape }, edit, module, options) {
    const steps = Number(options['steps']);
    if (typeof shape === 'string') return edit.refuse(shape);
    const elsewhere = accumulatesElsewhere(module);
    const losses = 'arms' in shape ? shape.arms.map(({ loss }) => loss) : [shape.loss];
    const noMean = losses.map((loss) => isNoMean(module, loss)).find((reason) => reason !== undefined);
    const reset = 'arms' in shape ? shape.reset : undefined;
    const { data, counter } = shape.pass;
    const proof = new Proof()
      .forbid(steps < 2, 'the option `steps` is below 2')
      .forbid(elsewhere !== undefined, elsewhere ?? '')
      .forbid(noMean !== undefined, noMean ?? '')
      .require(hasLength(module, data), {
        no: `\`${shown(data)}\` has no length, so that its last batch is not known`,
        unknown: ask('sized')`Does \`${shown(data)}\` have a length?`,
      })
      .require(
        module.mentions(/DistributedDataParallel|\bDDP\b/) ? 'unknown' : 'yes',
        ask(
          'sync-each-batch',
        )`May \`${'DistributedDataParallel'}\` synchronise gradients in every batch (nothing calls \`no_sync()\`)?`,
      )
      .require(
        shape.schedule === undefined ? 'yes' : 'unknown',
        ask(
          'counts-steps',
        )`Does \`${shape.schedule?.text.split('\n').at(-1)?.trim()}\` count optimizer steps, of which there will be fewer?`,
      );
    proof.require(
      'unknown',
      ask(
        'fewer-steps',
      )`May batches of \`${shown(data)}\` make a step of the optimizer together, ${String(steps)} at a time, each ${String(steps)} times smaller (which is what frees memory)?`,
    );
    proof.require(
      reset === undefined ? 'yes' : 'unknown',
      ask('reset-value')`May \`${reset?.name}\` be ${reset?.value} in batches without a step?`,
    );
    if ('arms' in shape && !isFree(module, shape, TURN)) return edit.refuse(`the name \`${TURN}\` is taken`);
    if (!isFree(module, shape, STEPS)) return edit.refuse(`the name \`${STEPS}\` is taken`);
    const index = counter?.text ?? countPasses(edit, module, shape.loop, INDEX);
    if (index === undefined) return edit.refuse(`the name \`${INDEX}\` or \`enumerate\` is taken`);
    if ('arms' in shape) accumulateInArms(edit, shape, index, steps);
    else accumulate(edit, shape, index, steps);
    return edit.done(`Step every ${steps} batches`, proof);
  },
};

function isFree(module: PyModule, { loop }: StrictLoop | ArmedLoop, name: string): boolean {
  return freeName(module, name, module.scopeAt(loop));
}

function accumulate(edit: EditBuilder, shape: StrictLoop, index: string, steps: number): void {
  const { loop, loss, stepRun, zeroGrad } = shape;
  const [first] = stepRun;
  const last = stepRun.at(-1);
  if (first === undefined || last === undefined) return;
  const moves = !stepRun.includes(zeroGrad);
  const cleared = onOneLine(zeroGrad);
  if (cleared === undefined) throw new Unfixable('a comment stands in the way');
  edit.insertStatementBefore(loop, [`${STEPS} = ${steps}`, ...(moves ? [cleared] : [])]);
  if (moves) edit.removeStatement(zeroGrad);
  edit.replace(loss, `(${loss.text} / ${STEPS})`);
  edit.nestUnder(`if ${turnOf(shape, index)}`, first, last);
  if (moves) edit.insertStatementAfter(last, [`\t${cleared}`]);
}

/** Whether the optimizer steps in this batch: every few, and in the last. */
function turnOf({ pass }: StrictLoop | ArmedLoop, index: string): string {
  const [done, number] = pass.from === 1 ? [index, index] : [`${index} + 1`, `(${index} + 1)`];
  return `${number} % ${STEPS} == 0 or ${done} == len(${copyOf(pass.data)})`;
}

function accumulateInArms(edit: EditBuilder, shape: ArmedLoop, index: string, steps: number): void {
  const { loop, fork, arms, zeroGrad, schedule, reset } = shape;
  const cleared = onOneLine(zeroGrad);
  if (cleared === undefined) throw new Unfixable('a comment stands in the way');
  edit.insertStatementBefore(loop, [`${STEPS} = ${steps}`, cleared]);
  edit.removeStatement(zeroGrad);
  edit.insertStatementBefore(fork, [
    `${TURN} = ${turnOf(shape, index)}`,
    ...(reset === undefined ? [] : [`${reset.name} = ${reset.value}`]),
  ]);
  for (const { loss, run } of arms) {
    const [first] = run;
    const last = run.at(-1);
    if (first === undefined || last === undefined) continue;
    edit.replace(
      loss,
      loss.parent?.type === 'argument_list' ? `${loss.text} / ${STEPS}` : `(${loss.text} / ${STEPS})`,
    );
    edit.nestUnder(`if ${TURN}`, first, last);
    edit.insertStatementAfter(last, [`\t${cleared}`]);
  }
  if (schedule !== undefined) edit.nestUnder(`if ${TURN}`, schedule);
}
