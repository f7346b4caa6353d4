import type { OptionInfo } from './option-info.js';
import type { OptionName } from './options.js';

/** A command as its help tells it. What it does lives in `commands/<name>.ts`, loaded when it is called. */
export interface CommandInfo {
  readonly summary: string;
  readonly operands: string;
  /** What stands after `--` is a command line of its own. */
  readonly runsAnother?: true;
  /** A few sentences for the command's own help. */
  readonly about: string;
  readonly options: readonly OptionName[];
  /** What an option means to this command, where another one has it for something else. */
  readonly own?: Readonly<Partial<Record<OptionName, Pick<OptionInfo, 'summary' | 'heading'>>>>;
  /** Of `--output-format`, the default first. */
  readonly formats?: readonly string[];
  /** Command line, and what it does. */
  readonly examples: readonly (readonly [string, string])[];
}

export const EVERYWHERE = ['color', 'pager', 'help', 'version'] as const satisfies readonly OptionName[];

export const SCAN = [
  ...['select', 'extend-select', 'ignore', 'fixable', 'unfixable', 'unsafe-fixes'],
  ...['changed', 'staged', 'since', 'whole-files', 'exclude', 'force-exclude', 'stdin-filename', 'output'],
  ...[
    'quiet',
    'verbose',
    'config',
    'isolated',
    'plugin',
    'target-version',
    'strict-config',
    'cache',
    'cache-dir',
    'strict',
    ...EVERYWHERE,
  ],
] as const satisfies readonly OptionName[];
