import type { Decide, Outcome } from '../engine/outcome.js';
import type { FixCount } from '../report/prove/report.js';
import { changesOf, eachBesideOnce, fixCounts, isChanged } from '../workspace/changes.js';
import type { Change } from '../workspace/prove/fixes.js';
import type { Context } from './context.js';
import { type Look, lookThrough, prepare } from './looking.js';
import { settledOutcomes } from './settling.js';

/** What `apply` would do now, on paper. */
export interface Proposal {
  readonly fixes: readonly FixCount[];
  /** All of it as `after`; where that is asked for, also each transform's part alone, by its id. */
  readonly changes: ReadonlyMap<string, readonly Change[]>;
  /** Fixes that are offered and not taken, since they are unsafe. */
  readonly waiting: number;
}

export async function fixesIn(context: Context, alone: boolean): Promise<Proposal> {
  const look = await prepare(context);
  const seen = await lookThrough(context, look, 'fix');
  const outcomes = await settledOutcomes(look, seen);
  const changed = outcomes.filter(isChanged);
  context.remark({ scans: [], skipped: seen.skipped, checked: seen.files });
  context.confess(
    seen.crashes,
    outcomes.flatMap(({ bugs }) => bugs),
  );
  const fixes = fixCounts(changed);
  const changes = new Map([['after', changesIn(context, look, changed)]]);
  if (alone && fixes.length > 1) {
    for (const { transform } of fixes) {
      changes.set(transform, changesIn(context, look, await repairedBy(transform, changed, look)));
    }
  }
  return { fixes, changes, waiting: waitingIn(outcomes) };
}

function changesIn({ io }: Context, look: Look, outcomes: readonly Outcome[]): readonly Change[] {
  return outcomes.flatMap((outcome) => changesOf(io.cwd, look, outcome));
}

/** The same files with the fixes of one transform only. */
async function repairedBy(
  transform: string,
  outcomes: readonly Outcome[],
  { tools, project }: Look,
): Promise<readonly Outcome[]> {
  const engine = await tools.engine();
  const decide = await project.policy();
  const only: Decide = (finding, preview) =>
    finding.transform === transform ? decide(finding, preview) : { kind: 'skip' };
  const repaired: Outcome[] = [];
  for (const { file, remaining } of outcomes) {
    const outcome = await engine.repair(file, only);
    if (outcome.kind === 'outcome') repaired.push(outcome);
    else throw new Error(`${remaining.file.path} was repaired before, and is skipped now: ${outcome.reason}`);
  }
  return eachBesideOnce({ scans: repaired.map(({ remaining }) => remaining), outcomes: repaired }).filter(
    isChanged,
  );
}

/** Those that `apply -i` would ask about: not another way to do what is done, or to do what is asked about already. */
export function waitingIn(outcomes: readonly Outcome[]): number {
  return outcomes.flatMap(({ settled }) => {
    const asked = settled.flatMap(({ finding, fate }) => (fate === 'declined' ? [] : finding.key));
    return settled.filter(({ finding: { safety, key, alternatives = [], alternativeTo }, fate }) => {
      if (fate !== 'declined' || safety !== 'unsafe' || alternativeTo !== undefined) return false;
      if (alternatives.some((each) => asked.includes(each))) return false;
      asked.push(key);
      return true;
    });
  }).length;
}
