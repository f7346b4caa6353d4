import { isDeepStrictEqual } from 'node:util';
import {
  type Goal,
  type RepositoryRecord,
  STAGES,
  type StageFailure,
  type StageName,
} from '../../report/migrate/record.js';
import { RENEW_WORDS, retryWords } from '../../report/migrate/retry.js';
import { codeOf, Failure, reasonOf } from '../failure.js';
import { redactedValue } from '../secrets.js';
import { Outdated, Setback, Unverifiable } from './setback.js';
import { ALL_STAGES, type Desk, type Stage } from './stages.js';

/** How a driver takes a repository along. */
export interface Course {
  /** The last stage there is to do. */
  readonly goal: Goal;
  /** Lets a stage run: at once, or when its lane is free. */
  through<T>(stage: Stage, work: () => Promise<T>): Promise<T>;
  /** Keeps what stages left, or why one failed; the next one begins when that is kept. */
  journal(record: RepositoryRecord): void | Promise<void>;
  /** Whether a stage that has to run may run here; where not, the way ends before it. */
  isWelcome?(stage: Stage): boolean;
  /** Hears why a stage failed. */
  failed?(stage: Stage, error: unknown): void;
}

/**
 * A repository's way to a goal, from wherever its record says it is. An earlier failure stands until its stage runs again,
 * or a stage before it leaves something else.
 */
export async function goOn(desk: Desk, start: RepositoryRecord, course: Course): Promise<RepositoryRecord> {
  const { failure: earlier, ...rest } = start;
  const withEarlier = (now: RepositoryRecord): RepositoryRecord =>
    earlier !== undefined && isDeepStrictEqual(now, rest) ? { ...now, failure: earlier } : now;
  let record: RepositoryRecord = rest;
  let isKept = true;
  const first = start.pushed === undefined ? 'clone' : 'pr';
  for (const stage of ALL_STAGES.slice(STAGES.indexOf(first), STAGES.indexOf(course.goal) + 1)) {
    if (isAtEnd(record, stage)) break;
    try {
      if (await stage.isDone(desk, record)) continue;
      if (course.isWelcome?.(stage) === false) break;
      const from = record;
      record = await course.through(stage, () => stage.run(desk, from));
      isKept = false;
      if (stage.isFoundAgain === true) continue;
    } catch (error) {
      desk.eyes.signal.throwIfAborted();
      if (error instanceof Setback) throw error;
      course.failed?.(stage, error);
      record = { ...record, failure: failureIn(stage.name, course.goal, error) };
    }
    await course.journal(withEarlier(record));
    isKept = true;
  }
  record = withEarlier(record);
  if (!isKept) await course.journal(record);
  return record;
}

/** Whether neither this stage nor those after it have anything to do. */
function isAtEnd({ taken, failure, base, planned }: RepositoryRecord, { name }: Stage): boolean {
  if (failure !== undefined || (name === 'pr' && taken !== undefined)) return true;
  if (name === 'clone') return false;
  return base === null || (name !== 'plan' && planned?.steps.length === 0);
}

/** One repository's trouble is never the end of a campaign. What to run afterwards depends on how far the run goes. */
export function failureIn(stage: StageName, goal: Goal, error: unknown): StageFailure {
  const words = error instanceof Outdated ? RENEW_WORDS : retryWords(goal, stage);
  // Errors quote what others wrote: git, servers, code.
  const { title, detail, next } = redactedValue(told(error));
  const again = `${next} Then run \`memfix migrate ${words}\`.`;
  return { stage, title, detail, next: again, ...(error instanceof Unverifiable && { isOfBase: true }) };
}

function told(error: unknown): { readonly title: string; readonly detail: string; readonly next: string } {
  if (error instanceof Failure) return { title: error.title, detail: error.detail, next: error.next };
  if (codeOf(error) !== undefined) {
    const path = error instanceof Error && 'path' in error ? `${String(error.path)}: ` : '';
    const detail = `${path}${reasonOf(error)}`;
    return { title: 'The disk does not let memfix work', detail, next: 'Remove the cause.' };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { title: 'Internal error', detail, next: 'Please report this.' };
}
