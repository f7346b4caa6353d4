/** A card by its name, with what its driver says it has. */
export interface Card {
  readonly name: string;
  /** Bytes that programs can have, without what the CUDA context takes of them. */
  readonly bytes: number;
}

const MIB = 2 ** 20;
/** What a CUDA context with the kernels of torch takes, about. */
const CONTEXT = 512 * MIB;

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
  return name === undefined || mib === undefined ? undefined : { name, bytes: mib * MIB - CONTEXT };
}
