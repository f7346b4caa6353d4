import { modelOf } from './configuration.js';
import { convNetOf, convParameters } from './convolution.js';
import type { KnownModel } from './shape.js';

type Sizes = readonly [
  layers: number,
  hidden: number,
  heads: number,
  keyHeads: number,
  feedForward: number,
  vocabulary: number,
];

function decoder(model_type: string, sizes: Sizes, more: Readonly<Record<string, unknown>> = {}): unknown {
  const [layers, hidden, heads, keyHeads, feedForward, vocabulary] = sizes;
  return {
    model_type,
    num_hidden_layers: layers,
    hidden_size: hidden,
    num_attention_heads: heads,
    num_key_value_heads: keyHeads,
    intermediate_size: feedForward,
    vocab_size: vocabulary,
    tie_word_embeddings: false,
    ...more,
  };
}

const TIED = { tie_word_embeddings: true };
const gpt2 = (n_layer: number, n_embd: number, n_head: number) => ({
  model_type: 'gpt2',
  n_layer,
  n_embd,
  n_head,
  vocab_size: 50_257,
});
const bert = (model_type: string, layers: number, hidden: number, vocabulary: number, positions: number) =>
  decoder(model_type, [layers, hidden, hidden / 64, hidden / 64, 4 * hidden, vocabulary], {
    max_position_embeddings: positions,
    ...TIED,
  });
const t5 = (layers: number, d_model: number, d_ff: number, heads: number, feed_forward_proj: string) => ({
  model_type: 't5',
  num_layers: layers,
  num_decoder_layers: layers,
  d_model,
  d_ff,
  d_kv: 64,
  num_heads: heads,
  vocab_size: 32_128,
  feed_forward_proj,
});
const vit = (layers: number, hidden: number, patch: number, size: number) =>
  decoder('vit', [layers, hidden, hidden / 64, hidden / 64, 4 * hidden, 1000], {
    patch_size: patch,
    image_size: size,
    num_labels: 1000,
  });
const neox = (layers: number, hidden: number, heads: number, vocabulary: number) =>
  decoder('gpt_neox', [layers, hidden, heads, heads, 4 * hidden, vocabulary]);
const opt = (layers: number, hidden: number, heads: number) => ({
  ...(decoder('opt', [layers, hidden, heads, heads, 4 * hidden, 50_272], TIED) as object),
  ffn_dim: 4 * hidden,
  max_position_embeddings: 2048,
});

