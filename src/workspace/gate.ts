import type { SectionWatch } from '../syntax/section.js';

const INSIDE = 1;
const CLOSED = 2;

/** Between a thread and the one that may end it: once it is closed, the thread does not enter tree-sitter again. */
export class Gate implements SectionWatch {
  /** Shared by both threads. */
  constructor(readonly state = new Int32Array(new SharedArrayBuffer(4))) {}

  begin(): void {
    if ((Atomics.or(this.state, 0, INSIDE) & CLOSED) !== 0) this.end();
  }

  end(): void {
    if ((Atomics.and(this.state, 0, ~INSIDE) & CLOSED) === 0) return;
    Atomics.notify(this.state, 0);
    // Until the thread is ended.
    for (;;) Atomics.wait(this.state, 0, CLOSED);
  }

  /** Resolves when the thread is outside tree-sitter for good, which takes a slice of a parse at most. */
  async close(): Promise<void> {
    if ((Atomics.or(this.state, 0, CLOSED) & INSIDE) === 0) return;
    const { async: isAsync, value } = Atomics.waitAsync(this.state, 0, INSIDE | CLOSED);
    if (isAsync) await value;
  }
}
