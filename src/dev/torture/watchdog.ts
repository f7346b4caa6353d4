import { Worker } from 'node:worker_threads';

/** Longer than any attempt takes, on a busy machine too. */
const PATIENCE_MS = 120_000;

/** Runs beside the main thread, which cannot notice by itself that it hangs. */
const WATCH = `
const { workerData: { state, patience, words } } = require('node:worker_threads');
const shared = new Int32Array(state);
for (;;) {
  const attempt = Atomics.load(shared, 0);
  if (Atomics.wait(shared, 0, attempt, patience) === 'timed-out') {
    require('node:fs').writeSync(2, words + attempt + ' does not end; the process is killed.\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}
`;

/** Ends this process where an attempt takes for ever, and says which. */
export class Watchdog {
  readonly #shared = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;

  constructor(words: string) {
    const workerData = { state: this.#shared.buffer, patience: PATIENCE_MS, words };
    this.#worker = new Worker(WATCH, { eval: true, workerData });
    this.#worker.unref();
  }

  begins(attempt: number): void {
    Atomics.store(this.#shared, 0, attempt);
    Atomics.notify(this.#shared, 0);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
