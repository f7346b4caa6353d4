import { randomUUID } from 'node:crypto';
import { renderLive } from '../../report/migrate/queue.js';
import { isFinished, type RepositoryRecord } from '../../report/migrate/record.js';
import { renderStatus, totals } from '../../report/migrate/render.js';
import { plural } from '../../report/prose.js';
import { Failure } from '../../workspace/failure.js';
import type { Campaign } from '../../workspace/migrate/campaign.js';
import { chosen } from '../../workspace/migrate/choose.js';
import { CampaignFolder, type Run } from '../../workspace/migrate/folder.js';
import { hold } from '../../workspace/migrate/hold.js';
import { countedIn } from '../../workspace/migrate/page.js';
import { addressIn } from '../../workspace/migrate/queue/address.js';
import { bringHome, driveByQueue } from '../../workspace/migrate/queue/enqueue.js';
import { Link } from '../../workspace/migrate/queue/link.js';
import { Stations } from '../../workspace/migrate/queue/stations.js';
import { Store, type Terms } from '../../workspace/migrate/queue/store.js';
import type { Arguments } from '../arguments.js';
import { type Context, EXIT } from '../context.js';
import { ownVersion } from '../package.js';
import type { Driver } from './migrate.js';
import { withSources } from './migrate-forges.js';
import { identityOf } from './migrate-identity.js';
import { begin, choiceIn, dealtRun, notQueued, resumed, shardName } from './migrate-runs.js';

type Action = 'plan' | 'run' | 'resume' | 'stop' | 'pr' | 'status';
type Work = (context: Context, campaign: Campaign, run: Run, driver: Driver) => Promise<number>;

/** The actions of `memfix migrate` where workers do the stages. */
export function byQueue(
  context: Context,
  planned: Campaign,
  action: Action,
  word: string,
  work: Work,
): Promise<number> {
  const { args } = context;
  if (action === 'status' && args.flag('update'))
    throw args.misuse('`--update` asks the forges from here, `--queue` the workers: give one of them.');
  const files = new CampaignFolder(planned.folder);
  const shard = shardName(choiceIn(args));
  return CampaignQueue.with(context, word, async (queue) => {
    if (action === 'status') return show(context, planned, queue, files.lastRun(shard));
    if (action === 'stop') return stop(context, planned, queue, files.lastRun(shard));
    const takeover = args.flag('takeover');
    const held = await hold(files.runLock(shard), { title: FOLLOWED, takeover });
    try {
      const campaign = await withSources(context, planned, args.flag('update'));
      if (action !== 'resume') await queue.makeWay(campaign, shard, takeover);
      const run =
        action === 'resume'
          ? await queue.resumed(args, campaign)
          : dealtRun(args, campaign, action, queue.newName());
      // Who commits is who began the run, on whatever machine that is done.
      const identity = run.goal === 'plan' || action === 'pr' ? {} : await identityOf(context);
      if (action !== 'resume') begin(args, campaign, run);
      return await work(context, campaign, run, await queue.driver(run, campaign, identity));
    } finally {
      held.release();
    }
  });
}

const FOLLOWED = 'Another process follows a run of this campaign';

async function show(
  context: Context,
  { folder, repositories }: Campaign,
  queue: CampaignQueue,
  last: Run | undefined,
): Promise<number> {
  const files = new CampaignFolder(folder);
  const which = chosen(repositories, choiceIn(context.args)).map((repository) => files.record(repository));
  const records = await queue.records(which, last);
  const counted = records.map((record) => countedIn(files, record));
  context.out(`${renderStatus(counted, context.view)}${await queue.live(records, last)}`);
  context.say(totals(records));
  return EXIT.clean;
}

async function stop(
  context: Context,
  campaign: Campaign,
  queue: CampaignQueue,
  last: Run | undefined,
): Promise<number> {
  const left = last === undefined ? 0 : await queue.recall(campaign, last);
  if (last !== undefined && queue.has(last))
    new CampaignFolder(campaign.folder).saveRun(shardName(choiceIn(context.args)), {
      ...last,
      isStopped: true,
    });
  context.say(`Stopped; ${plural(left, 'repository', 'repositories')} had not come to an end.`);
  return EXIT.clean;
}

/** Seconds that Redis may be away in the middle of a run. */
const PATIENCE = 60;

/** The queue that a command was told of. */
class CampaignQueue {
  readonly #store: Store;

  private constructor(
    private readonly context: Context,
    private readonly link: Link,
    private readonly stations: Stations,
  ) {
    this.#store = new Store(link.redis);
  }

  static async with<T>(
    context: Context,
    word: string,
    use: (queue: CampaignQueue) => Promise<T>,
  ): Promise<T> {
    const { env } = context.io;
    const patience = patienceIn(env['MEMFIX_QUEUE_PATIENCE']);
    const address = addressIn(word, env);
    const next = `See that it runs and can be reached from here; \`memfix migrate resume --queue ${address.word}\` goes on with what was begun.`;
    const link = await Link.open(address, { patience, next, say: (sentence) => context.say(sentence) });
    try {
      return await use(new CampaignQueue(context, link, await Stations.open(link.redis, ownVersion())));
    } finally {
      link.close();
    }
  }

  /** What is left of the last run. Where the queue has nothing of it, it is begun there as another one. */
  async resumed(args: Arguments, campaign: Campaign): Promise<Run> {
    const run = resumed(args, campaign);
    if (run.queued === undefined) throw notQueued();
    const terms = await this.#store.terms(run.queued);
    if (terms !== undefined && terms.version !== ownVersion()) throw anotherVersion(terms.version);
    if (terms !== undefined) return run;
    const { isStopped: _, ...rest } = run;
    const again = { ...rest, ...this.newName() };
    new CampaignFolder(campaign.folder).saveRun(shardName(choiceIn(args)), again);
    return again;
  }

