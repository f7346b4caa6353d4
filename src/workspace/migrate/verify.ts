import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Offer } from '../../report/migrate/offer.js';
import type { Verified } from '../../report/migrate/record.js';
import { provenCommand } from '../../report/migrate/verify-words.js';
import { endingWords } from '../../report/prove/record.js';
import { Failure } from '../failure.js';
import { type Finished, runToEnd } from '../prove/child.js';
import { readOutput, redactOutput } from '../prove/output.js';
import type { Enclosure } from './enclosure.js';
import { MARK } from './git.js';
import { BASE_TREE, type Mirror } from './mirror.js';
import { proven } from './proof.js';
import { Unverifiable } from './setback.js';

/** How the fixes of a repository are tried before they are committed; `verify` says it in words. */
type Check =
  | { readonly kind: 'command'; readonly command: string }
  /** Python compiles the files that change. */
  | { readonly kind: 'compileall' }
  /** The command runs with and without the fixes, and what it does decides about each. */
  | { readonly kind: 'proof'; readonly command: string };

function checkIn(words: string): Check {
  if (words === 'compileall') return { kind: 'compileall' };
  const command = provenCommand(words);
  return command === undefined ? { kind: 'command', command: words } : { kind: 'proof', command };
}

/** What is tried, on what, and with what. */
export interface Trying {
  readonly words: string;
  readonly base: string;
  readonly commit: string;
  /** What was planned, fix by fix. */
  readonly offers: readonly Offer[];
  readonly tree: string;
  readonly mirror: Mirror;
  readonly log: string;
  /** Seconds that the command may take. */
  readonly timeout: number;
  readonly enclosure: Enclosure;
  /** Names the processes that work for this repository. */
  readonly mark: string;
  readonly signal: AbortSignal;
}

/** Tries the fixes; a failure says why they may not be committed. */
export async function verified(trying: Trying): Promise<Verified> {
  mkdirSync(dirname(trying.log), { recursive: true });
  rmSync(baseOf(trying).log, { force: true });
  const check = checkIn(trying.words);
  try {
    if (check.kind === 'proof') return await proven(trying, check.command, headingOf(trying));
    return check.kind === 'command' ? await succeeded(trying, check.command) : await compiled(trying);
  } finally {
    trying.mirror.takeBack(trying.tree);
  }
}

/** A work tree, and where the output of a command in it goes. */
type Place = Pick<Trying, 'tree' | 'log'>;

/** Where the command runs without the fixes. */
function baseOf({ tree, log }: Place): Place {
  return { tree: `${tree}${BASE_TREE}`, log: log.replace(/(?=\.log$)/, '.base') };
}

async function succeeded(trying: Trying, command: string): Promise<Verified> {
  const { words, base, commit, tree, mirror } = trying;
  await mirror.lend(commit, tree, base);
  const run = (place: Place) => attempt(trying, ['sh', '-c', command], place);
  const fixed = await run(trying);
  if (isSuccess(fixed)) return { commit, command: words, seconds: fixed.seconds };
  throw failing(trying, fixed, await onBase(trying, run));
}

/** Does something in a work tree of the base, which is gone afterwards. */
async function onBase<T>(trying: Trying, work: (place: Place) => Promise<T>): Promise<T> {
  const { base, mirror } = trying;
  const place = baseOf(trying);
  try {
    await mirror.lend(base, place.tree);
    return await work(place);
  } finally {
    mirror.removeTree(place.tree);
  }
}

async function attempt(
  trying: Trying,
  command: readonly string[],
  { tree, log }: Place,
  readable: readonly string[] = [],
): Promise<Finished> {
  const { mirror, enclosure, mark, timeout, signal } = trying;
  const places = { cwd: tree, readable: [mirror.objects, ...readable], writable: [tree] };
  return await runToEnd({
    command: enclosure.enclose(command, places),
    cwd: tree,
    env: { ...enclosure.env, [MARK]: mark },
    mark: MARK,
    log,
    heading: headingOf(trying),
    timeout,
    signal,
  }).finally(() => redactOutput(log));
}

function isSuccess({ ending }: Finished): boolean {
  return ending.kind === 'exited' && ending.code === 0;
}

function howEnded({ ending }: Finished): string {
  return `${ending.kind === 'exited' ? 'exit ' : ''}${endingWords(ending)}`;
}

/** A command that fails without the fixes, too, says nothing about them. */
function failing(trying: Trying, fixed: Finished, before: Finished): Failure {
  const { words, log, enclosure } = trying;
  const base = baseOf(trying);
  const said = lastWords(trying, isSuccess(before) ? log : base.log);
  const ends = `\`${words}\`: ${howEnded(fixed)} with the fixes, ${howEnded(before)} without them`;
  if (isSuccess(before))
    return new Failure(
      'The verify command fails with the fixes, and only with them',
      `${ends}${said}`,
      `See ${log}, and reject what breaks it with \`memfix review\`, or correct the command.${enclosure.hint}`,
    );
  return new Unverifiable(
    'The verify command fails without the fixes, too',
    `${ends}${said}`,
    `See ${base.log}, and correct the command or what it needs: as it is, nothing can be verified there.${enclosure.hint}`,
  );
}

/** Of the command itself, to follow a line. */
function lastWords(trying: Trying, log: string): string {
  const lines = readOutput(log).tail.split('\n');
  const own = lines.filter((line) => line !== headingOf(trying)).join('\n');
  return own === '' ? '' : `\n${own}`;
}

/** The first line of a log: in what surroundings the command ran. */
function headingOf({ words, enclosure }: Trying): string {
  return `# memfix: \`${words.replaceAll(/\s+/g, ' ')}\` ${enclosure.words}`;
}

/** Python with these words. Isolated: a module of the repository with the name of a standard one is not run. */
function python(...words: readonly string[]): readonly string[] {
  const found = '"$(command -v python3 || command -v python || echo python3)"';
  return ['sh', '-c', `exec ${found} -I "$@"`, 'sh', ...words];
}

/** Compiles files, and fails only where a file compiles without the fixes. Writes nothing. */
const COMPILE_BESIDE = `
import os, sys, traceback
base, *paths = sys.argv[1:]
def problem(path):
    try:
        with open(path, 'rb') as file:
            compile(file.read(), path, 'exec', dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
ours = False
for path in paths:
    now = problem(path)
    if now is None:
        continue
    if problem(os.path.join(base, path)) is not None:
        print(path + ': it did not compile without the fixes either')
        continue
    traceback.print_exception(type(now), now, None)
    ours = True
sys.exit(1 if ours else 0)
`;

/** What was broken before is none of our business: only what changes is compiled, and compared with the base. */
async function compiled(trying: Trying): Promise<Verified> {
  const { words, base, commit, tree, log, mirror, enclosure } = trying;
  const files = (await mirror.changed(base, commit)).filter((path) => path.endsWith('.py'));
  await mirror.lend(commit, tree, base);
  const alone = await attempt(trying, python('-m', 'compileall', '-q', '--', ...files), trying);
  if (isSuccess(alone)) return { commit, command: words, seconds: alone.seconds };
  const beside = await onBase(trying, (place) =>
    attempt(trying, python('-c', COMPILE_BESIDE, place.tree, ...files), trying, [place.tree]),
  );
  const seconds = alone.seconds + beside.seconds;
  if (isSuccess(beside)) return { commit, command: words, seconds };
  throw new Failure(
    'Files do not compile with the fixes, and only with them',
    `\`${words}\`: ${howEnded(beside)}${lastWords(trying, log)}`,
    `See ${log}, and reject what breaks them with \`memfix review\`.${enclosure.hint}`,
  );
}
