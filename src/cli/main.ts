#!/usr/bin/env node
import { codeOf } from '../workspace/failure.js';
import { run, Stopped } from './run.js';

const stop = new AbortController();

/** The first signal stops at the next safe place; a second one of a person in a hurry stops here. */
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(128 + number);
    stop.abort(new Stopped(128 + number));
  });
}

/** A reader that has seen enough, such as `head`, is no error; a full disk behind `>` is. */
let lostOutput = false;
process.stdout.on('error', (error) => {
  if (codeOf(error) === 'EPIPE') return;
  lostOutput = true;
  process.stderr.write(
    `memfix: Standard output could not be written\n  ${error.message}\n  Next: make room, or send it elsewhere with \`--output\`.\n`,
  );
  process.exitCode = 2;
});
process.stderr.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') process.exitCode = 2;
});

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
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stop.signal,
  },
  async () => (await import('../../transforms/index.js')).transforms,
);
process.exitCode = lostOutput ? 2 : code;
