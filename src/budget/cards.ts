import { parseBytes } from './quantity.js';

/** A card by its name or its size, with what tensors can have of it. */
export interface Card {
  readonly name: string;
  /** What CUDA reports, without what a CUDA context takes of it. */
  readonly bytes: number;
}

const MIB = 2 ** 20;
/** What a CUDA context with the kernels of a training step took on an H200 with torch 2.11; smaller cards need less. */
const CONTEXT = 768 * MIB;

/** About what CUDA reports of what `nvidia-smi` shows. Only the H200 was measured: 139.8 of 140.4 GiB, where this says 139.3. */
function reportedOf(bytes: number): number {
  return 0.994 * bytes - 300 * MIB;
}

function usableOf(bytes: number): number {
  return Math.floor(reportedOf(bytes) - CONTEXT);
}

/** A card as it is sold, `24GB`, or the capacity that CUDA reports, `23.64GiB`. */
export function cardSized(text: string): Card | undefined {
  const bytes = parseBytes(text);
  if (bytes === undefined) return undefined;
  const isReported = /ib\s*$/i.test(text);
  const size = `${Number((bytes / 2 ** 30).toFixed(2))}`;
  const left = isReported ? bytes - CONTEXT : usableOf(bytes);
  return left <= 0
    ? undefined
    : { name: isReported ? `${size} GiB that CUDA reports` : `a card of ${size} GB`, bytes: left };
}

/** MiB as `nvidia-smi` and `rocm-smi` give them. */
const CARDS: Readonly<Record<string, number>> = {
  t4: 15_360,
  p100: 16_384,
  'v100-16gb': 16_384,
  'v100-32gb': 32_768,
  a2: 15_356,
  a10: 23_028,
  a10g: 23_028,
  a16: 15_356,
  a30: 24_576,
  a40: 46_068,
  'a100-40gb': 40_960,
  'a100-80gb': 81_920,
  a4000: 16_376,
  a5000: 24_564,
  a6000: 49_140,
  l4: 23_034,
  l40: 46_068,
  l40s: 46_068,
  'h100-80gb': 81_559,
  'h100-94gb': 95_830,
  gh200: 97_871,
  h200: 143_771,
  b200: 183_359,
  'rtx-2080ti': 11_264,
  'rtx-3060': 12_288,
  'rtx-3070': 8192,
  'rtx-3080': 10_240,
  'rtx-3090': 24_576,
  'rtx-4060': 8188,
  'rtx-4060ti-16gb': 16_380,
  'rtx-4070': 12_282,
  'rtx-4080': 16_376,
  'rtx-4090': 24_564,
  'rtx-5080': 16_303,
  'rtx-5090': 32_607,
  'rtx-6000-ada': 49_140,
  'rtx-pro-6000': 97_887,
  'titan-rtx': 24_576,
  mi210: 65_536,
  mi250: 65_536,
  mi300x: 196_608,
};
const DEFAULTS: Readonly<Record<string, string>> = {
  a100: 'a100-80gb',
  h100: 'h100-80gb',
  v100: 'v100-16gb',
};

/** Gigabytes that cards are sold with, and some that are; those with error correction show less. */
export const SOLD: readonly (readonly [size: number, names: readonly string[]])[] = [
  [8, ['rtx-4060', 'rtx-3070']],
  [12, ['rtx-4070', 'rtx-3060']],
  [16, ['t4', 'a2']],
  [16, ['rtx-4080', 'v100-16gb']],
  [24, ['l4', 'a10g']],
  [24, ['rtx-4090', 'rtx-3090']],
  [32, ['rtx-5090', 'v100-32gb']],
  [40, ['a100-40gb']],
  [48, ['l40s', 'a40']],
  [48, ['a6000', 'rtx-6000-ada']],
  [80, ['h100-80gb', 'a100-80gb']],
  [96, ['h100-94gb', 'gh200']],
  [141, ['h200']],
  [180, ['b200']],
  [192, ['mi300x']],
];

/** What each of some cards has at least. */
export function leastOf(names: readonly string[]): number {
  return Math.min(...names.map((name) => usableOf((CARDS[name] ?? 0) * MIB)));
}

export const CARD_NAMES: readonly string[] = Object.keys(CARDS);

/** `a100-80gb`, `A100 80GB`, `RTX 4090`, `4090`, `NVIDIA H200`. */
export function cardNamed(text: string): Card | undefined {
  const plain = text
    .toLowerCase()
    .replaceAll(/nvidia|geforce|tesla|amd|instinct|quadro|(?:^|[-_ ])(?:sxm\d?|pcie|nvl)(?=$|[-_ ])/g, ' ')
    .trim()
    .replaceAll(/[\s_-]+/g, '-')
    .replace(/^-|-$/g, '');
  const name = [plain, DEFAULTS[plain], `rtx-${plain}`, plain.replace(/^(rtx)(?=\d)/, '$1-')].find(
    (each) => each !== undefined && Object.hasOwn(CARDS, each),
  );
  const mib = name === undefined ? undefined : CARDS[name];
  return name === undefined || mib === undefined ? undefined : { name, bytes: usableOf(mib * MIB) };
}
