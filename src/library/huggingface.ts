/** Trainers of transformers and trl, and their arguments. */
import { type Group, group } from './row.js';

/** Those of trl whose trainer is one of transformers; `AlignProp` and `DDPO` have arguments and trainers of their own. */
const TRL = `A2PO AsyncGRPO BCO CPO DPO Distillation GFPO GKD GMPO GOLD GRPO GRPOWithReplayBuffer IWOPD IterativeSFT KTO
  MiniLLM NashMD ORPO OnlineDPO PAPO PPO PPOv2 PRM RLOO Reward SDFT SDPO SFT SSD ServerDistillation TPO XPO`;

const named = (suffix: string): string => TRL.replace(/\w+/g, (name) => name + suffix);

/** Code that makes the arguments of a trainer has one of these words: it calls the class, or derives its own from it. */
export const ARGUMENT_WORDS: readonly string[] = ['TrainingArguments', ...named('Config').split(/\s+/)];

export const HUGGINGFACE_ROWS: readonly Group[] = [
  group(
    'transformers.',
    { is: 'arguments', defaults: { gradient_checkpointing: [{ is: 'False' }] } },
    'TrainingArguments Seq2SeqTrainingArguments',
  ),
  group('transformers.', { is: 'trainer' }, 'Trainer Seq2SeqTrainer'),
  group('transformers.PreTrainedTokenizerBase.', { gives: 'plain' }, 'batch_decode'),
  group('tokenizers.Tokenizer.', { gives: 'plain' }, 'decode_batch'),
  group(
    'trl.',
    {
      is: 'arguments',
      defaults: { gradient_checkpointing: [{ is: 'False' }, { since: '0.22', is: 'True' }] },
      settles: {
        bf16: [{ is: 'False' }, { since: '0.19', is: 'True' }],
        gradient_checkpointing_kwargs: [{ is: 'None' }, { since: '0.27', is: '{"use_reentrant": False}' }],
      },
    },
    named('Config'),
  ),
  group('trl.', { is: 'trainer' }, named('Trainer')),
  group(
    'transformers.',
    {
      accepts: [
        'load_in_8bit',
        'load_in_4bit',
        'llm_int8_threshold',
        'llm_int8_skip_modules',
        'llm_int8_enable_fp32_cpu_offload',
        'llm_int8_has_fp16_weight',
        'bnb_4bit_compute_dtype',
        'bnb_4bit_quant_type',
        'bnb_4bit_use_double_quant',
        'bnb_4bit_quant_storage',
      ],
    },
    'BitsAndBytesConfig',
  ),
];

/** Before trl 0.12, `PPOConfig` was a class by itself: these it took, and arguments of a trainer it did not. */
export const OLD_PPO: readonly string[] = [
  'accelerator_kwargs',
  'adap_kl_ctrl',
  'early_stopping',
  'init_kl_coef',
  'log_with',
  'optimize_cuda_cache',
  'optimize_device_cache',
  'ppo_epochs',
  'project_kwargs',
  'steps',
  'target_kl',
  'tracker_kwargs',
  'tracker_project_name',
];
