import { typicalShape } from './published.js';

/** What a transformer's memory depends on beside its number of parameters. */
export interface Shape {
  readonly layers: number;
  readonly hidden: number;
  /** Width of all queries together; that of the keys, and of the values, is smaller where queries share them. */
  readonly queries: number;
  readonly keys: number;
  readonly feedForward: number;
  /** A gate beside the up projection, as in Llama. */
  readonly gated: boolean;
  readonly vocabulary: number;
  /** Input and output embedding are one tensor. */
  readonly tied: boolean;
  /** Nobody said it: derived from the number of parameters. */
  readonly guessed: boolean;
}

export interface KnownModel {
  readonly parameters: number;
  readonly shape: Shape;
  /** What the configuration holds that this count leaves out. */
  readonly remarks: readonly string[];
  /** Tokens of an example, where the configuration tells. */
  readonly sequence?: number;
}

/** Hidden size over number of layers in most decoder-only models. */
const ASPECT = 128;
const VOCABULARY = 32_000;

/** A shape like those of published decoder-only models of this size, bent to what is known of it. */
export function shapeFor(
  parameters: number,
  known: { readonly layers?: number; readonly hidden?: number; readonly vocabulary?: number } = {},
): Shape {
  const { layers, hidden, vocabulary } = known;
  const typical = layers === undefined && hidden === undefined ? typicalShape(parameters) : undefined;
  if (typical !== undefined) return { ...typical, vocabulary: vocabulary ?? typical.vocabulary };
  const width =
    hidden ?? Math.sqrt(parameters / (12 * (layers ?? Math.cbrt(parameters / (12 * ASPECT ** 2)))));
  const wide = hidden ?? Math.max(64, Math.round(width / 64) * 64);
  const deep = layers ?? Math.max(1, Math.round(parameters / (12 * wide ** 2)));
  return {
    layers: deep,
    hidden: wide,
    queries: wide,
    keys: wide,
    feedForward: Math.round((8 * wide) / 3),
    gated: true,
    vocabulary: vocabulary ?? VOCABULARY,
    tied: false,
    guessed: layers === undefined || hidden === undefined,
  };
}

/** The parameters of one block. */
export function layerParameters({ hidden, queries, keys, feedForward, gated }: Shape): number {
  const attention = 2 * hidden * (queries + keys);
  return attention + (gated ? 3 : 2) * hidden * feedForward;
}

/** Input and output embedding, which quantisation leaves alone. */
export function embeddingParameters({ vocabulary, hidden, tied }: Shape): number {
  return (tied ? 1 : 2) * vocabulary * hidden;
}

/** Adapters of this rank on every linear layer of every block. */
export function adapterParameters(shape: Shape, rank: number): number {
  const { layers, hidden, queries, keys, feedForward, gated } = shape;
  const attention = 2 * (hidden + queries) + 2 * (hidden + keys);
  return layers * rank * (attention + (gated ? 3 : 2) * (hidden + feedForward));
}

/** The names by which model families call their sizes, most common first. */
const NAMES = {
  layers: ['num_hidden_layers', 'n_layer', 'num_layers', 'n_layers'],
  hidden: ['hidden_size', 'n_embd', 'd_model', 'dim'],
  heads: ['num_attention_heads', 'n_head', 'n_heads', 'num_heads'],
  keyHeads: ['num_key_value_heads', 'n_head_kv', 'num_kv_heads', 'n_kv_heads'],
  feedForward: ['intermediate_size', 'n_inner', 'ffn_dim', 'd_ff', 'ffn_hidden_size'],
  vocabulary: ['vocab_size', 'padded_vocab_size'],
} as const;

/** Families whose feed-forward part has no gate. */
const UNGATED: ReadonlySet<string> = new Set([
  ...[
    'gpt2',
    'gpt_neo',
    'gpt_neox',
    'gptj',
    'gpt_bigcode',
    'codegen',
    'opt',
    'bloom',
    'falcon',
    'mpt',
    'phi',
  ],
  ...['bert', 'roberta', 'xlm-roberta', 'distilbert', 'electra', 'deberta', 'deberta-v2', 'starcoder2'],
  ...['nemotron', 'persimmon', 'vit'],
]);

/** The model that a `config.json` of transformers describes, or why it cannot be told from it. */
export function modelOf(config: unknown): KnownModel | string {
  if (!isRecord(config)) return 'it holds no object';
  if (config['is_encoder_decoder'] === true) return 'it describes an encoder and a decoder';
  const inner = ['text_config', 'llm_config', 'language_config'].find((key) => isRecord(config[key]));
  const nested = inner === undefined ? undefined : config[inner];
  const text = isRecord(nested) ? nested : config;
  const experts = ['num_local_experts', 'num_experts', 'n_routed_experts'].find((key) => isCount(text[key]));
  if (experts !== undefined) return `\`${experts}\` says that it is a mixture of experts`;
  const read = (names: readonly string[]) => names.map((name) => text[name]).find(isCount);
  const layers = read(NAMES.layers);
  const hidden = read(NAMES.hidden);
  if (layers === undefined || hidden === undefined)
    return `it has no \`${layers === undefined ? NAMES.layers[0] : NAMES.hidden[0]}\``;
  const heads = read(NAMES.heads) ?? 1;
  const headWidth = isCount(text['head_dim']) ? text['head_dim'] : hidden / heads;
  const family = String(text['model_type'] ?? config['model_type'] ?? '');
  const shape: Shape = {
    layers,
    hidden,
    queries: heads * headWidth,
    keys: (read(NAMES.keyHeads) ?? (text['multi_query'] === true ? 1 : heads)) * headWidth,
    feedForward: read(NAMES.feedForward) ?? 4 * hidden,
    gated: !UNGATED.has(family),
    vocabulary: read(NAMES.vocabulary) ?? VOCABULARY,
    // Left out of a configuration that keeps the library's default, which is to tie.
    tied: text['tie_word_embeddings'] !== false,
    guessed: false,
  };
  const known = {
    parameters: parametersOf(shape),
    shape,
    remarks: inner === undefined ? [] : [`Only \`${inner}\` is counted: image and audio parts come on top.`],
  };
  return inner === undefined && seesImages(text) ? ofImages(known, text) : known;
}

export function parametersOf(shape: Shape): number {
  return Math.round(shape.layers * layerParameters(shape) + embeddingParameters(shape));
}

function seesImages(config: Readonly<Record<string, unknown>>): boolean {
  return isCount(config['image_size']) || isCount(config['patch_size']) || isCount(config['num_channels']);
}

/** Its tokens are patches, and its last layer names classes. */
function ofImages({ shape, remarks }: KnownModel, config: Readonly<Record<string, unknown>>): KnownModel {
  const { image_size: image, patch_size: patch, id2label: labels } = config;
  const classes = isRecord(labels) ? Object.keys(labels).length : IMAGE_CLASSES;
  const seeing: Shape = { ...shape, vocabulary: classes, tied: true };
  const caveat =
    'It is a vision model, and this sum is made for text: patch embeddings, convolutions, windows and several resolutions are not counted, and its activations were never measured. Take it for an order of magnitude, and give `--activations` as measured with one batch.';
  return {
    parameters: parametersOf(seeing),
    shape: seeing,
    remarks: [caveat, ...remarks],
    ...(isCount(image) && isCount(patch) && { sequence: Math.floor(image / patch) ** 2 + 1 }),
  };
}

const IMAGE_CLASSES = 1000;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
