import { didYouMean } from '../text/resemblance.js';

/** What a config file may say. The reader of configs, the schema and `memfix config` go by this table. */
export const CONFIG_KEYS = {
  assume: {
    kind: 'questions',
    summary: 'Questions of unsafe findings whose yes is assumed, as `memfix apply -i` writes them.',
  },
  exclude: {
    kind: 'strings',
    summary: 'Files and folders to pass over, in the syntax of .gitignore, relative to this file.',
  },
  extend: {
    kind: 'string',
    summary: 'Another config file, relative to this one: its keys hold unless set here.',
  },
  'extend-select': { kind: 'names', summary: 'Transforms to run besides those of `select`.' },
  'fail-on': {
    kind: 'failing',
    summary:
      'What fails a run, unless `--fail-on` says: "any" (default), "safe", "never", or symptoms such as "leak".',
  },
  fixable: { kind: 'names', summary: 'Change code only for these transforms.' },
  gpu: {
    kind: 'string',
    summary: 'A card by its name, such as a100-80gb: `check` reports a run that cannot fit it.',
  },
  ignore: { kind: 'names', summary: 'Transforms that do not run.' },
  'per-file-ignores': {
    kind: 'names-by-pattern',
    summary:
      'Transforms that do not run in the files that a pattern means, in the syntax of .gitignore; "!src/" means all others.',
  },
  plugins: {
    kind: 'strings',
    summary:
      'Files or packages with transforms of your own, loaded where you have run `memfix trust`: docs/plugins.md.',
  },
  root: { kind: 'boolean', summary: 'Whether the project ends at the folder of this file.' },
  select: { kind: 'names', summary: 'Transforms to run: ids, groups or symptoms. Default: ["default"].' },
  'target-versions': {
    kind: 'versions',
    summary: 'Write for these versions of packages, whatever is installed or pinned.',
  },
  transforms: { kind: 'options', summary: 'Options of single transforms.' },
  unfixable: { kind: 'names', summary: 'Report these transforms, but never change code for them.' },
  'unsafe-fixes': {
    kind: 'boolean',
    summary: 'Also take fixes whose preconditions the code does not prove. Default: false.',
  },
} as const satisfies Readonly<Record<string, { readonly kind: string; readonly summary: string }>>;

export type ConfigKey = keyof typeof CONFIG_KEYS;

export const CONFIG_KEY_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigKey[];

/** Keys of other tools' config, and ours. */
const OTHERS_KEYS: ReadonlyMap<string, string> = new Map([
  ['extend-exclude', 'exclude'],
  ['extend-ignore', 'ignore'],
  ['extend-per-file-ignores', 'per-file-ignores'],
  ['extend-unfixable', 'unfixable'],
  ['ignorePatterns', 'exclude'],
  ['ignores', 'exclude'],
  ['overrides', 'per-file-ignores'],
]);

/** What is said elsewhere: a sentence. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  [
    'lint',
    'The keys of memfix are in no such table: they stand at the top of a memfix.toml, in `[tool.memfix]` of a pyproject.toml.',
  ],
  ['tool', 'In a memfix.toml, keys stand at the top, without `[tool.memfix]`.'],
  ['fix', '`memfix apply` writes fixes, `memfix check` never does.'],
  ['output-format', 'It is an option of the command line: `--output-format`.'],
  ['max-warnings', '`fail-on` says what fails a run.'],
  ['severity', 'There are no severities: `fail-on` says what fails a run.'],
  [
    'rules',
    '`select` and `ignore` are lists of transforms; there are no severities, and `fail-on` says what fails a run.',
  ],
]);

/** What an unknown key may have been meant to be, made to be appended to a sentence. */
export function keyMeant(name: string): string {
  const sentence = ELSEWHERE.get(name);
  if (sentence !== undefined) return ` ${sentence}`;
  return didYouMean(OTHERS_KEYS.get(name) ?? name, CONFIG_KEY_NAMES);
}
