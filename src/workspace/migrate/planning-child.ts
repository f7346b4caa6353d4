import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { textOf } from '../bounded.js';
import type { PlanChoice, PlanLimits } from './campaign.js';
import type { Decided } from './decisions.js';
import type { Findings } from './plan.js';

/** What a child is asked: one repository at a time. */
export interface PlanOrder {
  readonly tree: string;
  readonly choice: PlanChoice;
  readonly decided: readonly Decided[];
}

/** What it answers. An error travels as its parts, of which the channel would keep only some. */
export type PlanAnswer =
  | { readonly kind: 'planned'; readonly findings: Findings }
  | { readonly kind: 'failure'; readonly title: string; readonly detail: string; readonly next: string }
  | {
      readonly kind: 'error';
      readonly message: string;
      readonly stack?: string | undefined;
      readonly code?: string | undefined;
      readonly path?: string | undefined;
    };

/** The child is gone, and why, as the end of a sentence. */
interface Lost {
  readonly kind: 'lost';
  readonly reason: string;
}

export interface ChildSetting {
  /** The program. */
  readonly entry: URL;
  /** What makes it plan for this process. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a child sees of the environment: it reads the code of strangers, so it gets no tokens, passwords or addresses. */
const VISIBLE = new Set([
  ...['PATH', 'HOME', 'USERPROFILE', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'LANG', 'LC_ALL', 'TZ'],
  ...['NODE_OPTIONS', 'NODE_PATH', 'MEMFIX_PARSER', 'MEMFIX_FILE_LIMIT'],
]);
/** Of what it writes to standard error, the end says why it crashed. */
const LONGEST_COMPLAINT = 64 * 1024;
/** Milliseconds between looks at the memory of a busy child. */
const LOOK = 250;
/** The process as a whole, with its parser and threads, may take so many times the memory that its heap may. */
const BESIDE_HEAP = 2;
/** Above this share of its limit, a child that is done is replaced. */
const GROWN = 0.5;
/** Milliseconds that a child without work has to end by itself. */
const GRACE = 2000;

/** A process that plans one repository after the other, with limits on memory and time. */
export class PlanningChild {
  readonly #process: ChildProcess;
  readonly #ended: Promise<string>;
  /** It is loaded; how long that took is no repository's fault. */
  readonly #ready: Promise<unknown>;
  #complaint = '';

  constructor(
    setting: ChildSetting,
    readonly limits: PlanLimits,
  ) {
    const heap = `--max-old-space-size=${Math.ceil(limits.planMemory / 2 ** 20)}`;
    const words = [heap, fileURLToPath(setting.entry), ...setting.words];
    this.#process = spawn(process.execPath, words, {
      env: visible(setting.env),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      windowsHide: true,
    });
    this.#ready = new Promise((resolve) => this.#process.once('message', resolve));
    const { stderr } = this.#process;
    stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('latin1')).slice(-LONGEST_COMPLAINT);
    });
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      this.#process.once('exit', (code, signal) => {
        const tell = () => resolve(this.#reason(code, signal));
        // What it said at last may be read after its end.
        if (stderr === null || stderr.closed) tell();
        else stderr.once('close', tell);
      });
    });
  }

  /** Answers with what the child said, or with why it said nothing: it is of no use then. */
  async plan(order: PlanOrder, { planTimeout }: PlanLimits, signal: AbortSignal): Promise<PlanAnswer | Lost> {
    let verdict: string | undefined;
    const kill = (reason: string) => {
      verdict ??= reason;
      this.#process.kill('SIGKILL');
    };
    const stop = () => kill('it was stopped');
    const late = () => kill(`it took longer than ${planTimeout} s`);
    let timer = setTimeout(late, planTimeout * 1000);
    const watch = setInterval(() => {
      if (this.#memory() > this.#mostMemory)
        kill(`it took more than ${inMegabytes(this.#mostMemory)} of memory`);
    }, LOOK);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      const lost = this.#ended.then((reason): Lost => ({ kind: 'lost', reason: verdict ?? reason }));
      const answer = this.#ready.then(() => {
        clearTimeout(timer);
        timer = setTimeout(late, planTimeout * 1000);
        return this.#answerTo(order);
      });
      const end = await Promise.race([answer, lost]);
      signal.throwIfAborted();
      return end;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener('abort', stop);
    }
  }

  #answerTo(order: PlanOrder): Promise<PlanAnswer> {
    return new Promise((resolve) => {
      this.#process.once('message', resolve);
      // That the child is gone meanwhile is heard from `#ended`.
      this.#process.send(order, () => undefined);
    });
  }

  /** Too large for the next repository. */
  get isGrown(): boolean {
    return this.#memory() > this.#mostMemory * GROWN;
  }

  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), GRACE);
    await this.#ended;
    clearTimeout(timer);
  }

  get #mostMemory(): number {
    return this.limits.planMemory * BESIDE_HEAP;
  }

  /** Bytes; 0 where the system does not show it. */
  #memory(): number {
    const status = textOf(`/proc/${this.#process.pid}/status`);
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status ?? '')?.[1] ?? 0) * 1024;
  }

  #reason(code: number | null, signal: NodeJS.Signals | null): string {
    const isOutOfMemory = /heap out of memory|bad_alloc|ERR_WORKER_OUT_OF_MEMORY/.test(this.#complaint);
    if (isOutOfMemory) return `it ran out of memory (${inMegabytes(this.limits.planMemory)})`;
    if (signal === 'SIGKILL') return 'it was killed with SIGKILL, as a system does that is short of memory';
    return signal === null ? `it ended with exit code ${code}` : `it crashed with ${signal}`;
  }
}

function visible(env: ChildSetting['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => VISIBLE.has(name.toUpperCase())));
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`;
}
