interface Card {
  /** Gigabytes. */
  readonly size: number;
  readonly names: readonly string[];
  /** Names that are understood, too. */
  readonly also?: readonly string[];
}

/** GPUs by their memory. */
export const CARDS: readonly Card[] = [
  { size: 8, names: ['RTX 4060', 'RTX 3070'] },
  { size: 12, names: ['RTX 4070', 'RTX 3060'] },
  { size: 16, names: ['T4', 'RTX 4080'], also: ['V100'] },
  { size: 24, names: ['RTX 4090', 'RTX 3090'], also: ['L4', 'A10G', 'A10'] },
  { size: 32, names: ['RTX 5090', 'V100 32GB'] },
  { size: 40, names: ['A100 40GB'], also: ['A100'] },
  { size: 48, names: ['L40S', 'A6000'], also: ['L40', 'A40'] },
  { size: 80, names: ['H100', 'A100 80GB'], also: ['H800', 'A800'] },
  { size: 96, names: ['RTX PRO 6000', 'GH200'] },
  { size: 141, names: ['H200'] },
  { size: 192, names: ['MI300X'] },
];

/** Bytes of the card that a text names, such as `4090`, `rtx-4090` or `A100 80GB`; undefined where it names none. */
export function cardNamed(text: string): number | undefined {
  const wish = plain(text);
  const found = CARDS.find(({ names, also = [] }) =>
    [...names, ...also].some((name) => plain(name) === wish || plain(name).replace(/^rtx/, '') === wish),
  );
  return found === undefined ? undefined : found.size * 1e9;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/nvidia|geforce|tesla|amd|instinct|[\s_-]/g, '');
}
