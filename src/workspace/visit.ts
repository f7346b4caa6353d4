import type { Decide, Outcome, Scan, Skipped } from '../engine/outcome.js';
import type { Relied } from '../semantic/surroundings.js';
import type { SourceText } from '../text/decode.js';
import { type Cache, type Lesson, type Memory, withFile } from './cache.js';
import type { CrewSetting } from './crew.js';
import type { Candidate, Discovery } from './discover.js';
import {
  type Crash,
  type Examined,
  type Examiner,
  type Job,
  leftAsIs,
  type Sight,
  takesAny,
} from './examine.js';
import { type Stamp, sameStamp } from './read.js';
import { workThrough } from './work.js';

export interface Visit {
  readonly scans: readonly Scan[];
  /** Where fixes are taken: for each scan, what becomes of its file. */
  readonly outcomes: readonly Outcome[];
  readonly skipped: readonly Skipped[];
  /** Marked `@generated`, and therefore not looked at. */
  readonly generated: readonly string[];
  /** Files on which memfix itself failed: our bugs. */
  readonly crashes: readonly Crash[];
  readonly files: number;
}

export interface VisitHooks {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}

export interface Means {
  /** Whether the texts of files with findings are wanted, or only what was found in them. */
  readonly isTextWanted: boolean;
  readonly examiner: Examiner;
  /** The same as the examiner's. */
  readonly decide?: Decide;
  readonly cache?: Cache;
  /** The candidates by the names they are reported under. */
  readonly targets: ReadonlyMap<string, Candidate>;
  stampOf(target: string): Stamp | undefined;
  /** Whether all that earlier looks depended on is as it was, the candidates aside: then nothing needs to be asked again. */
  isUndisturbed(): boolean;
  /** Whether the project is as it was, as far as an earlier look depended on it. */
  isAsBefore(relied: Relied, known: (path: string) => string | undefined): boolean;
  readonly threads?: CrewSetting;
}

/** Of a file that is as it was, where nobody wants to see it. */
export const UNREAD: SourceText = {
  get text(): string {
    throw new Error('the text of a file is wanted after all');
  },
  encoding: 'utf-8',
  bom: false,
};

/** A file and what an earlier run knows about it. */
interface Recalled {
  readonly index: number;
  readonly candidate: Candidate;
  readonly stamp: Stamp | undefined;
  readonly memory: Memory | undefined;
  /** It is as it was. */
  readonly isSame: boolean;
}

const NOTHING: Sight = { kind: 'nothing' };

/** A file that has to be looked at, and what an earlier run knows about it. */
interface Task {
  readonly index: number;
  readonly size: number;
  readonly memory: Memory | undefined;
  readonly job: Job;
}

/** Looks at every candidate that could matter; one file's failure never ends the run. In the order of the candidates. */
export async function visit(discovery: Discovery, means: Means, hooks: VisitHooks): Promise<Visit> {
  const { candidates } = discovery;
  const readAt = Date.now();
  const sights: (Sight | undefined)[] = [];
  const repairs = new Map<number, Outcome | Skipped>();
  const todo: Task[] = [];
  const others: Recalled[] = [];
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index] as Candidate;
    const stamp = means.stampOf(candidate.target);
    const isSilent = means.cache?.hasNothing(candidate, stamp) === true;
    sights.push(isSilent ? NOTHING : undefined);
    if (!isSilent) others.push(recalled(index, candidate, stamp, means));
  }
  const holds = others.every(({ isSame }) => isSame) && means.isUndisturbed();
  for (const { index, candidate, stamp, isSame, memory: known } of others) {
    const memory = holds || stillHolds(known, means) ? known : undefined;
    const sight = memory && isSame ? sightOf(memory.lesson, candidate, means) : undefined;
    sights[index] = sight;
    if (sight === undefined) todo.push(taskFor(index, stamp, candidate, memory, means.decide));
  }
  // The largest first, so that no thread is left alone with one at the end.
  if (means.threads !== undefined) todo.sort((a, b) => b.size - a.size);
  const progress = (done: number) =>
    hooks.progress(candidates.length - todo.length + done, candidates.length);
  await workThrough(
    todo,
    means.examiner,
    means.threads,
    { signal: hooks.signal, progress },
    (at, examined) => {
      const task = todo[at];
      const candidate = candidates[task?.index ?? -1];
      if (task === undefined || candidate === undefined) throw new RangeError('an answer about no file');
      sights[task.index] = recognised(examined.sight, task.memory);
      if (examined.repaired !== undefined) repairs.set(task.index, examined.repaired);
      learn(means.cache, candidate, examined, task.memory, readAt);
    },
  );
  return sorted(discovery, sights, repairs, means.decide !== undefined);
}

function recalled(index: number, candidate: Candidate, stamp: Stamp | undefined, { cache }: Means): Recalled {
  const memory = cache?.recall(candidate.path, candidate.explicit);
  return { index, candidate, stamp, memory, isSame: isAsIn(memory, stamp) };
}

function isAsIn(memory: Memory | undefined, stamp: Stamp | undefined): boolean {
  return memory !== undefined && stamp !== undefined && sameStamp(stamp, memory.stamp);
}

