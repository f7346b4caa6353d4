import { Worker } from 'node:worker_threads';
import { Stretch } from './clock.js';
import { Desk, type DeskState } from './desk.js';
import { crashOf, type Examined, type Job, type Sight, tooLong } from './examine.js';
import { Gate } from './gate.js';
import { Pile } from './pile.js';
import type { PluginFile } from './plugins/load.js';
import type { Request } from './project.js';
import { keepHeapSmall, stopGrowing } from './tuning.js';

/** How often its limit a file may take where others keep the machine so busy that hardly anything was worked at it. */
const VERY_BUSY = 10;

/** What a thread needs to know to do as the main thread does. */
export interface Errand {
  readonly request: Request;
  readonly takesFixes: boolean;
  /** What is found is kept for later runs. */
  readonly remembers: boolean;
  /** What cannot be read is to be named, also where no transform would look at it. */
  readonly isThorough?: boolean;
  readonly parser: string | undefined;
  /** Those that the main thread has loaded. */
  readonly plugins?: readonly PluginFile[];
  /** Whether these are all that the config names. */
  readonly isWhole?: boolean;
}

/** What a thread is started with. */
export interface Orders extends Errand {
  readonly jobs: readonly Job[];
  /** To be done first: what a lost thread had taken. */
  readonly first: readonly number[];
  /** The state of the pile of jobs that nobody has taken. */
  readonly pile: Int32Array<SharedArrayBuffer>;
  /** One more than the job this thread is at. */
  readonly at: Int32Array;
  readonly owners: Uint16Array;
  readonly name: number;
  readonly desk: DeskState;
  /** This thread does what is left at the desk. */
  readonly isAtDesk: boolean;
  /** The state of the gate between this thread and the main one. */
  readonly gate: Int32Array<SharedArrayBuffer>;
}

export type Report = readonly (readonly [number, Examined])[];

interface Member {
  readonly name: number;
  readonly worker: Worker;
  readonly at: Int32Array;
  readonly gate: Gate;
  readonly isAtDesk: boolean;
  /** Where it was when last looked at, and since when. */
  last: number;
  since: Stretch;
}

export interface CrewSetting {
  /** The program, which serves when it finds itself in a thread. */
  readonly entry: URL;
  readonly errand: Errand;
  /** Milliseconds that one file may take. */
  readonly limit: number;
  /** Says to the main thread's project whether another thread does what asks about the whole of it. */
  readonly others: { areThere: boolean };
  /** Milliseconds of work that a thread is worth, where that is more than for a run that has the machine to itself. */
  readonly worth?: number;
}

/** Jobs that threads take from one list, each as it gets to them. A thread that is lost costs the file it was at. */
export class Crew {
  readonly #pile: Pile;
  readonly #owners: Uint16Array;
  readonly #members = new Map<number, Member>();
  readonly #orphans: number[] = [];
  readonly #desk: Desk;
  readonly #isAnswered: boolean[];
  #left: number;
  #started = 0;
  /** Why a thread ended at no file in particular: then threads are not for this machine. */
  #fault: unknown;
  #clock: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;

  constructor(
    private readonly setting: CrewSetting | undefined,
    private readonly jobs: readonly Job[],
    private readonly tell: (index: number, examined: Examined) => void,
  ) {
    this.#pile = new Pile(jobs.length);
    this.#owners = new Uint16Array(new SharedArrayBuffer(jobs.length * 2));
    this.#desk = Desk.for(jobs.length);
    this.#isAnswered = jobs.map(() => false);
    this.#left = jobs.length;
  }

  get left(): number {
    return this.#left;
  }

  /** Threads can be had. */
  get canHelp(): boolean {
    return this.setting !== undefined && this.#fault === undefined;
  }

  /** Jobs that nobody has taken and that wait for no thread. */
  get untaken(): number {
    return this.#pile.left + this.#orphans.length + (this.hasDesk ? 0 : this.#desk.waiting);
  }

