import type { Decide, Outcome, Scan, Skipped } from '../engine/outcome.js';
import type { Relied } from '../semantic/surroundings.js';
import { type Cache, type Lesson, type Memory, sameStamp, withFile } from './cache.js';
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
import { type Stamp, stampAt } from './read.js';
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
  readonly examiner: Examiner;
  /** The same as the examiner's. */
  readonly decide?: Decide;
  readonly cache?: Cache;
  /** Whether the project is as it was, as far as an earlier look depended on it. */
  isAsBefore(relied: Relied, known: (path: string) => string | undefined): boolean;
  readonly threads?: CrewSetting;
}

/** Looks at every candidate that could matter; one file's failure never ends the run. In the order of the candidates. */
export async function visit(discovery: Discovery, means: Means, hooks: VisitHooks): Promise<Visit> {
  const { candidates } = discovery;
  const readAt = Date.now();
  const stamps = candidates.map(({ target }) => stampAt(target));
  const all = candidates.map(({ path, explicit }) => means.cache?.recall(path, explicit));
  const known = unchangedHashes(candidates, stamps, all);
  const memories = all.map((memory) =>
    memory?.relied === undefined || means.isAsBefore(memory.relied, (path) => known.get(path))
      ? memory
      : undefined,
  );
  const sights: (Sight | undefined)[] = [];
  const repairs = new Map<number, Outcome | Skipped>();
  const todo: { readonly index: number; readonly size: number; readonly job: Job }[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const stamp = stamps[index];
    const memory = memories[index];
    sights[index] =
      memory && stamp && sameStamp(stamp, memory.stamp) ? sightOf(memory.lesson, candidate) : undefined;
    if (sights[index] === undefined) {
      todo.push({ index, size: stamp?.[2] ?? 0, job: jobFor(candidate, memory, means) });
    }
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
      const index = todo[at]?.index ?? -1;
      const candidate = candidates[index];
      if (candidate === undefined) throw new RangeError('an answer about no file');
      const memory = memories[index];
      sights[index] = recognised(examined.sight, memory);
      if (examined.repaired !== undefined) repairs.set(index, examined.repaired);
      learn(means.cache, candidate, examined, memory, readAt);
    },
  );
  return sorted(discovery, sights, repairs, means.decide !== undefined);
}

/** The hashes of the files that are as they were, by the names they are reported under. */
function unchangedHashes(
  candidates: readonly Candidate[],
  stamps: readonly (Stamp | undefined)[],
  memories: readonly (Memory | undefined)[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [index, { path }] of candidates.entries()) {
    const stamp = stamps[index];
    const memory = memories[index];
    if (stamp !== undefined && memory?.hash !== undefined && sameStamp(stamp, memory.stamp))
      found.set(path, memory.hash);
  }
  return found;
}

/** What can be said without the file's text. */
function sightOf(lesson: Lesson, { path }: Candidate): Sight | undefined {
  if (lesson.kind === 'scan') return undefined;
  return lesson.kind === 'skipped' ? { ...lesson.skipped, path } : lesson;
}

function jobFor(candidate: Candidate, memory: Memory | undefined, { cache, decide }: Means): Job {
  const isRemembered = cache !== undefined;
  if (memory?.hash === undefined) return { candidate, isRemembered };
  const { hash, lesson } = memory;
  const repairs = decide !== undefined && lesson.kind === 'scan' && takesAny(lesson.scan, decide);
  return { candidate, isRemembered, hash, repairs };
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
  cache.remember(path, { stamp, explicit, lesson, ...(hash && { hash }), ...(relied && { relied }) }, readAt);
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
  for (const [index, { path }] of candidates.entries()) {
    const sight = sights[index];
    if (sight === undefined) throw new Error(`${path} was forgotten`);
    if (sight.kind === 'generated') generated.push(path);
    else if (sight.kind === 'skipped') passed.push(sight);
    else if (sight.kind === 'crash') crashes.push(sight);
    else if (sight.kind === 'scan') {
      const outcome = repairs.get(index) ?? leftAsIs(sight);
      if (outcome.kind === 'skipped') passed.push(outcome);
      else {
        scans.push(sight);
        if (takesFixes) outcomes.push(outcome);
      }
    }
  }
  return { scans, outcomes, skipped: passed, generated, crashes, files: candidates.length };
}
