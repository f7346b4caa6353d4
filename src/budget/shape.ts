import { type Family, familyOf } from './families.js';

/** What a transformer's memory depends on beside its number of parameters. */
export interface Shape {
  readonly kind: 'transformer';
  readonly model: string;
  readonly family: Family;
  /** Of the decoder, or of the only stack. */
  readonly layers: number;
  /** Where an encoder stands before a decoder; otherwise 0. */
  readonly encoderLayers: number;
  readonly hidden: number;
  readonly heads: number;
  /** Fewer than heads where queries share keys. */
  readonly keyHeads: number;
  readonly headWidth: number;
  readonly feedForward: number;
  readonly vocabulary: number;
  /** Input and output embedding are one tensor. */
  readonly tied: boolean;
  /** Feed-forward parts of a block, and how many of them a token goes through. */
  readonly experts: number;
  readonly expertsPerToken: number;
  /** Longest sequence with learned positions. */
  readonly positions: number;
  /** Tokens beyond which attention gets a mask. */
  readonly window: number | undefined;
  /** Of a model that tells classes apart instead of words. */
  readonly classes?: number;
  readonly image: { readonly size: number; readonly patch: number } | undefined;
  /** Nobody said it: derived from the number of parameters. */
  readonly guessed: boolean;
}

/** A residual network for images, by its stages. */
export interface ConvNet {
  readonly kind: 'convolutional';
  readonly model: string;
  readonly stages: readonly number[];
  readonly bottleneck: boolean;
  readonly labels: number;
}

export type Network = Shape | ConvNet;

export interface KnownModel {
  readonly parameters: number;
  readonly shape: Network;
  /** What the configuration holds that this count leaves out. */
  readonly remarks: readonly string[];
}

/** Hidden size over number of layers in most decoder-only models. */
const ASPECT = 128;
export const VOCABULARY = 32_000;
const HEAD_WIDTH = 128;

/** Layers, width, feed-forward width, key heads and vocabulary of the decoders that people call by these sizes. */
const PUBLISHED: readonly (readonly [
  billions: number,
  ...figures: [number, number, number, number, number],
])[] = [
  [1.1, 22, 2048, 5632, 4, 32_000],
  [1.24, 16, 2048, 8192, 8, 128_256],
  [1.54, 28, 1536, 8960, 2, 151_936],
  [3.21, 28, 3072, 8192, 8, 128_256],
  [7, 32, 4096, 11_008, 32, 32_000],
  [8, 32, 4096, 14_336, 8, 128_256],
  [13, 40, 5120, 13_824, 40, 32_000],
  [14, 48, 5120, 13_824, 8, 152_064],
  [32, 64, 5120, 27_648, 8, 152_064],
  [34, 48, 8192, 22_016, 8, 32_000],
  [70, 80, 8192, 28_672, 8, 128_256],
  [72, 80, 8192, 29_568, 8, 152_064],
  [405, 126, 16_384, 53_248, 8, 128_256],
];
const CLOSE = 0.06;

/** A shape like those of published decoder-only models of this size, bent to what is known of it. */
export function shapeFor(
  parameters: number,
  known: { readonly layers?: number; readonly hidden?: number; readonly vocabulary?: number } = {},
): Shape {
  const { layers, hidden, vocabulary } = known;
  const published =
    layers === undefined && hidden === undefined
      ? PUBLISHED.toSorted((a, b) => distance(a[0], parameters) - distance(b[0], parameters))[0]
      : undefined;
  if (published !== undefined && distance(published[0], parameters) <= CLOSE) {
    const [, deep, wide, feedForward, keyHeads, words] = published;
    const heads = wide / (wide < 2048 ? 128 : wide < 3072 ? 64 : 128);
    return {
      ...bare(deep, wide, feedForward, vocabulary ?? words),
      heads,
      keyHeads,
      headWidth: wide / heads,
    };
  }
  const width =
    hidden ?? Math.sqrt(parameters / (12 * (layers ?? Math.cbrt(parameters / (12 * ASPECT ** 2)))));
  const wide = hidden ?? Math.max(64, Math.round(width / 64) * 64);
  const deep = layers ?? Math.max(1, Math.round(parameters / (12 * wide ** 2)));
  const plain = bare(deep, wide, Math.round((8 * wide) / 3), vocabulary ?? VOCABULARY);
  return { ...plain, guessed: layers === undefined || hidden === undefined };
}

function distance(billions: number, parameters: number): number {
  return Math.abs(parameters / 1e9 / billions - 1);
}

function bare(layers: number, hidden: number, feedForward: number, vocabulary: number): Shape {
  const heads = Math.max(1, Math.round(hidden / HEAD_WIDTH));
  return {
    kind: 'transformer',
    model: 'llama',
    family: familyOf('llama'),
    layers,
    encoderLayers: 0,
    hidden,
    heads,
    keyHeads: heads,
    headWidth: hidden / heads,
    feedForward,
    vocabulary,
    tied: false,
    experts: 1,
    expertsPerToken: 1,
    positions: 0,
    window: undefined,
    image: undefined,
    guessed: true,
  };
}

