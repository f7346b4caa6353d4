import { type RepositoryRecord, STAGES, type StageName } from '../../report/migrate/record.js';
import { codeOf, Failure, reasonOf } from '../failure.js';
import { redacted } from '../secrets.js';
import { Setback } from './setback.js';
import { ALL_STAGES, type Desk, type Stage } from './stages.js';

/** How a driver takes a repository along. */
export interface Course {
  /** The last stage there is to do. */
  readonly goal: StageName;
  /** Lets a stage run: at once, or when its lane is free. */
  through<T>(stage: Stage, work: () => Promise<T>): Promise<T>;
  /** Keeps what stages left, or why one failed; the next one begins when that is kept. */
  journal(record: RepositoryRecord): void | Promise<void>;
  /** Whether a stage that has to run may run here; where not, the way ends before it. */
  isWelcome?(stage: Stage): boolean;
  /** Hears why a stage failed. */
  failed?(stage: Stage, error: unknown): void;
}

/** A repository's way to a goal, from wherever its record says it is. */
export async function goOn(desk: Desk, start: RepositoryRecord, course: Course): Promise<RepositoryRecord> {
  const { failure: _, ...rest } = start;
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
      record = { ...record, failure: { stage: stage.name, ...discreet(told(error)) } };
    }
    await course.journal(record);
    isKept = true;
  }
  if (!isKept) await course.journal(record);
  return record;
}

/** Whether neither this stage nor those after it have anything to do. */
function isAtEnd({ taken, failure, base, planned }: RepositoryRecord, { name }: Stage): boolean {
  if (failure !== undefined || (name === 'pr' && taken !== undefined)) return true;
  if (name === 'clone') return false;
  return base === null || (name !== 'plan' && planned?.steps.length === 0);
}

type Trouble = Omit<NonNullable<RepositoryRecord['failure']>, 'stage'>;

/** Errors quote what others wrote: git, servers, code. */
function discreet({ title, detail, next }: Trouble): Trouble {
  return { title: redacted(title), detail: redacted(detail), next: redacted(next) };
}

/** One repository's trouble is never the end of a campaign. */
function told(error: unknown): Trouble {
  if (error instanceof Failure) return { title: error.title, detail: error.detail, next: error.next };
  if (codeOf(error) !== undefined) {
    const path = error instanceof Error && 'path' in error ? `${String(error.path)}: ` : '';
    const next = 'Remove the cause, then `memfix migrate run --failed` tries it again.';
    return { title: 'The disk does not let memfix work', detail: `${path}${reasonOf(error)}`, next };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { title: 'Internal error', detail, next: 'Please report this.' };
}
