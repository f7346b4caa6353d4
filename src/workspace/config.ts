import { CARD_NAMES, cardNamed } from '../budget/cards.js';
import { didYouMean, shortened } from '../text/resemblance.js';
import type { OptionSpec, Options } from '../toolkit/contract.js';
import { type Assumption, assumptionIn } from './assumptions.js';
import { type ConfigTable, discreetly, isTable, type Table, withExtended } from './config-file.js';
import { CONFIG_KEY_NAMES, type ConfigKey, keyMeant } from './config-keys.js';
import { type Failing, failingIn } from './fail-on.js';
import { Failure } from './failure.js';
import { PathPatterns } from './gitignore.js';
import { PLUGIN_ID, type Vocabulary } from './selection.js';
import { isVersion, TARGETS } from './targets.js';

export interface Config {
  /** The file it came from; undefined when there is none. */
  readonly path?: string;
  readonly select?: readonly string[];
  readonly extendSelect: readonly string[];
  readonly ignore: readonly string[];
  readonly fixable?: readonly string[];
  readonly unfixable: readonly string[];
  readonly unsafeFixes: boolean;
  /** What fails a run, where the command line does not say. */
  readonly failOn?: readonly Failing[];
  /** The card that runs must fit into. */
  readonly gpu?: string;
  readonly exclude: readonly PathPatterns[];
  readonly perFileIgnores: readonly PerFileIgnores[];
  /** Package name to version, e.g. torch to 2.4. */
  readonly targetVersions: ReadonlyMap<string, string>;
  readonly options: ReadonlyMap<string, Options>;
  /** `root = true`: the folder of the config. No code outside of it uses what is in it, says the user. */
  readonly root?: string;
  /** What a person has answered with yes, those of extended files included. */
  readonly assume: readonly Assumption[];
  /** As they are named there. Naming does not load them. */
  readonly plugins: readonly string[];
  /** Everything the config files say, for telling one config from another. */
  readonly words: string;
}

interface PerFileIgnores {
  readonly pattern: PathPatterns;
  /** `!pattern`: what is ignored in all files but these. */
  readonly isExcept: boolean;
  readonly names: readonly string[];
}

export const NO_CONFIG: Config = {
  extendSelect: [],
  ignore: [],
  unfixable: [],
  unsafeFixes: false,
  exclude: [],
  perFileIgnores: [],
  targetVersions: new Map(),
  options: new Map(),
  assume: [],
  plugins: [],
  words: '',
};

/** Unknown names that are told beside the first. */
const OTHERS_TOLD = 4;
/** Each is compared with every file. */
const MOST_PER_FILE = 1000;

/** Believes a config file only after every word of it was understood. A key replaces the same key of an extended file. */
export function understand(config: ConfigTable, vocabulary: Vocabulary): Config {
  let merged: Config = NO_CONFIG;
  const files = withExtended(config);
  const isPartial = !vocabulary.hasPlugins && files.some(({ table }) => table['plugins'] !== undefined);
  for (const file of files) {
    const below = merged;
    merged = {
      ...below,
      ...discreetly(file, () => new ConfigReader(file, vocabulary, isPartial).read(below)),
    };
  }
  const words = JSON.stringify(files.map(({ folder, table }) => [folder, table]));
  // That of an extended file speaks of another folder.
  const root = config.table['root'] === true ? { root: config.folder } : {};
  return { ...merged, ...root, path: config.path, words };
}

class ConfigReader {
  constructor(
    private readonly file: ConfigTable,
    private readonly vocabulary: Vocabulary,
    /** Plugins are named that are not loaded: an unknown id may be one of theirs, and says nothing here. */
    private readonly isPartial: boolean,
  ) {}

