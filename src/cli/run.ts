import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { noColor } from '../report/paint.js';
import { didYouMean } from '../text/resemblance.js';
import type { Catalogue } from '../workspace/catalogue.js';
import { Failure } from '../workspace/failure.js';
import { learnSecrets, redacted } from '../workspace/secrets.js';
import { COMMANDS, type CommandName, commandInfo, isCommand } from './commands.js';
import type { Context } from './context.js';
import { behindDoors } from './door.js';
import { EXIT, failureText, Interrupted, type Io, paintFor, widthOf } from './io.js';
import { type OptionName, optionInfo } from './options.js';
import { OTHERS_COMMANDS, OTHERS_STARTS, othersOption, ownedElsewhere } from './others-words.js';
import { ownVersion } from './package.js';

/** What an aborted signal carries: the exit code that the system expects after it. */
export class Stopped extends Error {
  constructor(readonly exitCode: number) {
    super('stopped');
  }
}

/** Runs one command line and answers with its exit code; nothing it is given makes it throw. */
export async function run(
  words: readonly string[],
  outside: Io,
  loadCatalogue: () => Promise<Catalogue>,
): Promise<number> {
  const io = behindDoors(outside);
  try {
    return await dispatch(words, io, loadCatalogue);
  } catch (error) {
    // A signal that ended a child of ours, such as git, is heard only when the event loop gets its turn.
    await new Promise((resume) => setImmediate(resume));
    if (io.signal.aborted) return stopped(io, error instanceof Interrupted ? error.message : 'Interrupted.');
    const failure = error instanceof Failure ? error : internal(error, words);
    learnSecrets(io.env);
    io.stderr.write(redacted(failureText(failure, paintBeforeParsing(words, io), io.stderr)));
    return EXIT.error;
  }
}

function stopped({ stderr, signal }: Io, line: string): number {
  // Alone, it ends the line on which a terminal shows `^C`.
  if (line !== '' || stderr.isTTY === true) stderr.write(`${line}\n`);
  return signal.reason instanceof Stopped ? signal.reason.exitCode : 130;
}

async function dispatch(
  words: readonly string[],
  io: Io,
  loadCatalogue: () => Promise<Catalogue>,
): Promise<number> {
  const ordered = withCommandFirst(words, io);
  // Who comes with a log of a run that died wants to know why, whatever the command is called.
  const [first, ...rest] = /^--(?:oom|snapshot)(?:=|$)/.test(ordered[0] ?? '')
    ? ['check', ...ordered]
    : ordered;
  if (first === undefined) return alone(io, loadCatalogue);
  if (first === '--version' || first === '-V' || first === 'version')
    return print(io, `memfix ${ownVersion()}\n`);
  if (first === '--help' || first === '-h' || first === 'help')
    return print(io, await helpAbout(rest[0], io));
  const isImplied = isForCheck(first, io);
  const name = isImplied ? commandNamed('check', ordered) : commandNamed(first, rest);
  if (name === undefined) throw unknownCommand(first);
  const { Arguments } = await import('./arguments.js');
  const args = Arguments.parse(
    name,
    isImplied ? ownWords(name, 'check', ordered) : ownWords(name, first, rest),
  );
  if (args.flag('help')) return print(io, await helpAbout(name, io));
  if (args.flag('version')) return print(io, `memfix ${ownVersion()}\n`);
  const { Context } = await import('./context.js');
  const context = new Context(io, args, await loadCatalogue());
  if (name !== 'server' && commandInfo(name).options.includes('plugin')) await context.loadPlugins();
  if (args.given.some((each) => WRITES.has(each))) (await import('./output-guard.js')).guardOutputs(context);
  const code = await (await commandOf(name))(context);
  if (LOOKING.has(name)) {
    // A signal that came meanwhile is heard only when the event loop gets its turn.
    await new Promise((resume) => setImmediate(resume));
    io.signal.throwIfAborted();
  }
  return code;
}

