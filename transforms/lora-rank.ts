/*
 * rank = 64 in the configuration:
 *
 * LoraConfig(r=128, lora_alpha=256, target_modules=modules)
 *
 * LoraConfig(r=64, lora_alpha=128, target_modules=modules)
 *
 * Nothing happens without a configured rank, and a lower rank stays. LoRA scales its update by `lora_alpha / r`, so that a
 * lower `r` alone would also raise that factor: `lora_alpha` follows in proportion where it is a number beside it (option
 * `keep-scaling`). A dict counts where it holds other settings of LoRA. Always unsafe: the adapter learns less.
 */
import {
  ask,
  type Given,
  givenBy,
  givenIn,
  isTestCode,
  keywordArgument,
  onlyHere,
  Proof,
  type PyModule,
  type PyNode,
  requireArrival,
  type Site,
  siblingOf,
  type Transform,
  type Written,
  wholeNumber,
  writtenBehind,
} from '../src/toolkit/index.js';
import { makesLora } from './lora-rank/lora.js';

const SETTINGS = ['lora_alpha', 'lora_dropout'];

interface RankSite extends Site {
  readonly given: Given;
  readonly written: Written;
  readonly rank: number;
}

export const loraRank: Transform<RankSite> = {
  meta: {
    id: 'lora-rank',
    summary: 'Lower the rank of LoRA adapters to a configured value',
    symptom: 'peak',
    moments: ['forward', 'backward', 'state', 'optimizer'],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {
      rank: {
        type: 'integer',
        default: 0,
        summary: 'the highest rank; nothing happens while it is 0',
        needed: { example: 64 },
      },
      'keep-scaling': {
        type: 'boolean',
        default: true,
        summary: 'let `lora_alpha` follow, so that `lora_alpha / r` stays',
      },
    },
    requires: {},
    docs: {
      why: 'The parameters that LoRA trains, their gradients and the two states that Adam keeps of them grow with the rank. The document counts 239 million of them at rank 128: in float32, with their gradients and both states, some 3.8 GB.',
      does: 'With `rank` configured: lowers a higher `r` of peft’s `LoraConfig` (or of unsloth’s `get_peft_model`), written on the spot, in a variable or in a dict, and `lora_alpha` beside it in proportion.',
      refuses: [
        '`rank_pattern` or `alpha_pattern` set ranks of their own',
        'the dict is changed before it is used',
      ],
      limits: [
        'The base model, by far the larger part, stays as it is. The document itself calls this a last resort.',
        'The adapter can express less: results change, and comparisons with runs of the old rank are no longer fair.',
        'Adapters that were saved with the old rank do not load into the new one.',
        'With `use_rslora=True` the factor is `lora_alpha / sqrt(r)`: `lora_alpha` is then left to you.',
      ],
    },
    evidence: {
      verdict:
        'Real but small beside the base model and its activations: 2 % for half the rank in one measurement. It costs capacity',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization guide (baseline 7B training)',
        section: 'Additional options, 3',
        fidelity: 'same',
      },
    ],
    example: 'fix-config-and-scaling',
  },

  skipsTests: true,
  prefilter: [[...SETTINGS, 'LoraConfig']],

  *detect(module, options) {
    const wanted = Number(options['rank']);
    if (wanted < 1) return;
    for (const given of ranks(module)) {
      const written = writtenBehind(module, given.value);
      const rank = wholeNumber(written.node);
      if (rank === undefined || rank <= wanted || isTestCode(module, given.name)) continue;
      yield {
        node: given.name,
        given,
        written,
        rank,
        message: `rank ${rank} trains ${rank} rows and columns per layer, with their gradients and optimizer state`,
      };
    }
  },

  fix({ given, written, rank }, edit, module, options) {
    const wanted = Number(options['rank']);
    const alpha = options['keep-scaling'] === true ? siblingOf(given, 'lora_alpha')?.value : undefined;
    const scaled = alpha && scaledAlpha(alpha, wanted / rank);
    const isRooted = siblingOf(given, 'use_rslora') !== undefined;
    const proof = new Proof()
      .forbid(
        ['rank_pattern', 'alpha_pattern'].some((name) => siblingOf(given, name) !== undefined),
        'some layers have a rank or a factor of their own',
      )
      .require(
        given.calls.length > 0 ? 'yes' : 'unknown',
        ask(
          'config-receives',
        )`Does a \`${'LoraConfig'}\` receive this setting, which this file does not show?`,
      )
      .meet(onlyHere(module, written))
      .require(
        scaled !== undefined && !isRooted ? 'yes' : 'unknown',
        ask('factor-may-grow')`May the factor \`${'lora_alpha / r'}\` grow?`,
      )
      .require(
        module.mentions(
          /resume_from_checkpoint|set_peft_model_state_dict|load_state_dict|load_adapter|load_file/,
        )
          ? 'unknown'
          : 'yes',
        ask(
          'fresh-adapter',
        )`Does every run begin with a new adapter of rank \`${`${wanted}`}\`, and load none of the old rank?`,
      )
      .require(
        'unknown',
        ask('learns-enough')`Does an adapter of rank \`${`${wanted}`}\` still learn enough?`,
      );
    requireArrival(proof, given);
    edit.replace(written.node, `${wanted}`);
    if (alpha !== undefined && scaled !== undefined && !isRooted) edit.replace(alpha, `${scaled}`);
    return edit.done(`Lower the rank to ${wanted}`, proof);
  },
};

/** The settings `r` of the file, each once: of LoRA calls, and of dicts that hold other settings of LoRA. */
function ranks(module: PyModule): readonly Given[] {
  const entries = new Set<PyNode>();
  for (const given of SETTINGS.flatMap((name) => givenIn(module, name))) {
    const rank = siblingOf(given, 'r');
    if (rank !== undefined) entries.add(rank.entry);
  }
  for (const { parent } of module.at('LoraConfig')) {
    const call = parent?.type === 'call' ? parent : parent?.parent;
    const rank = call?.type === 'call' ? keywordArgument(call, 'r') : undefined;
    if (rank !== undefined) entries.add(rank);
  }
  return [...entries].flatMap((entry) => {
    const given = givenBy(module, entry);
    return given?.calls.every((call) => makesLora(module, call)) ? [given] : [];
  });
}

function scaledAlpha(alpha: PyNode, factor: number): number | undefined {
  const scaled = (wholeNumber(alpha) ?? 0) * factor;
  return scaled > 0 && Number.isInteger(scaled) ? scaled : undefined;
}