/** Published models by the last part of their names, in small letters, without what does not change their shape. */
const MODELS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['llama-2-7b', decoder('llama', [32, 4096, 32, 32, 11_008, 32_000])],
  ['llama-2-13b', decoder('llama', [40, 5120, 40, 40, 13_824, 32_000])],
  ['llama-2-70b', decoder('llama', [80, 8192, 64, 8, 28_672, 32_000])],
  ['llama-3-8b', decoder('llama', [32, 4096, 32, 8, 14_336, 128_256])],
  ['llama-3-70b', decoder('llama', [80, 8192, 64, 8, 28_672, 128_256])],
  ['llama-3.2-1b', decoder('llama', [16, 2048, 32, 8, 8192, 128_256], { ...TIED, head_dim: 64 })],
  ['llama-3.2-3b', decoder('llama', [28, 3072, 24, 8, 8192, 128_256], TIED)],
  ['tinyllama-1.1b', decoder('llama', [22, 2048, 32, 4, 5632, 32_000])],
  ['smollm2-135m', decoder('llama', [30, 576, 9, 3, 1536, 49_152], TIED)],
  ['smollm2-360m', decoder('llama', [32, 960, 15, 5, 2560, 49_152], TIED)],
  ['smollm2-1.7b', decoder('llama', [24, 2048, 32, 32, 8192, 49_152], TIED)],
  ['mistral-7b', decoder('mistral', [32, 4096, 32, 8, 14_336, 32_000])],
  [
    'mixtral-8x7b',
    decoder('mixtral', [32, 4096, 32, 8, 14_336, 32_000], { num_local_experts: 8, num_experts_per_tok: 2 }),
  ],
  ['qwen2.5-0.5b', decoder('qwen2', [24, 896, 14, 2, 4864, 151_936], TIED)],
  ['qwen2.5-1.5b', decoder('qwen2', [28, 1536, 12, 2, 8960, 151_936], TIED)],
  ['qwen2.5-3b', decoder('qwen2', [36, 2048, 16, 2, 11_008, 151_936], TIED)],
  ['qwen2.5-7b', decoder('qwen2', [28, 3584, 28, 4, 18_944, 152_064])],
  ['qwen2.5-14b', decoder('qwen2', [48, 5120, 40, 8, 13_824, 152_064])],
  ['qwen2.5-32b', decoder('qwen2', [64, 5120, 40, 8, 27_648, 152_064])],
  ['qwen2.5-72b', decoder('qwen2', [80, 8192, 64, 8, 29_568, 152_064])],
  ['qwen3-0.6b', decoder('qwen3', [28, 1024, 16, 8, 3072, 151_936], { ...TIED, head_dim: 128 })],
  ['qwen3-1.7b', decoder('qwen3', [28, 2048, 16, 8, 6144, 151_936], { ...TIED, head_dim: 128 })],
  ['qwen3-4b', decoder('qwen3', [36, 2560, 32, 8, 9728, 151_936], { ...TIED, head_dim: 128 })],
  ['qwen3-8b', decoder('qwen3', [36, 4096, 32, 8, 12_288, 151_936], { head_dim: 128 })],
  ['qwen3-14b', decoder('qwen3', [40, 5120, 40, 8, 17_408, 151_936], { head_dim: 128 })],
  ['gemma-2b', decoder('gemma', [18, 2048, 8, 1, 16_384, 256_000], { ...TIED, head_dim: 256 })],
  ['gemma-7b', decoder('gemma', [28, 3072, 16, 16, 24_576, 256_000], { ...TIED, head_dim: 256 })],
  ['gemma-2-2b', decoder('gemma2', [26, 2304, 8, 4, 9216, 256_000], { ...TIED, head_dim: 256 })],
  ['gemma-2-9b', decoder('gemma2', [42, 3584, 16, 8, 14_336, 256_000], { ...TIED, head_dim: 256 })],
  ['phi-2', decoder('phi', [32, 2560, 32, 32, 10_240, 51_200])],
  ['phi-3-mini', decoder('phi3', [32, 3072, 32, 32, 8192, 32_064])],
  ['phi-3-medium', decoder('phi3', [40, 5120, 40, 10, 17_920, 32_064])],
  ['gpt2', gpt2(12, 768, 12)],
  ['gpt2-medium', gpt2(24, 1024, 16)],
  ['gpt2-large', gpt2(36, 1280, 20)],
  ['gpt2-xl', gpt2(48, 1600, 25)],
  ['distilgpt2', gpt2(6, 768, 12)],
  ['gpt-j-6b', { model_type: 'gptj', n_layer: 28, n_embd: 4096, n_head: 16, vocab_size: 50_400 }],
  ['pythia-160m', neox(12, 768, 12, 50_304)],
  ['pythia-410m', neox(24, 1024, 16, 50_304)],
  ['pythia-1b', neox(16, 2048, 8, 50_304)],
  ['pythia-1.4b', neox(24, 2048, 16, 50_304)],
  ['pythia-2.8b', neox(32, 2560, 32, 50_304)],
  ['pythia-6.9b', neox(32, 4096, 32, 50_432)],
  ['opt-125m', opt(12, 768, 12)],
  ['opt-1.3b', opt(24, 2048, 32)],
  ['opt-2.7b', opt(32, 2560, 32)],
  ['opt-6.7b', opt(32, 4096, 32)],
  ['bert-base', bert('bert', 12, 768, 30_522, 512)],
  ['bert-large', bert('bert', 24, 1024, 30_522, 512)],
  ['roberta-base', bert('roberta', 12, 768, 50_265, 514)],
  ['roberta-large', bert('roberta', 24, 1024, 50_265, 514)],
  ['xlm-roberta-base', bert('xlm-roberta', 12, 768, 250_002, 514)],
  [
    'distilbert-base',
    { model_type: 'distilbert', n_layers: 6, dim: 768, n_heads: 12, hidden_dim: 3072, vocab_size: 30_522 },
  ],
  ['t5-small', t5(6, 512, 2048, 8, 'relu')],
  ['t5-base', t5(12, 768, 3072, 12, 'relu')],
  ['t5-large', t5(24, 1024, 4096, 16, 'relu')],
  ['flan-t5-small', { ...t5(8, 512, 1024, 6, 'gated-gelu') }],
  ['flan-t5-base', t5(12, 768, 2048, 12, 'gated-gelu')],
  ['flan-t5-large', t5(24, 1024, 2816, 16, 'gated-gelu')],
  ['flan-t5-xl', t5(24, 2048, 5120, 32, 'gated-gelu')],
  ['vit-base-patch16-224', vit(12, 768, 16, 224)],
  ['vit-large-patch16-224', vit(24, 1024, 16, 224)],
  ['vit-base-patch16-384', vit(12, 768, 16, 384)],
]);

/** What says how a model was trained or kept, not what it is. */
const SUFFIX =
  /-(?:instruct|chat|hf|it|base-hf|4k|8k|16k|128k|cased|uncased|v\d(?:\.\d)?|unsloth|bnb-4bit|\dbit|in21k|preview|intermediate-step-.*|deduped|\d{4})$/;
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^meta-llama-/, 'llama-'],
  [/^llama-3\.[123]-(8b|70b)/, 'llama-3-$1'],
  [/^(?:vicuna|codellama)-(7b|13b)/, 'llama-2-$1'],
  [/^qwen2-/, 'qwen2.5-'],
  [/^phi-3\.5-/, 'phi-3-'],
];

/** `meta-llama/Llama-2-7b-hf`, `gpt2`, `resnet50`. */
export function knownModel(name: string): KnownModel | undefined {
  const last = name.toLowerCase().split('/').at(-1) ?? '';
  const net = convNetOf(last);
  if (net !== undefined) return { parameters: convParameters(net), shape: net, remarks: [] };
  let plain = last;
  for (const [pattern, text] of ALIASES) plain = plain.replace(pattern, text);
  for (let before = ''; before !== plain && !MODELS.has(plain); ) {
    before = plain;
    plain = plain.replace(SUFFIX, '');
  }
  const config = MODELS.get(plain);
  const model = config === undefined ? undefined : modelOf(config);
  return typeof model === 'string' ? undefined : model;
}

export const KNOWN_NAMES: readonly string[] = [...MODELS.keys()];
