import { appendFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Offer, Offers } from '../../report/migrate/offer.js';
import {
  type Base,
  before,
  type Goal,
  type RepositoryRecord,
  type Step,
} from '../../report/migrate/record.js';
import { bytesOf, textOf } from '../bounded.js';
import { codeOf, Failure } from '../failure.js';
import { redactedValue } from '../secrets.js';
import { type Decided, Decisions, writeDown } from './decisions.js';
import { sha256 } from './hash.js';
import type { Repository } from './source.js';
import { writeLasting, writeWhole } from './whole-file.js';

/** What was begun, for whoever has to go on with it. */
export interface Run {
  readonly goal: Goal;
  readonly keep: Keep;
  /** The repositories that were dealt out to it. */
  readonly ids: readonly string[];
  /** At most so many pull requests in an hour, where the command line says so. */
  readonly prsPerHour?: number;
  /** Its name in a queue, where workers do it. */
  readonly queued?: string;
  /** The queue, without user and password. */
  readonly queue?: string;
  /** It was taken back from there. */
  readonly isStopped?: true;
}

export const KEEP_CHOICES = ['none', 'failed', 'all'] as const;
/** What stays on disk besides states and patches: nothing; mirrors, and the trees of failures; mirrors and all trees. */
export type Keep = (typeof KEEP_CHOICES)[number];

/** The files of a campaign. Each is written whole or, `repos.lock`, by whole lines: shards can share one folder. */
export class CampaignFolder {
  readonly #locks = new Map<string, Base>();
  /** Bytes of `repos.lock` that are in there. */
  #locksRead = 0;

  constructor(readonly path: string) {}

  /** Work trees, one for each repository that is being looked into. */
  tree(id: string): string {
    return join(this.path, 'trees', id);
  }

  verifyLog(id: string): string {
    return join(this.path, 'logs', `${id}.log`);
  }

  record(repository: Repository): RepositoryRecord {
    const text = textOf(this.#recordFile(repository.id));
    if (text === undefined || isLost(text)) return { version: 1, ...repository };
    return recordIn(text, this.#recordFile(repository.id));
  }

  save(record: RepositoryRecord): void {
    writeWhole(this.#recordFile(record.id), textFor(record), mustLast(record) ? 'now' : 'later');
  }

  /** The same, while others work. */
  async journal(record: RepositoryRecord): Promise<void> {
    if (mustLast(record)) await writeLasting(this.#recordFile(record.id), textFor(record));
    else this.save(record);
  }

  /** The last run over all repositories, or over one shard of them. */
  lastRun(shard: string): Run | undefined {
    const text = textOf(this.#runFile(shard));
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** The last run of each shard that had one. */
  lastRuns(): ReadonlyMap<string, Run> {
    const folder = join(this.path, 'runs');
    const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
    const shards = files.map((name) => name.replace(/\.json$/, ''));
    return new Map(
      shards.flatMap((shard) => {
        const run = this.lastRun(shard);
        return run === undefined ? [] : [[shard, run] as const];
      }),
    );
  }

  /** Held by who follows a run that workers do. */
  runLock(shard: string): string {
    return join(this.path, 'runs', `${shard}.lock`);
  }

  saveRun(shard: string, run: Run): void {
    writeWhole(this.#runFile(shard), `${JSON.stringify(run, undefined, 2)}\n`);
  }

  #runFile(shard: string): string {
    return join(this.path, 'runs', `${shard}.json`);
  }

  #recordFile(id: string): string {
    return join(this.path, 'state', `${id}.json`);
  }

  /** An empty one is none. Answers with its hash. */
  savePatch(name: string, patch: Uint8Array): string {
    if (patch.length > 0) writeWhole(this.#patchFile(name), patch, 'later');
    else rmSync(this.#patchFile(name), { force: true });
    return sha256(patch);
  }

  #patchFile(name: string): string {
    return join(this.path, 'patches', name);
  }

  /** Whether the patch of a step is still the one that was planned. */
  hasPatch({ patch, sha256: expected }: Step): boolean {
    try {
      return sha256(bytesOf(this.#patchFile(patch))) === expected;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  patchFile({ patch }: Step): string {
    return this.#patchFile(patch);
  }

  /** Those of this plan; none where they are of another. */
  offers(id: string, plan: string): readonly Offer[] | undefined {
    const text = textOf(this.#offersFile(id));
    if (text === undefined || isLost(text)) return undefined;
    const offers: Offers = JSON.parse(text);
    return offers.version === 1 && offers.plan === plan ? offers.offers : undefined;
  }

  saveOffers(id: string, offers: Offers): void {
    writeWhole(this.#offersFile(id), `${JSON.stringify(redactedValue(offers))}\n`, 'later');
  }

  /** When the last plan of any repository was written. */
  plannedAt(): number {
    return statSync(join(this.path, 'fixes'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  #offersFile(id: string): string {
    return join(this.path, 'fixes', `${id}.json`);
  }

  decisions(id: string): Decisions {
    return Decisions.read(this.#decisionsFile(id));
  }

  decide(id: string, decided: readonly Decided[]): void {
    writeDown(this.#decisionsFile(id), decided);
  }

  #decisionsFile(id: string): string {
    return join(this.path, 'decisions', `${id}.jsonl`);
  }

  /** What `repos.lock` holds a repository to. */
  locked(url: string): Base | undefined {
    this.#readLocks();
    return this.#locks.get(url);
  }

  /** Reads what was appended since. A later line counts for more; of the last one, there may be only a part yet. */
  #readLocks(): void {
    const size = statSync(this.#lockFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#locksRead) this.#locksRead = 0;
    if (size === this.#locksRead) return;
    if (this.#locksRead === 0) this.#locks.clear();
    const more = bytesOf(this.#lockFile).subarray(this.#locksRead);
    const end = more.lastIndexOf('\n') + 1;
    this.#locksRead += end;
    for (const line of more.toString('utf8', 0, end).split('\n')) {
      const [url = '', commit, branch] = line.split('\t');
      if (commit) this.#locks.set(url, { commit, branch: branch || null });
      else this.#locks.delete(url);
    }
  }

  lock(url: string, { commit, branch }: Base): void {
    appendFileSync(this.#lockFile, `${url}\t${commit}\t${branch ?? ''}\n`);
  }

  /** What failed counts as not done yet; why it failed is known until its stage has run again. */
  retry(record: RepositoryRecord): void {
    const { failure } = record;
    if (failure !== undefined) this.save({ ...record, failure: { ...failure, isRetried: true } });
  }

  /** Forgets where a repository was, and what was made of it. */
  forget(record: RepositoryRecord): void {
    appendFileSync(this.#lockFile, `${record.url}\t\t\n`);
    this.save(before('clone', record));
  }

  get #lockFile(): string {
    return join(this.path, 'repos.lock');
  }
}

/** Before its commits go out, a record must be there to stay: what comes before that can be made again, the same. */
function mustLast({ committed }: RepositoryRecord): boolean {
  return committed !== undefined;
}

function textFor(record: RepositoryRecord): string {
  return `${JSON.stringify(redactedValue(record), undefined, 2)}\n`;
}

/** What a power cut leaves of a file that was on its way to the disk. */
function isLost(text: string): boolean {
  return /^\0*$/.test(text);
}

function recordIn(text: string, file: string): RepositoryRecord {
  try {
    const record: RepositoryRecord = JSON.parse(text);
    if (record.version === 1) return record;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Failure(
    'A state file is not understood',
    `${file} was not written by this version of memfix`,
    'Use the version that wrote it, or delete the file to begin anew with that repository.',
  );
}
