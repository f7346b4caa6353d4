import type { QueueCounts } from '../../../report/migrate/queue.js';
import { STAGES, type StageName } from '../../../report/migrate/record.js';
import { redacted } from '../../secrets.js';
import { type Job, loadQueues, type Queue, type Redis, type Worker } from './vendors.js';

/** One job: a repository of a run, waiting for the stage whose queue it is in. All else about it is in the store. */
export interface Errand {
  readonly run: string;
  readonly id: string;
}

export interface Served {
  readonly width: number;
  /** Seconds that a worker may say nothing about a job before others get it. */
  readonly lease: number;
  readonly name: string;
  process(errand: Errand, delivery: Delivery): Promise<'done' | 'put back'>;
  complain(error: Error): void;
}

export interface Delivery {
  /** No other time will be had. */
  readonly isLast: boolean;
}

export interface GivenUp {
  readonly id: string;
  /** Whose queue it was in. */
  readonly stage: StageName;
  /** Too many workers were gone with it. */
  readonly isDeadly: boolean;
  readonly reason: string;
}

/** How often something is tried that may go better another time. */
const ATTEMPTS = 3;
/** Workers that may die with a repository in hand before it is given up: it may be what kills them. */
const DEATHS = 4;
const AN_HOUR = 3_600_000;

/** The queues of BullMQ, one for each stage. A version of memfix has its own: another would not come to the same. */
export class Stations {
  private constructor(
    private readonly bull: Awaited<ReturnType<typeof loadQueues>>,
    private readonly redis: Redis,
    private readonly prefix: string,
    private readonly queues: ReadonlyMap<StageName, Queue<Errand>>,
  ) {}

  static async open(redis: Redis, version: string): Promise<Stations> {
    const bull = await loadQueues();
    const prefix = `memfix:${version}`;
    const queues = STAGES.map((stage) => {
      const queue = new bull.Queue<Errand>(stage, { connection: redis, prefix });
      // The connection is watched by its link.
      queue.on('error', () => undefined);
      return [stage, queue] as const;
    });
    return new Stations(bull, redis, prefix, new Map(queues));
  }

  /** A job that is there already stays as it is. */
  async add(stage: StageName, errands: readonly Errand[]): Promise<void> {
    const jobs = errands.map((errand) => ({
      name: stage,
      data: errand,
      opts: {
        jobId: jobId(errand),
        attempts: ATTEMPTS,
        backoff: { type: 'custom' },
        removeOnComplete: true,
        removeOnFail: false,
      },
    }));
    await this.#queue(stage).addBulk(jobs);
  }

  async remove(errands: readonly Errand[]): Promise<void> {
    for (const queue of this.queues.values())
      await Promise.all(errands.map((errand) => queue.remove(jobId(errand))));
  }

  /** The queue hands out so many jobs in an hour, evenly and one at a time, however many workers there are. */
  async pace(stage: StageName, perHour: number): Promise<void> {
    await this.#queue(stage).setGlobalConcurrency(1);
    await this.#queue(stage).setGlobalRateLimit(1, Math.ceil(AN_HOUR / perHour));
  }

  async counts(): Promise<ReadonlyMap<StageName, QueueCounts>> {
    const all = [...this.queues].map(async ([stage, queue]) => {
      const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed');
      const of = (state: string) => counts[state] ?? 0;
      const waiting = of('waiting') + of('prioritized');
      return [
        stage,
        { waiting, active: of('active'), delayed: of('delayed'), failed: of('failed') },
      ] as const;
    });
    return new Map(await Promise.all(all));
  }

  /** Those that are in no queue. */
  async missing(errands: readonly Errand[]): Promise<readonly Errand[]> {
    const found = await Promise.all(
      errands.map(async (errand) => {
        const keys = [...this.queues.values()].map((queue) => queue.toKey(jobId(errand)));
        return (await this.redis.exists(...keys)) === 0 ? [errand] : [];
      }),
    );
    return found.flat();
  }

  /** Repositories of a run whose jobs BullMQ gave up, and why; told once. */
  async givenUp(run: string): Promise<readonly GivenUp[]> {
    const found: GivenUp[] = [];
    for (const [stage, queue] of this.queues) {
      for (const job of await queue.getFailed()) {
        if (job.data.run !== run) continue;
        const isDeadly = job.failedReason.includes('stalled');
        found.push({ id: job.data.id, stage, isDeadly, reason: job.failedReason });
        await job.remove();
      }
    }
    return found;
  }

  /** Takes jobs from a queue until it is closed. */
  serve(stage: StageName, { width, lease, name, process, complain }: Served): Worker<Errand> {
    const milliseconds = lease * 1000;
    const worker = new this.bull.Worker<Errand>(
      stage,
      async (job: Job<Errand>, token = '') => {
        const isLast = job.attemptsMade + 1 >= ATTEMPTS;
        if ((await discreetly(process(job.data, { isLast }))) === 'done') return;
        await job.moveToWait(token);
        throw new this.bull.WaitingError();
      },
      {
        connection: this.redis,
        prefix: this.prefix,
        concurrency: width,
        // Many jobs that come at once wake one worker only; the others look after so many seconds.
        drainDelay: 1,
        name,
        lockDuration: milliseconds,
        stalledInterval: milliseconds,
        maxStalledCount: DEATHS,
        runRetryDelay: Math.min(milliseconds, 15_000),
        settings: {
          backoffStrategy: (attempts = 1) => milliseconds * 2 ** (attempts - 1) * (0.5 + Math.random()),
        },
      },
    );
    worker.on('error', complain);
    return worker;
  }

  #queue(stage: StageName): Queue<Errand> {
    const queue = this.queues.get(stage);
    if (queue === undefined) throw new Error(`${stage} has no queue`);
    return queue;
  }
}

/** BullMQ writes the words of an error to Redis. */
async function discreetly<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(redacted(error instanceof Error ? error.message : String(error)));
  }
}

function jobId({ run, id }: Errand): string {
  return `${run}.${id}`;
}
