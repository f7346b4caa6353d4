import { statSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf } from '../../bounded.js';
import { Failure } from '../../failure.js';
import { endMarked } from '../../prove/child.js';
import { failureIn } from '../course.js';
import type { Undertaking, Watcher } from '../driver.js';
import type { CampaignFolder } from '../folder.js';
import { MARK } from '../git.js';
import { type Hold, tryHold } from '../hold.js';
import type { Repository } from '../source.js';
import type { Link } from './link.js';
import { decisionsFile, pack, unpack } from './luggage.js';
import type { Stations } from './stations.js';
import { type Case, Store, type Terms, termsOf } from './store.js';

/** A run whose stages are done by workers elsewhere. */
export interface Dispatch {
  /** Names it in the queue. */
  readonly run: string;
  readonly link: Link;
  readonly stations: Stations;
  /** Who commits. */
  readonly identity: Terms['identity'];
}

/** Milliseconds between looks at what no worker can tell. */
const LOOK_AFTER = 5000;
const AT_ONCE = 500;

/**
 * Takes repositories to a goal by the workers of a queue: gives out what is to be done, and keeps here what comes back, as
 * if it were done here. What is in the queue already is left as it is, so that it can be called again at any time.
 */
export async function driveByQueue(
  repositories: readonly Repository[],
  undertaking: Undertaking,
  watcher: Watcher,
  dispatch: Dispatch,
): Promise<void> {
  const holds = new Map<Repository, Hold>();
  try {
    for (const repository of repositories) {
      const file = join(undertaking.campaign.mirrors, `${repository.id}.lock`);
      const held = await tryHold(file, { takeover: undertaking.takeover });
      if (held instanceof Failure) watcher.passed(repository, held);
      else holds.set(repository, held);
      if (!(held instanceof Failure) && held.isInherited) endMarked(`${MARK}=${file}#`);
    }
    const follower = new Follower(undertaking, watcher, dispatch, holds);
    await follower.giveOut();
    await follower.follow();
    // What another run holds here, that one will end.
    if (holds.size === repositories.length) await follower.close();
  } finally {
    for (const held of holds.values()) held.release();
  }
}

class Follower {
  readonly #store: Store;
  readonly #open: Map<string, Repository>;
  #seen = '0';
  #lookedAfter = performance.now();
  /** When the decisions that the workers know of were written. */
  readonly #decided = new Map<string, number>();
  /** Since then, nothing was heard. */
  #isQuiet = true;

  constructor(
    private readonly undertaking: Undertaking,
    private readonly watcher: Watcher,
    private readonly dispatch: Dispatch,
    private readonly holds: ReadonlyMap<Repository, Hold>,
  ) {
    this.#store = new Store(dispatch.link.redis);
    this.#open = new Map([...holds.keys()].map((repository) => [repository.id, repository]));
  }

  async giveOut(): Promise<void> {
    const { run, identity, stations } = this.dispatch;
    const { campaign, goal, keep, version, folder } = this.undertaking;
    const terms = termsOf(campaign, { version, goal, keep, identity });
    await this.#patiently(this.#store.open(run, terms));
    const queued = await this.#patiently(this.#store.queued(run));
    const fresh = [...this.holds.keys()].filter(({ id }) => !queued.has(id));
    for (let from = 0; from < fresh.length; from += AT_ONCE) {
      const some = fresh.slice(from, from + AT_ONCE);
      const cases = some.map((repository) => {
        const locked = folder.locked(repository.url) ?? null;
        return { record: folder.record(repository), locked, files: pack(folder.path, repository.id) };
      });
      await this.#patiently(this.#store.add(run, cases));
      await this.#patiently(this.#tellDecisions(some));
      const isPushed = (each: Case) => each.record.pushed !== undefined;
      const errand = ({ record: { id } }: Case) => ({ run, id });
      await this.#patiently(stations.add('pr', cases.filter(isPushed).map(errand)));
      await this.#patiently(stations.add('clone', cases.filter((each) => !isPushed(each)).map(errand)));
      await this.#patiently(this.#store.markQueued(run, some));
    }
  }

