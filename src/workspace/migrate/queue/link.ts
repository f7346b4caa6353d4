import { Failure } from '../../failure.js';
import type { Address } from './address.js';
import { loadRedis, type Redis } from './vendors.js';

export interface LinkSetting {
  /** Seconds that Redis may be away once it was there; endless if left out. */
  readonly patience?: number;
  /** What to do about a Redis that is not there. */
  readonly next: string;
  /** Hears when it goes and when it is back. */
  say?(sentence: string): void;
}

const SHORTEST_WAIT = 100;
const LONGEST_WAIT = 2000;

/** A connection to the Redis of a queue, which finds back by itself. */
export class Link {
  readonly #gone = new AbortController();
  #why = 'it does not answer';
  #timer: NodeJS.Timeout | undefined;
  #isOpen = false;

  private constructor(
    readonly address: Address,
    readonly redis: Redis,
    private readonly setting: LinkSetting,
  ) {
    redis.on('error', (error: Error) => {
      this.#why = reasonIn(error);
    });
    redis.on('close', () => this.#lost());
    redis.on('ready', () => this.#found());
  }

  /** Fails at once where there is no Redis, or not for us. */
  static async open(address: Address, setting: LinkSetting): Promise<Link> {
    const { Redis: Connection } = await loadRedis();
    const redis = new Connection(address.url, {
      lazyConnect: true,
      // A command waits for Redis to be back: how long that may take is for `patience` to say.
      maxRetriesPerRequest: null,
      retryStrategy: (times: number) => Math.min(times * SHORTEST_WAIT, LONGEST_WAIT),
    });
    const link = new Link(address, redis, setting);
    try {
      await redis.connect();
      await redis.ping();
      link.#isOpen = true;
      return link;
    } catch (error) {
      redis.disconnect();
      const isPlain = error instanceof Error && error.message !== 'Connection is closed.';
      throw link.#unreachable(isPlain ? reasonIn(error) : link.#why);
    }
  }

  /** Aborted when patience is at its end. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isUp(): boolean {
    return this.redis.status === 'ready';
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.redis.disconnect();
  }

  #unreachable(why: string): Failure {
    const { address, setting } = this;
    return new Failure('The queue cannot be reached', `${address.shown}: ${why}`, setting.next);
  }

  #lost(): void {
    if (!this.#isOpen || this.#timer !== undefined) return;
    const { patience, say } = this.setting;
    say?.(`The queue at ${this.address.shown} is away; waiting for it.`);
    const end = () => this.#gone.abort(this.#unreachable(this.#why));
    this.#timer = setTimeout(end, patience === undefined ? 2 ** 31 - 1 : patience * 1000);
    if (patience === undefined) this.#timer.unref();
  }

  #found(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.setting.say?.('The queue is back.');
  }
}

/** Of several addresses of a host, each has an error of its own. */
function reasonIn(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonIn).join('; ');
  return error instanceof Error ? error.message : String(error);
}
