import type { FixCount, Setup } from '../prove/report.js';
import type { VerdictKind, VerifiedFigure } from '../prove/verified.js';

/** What is done to a repository, in this order. */
export const STAGES = ['clone', 'plan', 'apply', 'verify', 'commit', 'push', 'pr'] as const;
export type StageName = (typeof STAGES)[number];

/** How far a run goes: patches only, commits in the mirror, branches on the remote, or pull requests for them. */
export const GOALS = ['plan', 'commit', 'push', 'pr'] as const satisfies readonly StageName[];
export type Goal = (typeof GOALS)[number];

export interface Base {
  readonly commit: string;
  /** The remote's default branch; null where its HEAD is on none. */
  readonly branch: string | null;
}

/** One commit to come. */
export interface Step {
  /** Its file in `patches/`. */
  readonly patch: string;
  readonly sha256: string;
  readonly fixes: readonly FixCount[];
}

export interface Planned {
  /** Tells the settings and the commit it was made with from any others. */
  readonly key: string;
  /** Also the date of the commits, so that making them again makes the same ones. */
  readonly at: string;
  /** Python files looked at. */
  readonly checked: number;
  /** Files that change. */
  readonly files: number;
  readonly fixes: readonly FixCount[];
  /** Findings that stay although nobody rejected their fix: mostly since it is not safe, or they are advice. */
  readonly remaining: number;
  /** Sites that were seen and left alone. */
  readonly refused: number;
  /** Fixes that a person does not want, where there are some. */
  readonly rejected?: number;
  /** Fixes that are held back until a person looks at them again, where there are some. */
  readonly held?: number;
  /** The first of each kind, for who reads the change. */
  readonly left?: readonly Left[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Where memfix itself failed: our bugs. */
  readonly bugs: readonly string[];
  /** None where nothing changes. */
  readonly steps: readonly Step[];
}

/** A finding that the campaign changes nothing about. */
export interface Left {
  readonly transform: string;
  readonly path: string;
  readonly line: number;
  /** Of a notebook; then the line is counted in it. */
  readonly cell?: number;
  /** Rejected and held ones are by the line that they were found in; `unfixed` ones would be safe to fix. */
  readonly kind: 'refused' | 'unsafe' | 'advice' | 'unfixed' | 'rejected' | 'held';
  /** As a clause or a list of clauses. */
  readonly because: string;
}

export const CHECKS = ['passing', 'failing', 'pending', 'none', 'unknown'] as const;

/** A pull or merge request for a branch of ours, as it was when its forge was last asked. */
export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  /** What its last commit was tested to be; unknown where the forge does not tell us. */
  readonly checks: (typeof CHECKS)[number];
}

export interface StageFailure {
  readonly stage: StageName;
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  /** The repository fails in the same way without the fixes. */
  readonly isOfBase?: true;
  /** A later run has begun to try it again, and has not come to this stage yet. */
  readonly isRetried?: true;
}

export interface Verified {
  readonly commit: string;
  /** In the words of the campaign. */
  readonly command: string;
  readonly seconds: number;
  /** Where a run of the command has decided about each fix. */
  readonly proof?: Proof;
}

/** What a proof rests on. */
export interface Proof {
  readonly setup: Setup;
  /** Memory without and with the fixes that are verified. */
  readonly figures: readonly VerifiedFigure[];
  /** What was held against two runs without the fixes: losses, gradients, … */
  readonly compared: readonly string[];
  readonly runs: number;
  readonly fixes: readonly ProvenFix[];
}

/** What the runs have said of a fix. */
export interface ProvenFix {
  readonly path: string;
  readonly line: number;
  /** Of a notebook; then the line is counted in it. */
  readonly cell?: number;
  readonly transform: string;
  readonly verdict: VerdictKind;
  /** Why it is not verified. */
  readonly because: string | null;
}

/** All that is known about one repository of a campaign: what each stage left, as far as they came. */
export interface RepositoryRecord {
  readonly version: 1;
  readonly id: string;
  readonly name: string;
  /** Without credentials. */
  readonly url: string;
  /** Null where the repository has no commit. */
  readonly base?: Base | null;
  readonly planned?: Planned;
  /** A commit for each step, in the mirror, on no branch. */
  readonly applied?: { readonly key: string; readonly commits: readonly string[] };
  readonly verified?: Verified;
  readonly committed?: { readonly branch: string; readonly commits: readonly string[] };
  readonly pushed?: { readonly branch: string; readonly commit: string };
  /** It was there already, if a run of ours that was killed did not open it. */
  readonly proposed?: PullRequest & { readonly isFound: boolean };
  /** The branch was on the remote already, and is not ours. */
  readonly taken?: { readonly branch: string; readonly commit: string };
  readonly failure?: StageFailure;
}

export const STATUSES = [
  'merged',
  'pr open',
  'pr closed',
  'pushed',
  'branch exists',
  'committed',
  'planned',
  'no change',
  'rejected',
  'empty',
  'failed',
  'not verifiable',
  'cloned',
  'new',
] as const;
export type Status = (typeof STATUSES)[number];

const PROPOSED = { merged: 'merged', open: 'pr open', closed: 'pr closed' } as const;

export function statusOf(record: RepositoryRecord): Status {
  if (record.proposed !== undefined) return PROPOSED[record.proposed.state];
  if (hasFailed(record)) return record.failure?.isOfBase === true ? 'not verifiable' : 'failed';
  if (record.pushed !== undefined) return 'pushed';
  if (record.base === null) return 'empty';
  if (record.taken !== undefined) return 'branch exists';
  if (record.committed !== undefined) return 'committed';
  if (record.planned !== undefined) return planStatus(record.planned);
  return record.base === undefined ? 'new' : 'cloned';
}

function planStatus({ steps, rejected = 0, held = 0 }: Planned): Status {
  if (steps.length > 0) return 'planned';
  return rejected + held === 0 ? 'no change' : 'rejected';
}

/** A pull request is there whatever went wrong on the way to it. */
export function hasFailed({ failure, proposed }: RepositoryRecord): boolean {
  return failure !== undefined && proposed === undefined;
}

/** Whether a run with this goal comes to a stage. */
export function reaches(goal: Goal, stage: StageName): boolean {
  return STAGES.indexOf(stage) <= STAGES.indexOf(goal);
}

/** Whether a run with this goal has nothing left to do there; a failure counts as an end, unless it is tried again. */
export function isFinished(record: RepositoryRecord, goal: Goal): boolean {
  if (hasFailed(record)) return record.failure?.isRetried !== true;
  const status = statusOf(record);
  if (status === 'new' || status === 'cloned') return false;
  if (status === 'planned') return goal === 'plan';
  if (status === 'committed') return goal === 'plan' || goal === 'commit';
  return status !== 'pushed' || goal !== 'pr';
}

/** The record as it was before a stage, and the stages after it, left anything. */
export function before(stage: StageName, record: RepositoryRecord): RepositoryRecord {
  const { base, planned, applied, verified, committed, pushed, version, id, name, url } = record;
  const from = STAGES.indexOf(stage);
  return {
    version,
    id,
    name,
    url,
    ...(from > 0 && base !== undefined && { base }),
    ...(from > 1 && planned !== undefined && { planned }),
    ...(from > 2 && applied !== undefined && { applied }),
    ...(from > 3 && verified !== undefined && { verified }),
    ...(from > 4 && committed !== undefined && { committed }),
    ...(from > 5 && pushed !== undefined && { pushed }),
  };
}
