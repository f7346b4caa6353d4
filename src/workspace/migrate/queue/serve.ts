import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RepositoryRecord, STAGES, type StageName } from '../../../report/migrate/record.js';
import { Failure } from '../../failure.js';
import type { Campaign } from '../campaign.js';
import { failureIn, goOn } from '../course.js';
import { CampaignFolder } from '../folder.js';
import { Forges } from '../forge/forges.js';
import { gitEnvironment } from '../forge/token.js';
import { Git } from '../git.js';
import { Lane } from '../lane.js';
import { Mirror } from '../mirror.js';
import type { Eyes } from '../planner.js';
import { PlanningLost } from '../planner-children.js';
import { Setback } from '../setback.js';
import type { Desk, Stage } from '../stages.js';
import { writeWhole } from '../whole-file.js';
import { decisionsFile, isSame, type Luggage, pack, unpack } from './luggage.js';
import type { Delivery, Errand, Stations } from './stations.js';
import { type Case, campaignIn, type Store, type Terms, type Trouble } from './store.js';

/** What a worker brings to the repositories it is sent. */
export interface Workshop {
  readonly name: string;
  /** Its own folder: mirrors and trees are here while they are needed. */
  readonly folder: string;
  readonly version: string;
  readonly stages: ReadonlySet<StageName>;
  readonly widths: { readonly network: number; readonly work: number };
  readonly eyes: Eyes;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told to stop: what is in hand is finished, nothing more is begun. */
  isStopping(): boolean;
  entered(record: RepositoryRecord, stage: StageName): void;
  ended(record: RepositoryRecord): void;
  /** That a forge is not asked for so many seconds, and why. */
  waits(why: string, seconds: number): void;
}

/** Its jobs come at a pace of their own, so that nobody goes on to it on the spot. */
const PACED: ReadonlySet<StageName> = new Set<StageName>(['pr']);
/** Milliseconds after it that no other worker begins: forges want a second between writes, whoever writes. */
const QUIET = 1000;
/** By git alone, to the same as before: who needs what they leave makes it again, whatever else it serves. */
const REMADE: ReadonlySet<StageName> = new Set<StageName>(['clone', 'apply', 'commit']);

/** Another worker has the repository, or the run is over. */
class Dismissed extends Error {}

/** Takes repositories from the queues of its stages, and each as far as it serves the stages: its mirror is here. */
export class Bench {
  readonly #lanes: Readonly<Record<Stage['lane'], Lane>>;
  readonly #offices = new Map<string, Office>();
  readonly #inHand = new Map<string, Promise<unknown>>();

  constructor(
    private readonly shop: Workshop,
    private readonly store: Store,
    private readonly stations: Stations,
  ) {
    const { network, work } = shop.widths;
    this.#lanes = { network: new Lane(network), work: new Lane(work), forge: new Lane(1) };
  }

