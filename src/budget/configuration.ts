import { type Activation, type Family, familyOf, isKnownFamily } from './families.js';
import { type KnownModel, parametersOf, type Shape, VOCABULARY } from './shape.js';

/** The names by which model families call their sizes, most common first. */
const NAMES = {
  layers: ['num_hidden_layers', 'n_layer', 'num_layers', 'n_layers'],
  hidden: ['hidden_size', 'n_embd', 'd_model', 'dim'],
  heads: ['num_attention_heads', 'n_head', 'n_heads', 'num_heads'],
  keyHeads: ['num_key_value_heads', 'n_head_kv', 'num_kv_heads', 'n_kv_heads'],
  headWidth: ['head_dim', 'd_kv'],
  feedForward: [
    'moe_intermediate_size',
    'intermediate_size',
    'n_inner',
    'ffn_dim',
    'd_ff',
    'ffn_hidden_size',
    'hidden_dim',
  ],
  vocabulary: ['vocab_size', 'padded_vocab_size'],
  positions: ['max_position_embeddings', 'n_positions'],
  experts: ['num_local_experts', 'num_experts', 'n_routed_experts'],
  expertsPerToken: ['num_experts_per_tok', 'num_experts_per_token', 'moe_top_k'],
  labels: ['num_labels'],
} as const;

const DROPOUTS = ['resid_pdrop', 'hidden_dropout_prob', 'dropout_rate', 'dropout', 'hidden_dropout'];
const ATTENTION_DROPOUTS = ['attn_pdrop', 'attention_probs_dropout_prob', 'attention_dropout'];
const DEFAULT_LABELS = 1000;
/** Rows beyond the longest sequence in the learned positions of OPT. */
const OFFSETS: Readonly<Record<string, number>> = { opt: 2 };
const POSITIONS: Readonly<Record<string, number>> = { gpt2: 1024, opt: 2048 };
const SHORT = 512;

/** The model that a `config.json` of transformers describes, or why it cannot be told from it. */
export function modelOf(config: unknown): KnownModel | string {
  if (!isRecord(config)) return 'it holds no object';
  const inner = ['text_config', 'llm_config', 'language_config'].find((key) => isRecord(config[key]));
  const nested = inner === undefined ? undefined : config[inner];
  const text = isRecord(nested) ? nested : config;
  const read = (names: readonly string[]) => names.map((name) => text[name]).find(isCount);
  const decoders = text['num_decoder_layers'];
  const layers = read(NAMES.layers);
  const hidden = read(NAMES.hidden);
  if (layers === undefined || hidden === undefined)
    return `it has no \`${layers === undefined ? NAMES.layers[0] : NAMES.hidden[0]}\``;
  const model = String(text['model_type'] ?? config['model_type'] ?? '');
  const family = bentTo(familyOf(model), text);
  if (config['is_encoder_decoder'] === true && family.head !== 'seq2seq') {
    return `\`${model}\` has an encoder and a decoder that memfix does not know`;
  }
  const heads = read(NAMES.heads) ?? 1;
  const isPair = family.head === 'seq2seq';
  const shape: Shape = {
    kind: 'transformer',
    model,
    family,
    layers: isPair && isCount(decoders) ? decoders : layers,
    encoderLayers: isPair ? layers : 0,
    hidden,
    heads,
    headWidth: read(NAMES.headWidth) ?? hidden / heads,
    keyHeads: read(NAMES.keyHeads) ?? (text['multi_query'] === true ? 1 : heads),
    feedForward: read(NAMES.feedForward) ?? 4 * hidden,
    vocabulary:
      family.head === 'image'
        ? (read(NAMES.labels) ?? DEFAULT_LABELS)
        : (read(NAMES.vocabulary) ?? VOCABULARY),
    // T5 ties whatever its configuration says, from transformers 5 on.
    tied:
      typeof text['tie_word_embeddings'] === 'boolean' && !isPair ? text['tie_word_embeddings'] : family.tied,
    experts: read(NAMES.experts) ?? 1,
    expertsPerToken: read(NAMES.expertsPerToken) ?? 1,
    positions:
      family.head === 'image'
        ? 0
        : (read(NAMES.positions) ?? POSITIONS[model] ?? SHORT) + (OFFSETS[model] ?? 0),
    window: windowIn(text, family),
    image: imageIn(text, family),
    guessed: false,
  };
  const remarks = [
    ...(inner === undefined ? [] : [`Only \`${inner}\` is counted: image and audio parts come on top.`]),
    ...(isKnownFamily(model)
      ? []
      : [`\`${model}\` is no family that memfix knows; its blocks are counted like those of Llama.`]),
  ];
  const places = shape.image === undefined ? shape : { ...shape, positions: patches(shape.image) };
  return { parameters: Math.round(parametersOf(places)), shape: places, remarks };
}

function patches({ size, patch }: { readonly size: number; readonly patch: number }): number {
  return Math.floor(size / patch) ** 2 + 1;
}

/** What a configuration says about itself goes before the family's habit. */
function bentTo(family: Family, text: Readonly<Record<string, unknown>>): Family {
  const projection = text['feed_forward_proj'];
  const dropout = DROPOUTS.map((name) => text[name]).find(isShare);
  const attention = ATTENTION_DROPOUTS.map((name) => text[name]).find(isShare);
  const activation = activationOf(
    text['activation_function'] ?? text['hidden_act'] ?? text['hidden_activation'],
  );
  return {
    ...family,
    ...(activation !== undefined && { activation }),
    ...(typeof projection === 'string' && {
      gated: projection.startsWith('gated-'),
      activation: activationOf(projection.replace('gated-gelu', 'gelu_new')) ?? family.activation,
    }),
    ...(text['attention_bias'] === true && family.bias === 'none' && { bias: 'qkv' as const }),
    ...(dropout !== undefined && { dropout }),
    ...(attention !== undefined && { attentionDropout: attention }),
  };
}

function activationOf(name: unknown): Activation | undefined {
  if (typeof name !== 'string') return undefined;
  if (name === 'gelu_new' || name === 'gelu_fast') return 'gelu-new';
  if (name.startsWith('gelu') || name === 'quick_gelu') return 'gelu';
  if (name === 'silu' || name === 'swish') return 'silu';
  return name === 'relu' ? 'relu' : undefined;
}

function windowIn(text: Readonly<Record<string, unknown>>, family: Family): number | undefined {
  if ('sliding_window' in text) return isCount(text['sliding_window']) ? text['sliding_window'] : undefined;
  return family.window;
}

function imageIn(text: Readonly<Record<string, unknown>>, family: Family): Shape['image'] {
  if (family.head !== 'image') return undefined;
  const { image_size: size, patch_size: patch } = text;
  return { size: isCount(size) ? size : 224, patch: isCount(patch) ? patch : 16 };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < 1;
}
