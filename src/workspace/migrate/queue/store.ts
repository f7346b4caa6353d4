import { join } from 'node:path';
import type { Base, Goal, RepositoryRecord, StageName } from '../../../report/migrate/record.js';
import { redactedValue } from '../../secrets.js';
import type { Campaign } from '../campaign.js';
import type { Keep } from '../folder.js';
import type { Host } from '../forge/host.js';
import { DEFAULT_FILTER } from '../forge/listing.js';
import type { Luggage } from './luggage.js';
import type { Redis } from './vendors.js';

/** What a campaign has that stages do not ask for, or that is another on every machine. */
type HereOnly =
  | 'folder'
  | 'mirrors'
  | 'repositories'
  | 'stripped'
  | 'sources'
  | 'unasked'
  | 'filter'
  | 'hosts';

/** What every worker must know about a run; it travels once. */
export interface Terms {
  /** Of the memfix that began it: no other may go on with it. */
  readonly version: string;
  readonly campaign: Omit<Campaign, HereOnly>;
  readonly hosts: readonly (readonly [string, Host])[];
  /** The campaign's folder, as messages name it. */
  readonly home: string;
  readonly goal: Goal;
  readonly keep: Keep;
  /** Who commits, for git: the same on every machine, or the commits would not be. */
  readonly identity: Readonly<Record<string, string>>;
}

/** The terms as they stand for a campaign. */
export function termsOf(
  campaign: Campaign,
  more: Pick<Terms, 'version' | 'goal' | 'keep' | 'identity'>,
): Terms {
  const {
    folder: home,
    mirrors,
    repositories,
    stripped,
    sources,
    unasked,
    filter,
    hosts,
    ...rest
  } = campaign;
  return { ...more, home, campaign: rest, hosts: [...hosts] };
}

/** The campaign that terms stand for, in a folder. */
export function campaignIn(folder: string, { campaign, hosts }: Terms): Campaign {
  const elsewhere = { repositories: [], stripped: 0, sources: [], unasked: [], filter: DEFAULT_FILTER };
  return { ...campaign, ...elsewhere, folder, mirrors: join(folder, 'mirrors'), hosts: new Map(hosts) };
}

/** Where a repository of a run is. */
export interface Case {
  readonly record: RepositoryRecord;
  /** What `repos.lock` holds it to. */
  readonly locked: Base | null;
  /** Why it was left where it is, by trouble that is none of its own. */
  readonly setback?: Trouble;
}

export interface Trouble {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
}

/** What came of handing something in: kept, or not, since another worker has the repository or the run is over. */
type Receipt = 'kept' | 'lost' | 'over';

export interface News {
  /** Its place in the stream. */
  readonly at: string;
  readonly id: string;
  /** A stage that was entered; without one, the record was saved. */
  readonly stage?: StageName;
  readonly isEnd: boolean;
}

export interface Doing {
  readonly stage: StageName;
  readonly worker: string;
}

export interface Presence {
  readonly name: string;
  readonly version: string;
  readonly stages: readonly StageName[];
}

const ROOT = 'memfix';
const RUNS = `${ROOT}:runs`;
const WORKERS = `${ROOT}:workers`;
/** Seconds after which a worker that said nothing is taken to be gone. */
const SILENCE = 30;
const BLOCK = 1000;
const AT_ONCE = 500;

/** Only who took the repository last may say where it is: one that was thought dead and is not says nothing any more. */
const SAVE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'over' end
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 'lost' end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
if ARGV[5] == 'files' then
  redis.call('DEL', KEYS[6])
  for i = 6, #ARGV, 2 do redis.call('HSET', KEYS[6], ARGV[i], ARGV[i + 1]) end
end
if ARGV[4] == 'end' then
  redis.call('SADD', KEYS[4], ARGV[1])
  redis.call('HDEL', KEYS[7], ARGV[1])