  read(below: Config): Partial<Config> {
    const { table, folder } = this.file;
    this.#known(Object.keys(table), CONFIG_KEY_NAMES, 'key', 'the file');
    const select = this.#names('select');
    const extendSelect = this.#names('extend-select');
    const ignore = this.#names('ignore');
    const fixable = this.#names('fixable');
    const unfixable = this.#names('unfixable');
    const exclude = this.#strings(table['exclude'], '`exclude`');
    const plugins = this.#strings(table['plugins'], '`plugins`');
    const gpu = table['gpu'];
    if (gpu !== undefined && (typeof gpu !== 'string' || cardNamed(gpu) === undefined)) {
      this.#fail(`\`gpu\` must be a card that memfix knows: ${CARD_NAMES.join(', ')}`);
    }
    const failOn = this.#failing();
    const unsafeFixes = this.#truth('unsafe-fixes');
    this.#truth('root');
    return {
      ...(select && { select }),
      ...(extendSelect && { extendSelect }),
      ...(ignore && { ignore }),
      ...(fixable && { fixable }),
      ...(unfixable && { unfixable }),
      ...(exclude && { exclude: [this.#patterns(folder, exclude, '`exclude`')] }),
      ...(plugins && { plugins }),
      ...(typeof gpu === 'string' && { gpu }),
      ...(failOn && { failOn }),
      ...(unsafeFixes !== undefined && { unsafeFixes }),
      ...(table['per-file-ignores'] !== undefined && { perFileIgnores: this.#perFileIgnores(folder) }),
      ...(table['target-versions'] !== undefined && { targetVersions: this.#targetVersions() }),
      options: this.#options(below.options),
      assume: [...below.assume, ...this.#assumptions(folder)],
    };
  }

  #assumptions(folder: string): readonly Assumption[] {
    return (this.#strings(this.file.table['assume'], '`assume`') ?? []).flatMap((text) => {
      const found = assumptionIn(text, folder);
      if (typeof found === 'string')
        return this.#fail(`\`${shortened(text)}\` in \`assume\` cannot be used: ${found}`);
      if (this.#isMissing(found.transform)) return [];
      this.#known([found.transform], this.vocabulary.ids, 'transform', '`assume`');
      return { ...found, transform: this.vocabulary.entry(found.transform).id };
    });
  }

  #failing(): readonly Failing[] | undefined {
    const value = this.file.table['fail-on'];
    const words = this.#strings(typeof value === 'string' ? [value] : value, '`fail-on`');
    const chosen = words && failingIn(words);
    return typeof chosen === 'string' ? this.#fail(`\`fail-on\`: ${chosen.replace(/\.$/, '')}`) : chosen;
  }

  #names(key: ConfigKey): readonly string[] | undefined {
    const names = this.#strings(this.file.table[key], `\`${key}\``);
    return names && this.#understood(names, key);
  }

  #understood(names: readonly string[], key: ConfigKey): readonly string[] {
    const present = names.filter((name) => !this.#isMissing(name));
    this.vocabulary.check(present, `\`${key}\` of ${this.file.path}`);
    return present;
  }

  #isMissing(name: string): boolean {
    return this.isPartial && PLUGIN_ID.test(name) && !this.vocabulary.isKnown(name);
  }

  #truth(key: ConfigKey): boolean | undefined {
    const value = this.file.table[key];
    if (value === undefined || typeof value === 'boolean') return value;
    return this.#fail(`\`${key}\` must be true or false`);
  }

  #perFileIgnores(folder: string): Config['perFileIgnores'] {
    const entries = Object.entries(this.#table('per-file-ignores'));
    if (entries.length > MOST_PER_FILE)
      this.#fail(`\`per-file-ignores\` has more than ${MOST_PER_FILE} patterns`);
    return entries.map(([pattern, value]) => {
      const names = this.#strings(value, `\`per-file-ignores."${shortened(pattern)}"\``) ?? [];
      const isExcept = pattern.startsWith('!');
      return {
        pattern: this.#patterns(folder, [isExcept ? pattern.slice(1) : pattern], '`per-file-ignores`'),
        isExcept,
        names: this.#understood(names, 'per-file-ignores'),
      };
    });
  }

  #patterns(folder: string, patterns: readonly string[], what: string): PathPatterns {
    const made = new PathPatterns(folder, patterns);
    return made.problem === undefined ? made : this.#fail(`${what} cannot be used: ${made.problem}`);
  }

  #targetVersions(): ReadonlyMap<string, string> {
    const versions = Object.entries(this.#table('target-versions'));
    this.#known(
      versions.map(([name]) => name),
      TARGETS,
      'package',
      '`target-versions`',
    );
    return new Map(
      versions.map(([name, version]) => {
        if (typeof version === 'string' && isVersion(version)) return [name, version];
        return this.#fail(`\`target-versions.${name}\` must be a version in quotes, such as "2.4"`);
      }),
    );
  }

  #options(below: ReadonlyMap<string, Options>): ReadonlyMap<string, Options> {
    const merged = new Map(below);
    for (const [id, value] of Object.entries(this.#table('transforms'))) {
      if (this.#isMissing(id)) continue;
      this.#known([id], this.vocabulary.ids, 'transform', '`transforms`');
      if (!isTable(value))
        return this.#fail(
          `\`transforms.${id}\` must be a table of its options; \`ignore = ["${id}"]\` switches it off`,
        );
      const { id: own, options: specs } = this.vocabulary.entry(id);
      this.#known(Object.keys(value), Object.keys(specs), 'option', `\`transforms.${id}\``);
      const given = Object.entries(value).map(([name, option]) => [
        name,
        this.#option(id, name, option, specs[name]),
      ]);
      merged.set(own, { ...merged.get(own), ...Object.fromEntries(given) });
    }
    return merged;
  }

  #option(id: string, name: string, value: unknown, spec: OptionSpec | undefined): boolean | number | string {
    if (spec?.type === 'boolean' && typeof value === 'boolean') return value;
    if (spec?.type === 'string' && typeof value === 'string') return value;
    if (spec?.type === 'integer' && typeof value === 'number' && Number.isInteger(value)) return value;
    const wanted =
      spec?.type === 'boolean' ? 'true or false' : spec?.type === 'integer' ? 'a whole number' : 'a string';
    return this.#fail(`\`transforms.${id}.${name}\` must be ${wanted}`);
  }

  #table(key: ConfigKey): Table {
    const value = this.file.table[key] ?? {};
    return isTable(value) ? value : this.#fail(`\`${key}\` must be a table`);
  }

  #strings(value: unknown, what: string): readonly string[] | undefined {
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    return this.#fail(`${what} must be a list of strings`);
  }

  #known(names: readonly string[], known: readonly string[], kind: string, where: string): void {
    const [unknown, ...others] = names.filter((name) => !known.includes(name));
    if (unknown === undefined) return;
    const meant = (name: string) => (kind === 'key' ? keyMeant(name) : didYouMean(name, known));
    const place = where === 'the file' ? this.file.path : `${where} of ${this.file.path}`;
    throw new Failure(
      `Unknown ${kind} in config`,
      [
        `\`${shortened(unknown)}\` in ${place} is no ${kind} of memfix.${meant(unknown)}`,
        ...others.slice(0, OTHERS_TOLD).map((name) => `\`${shortened(name)}\` is none either.${meant(name)}`),
      ].join(' '),
      known.length === 0 ? 'It has no options; `ignore` switches it off.' : `Known: ${known.join(', ')}.`,
    );
  }

  #fail(detail: string): never {
    throw new Failure(
      'Invalid config',
      `${detail}, in ${this.file.path}`,
      'Correct it, or run with `--isolated` to do without config.',
    );
  }
}