  /** Some thread does what is left to it, and reads the whole project where that is asked for. */
  get hasDesk(): boolean {
    return [...this.#members.values()].some(({ isAtDesk }) => isAtDesk);
  }

  take(): number | undefined {
    const index = this.#members.size > 0 ? this.#pile.last() : this.#pile.first();
    return index ?? this.#orphans.pop() ?? (this.hasDesk ? undefined : this.#desk.take());
  }

  answer(index: number, examined: Examined): void {
    if (this.#isAnswered[index] !== false) return;
    this.#isAnswered[index] = true;
    this.#left--;
    this.#desk.open = this.#left;
    this.tell(index, examined);
  }

  /** From the main thread to the one at the desk: it takes too long here. */
  leave(index: number): void {
    this.#owners[index] = 0;
    this.#desk.leave(index);
    this.#manDesk();
  }

  /** The main thread takes no more files. */
  abandon(): void {
    if (this.setting === undefined) return;
    for (const index of this.#orphans.splice(0)) this.#desk.leave(index);
    if (this.untaken > 0) this.#manDesk();
  }

  #manDesk(): void {
    // Threads that end at no file in particular would do so for ever.
    if (this.setting !== undefined && this.canHelp && !this.hasDesk) this.#start(this.setting, [], true);
  }

  /** So many threads at least, where threads can be had. */
  grow(size: number): void {
    while (this.setting !== undefined && this.canHelp && this.#members.size < size) {
      this.#start(this.setting, [], !this.hasDesk);
    }
    if (this.#members.size > 0) stopGrowing();
  }

  #start(setting: CrewSetting, first: readonly number[], isAtDesk: boolean): void {
    const name = ++this.#started;
    const at = new Int32Array(new SharedArrayBuffer(4));
    const gate = new Gate();
    const { jobs } = this;
    // Its own from now on: it may be lost before it gets to them.
    for (const index of first) this.#owners[index] = name;
    const orders: Orders = {
      ...setting.errand,
      jobs,
      first,
      pile: this.#pile.state,
      at,
      owners: this.#owners,
      name,
      desk: this.#desk.state,
      isAtDesk,
      gate: gate.state,
    };
    keepHeapSmall();
    const worker = new Worker(setting.entry, { workerData: orders });
    const member: Member = { name, worker, at, gate, isAtDesk, last: 0, since: new Stretch() };
    this.#members.set(name, member);
    worker.on('message', (report: Report) => {
      for (const [index, examined] of report) this.answer(index, examined);
      this.#wake();
    });
    worker.on('error', (error) => this.#lose(member, (path) => crashOf(path, error), error));
    worker.on('exit', () => this.#lose(member, (path) => crashOf(path, new Error('its thread ended'))));
    this.#clock ??= this.#watch(setting.limit);
  }

  /** Until something was answered or a thread was lost. */
  news(): Promise<void> {
    if (this.#members.size === 0) {
      throw this.#fault ?? new Error('files are left that no thread takes');
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Takes no more jobs, and ends the threads. */
  dismiss(): void {
    clearInterval(this.#clock);
    this.#pile.clear();
    for (const member of this.#members.values()) void end(member);
    this.#members.clear();
    this.#wake();
  }

  #watch(limit: number): NodeJS.Timeout {
    const look = () => {
      for (const member of [...this.#members.values()]) {
        const at = Atomics.load(member.at, 0);
        if (at === 0 || at !== member.last) {
          member.last = at;
          member.since = new Stretch();
        } else if (member.since.isOver(limit, VERY_BUSY)) {
          void end(member);
          this.#lose(member, (path) => tooLong(path, limit));
        }
      }
    };
    return setInterval(look, Math.min(limit / 4, 1000)).unref();
  }

  /** The file it was at is answered for; a new thread, or the main one, does what else it had taken. */
  #lose(member: Member, verdict: (path: string) => Sight, error?: unknown): void {
    if (!this.#members.delete(member.name)) return;
    const culprit = Atomics.load(member.at, 0) - 1;
    const job = this.jobs[culprit];
    const isGuilty = job !== undefined && this.#isAnswered[culprit] === false;
    if (isGuilty) this.answer(culprit, { sight: verdict(job.candidate.path) });
    else if (error !== undefined) this.#fault = error;
    const taken = this.jobs.flatMap((_, index) => {
      return this.#owners[index] === member.name && this.#isAnswered[index] === false ? [index] : [];
    });
    if (this.setting !== undefined && isGuilty && this.#left > 0)
      this.#start(this.setting, taken, member.isAtDesk);
    else this.#orphans.push(...taken);
    this.#wake();
  }
}

/** A thread that is ended inside the native parser would take the process with it. */
async function end({ gate, worker }: Member): Promise<void> {
  await gate.close();
  await worker.terminate();
}
