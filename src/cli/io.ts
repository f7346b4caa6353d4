import type { Readable } from 'node:stream';
import { inColor, noColor, type Paint } from '../report/paint.js';
import { wrap } from '../report/prose.js';
import { Failure } from '../workspace/failure.js';

interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** Where words go. */
export interface Outlet extends Terminal {
  write(data: string | Uint8Array): unknown;
}

/** Everything a command touches of the process, so that a test can hand it something else. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & Terminal;
  readonly stdout: Outlet;
  readonly stderr: Outlet;
  /** Standard error itself, for a session that draws on it. */
  readonly screen?: Outlet;
  /** Aborted by Ctrl-C and its kin. */
  readonly signal: AbortSignal;
  /** Absent where memfix is a guest in another program: then it keeps to one thread and remembers nothing. */
  readonly self?: Self;
}

/** The running program. */
export interface Self {
  /** What a thread or a child of it starts with. */
  readonly entry?: URL;
  /** Tells this code from any other version of it. */
  build(): Promise<string>;
}

/** A signal ended a command that has more to say about it than that: one line. */
export class Interrupted extends Error {}

export const EXIT = { clean: 0, findings: 1, error: 2 } as const;

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

/** Wide enough for prose where nobody can say how wide the terminal is. */
const DEFAULT_WIDTH = 100;
const NARROWEST = 40;

/** An explicit flag wins, then FORCE_COLOR, then NO_COLOR; else a terminal that can show it. */
export function wantsColor(choice: ColorChoice, env: Io['env'], stream: Terminal): boolean {
  if (choice !== 'auto') return choice === 'always';
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export function paintFor(choice: ColorChoice, env: Io['env'], stream: Terminal): Paint {
  return wantsColor(choice, env, stream) ? inColor : noColor;
}

export function widthOf(stream: Terminal, beside: Terminal = {}): number {
  // What is piped is mostly read in the terminal that it is typed in.
  const piped = Math.min(beside.columns ?? DEFAULT_WIDTH, DEFAULT_WIDTH);
  return Math.max(NARROWEST, stream.columns ?? piped);
}

/** A failure as the user reads it: title, detail, next step. A terminal gets no line that it would have to break. */
export function failureText({ title, detail, next }: Failure, paint: Paint, stream: Terminal): string {
  const width = stream.isTTY === true ? widthOf(stream) : Infinity;
  const lines = (text: string, first: string, rest: string) => wrap(text, width, { first, rest });
  const told = detail.split('\n').flatMap((line) => {
    const indent = `  ${/^ */.exec(line)?.[0] ?? ''}`;
    return line.trim() === '' || width === Infinity ? [`  ${line}`] : lines(line.trim(), indent, indent);
  });
  const [step = '', ...more] = width === Infinity ? [`  Next: ${next}`] : lines(next, '  Next: ', '  ');
  return [
    paint.red(paint.bold(`memfix: ${title}`)),
    ...told,
    step.replace('Next:', paint.bold('Next:')),
    ...more,
    '',
  ].join('\n');
}

export async function readAll(stdin: Readable, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const stop = () => stdin.destroy(new Error('interrupted'));
  signal.addEventListener('abort', stop);
  try {
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  } catch (error) {
    signal.throwIfAborted();
    throw new Failure(
      'Standard input could not be read',
      error instanceof Error ? error.message : String(error),
      'Pipe a Python file into memfix, or name it instead of `-`.',
    );
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
