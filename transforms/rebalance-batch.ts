/*
 * TrainingArguments(out, per_device_train_batch_size=8, gradient_accumulation_steps=2)
 *
 * TrainingArguments(out, per_device_train_batch_size=1, gradient_accumulation_steps=16)
 *
 * Both must be whole numbers in the same call or dict, so that their product stays what it was. The optimizer sees the same
 * number of examples per step; the GPU holds the activations of fewer at once, and more, smaller steps take longer.
 * Left alone: trainers whose batch is a group (GRPO and its like, KTO), losses over the batch (contrastive ones), DeepSpeed,
 * whose own file must say the same numbers. A dict whose readers the project does not show is offered with that doubt named.
 */
import type { Given, PyModule, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsCalls,
  ask,
  filesOf,
  givenAcross,
  isAtLeast,
  isTestCode,
  keywordArgument,
  not,
  Proof,
  qualifiedName,
  requireArrival,
  requireTrainer,
  siblingOf,
  usesDeepSpeed,
  wholeNumber,
} from '../src/toolkit/index.js';

const BATCH = 'per_device_train_batch_size';
const ACCUMULATION = 'gradient_accumulation_steps';
/** Trainers of trl that take the mean over single examples. The others form groups or compare examples of a batch. */
const PLAIN_TRAINERS = /^(?:SFT|DPO|ORPO|CPO|Reward)Config$/;
const OVER_THE_BATCH =
  /contrastive|info_?nce|(?<![a-z])in[_-]?batch|multiplenegatives|multiple_negatives|triplet|simclr|\bclip_?loss|dual_?encoder/i;

interface BatchSite extends Site {
  readonly given: Given;
  readonly accumulation: Given;
  readonly batch: number;
  readonly steps: number;
}

export const rebalanceBatch: Transform<BatchSite> = {
  meta: {
    id: 'rebalance-batch',
    summary: 'Take smaller batches and accumulate more of them, for the same effective batch',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {
      'batch-size': { type: 'integer', default: 1, summary: 'examples per device and forward pass' },
    },
    requires: {},
    docs: {
      why: 'Activations grow with the number of examples in a forward pass, while weights, gradients and optimizer state do not. Accumulating the gradients of several small batches gives the optimizer the same number of examples with the activations of a few.',
      does: 'Sets `per_device_train_batch_size` to the option `batch-size` (1 unless told otherwise) and multiplies `gradient_accumulation_steps` by what it was divided by. Both have to be whole numbers of one call or one dict, which another file may spread into the call.',
      refuses: [
        'the batch is no multiple of `batch-size`',
        'a trl trainer that forms groups or compares examples of a batch: GRPO, RLOO, PPO, KTO and others',
        'the file speaks of a loss over the batch: contrastive, triplet, in-batch negatives',
        'the code uses DeepSpeed, whose configuration has to name the same numbers',
        '`auto_find_batch_size=True`, or the dict is changed before it is used',
      ],
      limits: [
        'Slower: more forward and backward passes per step, each too small to fill the GPU.',
        'Batch norm, and losses that average over tokens, see smaller batches: results change. transformers 4.46 and later weigh tokens over the whole step.',
        'Evaluation has a batch size of its own.',
      ],
    },
    evidence: {
      verdict: 'Real: 68 % less memory for 50 % more time, in one measurement',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization guide (baseline 7B training)', section: '2', fidelity: 'same' },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [BATCH, ACCUMULATION],

  *detect(module, options) {
    const target = Number(options['batch-size']);
    const batches = givenAcross(module, BATCH);
    const accumulations = batches.length === 0 ? [] : givenAcross(module, ACCUMULATION);
    const byEntry = new Map(accumulations.map((each) => [each.entry, each]));
    for (const given of batches) {
      if (isTestCode(module, given.name)) continue;
      const isLoose = given.dict !== undefined && given.calls.length === 0;
      if (!isLoose && argumentsCalls(module, given).length === 0) continue;
      const beside = siblingOf(given, ACCUMULATION)?.entry;
      const accumulation = beside && byEntry.get(beside);
      const batch = wholeNumber(given.value);
      const steps = accumulation && wholeNumber(accumulation.value);
      if (accumulation === undefined || batch === undefined || steps === undefined || batch <= target)
        continue;
      yield {
        node: given.name,
        given,
        accumulation,
        batch,
        steps,
        message: `the activations of ${batch} examples are held at once; smaller batches, accumulated, give the optimizer the same ${batch * steps}`,
      };
    }
  },

  fix({ given, accumulation, batch, steps }, edit, module, options) {
    const target = Number(options['batch-size']);
    const proof = new Proof()
      .forbid(target < 1 || batch % target !== 0, `${batch} is no multiple of ${target}`)
      .forbid(
        siblingOf(given, 'auto_find_batch_size')?.value.type === 'true',
        'the batch size is found by trying',
      );
    for (const each of filesOf(module, given)) {
      const file = each === module ? 'this file' : `\`${each.path}\``;
      proof
        .forbid(
          each.mentions(OVER_THE_BATCH),
          `the loss is taken over the examples of a batch, as ${file} says`,
        )
        .require(not(usesDeepSpeed(each)), {
          no: `${file} uses DeepSpeed, whose configuration has to name the same numbers`,
          unknown: ask(
            'without-deepspeed',
          )`Does this run without ${'DeepSpeed'}, of which ${file} speaks (its configuration has to name the same numbers)?`,
        });
    }
    proof
      .forbid(groups(module, given), 'this trainer forms groups of the examples in a batch')
      .forbid(isGivenInCall(given), 'a call that its dict is spread into gives one of the numbers itself')
      .require(
        'unknown',
        ask(
          'examples-alone',
        )`Does every layer and loss of the model look at examples of \`${'per_device_train_batch_size'}\` one by one, unlike batch norm?`,
      )
      .require(
        isAtLeast(module, 'transformers', '4.46') === 'yes' ? 'yes' : 'unknown',
        ask('version')`Is ${'transformers 4.46 or newer'} (before that, tokens of short batches weigh more)?`,
      );
    for (const each of [given, accumulation])
      requireArrival(requireTrainer(proof, module, each, 'these numbers'), each);
    edit.replace(given.value, `${target}`);
    edit.replace(accumulation.value, `${(steps * batch) / target}`);
    return edit.done(`Take ${target} × ${(steps * batch) / target} instead of ${batch} × ${steps}`, proof);
  },
};

/** `TrainingArguments(**config, gradient_accumulation_steps=4)` */
function isGivenInCall({ dict, calls }: Given): boolean {
  const given = [BATCH, ACCUMULATION, 'auto_find_batch_size'];
  return (
    dict !== undefined &&
    calls.some((call) => given.some((name) => keywordArgument(call, name) !== undefined))
  );
}

function groups(module: PyModule, { calls, takers, homes }: Given): boolean {
  return [...calls, ...takers.map(({ call }) => call)].some((call) => {
    const callee = call.function;
    const path = (callee && qualifiedName(homes.get(call) ?? module, callee)) ?? '';
    return path.startsWith('trl.') && !PLAIN_TRAINERS.test(path.split('.').at(-1) ?? '');
  });
}
