import type { Decide, Outcome } from '../engine/outcome.js';
import { eachBesideOnce } from '../workspace/changes.js';
import type { Visit } from '../workspace/visit.js';
import type { Look } from './looking.js';

/** A text on standard input comes back alone: a fix that needs another file to change is not for it. */
export function withoutBeside(decide: Decide): Decide {
  return (finding, preview) =>
    finding.fix?.beside === undefined ? decide(finding, preview) : { kind: 'skip' };
}

/**
 * What becomes of the files of a look. Another file, such as a shell script that starts two programs, is changed by the first that
 * asks for it; the others get the fixes that do without, so that a second run finds nothing left to do.
 */
export async function settledOutcomes({ tools, project }: Look, seen: Visit): Promise<readonly Outcome[]> {
  const once = eachBesideOnce(seen);
  if (once.every((outcome, index) => outcome === seen.outcomes[index])) return once;
  const engine = await tools.engine();
  const decide = withoutBeside(await project.policy());
  const settled: Outcome[] = [];
  for (const [index, outcome] of once.entries()) {
    const again = outcome === seen.outcomes[index] ? outcome : await engine.repair(outcome.file, decide);
    settled.push(again.kind === 'outcome' ? again : outcome);
  }
  return settled;
}
