/** Numbers as people write them: `7B`, `239M`, `24GB`, `0.5%`. Undefined where the text is none. */

const COUNT_UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12 };
/** As torch, nvidia-smi and the makers of cards count: `GB` and `GiB` are the same. */
const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 2 ** 30,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/** A number of parameters or tokens. */
export function parseCount(text: string): number | undefined {
  const count = parse(text, COUNT_UNITS);
  return count === undefined ? undefined : Math.round(count);
}

/** Bytes; a bare number counts GiB. */
export function parseBytes(text: string): number | undefined {
  return parse(text.replace(/(?<=[kmgt])i?b?\s*$/i, ''), BYTE_UNITS);
}

/** A count, or a share of `whole` such as `1.5%`. */
export function parseShare(text: string, whole: number): number | undefined {
  const percent = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(text)?.[1];
  const count = percent === undefined ? parseCount(text) : Math.round((Number(percent) / 100) * whole);
  return count !== undefined && count <= whole ? count : undefined;
}

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?(?:e\d+)?)([a-z]*)$/i.exec(text.replaceAll(/[\s_]/g, ''));
  if (match === null) return undefined;
  const unit = units[match[2]?.toLowerCase() ?? ''];
  const value = unit === undefined ? Number.NaN : Number(match[1]) * unit;
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** `83.84 GiB` */
export function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}

/** `83.84 GB`, of 10⁹ bytes: as budgets are done by hand. */
export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

/** `13.14B`, `239M` */
export function countOf(count: number): string {
  for (const [unit, size] of [
    ['T', 1e12],
    ['B', 1e9],
    ['M', 1e6],
    ['K', 1e3],
  ] as const) {
    if (count >= size) return `${Number((count / size).toFixed(2))}${unit}`;
  }
  return `${count}`;
}

/** Where a figure lies; without an upper end, the least of it. */
export function rangeText(low: number, high: number): string {
  return high < Infinity ? `${gibibytes(low)} to ${gibibytes(high)}` : `${gibibytes(low)} or more`;
}
