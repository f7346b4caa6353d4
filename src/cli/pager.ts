import type { Io } from './io.js';
import { sharingCtrlC } from './shared-interrupt.js';

/** Lines that a pager does without: the prompt, and what is said last. */
const BESIDE = 2;

/** Of `less`, which says only `:` to somebody who has never met it. */
const PROMPT = '?e(END) q ends:q ends, Space goes on.';

/** The command that shows a long text on a terminal, as git does; undefined where there is none, or none is wanted. */
export function pagerFor(text: string, io: Io): string | undefined {
  const { env, stdout, self } = io;
  // A guest in another program starts none.
  if (self === undefined || stdout.isTTY !== true || stdout.rows === undefined) return undefined;
  if (env['TERM'] === 'dumb' || isSet(env['NO_PAGER'])) return undefined;
  if (linesOf(text, stdout.columns ?? 80) <= stdout.rows - BESIDE) return undefined;
  const wish = env['MEMFIX_PAGER'] ?? env['PAGER'] ?? 'less';
  return wish.trim() === '' || wish.trim() === 'cat' ? undefined : wish;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function linesOf(text: string, columns: number): number {
  let count = 0;
  for (const line of text.split('\n')) count += Math.max(1, Math.ceil(line.length / columns));
  return count - 1;
}

/** Shows it and waits until the reader has seen enough; false where the pager could not be started, or failed. */
export async function page(command: string, text: string, env: Io['env']): Promise<boolean> {
  const { spawn } = await import('node:child_process');
  const code = await sharingCtrlC(
    () =>
      new Promise<number | null>((done) => {
        const child = spawn(command, {
          shell: true,
          stdio: ['pipe', 'inherit', 'inherit'],
          env: { ...env, LESS: env['LESS'] ?? `FRXPs${PROMPT}$`, LV: env['LV'] ?? '-c' },
        });
        // A reader that has seen enough is no error.
        child.stdin?.on('error', () => undefined);
        child.stdin?.end(text);
        child.once('error', () => done(127));
        child.once('exit', (status) => done(status));
      }),
    (status) => status === null,
  );
  // Without a code it was ended by a signal, as by Ctrl-C: the reader has seen enough.
  return code === 0 || code === null;
}
