import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { Ending } from '../../report/prove/record.js';
import { textOf } from '../bounded.js';
import { codeOf, Failure } from '../failure.js';

import { BoundedLog } from './log.js';

/** A command to run to its end, with everything it starts. */
export interface Errand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A variable of `env` whose value no other process has: by it the command's processes are known. */
  readonly mark: string;
  /** Where its output goes: all of it, or the two ends where it is long. */
  readonly log: string;
  /** What to look for in all of its output. */
  readonly metric?: RegExp;
  /** The first line there. */
  readonly heading?: string;
  /** Seconds it may take. */
  readonly timeout?: number;
  readonly signal: AbortSignal;
}

/** Where a command in a sandbox runs, and what it sees there that is otherwise hidden. */
export interface Places {
  readonly cwd: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** The command that runs a command in a sandbox. */
export type Enclose = (command: readonly string[], places: Places) => readonly string[];

export interface Finished {
  readonly ending: Ending;
  readonly seconds: number;
  /** What the metric found, in order. */
  readonly logged: readonly number[];
}

/** Between asking a command to end and ending it. */
const GRACE = 5000;
/** For the last output of a command that has ended. Who has got away from it may hold its output open for ever. */
const LAST_WORDS = 1000;
/** More processes than this of one command are a contest that nobody wins. */
const MOST_ENDED = 100_000;
/** A millisecond each, for those that are just becoming another program. */
const MOST_LOOKS = 100;

/** Runs it in a process group of its own, of which nothing is left afterwards, however it ends. */
export async function runToEnd(errand: Errand): Promise<Finished> {
  const { command, cwd, env, log, timeout, signal } = errand;
  signal.throwIfAborted();
  checkStartable(command, cwd, env['PATH']);
  const [program = '', ...words] = inOneStream(command);
  const output = new BoundedLog(log, errand.metric);
  if (errand.heading !== undefined) output.write(Buffer.from(`${errand.heading}\n`));
  const started = performance.now();
  const child = spawn(program, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) output.follow(stream);
  const silent = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ended = endOf(child);
  const stop = new AbortController();
  const timer = timeout === undefined ? undefined : setTimeout(() => stop.abort(), timeout * 1000);
  const onExit = () => sweep(child, errand);
  process.on('exit', onExit);
  const halted = AbortSignal.any([signal, stop.signal]);
  const halt = () => void terminate(child, errand, ended);
  halted.addEventListener('abort', halt);
  let logged: readonly number[] = [];
  let ending: Ending;
  let seconds: number;
  try {
    ending = await ended;
    seconds = (performance.now() - started) / 1000;
  } finally {
    clearTimeout(timer);
    halted.removeEventListener('abort', halt);
    process.off('exit', onExit);
    sweep(child, errand);
    await withPatience(silent, LAST_WORDS);
    child.stdout.destroy();
    child.stderr.destroy();
    logged = output.close();
  }
  signal.throwIfAborted();
  const isLate = stop.signal.aborted;
  return { ending: isLate ? { kind: 'timed out', seconds: timeout ?? 0 } : ending, seconds, logged };
}

/** Both of its outputs come in the order in which they are written. */
function inOneStream(command: readonly string[]): readonly string[] {
  return process.platform === 'win32' ? command : ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...command];
}

/** As the system looks for a program. */
function checkStartable(command: readonly string[], cwd: string, path = '/usr/bin:/bin'): void {
  if (process.platform === 'win32') return;
  const [program = ''] = command;
  const folders = program.includes('/') ? [''] : path.split(delimiter);
  const found = folders.map((folder) => resolve(cwd, folder, program)).filter(isFile);
  if (found.length === 0) throw notFound(command);
  if (!found.some(isExecutable)) throw notExecutable(program);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed', signal }),
    );
  });
}

function notExecutable(program: string): Failure {
  return new Failure(
    'The command cannot be run',
    `\`${program}\` may not be executed`,
    'Make it executable, or name the program that runs it, such as `python` or `bash`.',
  );
}

function notFound([program = '', ...words]: readonly string[]): Failure {
  const isOneWord = words.length === 0 && program.includes(' ');
  return new Failure(
    'Command not found',
    `there is no program \`${program}\``,
    isOneWord
      ? 'Leave the quotes out, so that the command comes in words; for pipes and variables use `sh -c`.'
      : 'Check the spelling, and that it is on the PATH or in the tree; what git ignores may need `--link`.',
  );
}

/** Politely first: a launcher then ends its own workers. */
async function terminate(child: ChildProcess, errand: Errand, ended: Promise<Ending>): Promise<void> {
  send(-(child.pid ?? 0), 'SIGTERM');
  await withPatience(ended, GRACE);
  sweep(child, errand);
}

/** Waits for something, so many milliseconds at most. */
async function withPatience(something: Promise<unknown>, most: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, most);
  });
  await Promise.race([something, patience]);
  clearTimeout(timer);
}

/** The group, and where the system shows it also whoever has left the group but still carries our mark. */
function sweep(child: ChildProcess, errand: Errand): void {
  if (child.pid === undefined) return;
  send(-child.pid, 'SIGKILL');
  endMarked(`${errand.mark}=${errand.env[errand.mark]}`);
}

/**
 * Ends every process with an environment variable that starts so, where the system shows them. Looks again until there is
 * twice no new one, and none of which it cannot say: who is about to end may just have started another.
 */
export function endMarked(start: string): void {
  if (textOf('/proc/self/environ') === undefined) return;
  const ended = new Set<string>();
  for (let looks = 0, quiet = 0; quiet < 2 && looks < MOST_LOOKS && ended.size < MOST_ENDED; ) {
    const others = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && Number(name) !== process.pid && !ended.has(name),
    );
    const answers = others.map((name) => ({ name, isMarked: isMarked(name, start) }));
    const found = answers.filter(({ isMarked }) => isMarked === true);
    for (const { name } of found) send(Number(name), 'SIGKILL');
    for (const { name } of found) ended.add(name);
    quiet = answers.every(({ isMarked }) => isMarked === false) ? quiet + 1 : 0;
    if (found.length > 0) continue;
    looks += 1;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** Undefined of one that is just becoming another program: it has memory, and no place for variables yet. */
function isMarked(pid: string, start: string): boolean | undefined {
  const variables = textOf(`/proc/${pid}/environ`)?.split('\0');
  if (variables?.some((variable) => variable.startsWith(start)) === true) return true;
  if (variables?.join('') !== '') return false;
  // What stands behind the name, from the third field on (proc_pid_stat(5)).
  const fields = textOf(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ') ?? [];
  const [memory, endOfVariables] = [fields[20], fields[48]];
  return memory !== '0' && endOfVariables === '0' ? undefined : false;
}

/** A process that is gone already needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}
