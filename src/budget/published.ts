import type { Shape } from './shape.js';

type Row = readonly [
  layers: number,
  hidden: number,
  /** Width of all queries, and of all keys; as wide as the model where absent. */
  queries: number,
  keys: number,
  feedForward: number,
  vocabulary: number,
  kind?: 'tied' | 'ungated' | 'tied ungated',
];

/** Shapes as the published configurations have them. */
const ROWS: Readonly<Record<string, Row>> = {
  'llama-2-7b': [32, 4096, 4096, 4096, 11008, 32000],
  'llama-2-13b': [40, 5120, 5120, 5120, 13824, 32000],
  'llama-2-70b': [80, 8192, 8192, 1024, 28672, 32000],
  'llama-3-8b': [32, 4096, 4096, 1024, 14336, 128256],
  'llama-3.1-8b': [32, 4096, 4096, 1024, 14336, 128256],
  'llama-3-70b': [80, 8192, 8192, 1024, 28672, 128256],
  'llama-3.1-70b': [80, 8192, 8192, 1024, 28672, 128256],
  'llama-3.2-1b': [16, 2048, 2048, 512, 8192, 128256, 'tied'],
  'llama-3.2-3b': [28, 3072, 3072, 1024, 8192, 128256, 'tied'],
  tinyllama: [22, 2048, 2048, 256, 5632, 32000],
  'mistral-7b': [32, 4096, 4096, 1024, 14336, 32000],
  'qwen2.5-0.5b': [24, 896, 896, 128, 4864, 151936, 'tied'],
  'qwen2.5-1.5b': [28, 1536, 1536, 256, 8960, 151936, 'tied'],
  'qwen2.5-3b': [36, 2048, 2048, 256, 11008, 151936, 'tied'],
  'qwen2.5-7b': [28, 3584, 3584, 512, 18944, 152064],
  'qwen2.5-14b': [48, 5120, 5120, 1024, 13824, 152064],
  'qwen2.5-32b': [64, 5120, 5120, 1024, 27648, 152064],
  'gemma-2-2b': [26, 2304, 2048, 1024, 9216, 256000, 'tied'],
  'gemma-2-9b': [42, 3584, 4096, 2048, 14336, 256000, 'tied'],
  'phi-3-mini': [32, 3072, 3072, 3072, 8192, 32064],
  gpt2: [12, 768, 768, 768, 3072, 50257, 'tied ungated'],
  'gpt2-medium': [24, 1024, 1024, 1024, 4096, 50257, 'tied ungated'],
  'gpt2-large': [36, 1280, 1280, 1280, 5120, 50257, 'tied ungated'],
  'gpt2-xl': [48, 1600, 1600, 1600, 6400, 50257, 'tied ungated'],
  'bert-base': [12, 768, 768, 768, 3072, 30522, 'tied ungated'],
  'bert-large': [24, 1024, 1024, 1024, 4096, 30522, 'tied ungated'],
};

export const PUBLISHED: readonly string[] = Object.keys(ROWS);

/** The shape of a model by its name, as people and hubs write it: `meta-llama/Llama-2-7b-hf`. */
export function publishedShape(name: string): Shape | undefined {
  const wish = plain(name);
  const found = PUBLISHED.find((known) => plain(known) === wish);
  return found === undefined ? undefined : shapeOf(ROWS[found] as Row, false);
}

/** What "7B" and the like mean: models that many others have the shape of. */
const TYPICAL: readonly (readonly [parameters: number, name: string])[] = [
  [1.1e9, 'tinyllama'],
  [7e9, 'llama-2-7b'],
  [8e9, 'llama-3-8b'],
  [13e9, 'llama-2-13b'],
  [70e9, 'llama-2-70b'],
];
/** How far a number may be from one of these, as a share of it. */
const NEAR = 0.04;

/** The shape of models of about this size, where there is one that most have. */
export function typicalShape(parameters: number): Shape | undefined {
  const found = TYPICAL.find(([size]) => Math.abs(parameters - size) <= NEAR * size);
  return found === undefined ? undefined : shapeOf(ROWS[found[1]] as Row, true);
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^meta-/, '')
    .replace(/-(?:hf|chat|instruct|it|base|v\d[\d.]*|uncased|cased|4k|128k)(?=-|$)/g, '')
    .replace(/[\s_.-]/g, '');
}

function shapeOf(row: Row, guessed: boolean): Shape {
  const [layers, hidden, queries, keys, feedForward, vocabulary, kind] = row;
  return {
    ...{ layers, hidden, queries, keys, feedForward, vocabulary },
    gated: kind !== 'ungated' && kind !== 'tied ungated',
    tied: kind === 'tied' || kind === 'tied ungated',
    guessed,
  };
}
