import { isAbsolute } from 'node:path';
import { parseArgs } from 'node:util';
import { shellWord } from '../report/prose.js';
import { didYouMean } from '../text/resemblance.js';
import { codeOf, Failure } from '../workspace/failure.js';
import type { Since } from '../workspace/git.js';
import type { Request } from '../workspace/project.js';
import { isVersion, TARGETS } from '../workspace/targets.js';
import { type CommandName, commandInfo } from './commands.js';
import { COLOR_CHOICES, type ColorChoice } from './io.js';
import { type OptionName, optionInfo } from './options.js';
import { othersOption, ownedElsewhere } from './others-words.js';

/** What `check`, `diff` and `apply` all understand, and that changes what is found. */
const AIMING: readonly OptionName[] = [
  ...(['select', 'extend-select', 'ignore', 'fixable', 'unfixable', 'changed', 'staged', 'since'] as const),
  ...([
    'whole-files',
    'exclude',
    'force-exclude',
    'config',
    'isolated',
    'target-version',
    'strict-config',
    'plugin',
    'baseline',
  ] as const),
  ...(['stdin-filename', 'oom', 'snapshot'] as const),
];

/** Of these, what gives way to the name of one transform. */
const CHOOSING: readonly OptionName[] = ['select', 'extend-select', 'ignore', 'fixable', 'stdin-filename'];

/** Of these, what leaves findings out of a run. */
const LIMITING: readonly OptionName[] = [
  ...([
    'select',
    'ignore',
    'fixable',
    'unfixable',
    'changed',
    'staged',
    'since',
    'exclude',
    'baseline',
  ] as const),
];

/** A name for the file that a piped log is to be saved in. */
const PIPED_LOG = 'train.log';

/** Nobody reads more than that in the middle of a sentence. */
const LONGEST_AIM = 100;

/** The words of one command line, understood as far as their spelling goes. */
export class Arguments {
  private constructor(
    readonly command: CommandName,
    readonly operands: readonly string[],
    /** The words after `--`, for a command that runs another; undefined without `--`. */
    readonly rest: readonly string[] | undefined,
    private readonly values: Readonly<Record<string, unknown>>,
  ) {}

  static parse(command: CommandName, words: readonly string[]): Arguments {
    const names = commandInfo(command).options;
    const options = Object.fromEntries(
      names.map((name) => {
        const { type, short, list, repeats } = optionInfo(name);
        return [name, { type, ...(short && { short }), ...((list || repeats) && { multiple: true }) }];
      }),
    );
    const end = commandInfo(command).runsAnother === true ? words.indexOf('--') : -1;
    const own = end === -1 ? words : words.slice(0, end);
    try {
      const { values, positionals } = parseArgs({
        args: withEmptyValues(own, names),
        options,
        allowPositionals: true,
        allowNegative: true,
      });
      return new Arguments(command, positionals, end === -1 ? undefined : words.slice(end + 1), values);
    } catch (error) {
      throw misspelt(error, command, names);
    }
  }

  /** The same options for other paths. */
  about(...operands: readonly string[]): Arguments {
    return new Arguments(this.command, operands, this.rest, this.values);
  }

  /** The same with more transforms. */
  extending(names: string): Arguments {
    return new Arguments(this.command, this.operands, this.rest, {
      ...this.values,
      'extend-select': [names],
    });
  }

  flag(name: OptionName): boolean {
    return this.values[name] === true;
  }

  /** For an option that can also be denied: undefined when it was not mentioned. */
  choice(name: OptionName): boolean | undefined {
    const value = this.values[name];
    return typeof value === 'boolean' ? value : undefined;
  }

