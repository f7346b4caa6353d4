import type { Pin } from '../semantic/versions.js';
import { printable } from './cells.js';
import { wrap } from './prose.js';
import type { View } from './report.js';
import { table } from './table.js';

/** What a run goes by. */
export interface Settings {
  /** The config file; `null` where there is none. */
  readonly config: string | null;
  readonly transforms: readonly string[];
  readonly unsafeFixes: boolean;
  /** Questions whose yes is assumed, as the config writes them. */
  readonly assume: readonly string[];
  /** For each folder whose files have versions of their own. */
  readonly versions: readonly {
    readonly folder: string;
    readonly packages: readonly (Pin & { readonly name: string })[];
  }[];
}

const MARGIN = '  ';

/** For `--show-settings`. */
export function renderSettings(settings: Settings, { paint, width }: Pick<View, 'paint' | 'width'>): string {
  const ids = settings.transforms.join(', ') || 'none';
  const lines = [
    `${paint.bold('config')}: ${printable(settings.config ?? 'none')}`,
    `${paint.bold('unsafe fixes')}: ${settings.unsafeFixes ? 'yes' : 'no'}`,
    `${paint.bold('assume')}: ${settings.assume.length === 0 ? 'nothing' : ''}`.trimEnd(),
    ...settings.assume.map((entry) => MARGIN + printable(entry)),
    ...wrap(`transforms: ${ids}`, width, { first: '', rest: MARGIN }).map((line) =>
      line.replace(/^transforms(?=:)/, paint.bold),
    ),
    ...settings.versions.flatMap(({ folder, packages }) => [
      `${paint.bold('versions')} in ${printable(folder)}:${packages.length === 0 ? ' none found' : ''}`,
      ...table(
        packages.map(({ name, text, source }) => [
          { text: MARGIN + name },
          { text: printable(text) },
          { text: printable(source), paint: paint.dim },
        ]),
      ),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

export function settingsJson(settings: Settings): string {
  return `${JSON.stringify({ version: 1, ...settings }, undefined, 2)}\n`;
}
