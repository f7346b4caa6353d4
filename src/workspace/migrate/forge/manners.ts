import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../../failure.js';
import { Lane } from '../lane.js';
import { Setback } from '../setback.js';
import { type Host, nameOf } from './host.js';
import { tokenVariables } from './token.js';

export interface Line {
  readonly host: Host;
  readonly token: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By which requests leave this machine. */
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Seconds that an answer may take. */
  readonly timeout: number;
  /** That the forge is not asked for so many seconds. */
  waits(seconds: number): void;
}

/** Seconds before another try where a server stumbles. */
const PAUSES = [1, 4, 16];
const AGAIN = 'Try again later; a run that had begun goes on with `memfix migrate resume`.';
/** Milliseconds from the end of a write to the next one: what GitHub asks for, and its client keeps to less strictly. */
const BETWEEN_WRITES = 1000;
/** How often in a row a forge may send us away for asking too much. */
export const MOST_WAITS = 5;
/** Seconds. No limit of a forge lasts longer. */
export const LONGEST_WAIT = 3600;

/** How a forge is talked to: with a time limit, again after trouble that passes, and never on with a token it refuses. */
export class Manners {
  readonly #writes = new Lane(1);
  #lastWrite = -BETWEEN_WRITES;
  #refusal: Setback | undefined;

  constructor(readonly line: Line) {}

  readonly fetch = (address: string | URL | Request, setting: RequestInit = {}): Promise<Response> => {
    const { signal, timeout, fetch } = this.line;
    const send = () =>
      fetch(address, { ...setting, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)]) });
    if ((setting.method ?? 'GET') === 'GET') return send();
    return this.#writes.run(async () => {
      const left = this.#lastWrite + BETWEEN_WRITES - performance.now();
      await pause(Math.max(0, left), undefined, { signal });
      return send().finally(() => {
        this.#lastWrite = performance.now();
      });
    });
  };

  /** Waits as it was told to; false where it was stopped. */
  async wait(seconds: number): Promise<boolean> {
    this.line.waits(seconds);
    try {
      await pause(seconds * 1000, undefined, { signal: this.line.signal });
      return true;
    } catch {
      return false;
    }
  }

  /**
   * What `work` asks for may have been done, and the answer lost: it must come to the same when it is done again, or
   * `lookUp` finds what it did, before it is done again.
   */
  async ask<T>(what: string, work: () => Promise<T>, lookUp?: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; ; tries++) {
      if (this.#refusal !== undefined) throw this.#refusal;
      try {
        const done = tries === 0 ? undefined : await lookUp?.();
        return done ?? (await work());
      } catch (error) {
        this.line.signal.throwIfAborted();
        if (error instanceof Failure) throw error;
        const status = statusOf(error);
        if (status === undefined) throw error;
        const seconds = PAUSES[tries];
        if (status < 500 || seconds === undefined) throw this.#told(what, status, error);
        await this.wait(seconds);
      }
    }
  }

  #told(what: string, status: number, error: unknown): Failure {
    const { host, token, env } = this.line;
    const name = nameOf(host);
    const said = isAnswer(error) ? `answered ${status}` : 'gave no answer';
    const detail = `${name} ${said} when asked to ${what}: ${messageOf(error)}`;
    const where = tokenVariables(host, env).at(-1);
    if (status === 401) {
      const title =
        token === undefined ? `There is no token for ${name}` : `The token for ${name} is refused`;
      const next = `Set ${where} to a valid one, and try again; a run that had begun goes on with \`memfix migrate resume\`.`;
      this.#refusal = new Setback(title, detail, next);
      return this.#refusal;
    }
    if (status >= 500 || status === 429 || isRateLimit(error))
      return new Setback(`${name} cannot be asked now`, detail, AGAIN);
    const rights =
      host.kind === 'github' ? 'may read contents and write pull requests' : 'has the scope `api`';
    const next =
      status === 403 || status === 404
        ? `See that the name is right, and that the token in ${where} ${rights} there.`
        : 'Remove the cause.';
    return new Failure(`${name} does not do it`, detail, next);
  }
}

/** An answer that is no help. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** What is thrown for an answer has a status; where none came, or a part of one, it is as if the server had stumbled. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('status' in error && typeof error.status === 'number') return error.status;
  const isCutOff = error instanceof TypeError && /^(?:fetch failed|terminated)$/.test(error.message);
  return isCutOff || error.name === 'TimeoutError' ? 503 : undefined;
}

/** GitHub's client has a status also for what never came. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof Refused ||
    (error instanceof Error && 'response' in error && error.response !== undefined)
  );
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message} (${cause.message})` : error.message;
}

/** Also as older servers say it. */
export function isRateLimit(error: unknown): boolean {
  return /\b(?:rate limit|abuse detection)\b/i.test(messageOf(error));
}