  #office(run: string, terms: Terms): Office {
    const { shop } = this;
    const key = JSON.stringify([run, terms]);
    const known = this.#offices.get(key);
    if (known !== undefined) return known;
    const campaign = campaignIn(join(shop.folder, run), terms);
    const { hosts, limits } = campaign;
    const env = { ...shop.env, ...terms.identity };
    const { signal } = shop.eyes;
    const forges = new Forges({ hosts, env, signal, timeout: limits.networkTimeout, waits: shop.waits });
    const office = { campaign, env, forges };
    this.#offices.set(key, office);
    return office;
  }

  async work(at: StageName, errand: Errand, delivery: Delivery): Promise<'done' | 'put back'> {
    const { run, id } = errand;
    const key = `${run}.${id}`;
    const terms = await this.store.terms(run);
    if (terms === undefined) return 'done';
    const holder = randomUUID();
    const taken = await this.store.take(run, id, holder);
    if (taken === undefined) return 'done';
    // A job that was lost and comes again may find the first one still here.
    while (this.#inHand.has(key)) await this.#inHand.get(key);
    const office = this.#office(run, terms);
    const visit = new Visit(this.shop, this.store, this.#lanes, { errand, at, holder, terms, taken, office });
    const working = visit.work(delivery);
    const settled = working.catch(() => undefined);
    this.#inHand.set(key, settled);
    try {
      const next = await working;
      if (next === at) return 'put back';
      if (next !== undefined) await this.stations.add(next, [errand]);
      return 'done';
    } catch (error) {
      if (error instanceof Dismissed) return 'done';
      throw error;
    } finally {
      this.#inHand.delete(key);
    }
  }
}

/** What all repositories of a run have in common here. */
interface Office {
  readonly campaign: Campaign;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly forges: Forges;
}

interface Assignment {
  readonly errand: Errand;
  readonly at: StageName;
  readonly holder: string;
  readonly terms: Terms;
  readonly taken: Case & { readonly files: Luggage };
  readonly office: Office;
}

/** One repository in a worker's hands. */
class Visit {
  readonly #folder: WorkFolder;
  readonly #desk: Desk;
  #sent: Luggage;
  #saved: RepositoryRecord;
  /** It failed, and would again: what a command of the user says, it says again, and so does what was tried twice. */
  #isFinal = false;
  /** The stage that has to be done elsewhere. */
  #next: StageName | undefined;

  constructor(
    private readonly shop: Workshop,
    private readonly store: Store,
    private readonly lanes: Readonly<Record<Stage['lane'], Lane>>,
    private readonly assignment: Assignment,
  ) {
    const { taken, office } = assignment;
    const { campaign, env } = office;
    const { id, url } = taken.record;
    this.#folder = new WorkFolder(campaign.folder, taken.locked);
    this.#sent = taken.files;
    this.#saved = taken.record;
    const mark = `${shop.folder}#${id}`;
    const git = new Git(gitEnvironment(campaign.hosts, env), shop.eyes.signal, mark);
    const manner = { clone: campaign.clone, timeout: campaign.limits.networkTimeout };
    const mirror = new Mirror(join(campaign.mirrors, id), url, git, manner);
    this.#desk = { ...shop, ...office, folder: this.#folder, mirror, mark };
  }

  /** Answers with the stage that is next, where that is for another to do. */
  async work({ isLast }: Delivery): Promise<StageName | undefined> {
    const { taken } = this.assignment;
    try {
      unpack(this.#folder.path, taken.record.id, taken.files);
      await this.#hearDecisions();
      const record = await this.#goOn();
      const { failure } = record;
      const isNew = failure !== undefined && failure !== taken.record.failure;
      if (isNew && !isLast && !this.#isFinal) throw new Error(`${failure.title}: ${failure.detail}`);
      if (this.#next === undefined) await this.#end(record);
      return this.#next;
    } catch (error) {
      if (!(error instanceof Failure) || !isLast) throw error;
      const { at, terms } = this.assignment;
      const trouble = { title: error.title, detail: error.detail, next: error.next };
      if (error instanceof Setback) await this.#save(this.#saved, true, trouble);
      else await this.#end({ ...this.#saved, failure: failureIn(at, terms.goal, error) });
      return undefined;
    } finally {
      this.#clear();
    }
  }

  #goOn(): Promise<RepositoryRecord> {
    const { taken, terms } = this.assignment;
    return goOn(this.#desk, taken.record, {
      goal: terms.goal,
      through: (stage, work) => this.#through(stage, work),
      isWelcome: (stage) => this.#isWelcome(stage),
      failed: (stage, error) => {
        this.#isFinal = stage.name === 'verify' || error instanceof PlanningLost;
      },
      journal: async (record) => {
        if (record.failure === undefined) await this.#save(record, false);
      },
    });
  }

  #through<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const { shop, store, assignment } = this;
    return this.lanes[stage.lane].run(async () => {
      shop.entered(assignment.taken.record, stage.name);
      await store.enter(assignment.errand.run, assignment.errand.id, stage.name, shop.name);
      if (stage.name === 'push') await this.#hearDecisions();
      try {
        return await work();
      } finally {
        if (PACED.has(stage.name)) await pause(QUIET);
      }
    });
  }

  /** Once more before a push, which cannot be taken back: people may have looked at it meanwhile. */
  async #hearDecisions(): Promise<void> {
    const { run, id } = this.assignment.errand;
    const lines = await this.store.decisions(run, id);
    if (lines !== undefined) writeWhole(decisionsFile(this.#folder.path, id), lines);
  }

  #isWelcome({ name }: Stage): boolean {
    const { shop, assignment } = this;
    const isBefore = STAGES.indexOf(name) < STAGES.indexOf(assignment.at);
    const isOurs = name === assignment.at || (shop.stages.has(name) && !PACED.has(name));
    if ((isOurs || (isBefore && REMADE.has(name))) && !shop.isStopping()) return true;
    this.#next = name;
    return false;
  }

  async #end(record: RepositoryRecord): Promise<void> {
    const { failure } = record;
    const home = (text: string) => text.replaceAll(this.#folder.path, this.assignment.terms.home);
    const final =
      failure === undefined
        ? record
        : { ...record, failure: { ...failure, detail: home(failure.detail), next: home(failure.next) } };
    await this.#save(final, true);
    this.shop.ended(final);
  }

  async #save(record: RepositoryRecord, isEnd: boolean, setback?: Trouble): Promise<void> {
    const { errand, holder } = this.assignment;
    const packed = pack(this.#folder.path, record.id);
    const files = isSame(packed, this.#sent) ? undefined : packed;
    const receipt = await this.store.save(
      errand.run,
      holder,
      { record, locked: this.#folder.lockedTo, ...(setback && { setback }) },
      { isEnd, ...(files && { files }) },
    );
    if (receipt !== 'kept') throw new Dismissed(receipt);
    this.#sent = packed;
    this.#saved = record;
  }

  /** What is here can be made again anywhere. */
  #clear(): void {
    const { terms, taken } = this.assignment;
    if (terms.keep === 'all') return;
    this.#desk.mirror.removeTree(this.#folder.tree(taken.record.id));
    this.#desk.mirror.remove();
    unpack(this.#folder.path, taken.record.id, new Map());
    rmSync(decisionsFile(this.#folder.path, taken.record.id), { force: true });
  }
}

/** The part of a campaign's folder that one repository needs; its lock came with it and goes back with it. */
class WorkFolder extends CampaignFolder {
  constructor(
    path: string,
    public lockedTo: Case['locked'],
  ) {
    super(path);
  }

  override locked(): Exclude<Case['locked'], null> | undefined {
    return this.lockedTo ?? undefined;
  }

  override lock(_: string, base: Exclude<Case['locked'], null>): void {
    this.lockedTo = base;
  }
}