/** Whether what is remembered of a file holds, as far as that depends on other files. */
function stillHolds(
  memory: Memory | undefined,
  means: Pick<Means, 'cache' | 'targets' | 'stampOf' | 'isAsBefore'>,
): boolean {
  if (memory?.relied === undefined) return true;
  return means.isAsBefore(memory.relied, (other) => unchangedHash(other, means));
}

/** Whether this run knows every one of its files as it is now, with all that was asked for it: then it can say so to the next. */
export function isAllKnown(
  candidates: readonly Candidate[],
  means: Pick<Means, 'targets' | 'stampOf' | 'isAsBefore'> & { readonly cache: Cache },
): boolean {
  return candidates.every(({ path, explicit, target }) => {
    const memory = means.cache.latest(path);
    return (
      memory?.explicit === explicit && isAsIn(memory, means.stampOf(target)) && stillHolds(memory, means)
    );
  });
}

/** The hash of a file of this run that is as it was. */
function unchangedHash(
  path: string,
  { cache, targets, stampOf }: Pick<Means, 'cache' | 'targets' | 'stampOf'>,
): string | undefined {
  const candidate = targets.get(path);
  const memory = candidate && cache?.latest(path);
  if (memory?.hash === undefined || memory.explicit !== candidate?.explicit) return undefined;
  return isAsIn(memory, stampOf(candidate.target)) ? memory.hash : undefined;
}

/** What can be said without the file's text. */
function sightOf(lesson: Lesson, { path }: Candidate, { isTextWanted }: Means): Sight | undefined {
  if (lesson.kind === 'scan')
    return isTextWanted ? undefined : withFile(lesson.scan, { path, source: UNREAD });
  return lesson.kind === 'skipped' ? { ...lesson.skipped, path } : lesson;
}

/** Where only the text is wanted, there is no work to speak of. */
function taskFor(
  index: number,
  now: Stamp | undefined,
  candidate: Candidate,
  memory: Memory | undefined,
  decide: Decide | undefined,
): Task {
  const size = now?.[2] ?? 0;
  if (memory?.hash === undefined) return { index, size, memory, job: { candidate } };
  const { hash, stamp, lesson } = memory;
  const repairs = decide !== undefined && lesson.kind === 'scan' && takesAny(lesson.scan, decide);
  const isLight = !repairs && now !== undefined && sameStamp(now, stamp);
  return { index, size: isLight ? 0 : size, memory, job: { candidate, known: { hash, stamp }, repairs } };
}

/** A file with the bytes of an earlier run shows what it showed then. */
function recognised(sight: Sight, memory: Memory | undefined): Sight {
  if (sight.kind !== 'known') return sight;
  if (memory === undefined) throw new Error('a file was recognised that nobody knew');
  const { path } = sight.file;
  const { lesson } = memory;
  if (lesson.kind === 'scan') return withFile(lesson.scan, sight.file);
  return lesson.kind === 'skipped' ? { ...lesson.skipped, path } : lesson;
}

function learn(
  cache: Cache | undefined,
  { path, explicit }: Candidate,
  { sight, stamp, hash, relied: asked }: Examined,
  memory: Memory | undefined,
  readAt: number,
): void {
  if (cache === undefined || stamp === undefined) return;
  const lesson = sight.kind === 'known' ? memory?.lesson : lessonOf(sight);
  if (lesson === undefined) return;
  if (sight.kind === 'known' && memory !== undefined && sameStamp(memory.stamp, stamp)) return;
  const relied = sight.kind === 'known' ? memory?.relied : asked;
  cache.remember(path, { stamp, explicit, lesson, hash, relied }, readAt);
}

function lessonOf(sight: Sight): Lesson | undefined {
  switch (sight.kind) {
    case 'nothing':
    case 'generated':
      return sight;
    case 'skipped': {
      const { path: _, ...skipped } = sight;
      return { kind: 'skipped', skipped };
    }
    case 'scan': {
      const { findings, suppressed, notes } = sight;
      return { kind: 'scan', scan: { findings, suppressed, notes } };
    }
    default:
      return undefined;
  }
}

function sorted(
  { candidates, skipped }: Discovery,
  sights: readonly (Sight | undefined)[],
  repairs: ReadonlyMap<number, Outcome | Skipped>,
  takesFixes: boolean,
): Visit {
  const scans: Scan[] = [];
  const outcomes: Outcome[] = [];
  const passed: Skipped[] = [...skipped];
  const generated: string[] = [];
  const crashes: Crash[] = [];
  for (let index = 0; index < candidates.length; index++) {
    const { path } = candidates[index] as Candidate;
    const sight = sights[index];
    if (sight === undefined) throw new Error(`${path} was forgotten`);
    if (sight.kind === 'nothing') continue;
    if (sight.kind === 'generated') generated.push(path);
    else if (sight.kind === 'skipped') passed.push(sight);
    else if (sight.kind === 'crash') crashes.push(sight);
    else if (sight.kind === 'scan') {
      const outcome = takesFixes ? (repairs.get(index) ?? leftAsIs(sight)) : undefined;
      if (outcome?.kind === 'skipped') passed.push(outcome);
      else {
        scans.push(sight);
        if (outcome !== undefined) outcomes.push(outcome);
      }
    }
  }
  return { scans, outcomes, skipped: passed, generated, crashes, files: candidates.length };
}
