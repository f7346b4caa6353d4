import { ask, type Question } from '../../src/semantic/question.js';
/**
 * Arguments that transformers has taken away, by version. Read in the sources of the releases and in the migration guide
 * of 5.0; each is a TypeError once it is gone.
 */
export interface LegacyArgument {
  /** The first version without it. */
  readonly removed: string;
  /** The first version in which the change means the same; undefined where every version in use does. */
  readonly since: string | undefined;
  /** What an older version makes of the change, where it is no TypeError. */
  readonly before?: string;
  /** What to do for a value as it is written; a string says why there is no answer. */
  change(value: string): LegacyChange | string;
}

export type LegacyChange =
  | { readonly kind: 'rename'; readonly to: string }
  | { readonly kind: 'replace'; readonly to: string; readonly value: string }
  /** `unless`: what is to be asked, where it is not certain that nothing is lost. */
  | { readonly kind: 'remove'; readonly unless?: Question };

function renamed(to: string, since: string | undefined, removed: string): LegacyArgument {
  return { removed, since, change: () => ({ kind: 'rename', to }) };
}

/** Goes without a trace for these values; `otherwise` completes "left alone because …". */
function dropped(
  since: string | undefined,
  removed: string,
  isDefault: (value: string) => boolean,
  otherwise: string,
  unless?: Question,
): LegacyArgument {
  const change: LegacyChange = unless === undefined ? { kind: 'remove' } : { kind: 'remove', unless };
  return { removed, since, change: (value) => (isDefault(value) ? change : otherwise) };
}

/** A switch that has become a value of another argument. */
function switched(to: string, value: string, since: string, removed: string): LegacyArgument {
  return {
    removed,
    since,
    change: (written) => {
      if (written === 'True') return { kind: 'replace', to, value };
      return written === 'False' ? { kind: 'remove' } : 'its value is not written as True or False';
    },
  };
}

const anything = (): boolean => true;
const isFalse = (value: string): boolean => value === 'False';
const isTorchAmp = (value: string): boolean => /^["'](?:auto|amp|cuda_amp|cpu_amp)["']$/.test(value);
const APEX = 'only torch has been left as a backend, and another one may be meant';

/** Of `TrainingArguments` and the classes that derive from it. */
export const LEGACY_TRAINING_ARGUMENTS: ReadonlyMap<string, LegacyArgument> = new Map([
  ['evaluation_strategy', renamed('eval_strategy', '4.41', '4.51')],
  ['no_cuda', renamed('use_cpu', '4.34', '5.0')],
  ['per_gpu_train_batch_size', renamed('per_device_train_batch_size', undefined, '5.0')],
  ['per_gpu_eval_batch_size', renamed('per_device_eval_batch_size', undefined, '5.0')],
  ['push_to_hub_token', renamed('hub_token', '4.12', '5.0')],
  [
    'warmup_ratio',
    {
      removed: '5.15',
      since: '5.0',
      before: 'a fraction in `warmup_steps` means no warm-up',
      change: (value) =>
        /^[1-9]/.test(value)
          ? 'a ratio of 1 or more would become a number of steps'
          : { kind: 'rename', to: 'warmup_steps' },
    },
  ],
  ['adafactor', switched('optim', '"adafactor"', '4.12', '5.0')],
  ['include_inputs_for_metrics', switched('include_for_metrics', '["inputs"]', '4.46', '5.0')],
  ['group_by_length', switched('train_sampling_strategy', '"group_by_length"', '5.5', '5.5')],
  [
    'save_safetensors',
    dropped(
      '4.35',
      '5.0',
      (value) => value === 'True',
      'it asks for pickled checkpoints, which transformers 5 does not write',
    ),
  ],
  [
    'overwrite_output_dir',
    dropped(
      undefined,
      '5.0',
      anything,
      '',
      ask(
        'unread-elsewhere',
      )`Is \`${'overwrite_output_dir'}\` left unread outside this file (the trainer does not read it)?`,
    ),
  ],
  ['fp16_backend', dropped(undefined, '5.0', isTorchAmp, APEX)],
  ['half_precision_backend', dropped(undefined, '5.0', isTorchAmp, APEX)],
  ['use_mps_device', dropped('4.31', '5.0', anything, '')],
  [
    'jit_mode_eval',
    dropped(undefined, '5.0', isFalse, 'TorchScript evaluation has no successor with the same results'),
  ],
  [
    'use_ipex',
    dropped(undefined, '5.0', isFalse, 'the extension for Intel has no successor among the arguments'),
  ],
  [
    'logging_dir',
    dropped(
      undefined,
      '5.15',
      anything,
      '',
      ask(
        'logs-moved',
      )`May TensorBoard files go to \`runs\` below \`output_dir\` instead of \`${'logging_dir'}\`?`,
    ),
  ],
]);

/** Of `Trainer`. */
export const LEGACY_TRAINER_ARGUMENTS: ReadonlyMap<string, LegacyArgument> = new Map([
  ['tokenizer', renamed('processing_class', '4.46', '5.0')],
]);
