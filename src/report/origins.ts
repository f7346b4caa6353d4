import { printable } from './cells.js';
import type { View } from './report.js';
import { table } from './table.js';

interface Origin {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  readonly overruled?: string;
}

export interface ShownOrigins {
  readonly files: readonly string[];
  /** Config files below, which count for the files around them instead. */
  readonly nested: readonly string[];
  readonly settings: readonly Origin[];
}

/** For `memfix config`: each setting, its value as a config would say it, and where it comes from. */
export function renderOrigins(
  { files, nested, settings }: ShownOrigins,
  { paint }: Pick<View, 'paint'>,
): string {
  const [first, ...others] = files.map(printable);
  const chain = others.map((file) => `, which extends ${file}`).join('');
  const rows = settings.map(({ key, value, source, overruled }) => {
    const tone = overruled === undefined ? (text: string) => text : paint.dim;
    const from =
      printable(source) + (overruled === undefined ? '' : `, overruled by ${printable(overruled)}`);
    return [
      { text: printable(key), paint: overruled === undefined ? paint.bold : paint.dim },
      { text: printable(JSON.stringify(value)), paint: tone },
      { text: from, paint: paint.dim },
    ];
  });
  const below =
    nested.length === 0 ? [] : [`${paint.bold('nearer to some files')}: ${nested.map(printable).join(', ')}`];
  return `${[`${paint.bold('config')}: ${first ?? 'none'}${chain}`, ...below, '', ...table(rows)].join('\n')}\n`;
}

export function originsJson({ files, nested, settings }: ShownOrigins): string {
  const all = settings.map(({ overruled, ...origin }) => ({ ...origin, overruled: overruled ?? null }));
  return `${JSON.stringify({ version: 1, files, nested, settings: all }, undefined, 2)}\n`;
}
