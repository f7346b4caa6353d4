export type Heading =
  | 'Repositories'
  | 'Runs'
  | 'Model'
  | 'Training'
  | 'GPUs'
  | 'Figures of your own'
  | 'Which fixes'
  | 'Which files'
  | 'Which findings'
  | 'Out of memory'
  | 'Writing'
  | 'Output'
  | 'Config'
  | 'Other';

/** One option of the command line: how it is parsed, and the line of help that explains it. */
export interface OptionInfo {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  /** May be given more than once; each may be a comma-separated list. */
  readonly list?: true;
  /** May be given more than once, and each counts as it is. */
  readonly repeats?: true;
  /** The value may be left out: `--name` or `--name=VALUE`. */
  readonly optional?: true;
  /** What stands for the value in the help. */
  readonly value?: string;
  /** Shown instead of the name where the option can also be denied. */
  readonly shown?: string;
  readonly summary: string;
  readonly heading: Heading;
}
