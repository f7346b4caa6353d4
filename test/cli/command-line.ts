import { PassThrough, Readable } from 'node:stream';
import type { Io } from '../../src/cli/io.js';
import { run } from '../../src/cli/run.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { catalogueOf } from '../../src/workspace/catalogue.js';
import { TOYS } from './toys.js';

export interface Setting {
  readonly cwd: string;
  readonly stdin?: string | Uint8Array;
  readonly env?: Io['env'];
  /** Which streams are terminals. */
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly transforms?: readonly Transform[];
  readonly signal?: AbortSignal;
  /** Is told at once what goes to standard error. */
  hears?(text: string): void;
  /** Names the code that runs; without it, memfix is a guest and remembers nothing. */
  readonly build?: string;
}

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as bytes. */
  readonly data: Buffer;
}

/** Runs a command line in this process, on toy transforms and streams in memory. */
export async function memfix(setting: Setting, ...words: readonly string[]): Promise<Answer> {
  const stdout = sink();
  const stderr = sink();
  if (setting.hears !== undefined) {
    const write = stderr.stream.write.bind(stderr.stream);
    stderr.stream.write = (chunk: unknown) => {
      setting.hears?.(String(chunk));
      return write(chunk);
    };
  }
  const is = (name: 'stdin' | 'stdout' | 'stderr') => setting.terminals?.includes(name) === true;
  const code = await run(
    words,
    {
      cwd: setting.cwd,
      env: {
        MEMFIX_PARSER: process.env['MEMFIX_PARSER'],
        MEMFIX_STATE_DIR: process.env['MEMFIX_STATE_DIR'],
        ...setting.env,
      },
      stdin: Object.assign(Readable.from([Buffer.from(setting.stdin ?? '')]), { isTTY: is('stdin') }),
      stdout: Object.assign(stdout.stream, { isTTY: is('stdout') }),
      stderr: Object.assign(stderr.stream, { isTTY: is('stderr') }),
      signal: setting.signal ?? new AbortController().signal,
      ...(setting.build !== undefined && { self: { build: async () => setting.build ?? '' } }),
    },
    async () => catalogueOf(setting.transforms ?? TOYS),
  );
  const data = stdout.read();
  return { code, stdout: data.toString(), stderr: stderr.read().toString(), data };
}

function sink() {
  const stream = new PassThrough({ highWaterMark: 256 * 1024 * 1024 });
  return { stream, read: (): Buffer => (stream.read() as Buffer | null) ?? Buffer.alloc(0) };
}
