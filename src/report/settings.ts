import type { Pin } from '../semantic/versions.js';
import { printable } from './cells.js';
import { wrap } from './prose.js';
import type { View } from './report.js';
import { table } from './table.js';

/** What a run goes by. */
export interface Settings {
  /** The config file; `null` where there is none. */
  readonly config: string | null;
  /** Config files below, which count for the files around them instead. */
  readonly nested: readonly string[];
  /** The project ends at this folder; `null` where that is the repository. */
  readonly root: string | null;
  readonly transforms: readonly string[];
  readonly unsafeFixes: boolean;
  /** What fails a run. */
  readonly failOn: readonly string[];
  /** Transforms of these that are reported and never change code. */
  readonly unfixable: readonly string[];
  readonly exclude: readonly string[];
  /** Patterns of files, and what is not looked for in them. */
  readonly perFileIgnores: Readonly<Record<string, readonly string[]>>;
  /** The options of these transforms. */
  readonly options: Readonly<Record<string, Readonly<Record<string, boolean | number | string>>>>;
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
  const list = (name: string, words: readonly string[]) =>
    wrap(`${name}: ${words.join(', ') || 'none'}`, width, { first: '', rest: MARGIN }).map((line, index) =>
      index === 0 ? line.replace(name, paint.bold) : line,
    );
  const section = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${paint.bold(name)}:`, ...lines.map((line) => MARGIN + line)];
  const lines = [
    `${paint.bold('config')}: ${printable(settings.config ?? 'none')}`,
    ...(settings.nested.length === 0 ? [] : list('nearer to some files', settings.nested.map(printable))),
    ...(settings.root === null ? [] : [`${paint.bold('root')}: ${printable(settings.root)}`]),
    `${paint.bold('unsafe fixes')}: ${settings.unsafeFixes ? 'yes' : 'no'}`,
    ...list('fail on', settings.failOn),
    ...list('transforms', settings.transforms),
    ...(settings.unfixable.length === 0 ? [] : list('unfixable', settings.unfixable)),
    ...(settings.exclude.length === 0 ? [] : list('exclude', settings.exclude.map(printable))),
    ...section(
      'per-file-ignores',
      Object.entries(settings.perFileIgnores).map(
        ([pattern, names]) => `${printable(pattern)}: ${names.join(', ')}`,
      ),
    ),
    ...section(
      'options',
      Object.entries(settings.options).flatMap(([id, options]) =>
        Object.entries(options).map(([name, value]) => `${id}.${name} = ${JSON.stringify(value)}`),
      ),
    ),
    `${paint.bold('assume')}: ${settings.assume.length === 0 ? 'nothing' : ''}`.trimEnd(),
    ...settings.assume.map((entry) => MARGIN + printable(entry)),
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