/** Width of all queries together; that of the keys, and of the values, is smaller where queries share them. */
export function queriesOf({ heads, headWidth }: Shape): number {
  return heads * headWidth;
}

export function keysOf({ keyHeads, headWidth }: Shape): number {
  return keyHeads * headWidth;
}

/** The linear layers of a block, by the names that adapters are asked for. */
export const LINEARS = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const;
export type Linear = (typeof LINEARS)[number];

/** Inputs and outputs of the linear layers of a block that this family has. */
export function linearsOf(shape: Shape): ReadonlyMap<Linear, readonly [inputs: number, outputs: number]> {
  const { hidden, feedForward, family } = shape;
  const queries = queriesOf(shape);
  const keys = keysOf(shape);
  return new Map<Linear, readonly [number, number]>([
    ['q', [hidden, queries]],
    ['k', [hidden, keys]],
    ['v', [hidden, keys]],
    ['o', [queries, hidden]],
    ...(family.gated ? [['gate', [hidden, feedForward]] as const] : []),
    ['up', [hidden, feedForward]],
    ['down', [feedForward, hidden]],
  ]);
}

/** Weights of the linear layers of one block: what autocast copies and quantisation shrinks. */
export function linearParameters(shape: Shape, isDecoderOfTwo = false): number {
  const { hidden, feedForward, family, experts } = shape;
  const attention = 2 * hidden * (queriesOf(shape) + keysOf(shape));
  const router = experts > 1 ? hidden * experts : 0;
  const feed = (family.gated ? 3 : 2) * hidden * feedForward * experts;
  return (isDecoderOfTwo ? 2 : 1) * attention + feed + router;
}

/** The parameters of one block. */
export function layerParameters(shape: Shape, isDecoderOfTwo = false): number {
  const { hidden, feedForward, family, headWidth } = shape;
  const norms = (family.norms + (isDecoderOfTwo ? 1 : 0)) * hidden * (family.norm === 'layer' ? 2 : 1);
  const qkv = queriesOf(shape) + 2 * keysOf(shape);
  const biases = { all: qkv + 2 * hidden + feedForward, qkv, none: 0 }[family.bias];
  return linearParameters(shape, isDecoderOfTwo) + norms + biases + (family.qkNorm ? 2 * headWidth : 0);
}

/** Input and output embedding, which quantisation leaves alone. */
export function embeddingParameters({ vocabulary, hidden, tied, family, image, classes }: Shape): number {
  if (image !== undefined) return 0;
  const isOne = tied || family.head === 'masked' || classes !== undefined;
  return (isOne ? 1 : 2) * vocabulary * hidden;
}

/** The same model with a head for classes, as `…ForSequenceClassification` has it. */
export function withClasses(model: KnownModel, classes: number): KnownModel {
  const { shape } = model;
  if (shape.kind === 'convolutional' || shape.image !== undefined || shape.encoderLayers > 0) return model;
  const changed = { ...shape, classes };
  return { ...model, shape: changed, parameters: Math.round(parametersOf(changed)) };
}

/** The longest sequence that the model has places for; undefined where it learned none. OPT and RoBERTa keep two more rows. */
export function longestOf(shape: Network): number | undefined {
  if (shape.kind === 'convolutional' || !shape.family.positions || shape.positions === 0) return undefined;
  return shape.positions % 64 === 2 ? shape.positions - 2 : shape.positions;
}

export function parametersOf(shape: Shape): number {
  const { layers, encoderLayers, hidden, family, positions, image, vocabulary } = shape;
  const stacks = encoderLayers > 0 ? 2 : 1;
  const norm = hidden * (family.norm === 'layer' ? 2 : 1);
  const places = family.positions ? positions * hidden : 0;
  const pixels = image === undefined ? 0 : (3 * image.patch ** 2 + 2) * hidden + hidden * vocabulary;
  // A dense layer, a norm and a bias before the words; types of segments and a norm after them.
  const masked = family.head === 'masked' ? hidden * hidden + 7 * hidden + vocabulary : 0;
  return (
    embeddingParameters(shape) +
    layers * layerParameters(shape, encoderLayers > 0) +
    encoderLayers * layerParameters(shape) +
    (family.head === 'masked' ? 0 : stacks * norm) +
    places +
    pixels +
    masked
  );
}

/** Adapters of this rank on these linear layers of every block. */
export function adapterParameters(shape: Shape, rank: number, adapted: readonly Linear[] = LINEARS): number {
  const linears = linearsOf(shape);
  const sides = adapted.reduce((sum, name) => {
    const [inputs, outputs] = linears.get(name) ?? [0, 0];
    return sum + inputs + outputs;
  }, 0);
  return (shape.layers + shape.encoderLayers) * rank * sides;
}
