/** What exists only since a version of its package: a file that uses it runs with no older one. */

export interface Since {
  readonly package: string;
  readonly version: string;
}

/** By dotted name: it, and all that is below it. */
export const NAMES_SINCE: ReadonlyMap<string, Since> = new Map(
  Object.entries({
    'torch.inference_mode': '1.9',
    'torch.autocast': '1.10',
    'torch.set_float32_matmul_precision': '1.12',
    'torch.compile': '2.0',
    'torch.func': '2.0',
    'torch.set_default_device': '2.0',
    'torch.backends.cuda.sdp_kernel': '2.0',
    'torch.nn.functional.scaled_dot_product_attention': '2.0',
    'torch.export': '2.1',
    'torch.distributed.device_mesh.init_device_mesh': '2.2',
    'torch.nn.attention': '2.2',
    'torch.amp.GradScaler': '2.3',
    'torch.get_default_device': '2.3',
    'torch.amp.custom_fwd': '2.4',
    'torch.amp.custom_bwd': '2.4',
    'torch.nn.RMSNorm': '2.4',
    'torch.serialization.add_safe_globals': '2.4',
    'torch.nn.attention.flex_attention': '2.5',
    'torch.nn.Buffer': '2.5',
    'torch.optim.Adafactor': '2.5',
    'torch.accelerator': '2.6',
    'torch.distributed.fsdp.fully_shard': '2.6',
    'trl.SFTConfig': '0.9',
    'trl.GRPOConfig': '0.14',
    'trl.GRPOTrainer': '0.14',
  }).map(([name, version]) => [name, { package: name.split('.', 1)[0] ?? '', version }]),
);

interface KeywordSince extends Since {
  /** The dotted names of what takes it. */
  readonly callee: RegExp;
}

/** By keyword argument. */
export const KEYWORDS_SINCE: ReadonlyMap<string, readonly KeywordSince[]> = new Map([
  [
    'use_reentrant',
    [{ callee: /^torch\.utils\.checkpoint\.checkpoint$/, package: 'torch', version: '1.11' }],
  ],
  ['weights_only', [{ callee: /^torch\.load$/, package: 'torch', version: '1.13' }]],
  [
    'gradient_checkpointing_kwargs',
    [{ callee: /^transformers\.(?:Seq2Seq)?TrainingArguments$/, package: 'transformers', version: '4.35' }],
  ],
  [
    'attn_implementation',
    [
      {
        // A tokenizer or a configuration keeps any keyword; a model that does not know it raises.
        callee: /^transformers\.\w*(?:Model|For[A-Z])\w*\.from_pretrained$/,
        package: 'transformers',
        version: '4.36',
      },
    ],
  ],
  [
    'dtype',
    [
      {
        // Older ones hand it to the model, which raises.
        callee: /^transformers\.\w*(?:Model|For[A-Z])\w*\.from_pretrained$/,
        package: 'transformers',
        version: '4.56',
      },
    ],
  ],
  [
    'eval_strategy',
    [{ callee: /^transformers\.(?:Seq2Seq)?TrainingArguments$/, package: 'transformers', version: '4.41' }],
  ],
  [
    'processing_class',
    [
      { callee: /^transformers\.(?:Seq2Seq)?Trainer$/, package: 'transformers', version: '4.46' },
      { callee: /^trl\.\w+Trainer$/, package: 'trl', version: '0.12' },
    ],
  ],
]);

/**
 * What a project that names no version is taken to run with: the releases that were current in February 2024. torch 2.2 is the
 * last one with wheels for Macs with Intel processors and the first for Python 3.12, and the others are of its time.
 */
export const DEFAULT_FLOORS: ReadonlyMap<string, string> = new Map([
  ['accelerate', '0.27'],
  ['bitsandbytes', '0.42'],
  ['diffusers', '0.26'],
  ['peft', '0.8'],
  ['torch', '2.2'],
  ['transformers', '4.38'],
  ['trl', '0.7'],
]);