/** A person hears about the folder; a script that calls memfix without a word has made a mistake. */
async function alone(io: Io, loadCatalogue: () => Promise<Catalogue>): Promise<number> {
  if (io.stdout.isTTY !== true) {
    io.stderr.write(await helpAbout(undefined, io));
    return EXIT.error;
  }
  const { Arguments } = await import('./arguments.js');
  const { Context } = await import('./context.js');
  const { overview } = await import('./commands/overview.js');
  return overview(new Context(io, Arguments.parse('check', []), await loadCatalogue()));
}

/** `fix` and `check --fix` are what others call `apply`, with `--diff` they mean `diff`; `rule` is what Ruff calls `explain`. */
function commandNamed(word: string, rest: readonly string[]): CommandName | undefined {
  if (['check', 'fix', 'apply'].includes(word) && rest.includes('--diff')) return 'diff';
  if (word === 'fix' || (word === 'check' && rest.includes('--fix'))) return 'apply';
  if (word === 'rule') return 'explain';
  return isCommand(word) ? word : undefined;
}

/** `memfix --no-pager check .`, as git is called: options may stand before the command. */
function withCommandFirst(words: readonly string[], io: Io): readonly string[] {
  const at = words.findIndex((word) => commandNamed(word, []) !== undefined);
  const [before, name] = [words.slice(0, at), words[at]];
  if (at < 1 || name === undefined || existsSync(resolve(io.cwd, name))) return words;
  const isOptions = before.every(
    (word, index) => word.startsWith('-') || takesValue(before[index - 1] ?? ''),
  );
  return isOptions ? [name, ...before, ...words.slice(at + 1)] : words;
}

function takesValue(word: string): boolean {
  const own = Object.values(COMMANDS).flatMap(({ options }): readonly OptionName[] => options);
  const named = own.find((each) => word === `--${each}` || word === `-${optionInfo(each).short}`);
  return named !== undefined && optionInfo(named).type === 'string' && optionInfo(named).optional !== true;
}

/** `memfix .`, `memfix --fix src`: no command, and something that `check` understands, as other tools are called. */
function isForCheck(word: string, io: Io): boolean {
  if (commandNamed(word, []) !== undefined) return false;
  if (word === '-' || word === '--') return true;
  if (!word.startsWith('-')) return existsSync(resolve(io.cwd, word)) || isPattern(word, io);
  const [name = ''] = word.replace(/^--?(?:no-)?/, '').split('=');
  return COMMANDS.check.options.some((each) =>
    word.startsWith('--') ? each === name : optionInfo(each).short === name,
  );
}

