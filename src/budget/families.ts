/**
 * How the model families of transformers compute a block, as far as memory depends on it: read off their sources and off
 * what lives at the peak of measured runs (`bench/gpu/budget_step.py` lists it).
 */
export interface Family {
  /** What the model is trained for, which says what its loss works on. */
  readonly head: 'causal' | 'masked' | 'seq2seq' | 'image';
  /** `rms` keeps an fp32 copy of half-precision input, `rms-fp32` multiplies in fp32 too, `rms-t5` also keeps its input. */
  readonly norm: 'layer' | 'rms' | 'rms-fp32' | 'rms-t5';
  /** Norms of a block. */
  readonly norms: 2 | 4;
  /** Attention and feed-forward part read the same stream, side by side. */
  readonly parallel: boolean;
  readonly activation: Activation;
  /** A gate beside the up projection. */
  readonly gated: boolean;
  /** One projection makes queries, keys and values. */
  readonly fused: boolean;
  /** `part` rotates a part of each head and puts it together again, in another layout. */
  readonly rotary: 'none' | 'whole' | 'part';
  /** Queries and keys go through norms of their own. */
  readonly qkNorm: boolean;
  /** Eager attention takes the softmax in fp32 whatever the dtype. */
  readonly softmax: 'fp32' | 'own';
  /** A learned bias on the scores, with which sdpa computes them one by one. */
  readonly scoreBias: boolean;
  /** What its attention cannot do in one kernel: `all`, or queries that share keys. */
  readonly scoresKept: 'none' | 'shared' | 'all';
  /** Logits go through a soft limit, which keeps them once more. */
  readonly softcap: boolean;
  /** The loss is computed on an fp32 copy of the logits. */
  readonly upcast: boolean;
  /** Biases: of all linear layers, of queries, keys and values, or of none. */
  readonly bias: 'all' | 'qkv' | 'none';
  /** Learned positions. */
  readonly positions: boolean;
  /** The default of the library where a configuration does not say. */
  readonly tied: boolean;
  readonly dropout: number;
  readonly attentionDropout: number;
  readonly window?: number;
  /** Runs of this family are in the measured table. */
  readonly measured: boolean;
}

export type Activation = 'silu' | 'gelu' | 'gelu-new' | 'relu';

const LLAMA: Family = {
  head: 'causal',
  norm: 'rms',
  norms: 2,
  parallel: false,
  activation: 'silu',
  gated: true,
  fused: false,
  rotary: 'whole',
  qkNorm: false,
  softmax: 'fp32',
  scoreBias: false,
  scoresKept: 'none',
  softcap: false,
  upcast: true,
  bias: 'none',
  positions: false,
  tied: false,
  dropout: 0,
  attentionDropout: 0,
  measured: true,
};
const GPT2: Family = {
  ...LLAMA,
  norm: 'layer',
  activation: 'gelu-new',
  gated: false,
  fused: true,
  rotary: 'none',
  softmax: 'own',
  bias: 'all',
  positions: true,
  tied: true,
  dropout: 0.1,
  attentionDropout: 0.1,
};
const BERT: Family = { ...GPT2, head: 'masked', activation: 'gelu', fused: false, upcast: false };
const NEOX: Family = {
  ...GPT2,
  parallel: true,
  activation: 'gelu',
  rotary: 'part',
  softmax: 'fp32',
  positions: false,
  tied: false,
  dropout: 0,
  attentionDropout: 0,
};
const BLOOM: Family = {
  ...GPT2,
  activation: 'gelu',
  softmax: 'fp32',
  scoresKept: 'all',
  positions: false,
  dropout: 0,
  attentionDropout: 0,
};
const GEMMA: Family = { ...LLAMA, norm: 'rms-fp32', activation: 'gelu', tied: true };
const OPT: Family = { ...GPT2, activation: 'relu', fused: false, softmax: 'fp32', attentionDropout: 0 };
const QWEN3: Family = { ...LLAMA, qkNorm: true };
const T5: Family = {
  ...LLAMA,
  head: 'seq2seq',
  norm: 'rms-t5',
  activation: 'relu',
  gated: false,
  rotary: 'none',
  scoreBias: true,
  upcast: false,
  tied: true,
  dropout: 0.1,
  attentionDropout: 0.1,
};
const VIT: Family = {
  ...BERT,
  head: 'image',
  positions: true,
  tied: false,
  dropout: 0,
  attentionDropout: 0,
};

/** Like a family that was measured, by its source; not measured itself. */
function like(family: Family, changes: Partial<Family> = {}): Family {
  return { ...family, ...changes, measured: false };
}

const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ['gpt2', GPT2],
  ['gpt_neox', NEOX],
  ['opt', OPT],
  ['llama', LLAMA],
  ['mistral', { ...LLAMA, window: 4096 }],
  ['mixtral', LLAMA],
  ['qwen2', { ...LLAMA, bias: 'qkv' }],
  ['qwen3', QWEN3],
  ['phi3', { ...LLAMA, fused: true, rotary: 'part' }],
  ['gemma', GEMMA],
  ['bert', BERT],
  ['roberta', BERT],
  ['t5', T5],
  ['vit', VIT],
  ['gpt_neo', like(GPT2, { fused: false, attentionDropout: 0 })],
  ['gpt_bigcode', like(GPT2)],
  ['gptj', { ...NEOX, activation: 'gelu-new', fused: false, scoresKept: 'all' }],
  ['codegen', like(NEOX, { activation: 'gelu-new', scoresKept: 'all' })],
  ['bloom', BLOOM],
  ['falcon', { ...NEOX, bias: 'none', tied: true, scoresKept: 'shared' }],
  ['phi', { ...NEOX, activation: 'gelu-new', fused: false }],
  [
    'mpt',
    like(GPT2, { activation: 'gelu', positions: false, bias: 'none', dropout: 0, attentionDropout: 0 }),
  ],
  ['starcoder2', { ...NEOX, parallel: false, fused: false, rotary: 'whole', tied: true }],
  ['gemma2', { ...GEMMA, norms: 4, softcap: true }],
  ['gemma3_text', { ...GEMMA, norms: 4, qkNorm: true }],
  ['qwen2_moe', like({ ...LLAMA, bias: 'qkv' })],
  ['qwen3_moe', QWEN3],
  ['olmo2', { ...QWEN3, norm: 'rms-fp32' }],
  ['smollm3', like(LLAMA)],
  ['stablelm', like(LLAMA, { norm: 'layer', rotary: 'part' })],
  ['cohere', like(LLAMA, { norm: 'layer', tied: true })],
  ['distilbert', BERT],
  ['electra', BERT],
  ['deberta-v2', like(BERT, { scoreBias: true })],
  ['xlm-roberta', like(BERT)],
  ['mt5', like(T5, { gated: true, activation: 'gelu-new' })],
  ['deit', like(VIT)],
]);

export function familyOf(name: string): Family {
  return FAMILIES.get(name) ?? like(LLAMA);
}

export function isKnownFamily(name: string): boolean {
  return FAMILIES.has(name);
}