  /** The last one, where it was given more than once. */
  text(name: OptionName): string | undefined {
    const value = Array.isArray(this.values[name]) ? this.each(name).at(-1) : this.values[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** What each mention says, for an option that may be given more than once. */
  each(name: OptionName): readonly string[] {
    const value = this.values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** The items of all mentions, split at commas; undefined when it was not mentioned. */
  list(name: OptionName): readonly string[] | undefined {
    const value = this.values[name];
    if (!Array.isArray(value)) return undefined;
    return value.flatMap((item) => String(item).split(',')).flatMap((item) => item.trim() || []);
  }

  oneOf<T extends string>(name: OptionName, choices: readonly T[], otherwise: T): T {
    const value = this.text(name);
    if (value === undefined) return otherwise;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    throw this.misuse(
      `\`--${name}\` cannot be \`${value}\`: it is one of ${choices.join(', ')}.${didYouMean(value, choices)}`,
    );
  }

  /** The options that were mentioned. */
  get given(): readonly OptionName[] {
    return commandInfo(this.command).options.filter((name) => this.values[name] !== undefined);
  }

  get color(): ColorChoice {
    return this.oneOf('color', COLOR_CHOICES, 'auto');
  }

  /** The log of `--oom` came through a pipe. */
  get isLogPiped(): boolean {
    return this.text('oom') === '-';
  }

  get readsStdin(): boolean {
    return this.operands.includes('-');
  }

  /** The words that choose files and transforms, for a command that goes on from here: it is to do what was said. */
  get aim(): string {
    return short([...this.#words(AIMING), ...(this.readsStdin ? ['-'] : this.operands.map(shellWord))]);
  }

  /** The same for a command that names its file and its transform. */
  get terms(): string {
    return short(this.#words(AIMING.filter((name) => !CHOOSING.includes(name))));
  }

  /** The words that choose transforms, for a command that takes them as this one does. */
  get chosen(): string {
    return short(this.#words(['select', 'extend-select', 'ignore']));
  }

  /** The words that keep findings out of what is told. */
  get limits(): string {
    return short(this.#words(LIMITING));
  }

  /** The same command once more, with words that it lacked: all that was said stays said. */
  again(...more: readonly string[]): string {
    const words = [...this.operands.map(shellWord), ...more, ...this.#words(this.given)];
    return `memfix ${[this.command, ...words].join(' ')}`;
  }

  #words(names: readonly OptionName[]): readonly string[] {
    return names.flatMap((name) => {
      const value = this.values[name];
      if (value === undefined) return [];
      if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
      return [value].flat().map((each) => {
        // A log that was piped is gone: the command that goes on from here reads a file.
        const words = name === 'oom' && each === '-' ? PIPED_LOG : String(each);
        if (optionInfo(name).optional !== true) return `--${name} ${shellWord(words)}`;
        return words === '' ? `--${name}` : `--${name}=${shellWord(words)}`;
      });
    });
  }

  misuse(detail: string): Failure {
    return new Failure('Wrong usage', detail, `Run \`memfix ${this.command} --help\` to see what there is.`);
  }

  /** What these words ask of the workspace. `env`: where environments of Python are named. */
  request(cwd: string, env: Readonly<Record<string, string | undefined>>): Request {
    const since = this.#since();
    const select = this.list('select');
    const fixable = this.list('fixable');
    const exclude = this.list('exclude');
    const unsafeFixes = this.choice('unsafe-fixes');
    // Whoever ran out of memory wants to hear of everything that would help.
    const isInNeed = this.text('oom') !== undefined || this.text('snapshot') !== undefined;
    const config = this.text('config');
    const targetVersions = this.#targetVersions();
    const environments = [env['VIRTUAL_ENV'], env['CONDA_PREFIX']].filter((each) => each !== undefined);
    if (this.operands.includes(''))
      throw this.misuse(
        'One of the paths is empty, as by a variable that is not set; `.` is the folder you are in.',
      );
    if (config !== undefined && /^[\w.-]+ *=/.test(config))
      throw this.misuse('`--config` takes a file; settings have options of their own, such as `--select`.');
    if (config !== undefined && this.flag('isolated')) {
      throw this.misuse('`--config` names a config file and `--isolated` asks for none.');
    }
    if (this.text('stdin-filename') !== undefined && !this.readsStdin) {
      throw this.misuse(
        '`--stdin-filename` names the text on standard input; give `-` as the path to read it.',
      );
    }
    return {
      cwd,
      paths: this.readsStdin ? [this.text('stdin-filename') ?? '.'] : this.operands,
      isolated: this.flag('isolated'),
      extendSelect: [
        ...(this.list('extend-select') ?? []),
        ...(isInNeed && select === undefined ? ['all'] : []),
      ],
      ignore: this.list('ignore') ?? [],
      unfixable: this.list('unfixable') ?? [],
      ...(config !== undefined && { config }),
      ...(select && { select }),
      ...(fixable && { fixable }),
      ...(unsafeFixes !== undefined && { unsafeFixes }),
      ...(since && { since }),
      ...(exclude && { exclude }),
      ...(this.flag('force-exclude') && { forcesExclude: true }),
      ...(targetVersions.size > 0 && { targetVersions }),
      ...(environments.length > 0 && { environments: environments.filter(isAbsolute) }),
      ...(this.flag('strict-config') && { isTarget: true }),
    };
  }

  #targetVersions(): ReadonlyMap<string, string> {
    return new Map(
      (this.list('target-version') ?? []).map((word) => {
        const [name = '', version = '', ...more] = word.split('=').map((part) => part.trim());
        if (!TARGETS.some((each) => each === name)) {
          const python = /^py(\d)(\d+)$/.exec(name);
          const hint =
            python === null
              ? didYouMean(name, TARGETS)
              : ` Did you mean \`python=${python[1]}.${python[2]}\`?`;
          const known = `Known: ${TARGETS.join(', ')}.${hint}`;
          throw this.misuse(`\`--target-version\` knows no package \`${name}\`. ${known}`);
        }
        if (more.length === 0 && isVersion(version)) return [name, version];
        throw this.misuse(`\`--target-version ${word}\` names no version: write \`${name}=2.4\`.`);
      }),
    );
  }

  #since(): Since | undefined {
    const given = (['changed', 'staged', 'since'] as const).filter((name) => this.values[name] !== undefined);
    const [kind, another] = given;
    if (another !== undefined) throw this.misuse(`\`--${kind}\` and \`--${another}\` cannot be combined.`);
    const wholeFiles = this.flag('whole-files');
    if (wholeFiles && kind !== 'since')
      throw this.misuse('`--whole-files` goes with `--since`, which else looks at changed lines only.');
    if (kind === 'since') return { kind, revision: this.text('since') ?? '', wholeFiles };
    return kind === undefined ? undefined : { kind };
  }
}

function short(words: readonly string[]): string {
  const text = words.join(' ');
  return text.length > LONGEST_AIM ? '…' : text;
}

/** `--name` for `--name=`, where the value may be left out: the word after it is none; and `--no-color`. */
function withEmptyValues(words: readonly string[], names: readonly OptionName[]): string[] {
  const end = words.indexOf('--');
  return words.map((word, index) =>
    word === '--no-color' && (end === -1 || index < end)
      ? '--color=never'
      : word === '--color' && !/^[^-./][^./]*$/.test(words[index + 1] ?? '')
        ? '--color=always'
        : (end === -1 || index < end) &&
            names.some((name) => optionInfo(name).optional && word === `--${name}`)
          ? `${word}=`
          : word,
  );
}

function misspelt(error: unknown, command: CommandName, names: readonly OptionName[]): Error {
  if (!(error instanceof Error) || codeOf(error)?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
  const next = `Run \`memfix ${command} --help\` to see what there is.`;
  const typed = /^Unknown option '(-[^']*)'/.exec(error.message)?.[1];
  if (typed !== undefined) {
    const known = names.map((name) => `--${name}`);
    const hint =
      othersOption(typed, command) ??
      ownedElsewhere(typed, command) ??
      (typed.startsWith('--') ? didYouMean(typed, known) : '');
    return new Failure('Unknown option', `\`${typed}\` is no option of \`memfix ${command}\`.${hint}`, next);
  }
  const [sentence = error.message] = error.message.split('\n');
  if (/^Option '--oom /.test(sentence))
    return new Failure(
      'Wrong usage',
      '`--oom` needs the log of the run that failed.',
      'Give it a file, `memfix --oom train.log`, or `-` for standard input: `python train.py 2>&1 | memfix --oom -`.',
    );
  return new Failure('Wrong usage', sentence.replaceAll("'", '`'), next);
}