  /** For a run that is begun on this queue. */
  newName(): Required<Pick<Run, 'queued' | 'queue'>> {
    return { queued: randomUUID(), queue: this.link.address.shown };
  }

  /**
   * Clears runs away that have come to their end. One that has not is never ended by another that happens to be begun: what
   * workers have in hand would be lost, and who follows it would not know why.
   */
  async makeWay(campaign: Campaign, shard: string, takeover: boolean): Promise<void> {
    const files = new CampaignFolder(campaign.folder);
    const ids = new Set(chosen(campaign.repositories, choiceIn(this.context.args)).map(({ id }) => id));
    for (const [name, run] of files.lastRuns()) {
      if (run.queued === undefined || (name !== shard && !run.ids.some((id) => ids.has(id)))) continue;
      const left = await this.#left(campaign, run, run.queued);
      if (left > 0 && !takeover) throw stillThere(left, run.queue ?? this.link.address.word);
      await this.recall(campaign, run);
    }
  }

  /** Whether a run was put on this queue; earlier versions did not write down on which. */
  has({ queue = this.link.address.shown }: Pick<Run, 'queue'>): boolean {
    return queue === this.link.address.shown;
  }

  /** How many repositories of a run have not come to their end; here or on whatever queue it is. */
  async #left({ folder, repositories }: Campaign, last: Run, run: string): Promise<number> {
    if (this.has(last)) {
      const cases = await this.#store.cases(run);
      return cases.length - (await this.#store.ended(run)).size;
    }
    const files = new CampaignFolder(folder);
    const own = repositories.filter(({ id }) => last.ids.includes(id)).map((each) => files.record(each));
    return own.filter((record) => !isFinished(record, last.goal)).length;
  }

  /** Drives a run by the workers of this queue. */
  async driver(
    { queued: run = '', prsPerHour }: Run,
    campaign: Campaign,
    identity: Terms['identity'],
  ): Promise<Driver> {
    const { link, stations } = this;
    const { word } = link.address;
    await stations.pace('pr', prsPerHour ?? campaign.pullRequest.perHour);
    await this.#checkWorkers();
    return {
      drive: (repositories, undertaking, watcher) =>
        driveByQueue(repositories, undertaking, watcher, { run, link, stations, identity }),
      stopWords: `The workers go on. \`memfix migrate resume --queue ${word}\` follows them again, \`memfix migrate stop --queue ${word}\` stops them.`,
    };
  }

  /** Ends a run in the queue, and keeps what was done; answers how many of its repositories had not come to their end. */
  async recall({ folder }: Campaign, { queued }: Run): Promise<number> {
    if (queued === undefined) return 0;
    const files = new CampaignFolder(folder);
    const cases = await this.#store.cases(queued);
    const ended = await this.#store.ended(queued);
    for (const { record } of cases) await bringHome(this.#store, queued, record.id, files);
    // First the run: who has one of its jobs in hand is then told so.
    await this.#store.close(queued);
    await this.stations.remove(cases.map(({ record: { id } }) => ({ run: queued, id })));
    return cases.length - ended.size;
  }

  /** Where repositories are by what the workers say, as far as that is newer than what is here. */
  async records(
    records: readonly RepositoryRecord[],
    run: Run | undefined,
  ): Promise<readonly RepositoryRecord[]> {
    if (run?.queued === undefined) return records;
    const cases = new Map((await this.#store.cases(run.queued)).map(({ record }) => [record.id, record]));
    return records.map((record) => cases.get(record.id) ?? record);
  }

  async live(records: readonly RepositoryRecord[], run: Run | undefined): Promise<string> {
    const doing = run?.queued === undefined ? new Map() : await this.#store.doing(run.queued);
    const queues = await this.stations.counts();
    return renderLive(records, { doing, queues, workers: await this.#store.workers() });
  }

  async #checkWorkers(): Promise<void> {
    const own = ownVersion();
    const workers = await this.#store.workers();
    const fit = workers.filter(({ version }) => version === own).length;
    if (fit > 0) return this.context.say(`${plural(fit, 'worker')} at ${this.link.address.shown}.`);
    const others = workers.map(({ version }) => version);
    const there = others.length === 0 ? '' : ` (there are some of memfix ${[...new Set(others)].join(', ')})`;
    this.context.say(
      `No worker of memfix ${own} is at ${this.link.address.shown} yet${there}; \`memfix worker --queue …\` is one.`,
    );
  }
}

function stillThere(left: number, queue: string): Failure {
  const word = `--queue ${queue}`;
  return new Failure(
    'Workers are at this campaign',
    `${plural(left, 'repository', 'repositories')} of its last run ${left === 1 ? 'has' : 'have'} not come to an end on ${queue}`,
    `\`memfix migrate resume ${word}\` follows that run, \`stop ${word}\` ends it; \`--takeover\` ends it and begins this one.`,
  );
}

function anotherVersion(version: string): Failure {
  return new Failure(
    'A campaign of another memfix',
    `this run was begun with memfix ${version}, and this is ${ownVersion()}`,
    `Go on with memfix ${version}, or begin anew with \`memfix migrate run --queue …\`: what is done stays done.`,
  );
}

function patienceIn(text: string | undefined): number {
  if (text === undefined || text === '') return PATIENCE;
  const seconds = Number(text);
  if (seconds > 0 && seconds < 2 ** 31 / 1000) return seconds;
  throw new Failure(
    'Not a number of seconds',
    `MEMFIX_QUEUE_PATIENCE is \`${text}\``,
    'Set it to how many seconds Redis may be away, or unset it.',
  );
}