end
redis.call('XADD', KEYS[5], '*', 'id', ARGV[1], 'end', ARGV[4])
return 'kept'`;

/** What a run holds in Redis besides its jobs: terms, where each repository is, its files, and a stream of what happens. */
export class Store {
  constructor(private readonly redis: Redis) {}

  /** Opened again, a run goes on with these terms. */
  async open(run: string, terms: Terms): Promise<void> {
    await this.redis.set(keys(run).terms, JSON.stringify(terms));
    await this.redis.hset(RUNS, run, terms.version);
  }

  async add(run: string, cases: readonly (Case & { readonly files: Luggage })[]): Promise<void> {
    for (let from = 0; from < cases.length; from += AT_ONCE) {
      const batch = this.redis.multi();
      for (const { record, locked, files } of cases.slice(from, from + AT_ONCE)) {
        const { id } = record;
        batch.hsetnx(keys(run).cases, id, JSON.stringify(redactedValue({ record, locked })));
        for (const [name, bytes] of files) batch.hset(keys(run).files(id), name, bytes);
      }
      await done(batch);
    }
  }

  /** What people decided about a repository's fixes, as they wrote it down. */
  async decisions(run: string, id: string): Promise<Buffer | undefined> {
    return (await this.redis.hgetBuffer(keys(run).decisions, id)) ?? undefined;
  }

  async tellDecisions(run: string, id: string, lines: Buffer): Promise<void> {
    await this.redis.hset(keys(run).decisions, id, lines);
  }

  async terms(run: string): Promise<Terms | undefined> {
    const text = await this.redis.get(keys(run).terms);
    return text === null ? undefined : JSON.parse(text);
  }

  /** Makes a repository this holder's; nothing where it came to its end. */
  async take(
    run: string,
    id: string,
    holder: string,
  ): Promise<(Case & { readonly files: Luggage }) | undefined> {
    if ((await this.redis.sismember(keys(run).ended, id)) === 1) return undefined;
    await this.redis.hset(keys(run).holders, id, holder);
    return this.look(run, id);
  }

  async look(run: string, id: string): Promise<(Case & { readonly files: Luggage }) | undefined> {
    const text = await this.redis.hget(keys(run).cases, id);
    if (text === null) return undefined;
    const files = await this.redis.hgetallBuffer(keys(run).files(id));
    return { ...(JSON.parse(text) as Case), files: new Map(Object.entries(files)) };
  }

  async cases(run: string): Promise<readonly Case[]> {
    return Object.values(await this.redis.hgetall(keys(run).cases)).map((text) => JSON.parse(text));
  }

  /** What is being done to which, and by whom. */
  async doing(run: string): Promise<ReadonlyMap<string, Doing>> {
    const all = Object.entries(await this.redis.hgetall(keys(run).doing));
    return new Map(
      all.map(([id, line]) => {
        const [stage, worker = ''] = line.split('\t');
        return [id, { stage: stage as StageName, worker }];
      }),
    );
  }

  async enter(run: string, id: string, stage: StageName, worker: string): Promise<void> {
    const batch = this.redis.multi();
    batch.hset(keys(run).doing, id, `${stage}\t${worker}`);
    batch.xadd(keys(run).news, '*', 'id', id, 'stage', stage);
    await done(batch);
  }

  async save(
    run: string,
    holder: string,
    state: Case,
    { isEnd, files }: { readonly isEnd: boolean; readonly files?: Luggage },
  ): Promise<Receipt> {
    const { id } = state.record;
    const own = keys(run);
    const all = [own.terms, own.holders, own.cases, own.ended, own.news, own.files(id), own.doing];
    const answer = await this.redis.eval(
      SAVE,
      all.length,
      ...all,
      ...[id, holder, JSON.stringify(redactedValue(state)), isEnd ? 'end' : ''],
      ...(files === undefined ? [''] : ['files', ...[...files].flat()]),
    );
    return answer as Receipt;
  }

  async ended(run: string): Promise<ReadonlySet<string>> {
    return new Set(await this.redis.smembers(keys(run).ended));
  }

  /** What happened after this place, at most a second from now. Blocks its connection. */
  async news(run: string, after: string): Promise<readonly News[]> {
    const answer = await this.redis.xread('COUNT', AT_ONCE, 'BLOCK', BLOCK, 'STREAMS', keys(run).news, after);
    const entries = answer?.[0]?.[1] ?? [];
    return entries.map(([at, [, id = '', key, value]]) => ({
      at,
      id,
      isEnd: key === 'end' && value === 'end',
      ...(key === 'stage' && { stage: value as StageName }),
    }));
  }

  /** Which repositories have a job, or had one. */
  async queued(run: string): Promise<ReadonlySet<string>> {
    return new Set(await this.redis.smembers(keys(run).queued));
  }

  async markQueued(run: string, some: readonly { readonly id: string }[]): Promise<void> {
    await this.redis.sadd(keys(run).queued, ...some.map(({ id }) => id));
  }

  /** Forgets a run: from here on, a worker that has one of its jobs drops it. */
  async close(run: string): Promise<void> {
    const ids = await this.redis.hkeys(keys(run).cases);
    const { files, ...own } = keys(run);
    await this.redis.del(...Object.values(own), ...ids.map(files));
    await this.redis.hdel(RUNS, run);
  }

  /** The runs that are not over, and by which memfix each was begun. */
  async runs(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.redis.hgetall(RUNS)));
  }

  /** The clock is that of Redis: those of the machines may differ, and jump. */
  async present(presence: Presence): Promise<void> {
    const [now] = await this.redis.time();
    await this.redis.zadd(WORKERS, Number(now), JSON.stringify(presence));
  }

  async absent(presence: Presence): Promise<void> {
    await this.redis.zrem(WORKERS, JSON.stringify(presence));
  }

  async workers(): Promise<readonly Presence[]> {
    const [now] = await this.redis.time();
    await this.redis.zremrangebyscore(WORKERS, '-inf', `${Number(now) - SILENCE}`);
    return (await this.redis.zrange(WORKERS, '0', '-1')).map((text) => JSON.parse(text));
  }
}

/** A transaction answers for each of its commands. */
async function done(batch: ReturnType<Redis['multi']>): Promise<void> {
  for (const [error] of (await batch.exec()) ?? []) if (error !== null) throw error;
}

function keys(run: string) {
  const own = `${ROOT}:run:${run}`;
  return {
    terms: `${own}:terms`,
    cases: `${own}:cases`,
    holders: `${own}:holders`,
    doing: `${own}:doing`,
    decisions: `${own}:decisions`,
    ended: `${own}:ended`,
    queued: `${own}:queued`,
    news: `${own}:news`,
    files: (id: string) => `${own}:files:${id}`,
  };
}
