import { isMainThread } from 'node:worker_threads';
import { forTerminal } from '../report/terminal.js';
import type { LoadTransforms } from '../workspace/catalogue.js';
import { codeOf } from '../workspace/failure.js';
import { startBriefly, stopGrowing } from '../workspace/tuning.js';
import { PLANNING } from './child-words.js';
import type { Outlet } from './io.js';
import { outlet } from './outlet.js';
import { run, Stopped } from './run.js';

const SIGNALS = [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
] as const;

/** Commands that end as soon as they have looked at files. */
const LOOKING: ReadonlySet<string | undefined> = new Set(['check', 'apply', 'fix', 'diff', 'baseline']);

/** memfix as a process: the real streams, signals and exit code around one command line. `entry` is the program's file. */
export async function runProcess(loadTransforms: LoadTransforms, entry: string): Promise<void> {
  const catalogue = async () =>
    (await import('../workspace/catalogue.js')).catalogueBeside(entry, loadTransforms);
  if (isThread()) {
    stopGrowing();
    return (await import('../workspace/worker.js')).serve(await catalogue());
  }
  // Threads of a checkout would have to compile TypeScript first.
  const self = {
    ...(entry.endsWith('.js') && { entry: new URL(entry) }),
    build: async () => (await import('./remembering.js')).buildOf(entry),
  };
  if (process.argv[2] === PLANNING && process.connected)
    return (await import('./planning.js')).planFor(
      Number(process.argv[3]),
      { self, env: process.env },
      await catalogue(),
    );
  if (LOOKING.has(process.argv[2])) startBriefly();
  const signal = signalOfProcess();
  const output = outputs();
  const code = await run(
    process.argv.slice(2),
    {
      get cwd() {
        return process.cwd();
      },
      env: process.env,
      // Opened when it is read: a command that reads files must not hold on to the terminal.
      get stdin() {
        return process.stdin;
      },
      stdout: output.stdout,
      stderr: output.stderr,
      signal,
      self,
    },
    catalogue,
  );
  process.exitCode = output.isLost ? 2 : code;
  // Nothing is left that a signal would have to wait for.
  for (const [name] of SIGNALS) process.removeAllListeners(name);
}

/** Threads are started without words, and asking Node takes it two milliseconds. */
function isThread(): boolean {
  return process.argv.length === 2 && !isMainThread;
}

/**
 * The first signal stops at the next safe place; the second, of a person in a hurry, stops here. `process.exit` would end
 * threads inside the native parser, which aborts the process: so it dies of the signal, as it would without memfix.
 */
function signalOfProcess(): AbortSignal {
  const stop = new AbortController();
  for (const [name, number] of SIGNALS) {
    process.on(name, () => {
      // A review listens for itself: there, Ctrl-C is an answer.
      if (process.listenerCount(name) > 1) return;
      if (stop.signal.aborted) return die(name, number);
      stop.abort(new Stopped(128 + number));
    });
  }
  return stop.signal;
}

function die(name: NodeJS.Signals, number: number): void {
  if (process.platform === 'win32') process.exit(128 + number);
  // What others clear away when the process ends, such as copies of a project.
  process.emit('exit', 128 + number);
  process.removeAllListeners(name);
  process.kill(process.pid, name);
  // The first process of a container does not die of its own signals.
  setTimeout(() => process.exit(128 + number), 1000);
}

/** A reader that has seen enough, such as `head`, is no error; a full disk behind `>` is. */
function outputs(): { readonly stdout: Outlet; readonly stderr: Outlet; readonly isLost: boolean } {
  const lose = (error: unknown, words?: string) => {
    if (codeOf(error) === 'EPIPE') return;
    output.isLost = true;
    process.exitCode = 2;
    if (words !== undefined) output.stderr.write(forTerminal(words));
  };
  const output = {
    isLost: false,
    stdout: outlet(
      1,
      () => process.stdout,
      (error) =>
        lose(
          error,
          `memfix: Standard output could not be written\n  ${error instanceof Error ? error.message : error}\n  Next: Make room, or send it elsewhere with \`--output\`.\n`,
        ),
    ),
    stderr: outlet(
      2,
      () => process.stderr,
      (error) => lose(error),
    ),
  };
  return output;
}