/** `src/**` + `/*.py` in quotes, below a folder that is there. */
function isPattern(word: string, { cwd }: Io): boolean {
  const [above] = word.split(/[*?[{]/);
  return above !== word && existsSync(resolve(cwd, (above ?? '').replace(/[^/]*$/, '')));
}

/** Without the words that chose the command, and with our word for git's `--patch`. */
function ownWords(name: CommandName, first: string, rest: readonly string[]): readonly string[] {
  const words = name === first ? rest : rest.filter((word) => word !== '--fix' && word !== '--diff');
  // As in Ruff, a check whose patch is not empty has failed.
  if (name === 'diff' && first === 'check' && !words.includes('--exit-code'))
    return ['--exit-code', ...words];
  if (name !== 'apply') return words;
  return words.map((word) =>
    word === '--patch' ? '--interactive' : word.replace(/^-(\w*)p(\w*)$/, '-$1i$2'),
  );
}

/** Options that may name a file to write. */
const WRITES: ReadonlySet<OptionName> = new Set(['output', 'output-format', 'save-evidence']);

/** Commands that only look at files: interrupted is interrupted, however late. */
const LOOKING: ReadonlySet<CommandName> = new Set(['check', 'diff', 'baseline']);

/** Loaded when it is called: `--help` must not wait for a parser. */
async function commandOf(name: CommandName): Promise<(context: Context) => Promise<number>> {
  switch (name) {
    case 'check':
      return (await import('./commands/check.js')).check;
    case 'apply':
      return (await import('./commands/apply.js')).apply;
    case 'baseline':
      return (await import('./commands/baseline.js')).baseline;
    case 'config':
      return (await import('./commands/config.js')).config;
    case 'completions':
      return (await import('./commands/completions.js')).completions;
    case 'diff':
      return (await import('./commands/diff.js')).diff;
    case 'list':
      return (await import('./commands/list.js')).list;
    case 'explain':
      return (await import('./commands/explain.js')).explain;
    case 'budget':
      return (await import('./commands/budget.js')).budget;
    case 'prove':
      return (await import('./commands/prove.js')).prove;
    case 'migrate':
      return (await import('./commands/migrate.js')).migrate;
    case 'review':
      return (await import('./commands/review.js')).review;
    case 'worker':
      return (await import('./commands/worker.js')).worker;
    case 'server':
      return (await import('./commands/server.js')).server;
    case 'new-transform':
      return (await import('./commands/new-transform.js')).newTransform;
    case 'test-transform':
      return (await import('./commands/test-transform.js')).testTransform;
    case 'trust':
      return (await import('./commands/trust.js')).trust;
    case 'undo':
      return (await import('./commands/undo.js')).undo;
  }
}

/** A paragraph in longer lines is hard to read. */
const WIDEST_HELP = 120;

async function helpAbout(name: string | undefined, io: Io): Promise<string> {
  const { fitted, helpFor, overview } = await import('./help.js');
  const width = Math.min(widthOf(io.stdout, io.stderr), WIDEST_HELP);
  if (name === undefined) return fitted(overview(), width);
  const command = commandNamed(name, []);
  if (command === undefined) throw unknownCommand(name);
  return fitted(helpFor(command), width);
}

const NEXT = 'Run `memfix --help` to see what there is; `memfix check` is where to begin.';

function unknownCommand(word: string): Failure {
  const known = Object.keys(COMMANDS);
  if (word.startsWith('-')) {
    const [option = word] = word.split('=');
    const hint = OTHERS_STARTS.get(option) ?? othersOption(option) ?? ownedElsewhere(option, 'check') ?? '';
    return new Failure('Unknown option', `\`${option}\` is no option of memfix.${hint}`, NEXT);
  }
  const own = OTHERS_COMMANDS.get(word);
  if (word.startsWith('!'))
    return new Failure(
      'Unknown command',
      `\`${word}\` is no command. Did you mean \`--exclude ${word.slice(1)}\`?`,
      NEXT,
    );
  if (/[/\\]|\.(?:py|ipynb)$/.test(word))
    return new Failure('Path not found', `\`${word}\` does not exist, and is no command.`, NEXT);
  return new Failure(
    'Unknown command',
    `\`${word}\` is no command.${OTHERS_STARTS.get(word) ?? ''}${own === undefined ? didYouMean(word, known) : ` Did you mean \`memfix ${own}\`?`}`,
    NEXT,
  );
}

function internal(error: unknown, words: readonly string[]): Failure {
  const isVerbose = words.includes('-v') || words.includes('--verbose');
  const told =
    error instanceof Error
      ? ((isVerbose ? error.stack : undefined) ?? `${error.name}: ${error.message}`)
      : String(error);
  return new Failure(
    'Internal error',
    told,
    isVerbose ? 'Please report this.' : 'Please report this; add `-v` for details.',
  );
}

/** A failure may be about the very words that choose the colour. */
function paintBeforeParsing(words: readonly string[], io: Io) {
  const isNever =
    words.includes('--color=never') ||
    words.includes('--no-color') ||
    words[words.indexOf('--color') + 1] === 'never';
  return isNever ? noColor : paintFor('auto', io.env, io.stderr);
}

function print(io: Io, text: string): number {
  io.stdout.write(text);
  return EXIT.clean;
}
