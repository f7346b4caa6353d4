import { withExtended } from './config-file.js';
import { CONFIG_KEY_NAMES, type ConfigKey } from './config-keys.js';
import type { Project, Request } from './project.js';
import { configTableFor } from './wishes.js';

/** One setting, and where it comes from. */
export interface Origin {
  /** `select`, or `transforms.lora-rank.rank`. */
  readonly key: string;
  readonly value: unknown;
  /** A config file, an option of the command line, or `default`. */
  readonly source: string;
  /** What keeps it from counting. */
  readonly overruled?: string;
}

export interface Origins {
  /** The config file and those it extends, nearest first. */
  readonly files: readonly string[];
  readonly settings: readonly Origin[];
}

const DEFAULTS: Readonly<Partial<Record<ConfigKey, unknown>>> = {
  'fail-on': 'any',
  select: ['default'],
  fixable: ['all', 'documented'],
  'unsafe-fixes': false,
};

/** What these flags say about a key; undefined where they were not given. */
function flagsOf(
  request: Request,
): ReadonlyMap<ConfigKey, { readonly flag: string; readonly value: unknown }> {
  const { select, extendSelect, ignore, fixable, unfixable, unsafeFixes, targetVersions } = request;
  const given: readonly (readonly [ConfigKey, string, unknown])[] = [
    ['select', '--select', select],
    ['extend-select', '--extend-select', extendSelect.length > 0 ? extendSelect : undefined],
    ['ignore', '--ignore', ignore.length > 0 ? ignore : undefined],
    ['fixable', '--fixable', fixable],
    ['unfixable', '--unfixable', unfixable.length > 0 ? unfixable : undefined],
    ['unsafe-fixes', unsafeFixes === false ? '--no-unsafe-fixes' : '--unsafe-fixes', unsafeFixes],
    ['target-versions', '--target-version', targetVersions && Object.fromEntries(targetVersions)],
  ];
  return new Map(
    given.flatMap(([key, flag, value]) => (value === undefined ? [] : [[key, { flag, value }]])),
  );
}

/** Flags that leave no room for what a config says. */
const REPLACES: Readonly<Partial<Record<ConfigKey, ConfigKey>>> = {
  select: 'select',
  'extend-select': 'select',
  ignore: 'select',
  fixable: 'fixable',
  'unsafe-fixes': 'unsafe-fixes',
};

/** What `--strict-config` takes from no config. */
const LOOSENING: readonly ConfigKey[] = [
  'assume',
  'fail-on',
  'plugins',
  'root',
  'unsafe-fixes',
  'extend-select',
  'transforms',
];

/** Where a config adds to what it extends. */
const ADDING: ReadonlySet<ConfigKey> = new Set(['assume']);

/** Every setting with its origin, in the order of the table; those that are at their default, too. */
export function originsOf(project: Project): Origins {
  const { request } = project;
  const config = configTableFor(request, project.ground);
  const files = config === undefined ? [] : withExtended(config).toReversed();
  const flags = flagsOf(request);
  const settings = CONFIG_KEY_NAMES.filter((key) => key !== 'extend').flatMap((key): readonly Origin[] => {
    const flag = flags.get(key);
    const stronger = flags.get(REPLACES[key] ?? key)?.flag;
    const isReplaced = REPLACES[key] !== undefined && stronger !== undefined;
    const isHeld = request.isTarget === true && LOOSENING.includes(key);
    const overruled = isReplaced ? stronger : isHeld ? '--strict-config' : undefined;
    const written = writtenIn(files, key).map((origin) => ({ ...origin, ...(overruled && { overruled }) }));
    const given = flag === undefined ? [] : [{ key, value: flag.value, source: flag.flag }];
    const usual = DEFAULTS[key];
    const isUnsaid = given.length + written.filter((each) => each.overruled === undefined).length === 0;
    const byDefault =
      isUnsaid && usual !== undefined && !isReplaced ? [{ key, value: usual, source: 'default' }] : [];
    return [...given, ...written, ...byDefault];
  });
  return { files: files.map(({ path }) => path), settings };
}

/** The nearest file that has a key wins; options of transforms are merged one by one. */
function writtenIn(
  files: readonly { path: string; table: Readonly<Record<string, unknown>> }[],
  key: ConfigKey,
): Origin[] {
  if (key !== 'transforms') {
    const [file, ...others] = files.filter(({ table }) => table[key] !== undefined);
    if (file === undefined) return [];
    return [
      { key, value: file.table[key], source: file.path },
      ...others.map(({ path, table }) => ({
        key,
        value: table[key],
        source: path,
        ...(!ADDING.has(key) && { overruled: file.path }),
      })),
    ];
  }
  const seen = new Map<string, string>();
  return files.flatMap(({ path, table }) =>
    Object.entries(tableAt(table[key])).flatMap(([id, options]) =>
      Object.entries(tableAt(options)).map(([name, value]): Origin => {
        const full = `transforms.${id}.${name}`;
        const by = seen.get(full);
        if (by === undefined) seen.set(full, path);
        return { key: full, value, source: path, ...(by !== undefined && { overruled: by }) };
      }),
    ),
  );
}

function tableAt(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