  /** Until all have come to their end. */
  async follow(): Promise<void> {
    const { link, run } = this.dispatch;
    // Reading the news blocks a connection.
    const reading = link.redis.duplicate();
    reading.on('error', () => undefined);
    try {
      while (this.#open.size > 0) {
        await this.#patiently(this.#tellDecisions(this.#open.values()));
        const news = await this.#patiently(new Store(reading).news(run, this.#seen));
        if (news.length > 0) this.#isQuiet = false;
        const saved = new Map<string, boolean>();
        for (const { at, id, stage, isEnd } of news) {
          this.#seen = at;
          const repository = this.#open.get(id);
          if (repository === undefined) continue;
          if (stage !== undefined) this.watcher.entered(repository, stage);
          else saved.set(id, isEnd || saved.get(id) === true);
        }
        for (const [id, isEnd] of saved) await this.#patiently(this.#bring(id, isEnd));
        if (performance.now() - this.#lookedAfter > LOOK_AFTER) await this.#patiently(this.#lookAfter());
      }
    } finally {
      reading.disconnect();
    }
  }

  close(): Promise<void> {
    return this.#patiently(this.#store.close(this.dispatch.run));
  }

  /** What is decided here while workers are at it reaches them before they push. */
  async #tellDecisions(repositories: Iterable<Repository>): Promise<void> {
    for (const { id } of repositories) {
      const file = decisionsFile(this.undertaking.folder.path, id);
      const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      if (written === undefined || written === this.#decided.get(id)) continue;
      await this.#store.tellDecisions(this.dispatch.run, id, bytesOf(file));
      this.#decided.set(id, written);
    }
  }

  async #bring(id: string, isEnd: boolean): Promise<void> {
    const { run, link } = this.dispatch;
    const repository = this.#open.get(id);
    if (repository === undefined) return;
    if (this.holds.get(repository)?.isOurs() === false) throw takenOver(link);
    const found = await bringHome(this.#store, run, id, this.undertaking.folder);
    if (found === undefined) throw forgotten(link);
    if (!isEnd) return;
    this.#open.delete(id);
    const { record, setback } = found;
    if (setback === undefined) this.watcher.ended(record);
    else this.watcher.passed(repository, new Failure(setback.title, setback.detail, setback.next));
  }

  /**
   * What no worker can tell: that workers die of a repository, that one fell between two queues when a worker died there,
   * and that Redis has lost its memory.
   */
  async #lookAfter(): Promise<void> {
    const { run, stations, link } = this.dispatch;
    const { folder } = this.undertaking;
    for (const { id, isDeadly, reason, ...queue } of await stations.givenUp(run)) {
      const found = await this.#store.look(run, id);
      if (!this.#open.has(id) || found === undefined) continue;
      const stage = (await this.#store.doing(run)).get(id)?.stage ?? queue.stage;
      const why = isDeadly ? deadly() : new Failure('Internal error', reason, 'Please report this.');
      const record = { ...found.record, failure: failureIn(stage, this.undertaking.goal, why) };
      this.#open.delete(id);
      folder.save(record);
      this.watcher.ended(record);
    }
    if ((await this.#store.terms(run)) === undefined) throw forgotten(link);
    if (this.#isQuiet) {
      const errands = [...this.#open.keys()].map((id) => ({ run, id }));
      await stations.add('clone', await stations.missing(errands));
    }
    this.#isQuiet = true;
    this.#lookedAfter = performance.now();
  }

  /** No longer than the user and the patience with Redis allow. */
  #patiently<T>(work: Promise<T>): Promise<T> {
    const halt = AbortSignal.any([this.undertaking.eyes.signal, this.dispatch.link.gone]);
    return new Promise((resolve, reject) => {
      const stop = () => reject(halt.reason);
      if (halt.aborted) stop();
      halt.addEventListener('abort', stop);
      work.then(resolve, reject).finally(() => halt.removeEventListener('abort', stop));
    });
  }
}

/** Into the campaign's folder, files first: what a record tells of is then there. */
export async function bringHome(
  store: Store,
  run: string,
  id: string,
  folder: CampaignFolder,
): Promise<Case | undefined> {
  const found = await store.look(run, id);
  if (found === undefined) return undefined;
  const { record, locked, files } = found;
  unpack(folder.path, id, files);
  if (locked !== null && folder.locked(record.url)?.commit !== locked.commit) folder.lock(record.url, locked);
  folder.save(record);
  return found;
}

function deadly(): Failure {
  return new Failure(
    'Workers die of it',
    'one worker after the other was gone before this stage was done',
    'Look at how much memory they have.',
  );
}

function takenOver({ address: { word } }: Link): Failure {
  return new Failure(
    'Another process follows this run now',
    'this one was thought dead, or was told to leave it; the workers go on',
    `\`memfix migrate status --queue ${word}\` shows how far they are.`,
  );
}

function forgotten({ address: { shown, word } }: Link): Failure {
  return new Failure(
    'The queue no longer knows this run',
    `${shown} has nothing of it: it was stopped, another run took its place, or Redis was started without what it had (see \`appendonly\`)`,
    `\`memfix migrate resume --queue ${word}\` gives out again what is left.`,
  );
}
