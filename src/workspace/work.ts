import { availableParallelism } from 'node:os';
import { now } from './clock.js';
import { Crew, type CrewSetting } from './crew.js';
import { type Examined, type Examiner, type Glance, type Job, tooLong } from './examine.js';
import { attempt } from './limit.js';
import { prepareFor } from './tuning.js';

export interface SizedJob {
  readonly job: Job;
  readonly size: number;
}

export interface WorkHooks {
  readonly signal: AbortSignal;
  progress(done: number): void;
}

/** Longest stretch of work without a look at the keyboard, in milliseconds. */
const PATIENCE = 40;
/** Milliseconds that the main thread spends on one file, where another thread can do it: what it leaves is begun anew there. */
const SLICE = 300;
/** Work for less than this is done before another thread has got going. */
const WORTH_A_THREAD = 150;
/** Bytes of files that are worth one as soon as any of them is worth parsing, before that shows how long it takes. */
const MANY = 4 * 1024 * 1024;

/** Does all jobs, here and, where that is faster, in other threads; `tell` hears of each once, in any order. */
export async function workThrough(
  sized: readonly SizedJob[],
  examiner: Examiner,
  threads: CrewSetting | undefined,
  hooks: WorkHooks,
  tell: (index: number, examined: Examined) => void,
): Promise<void> {
  const jobs = sized.map(({ job }) => job);
  let undone = sized.reduce((sum, { size }) => sum + size, 0);
  const whole = undone;
  const crew = new Crew(threads, jobs, (index, examined) => {
    undone -= sized[index]?.size ?? 0;
    tell(index, examined);
  });
  prepareFor(whole);
  const here = new Hand(crew, jobs, examiner, threads);
  const began = now();
  const dismiss = () => crew.dismiss();
  hooks.signal.addEventListener('abort', dismiss);
  try {
    // A signal that came meanwhile is heard only when the event loop gets its turn.
    await turn();
    hooks.signal.throwIfAborted();
    while (crew.left > 0) {
      if (threads !== undefined) threads.others.areThere = crew.hasDesk;
      const didSome = await here.work();
      await turn();
      hooks.signal.throwIfAborted();
      if (crew.left > 0 && crew.left < jobs.length) hooks.progress(jobs.length - crew.left);
      if (didSome) {
        const pace = (whole - undone) / (now() - began);
        const worth = pace > 0 ? Math.floor(undone / pace / (threads?.worth ?? WORTH_A_THREAD)) : 0;
        const isLong = undone >= MANY && examiner.parses && threads?.worth === undefined;
        const cores = here.isLost ? availableParallelism() : availableParallelism() - 1;
        const helpers = Math.min(cores, crew.untaken, Math.max(worth, isLong ? 1 : 0));
        crew.grow(here.isLost ? Math.max(1, helpers) : helpers);
      } else if (here.isLost || crew.untaken === 0) {
        if (here.isLost) crew.abandon();
        if (crew.left > 0) await crew.news();
      }
    }
    if (here.isLost) await examiner.recover();
  } finally {
    hooks.signal.removeEventListener('abort', dismiss);
    if (threads !== undefined) threads.others.areThere = false;
    dismiss();
  }
}

function turn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume));
}

/** Slices that the main thread tries a file in before it starts another thread for it: much of what was done is kept. */
const TRIES = 4;
/** Files that take too long for the main thread, and are left to another, before it does no more. */
const PATIENT_WITH = 12;

/** The main thread's share, in slices: it has to hear signals. After files that took too long, others do the rest, and it only listens. */
class Hand {
  isLost = false;
  #late = 0;
  #held: number | undefined;
  #tries = 0;

  constructor(
    private readonly crew: Crew,
    private readonly jobs: readonly Job[],
    private readonly examiner: Examiner,
    private readonly threads: CrewSetting | undefined,
  ) {}

  /** For a moment; false when there is nothing to do here. */
  async work(): Promise<boolean> {
    if (this.isLost) return false;
    const glances: (readonly [number, Job, Glance])[] = [];
    let at: number | undefined;
    const stretch = () => {
      const end = now() + PATIENCE;
      do {
        at = this.#held ?? this.crew.take();
        this.#held = undefined;
        const job = at === undefined ? undefined : this.jobs[at];
        if (at === undefined || job === undefined) return;
        const glance = this.examiner.glance(job);
        glances.push([at, job, glance]);
        at = undefined;
        if (glance.kind !== 'examined') return;
      } while (now() < end);
    };
    const end = this.threads === undefined ? stretch() : attempt(this.threads.limit, stretch, this.#patience);
    const isTriedAgain = end === 'overdue' && !this.crew.hasDesk && ++this.#tries < TRIES;
    const isLeft = end === 'overdue' && !isTriedAgain;
    if (isTriedAgain) this.#held = at;
    else this.#tries = 0;
    this.isLost = end === 'cut off' || (isLeft && ++this.#late > PATIENT_WITH);
    for (const [index, job, glance] of glances) {
      if (glance.kind === 'unread') {
        await this.examiner.prepare();
        this.#held = index;
        continue;
      }
      const examined = await this.examiner.finish(job, glance);
      if (examined.sight.kind === 'left') this.crew.leave(index);
      else this.crew.answer(index, examined);
    }
    const job = at === undefined ? undefined : this.jobs[at];
    if (at !== undefined && job !== undefined && this.threads !== undefined) {
      if (isLeft) this.crew.leave(at);
      else if (end === 'cut off')
        this.crew.answer(at, { sight: tooLong(job.candidate.path, this.threads.limit) });
    }
    return glances.length > 0 || this.isLost || isLeft || isTriedAgain;
  }

  /** Where nobody else can do it, and where signals are another process's business, it takes its time. */
  get #patience(): number | undefined {
    return this.crew.canHelp && this.threads?.worth === undefined ? SLICE : undefined;
  }
}
