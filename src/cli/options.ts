/** One option of the command line: how it is parsed, and the line of help that explains it. */
export interface OptionInfo {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  /** May be given more than once; each may be a comma-separated list. */
  readonly list?: true;
  /** What stands for the value in the help. */
  readonly value?: string;
  /** Shown instead of the name where the option can also be denied. */
  readonly shown?: string;
  readonly summary: string;
  readonly heading: 'Which fixes' | 'Which files' | 'Writing' | 'Output' | 'Config' | 'Other';
}

export const OPTIONS = {
  select: names('run only these: ids, groups (default, opt-in, documented, all) or symptoms (leak, peak, …)'),
  'extend-select': names('run these too'),
  ignore: names('do not run these'),
  fixable: names('change code only for these'),
  unfixable: names('report these, but never change code for them'),
  'unsafe-fixes': {
    type: 'boolean',
    shown: '[no-]unsafe-fixes',
    summary: 'also take fixes whose preconditions the code does not prove',
    heading: 'Which fixes',
  },
  changed: files('only files with changes since the last commit, new ones included'),
  staged: files('only files with staged changes'),
  since: { ...files('only files that changed since the branch left REF'), type: 'string', value: 'REF' },
  'stdin-filename': {
    ...files('the name that the text on standard input goes by'),
    type: 'string',
    value: 'PATH',
  },
  interactive: { ...writing('review the fixes one by one'), short: 'i' },
  resume: writing('go on with the last review: its answers are remembered (implies --interactive)'),
  'dry-run': writing('print the patch instead of writing, as `memfix diff` does'),
  'allow-dirty': writing('also write files that have uncommitted changes'),
  'allow-no-vcs': writing('also write files outside a git repository'),
  yes: { ...writing('answer yes to any question; for scripts'), short: 'y' },
  'output-format': {
    ...output('full (default), concise or json'),
    type: 'string',
    value: 'FORMAT',
  },
  output: {
    ...output('write to FILE instead of standard output'),
    type: 'string',
    short: 'o',
    value: 'FILE',
  },
  statistics: output('count findings per transform instead of listing them'),
  'exit-code': output('exit with 1 when the patch is not empty'),
  quiet: { ...output('no summary'), short: 'q' },
  verbose: { ...output('also say what was left alone, and why'), short: 'v' },
  color: { ...output('auto (default), always or never'), type: 'string', value: 'WHEN' },
  config: {
    type: 'string',
    value: 'FILE',
    summary: 'use this config file instead of the nearest',
    heading: 'Config',
  },
  isolated: { type: 'boolean', summary: 'use no config file', heading: 'Config' },
  'show-settings': {
    type: 'boolean',
    summary: 'print the settings and the versions found, and where; check nothing',
    heading: 'Config',
  },
  cache: {
    type: 'boolean',
    shown: 'no-cache',
    summary: 'look at every file again, and remember nothing',
    heading: 'Other',
  },
  'cache-dir': {
    type: 'string',
    value: 'DIR',
    summary: 'remember results in DIR instead of .memfix_cache at the root of the project',
    heading: 'Other',
  },
  strict: { type: 'boolean', summary: 'treat a skipped file as an error', heading: 'Other' },
  help: { type: 'boolean', short: 'h', summary: 'show this help', heading: 'Other' },
  version: { type: 'boolean', short: 'V', summary: 'show the version', heading: 'Other' },
} as const satisfies Readonly<Record<string, OptionInfo>>;

export type OptionName = keyof typeof OPTIONS;

export function optionInfo(name: OptionName): OptionInfo {
  return OPTIONS[name];
}

function names(summary: string) {
  return { type: 'string', list: true, value: 'NAMES', summary, heading: 'Which fixes' } as const;
}

function files(summary: string) {
  return { type: 'boolean', summary, heading: 'Which files' } as const;
}

function writing(summary: string) {
  return { type: 'boolean', summary, heading: 'Writing' } as const;
}

function output(summary: string) {
  return { type: 'boolean', summary, heading: 'Output' } as const;
}
