const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600 };

/** A time such as 90, 90s, 10m or 2h, as far as a timer can wait for it. */
export function parseSeconds(text: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([smh]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (UNITS[unit] ?? 1);
  return seconds > 0 && seconds < 2 ** 31 / 1000 ? seconds : undefined;
}
