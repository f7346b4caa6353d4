import type { Finding, Scan } from '../engine/outcome.js';
import type { Safety } from '../toolkit/contract.js';
import type { Effect } from '../toolkit/effect.js';
import { countByEffect } from './effects.js';
import { isRefused, type Report, SAFETIES } from './report.js';

export type BySafety = Readonly<Record<Safety, number>>;

export interface Tally {
  /** Findings without the sites that were left alone. */
  readonly findings: number;
  readonly bySafety: BySafety;
  readonly byEffect: Readonly<Record<Effect, number>>;
  /** Findings that come with a change. */
  readonly fixable: BySafety;
  /** Some of the safe ones change the same lines, so that one may leave another nothing to do. */
  readonly mayMeet: boolean;
  /** How many are another way to fix what is counted. */
  readonly ways: number;
  /** Those of them in files that `apply` would leave alone. */
  readonly held: BySafety;
  /** Unsafe ones among these that a config has `apply` take. */
  readonly allowed: number;
  /** Sites that were left alone, and the leaks among them. */
  readonly refused: number;
  readonly refusedLeaks: number;
  readonly suppressed: number;
  /** Files with at least one finding. */
  readonly files: number;
  readonly notes: number;
  readonly skipped: number;
}

export function tally(report: Report): Tally {
  const all = report.scans.flatMap((scan) => scan.findings);
  const findings = all.filter((finding) => !isRefused(finding));
  const offeredIn = (scans: readonly Scan[]) => scans.flatMap((scan) => takenTogether(scan.findings));
  const offered = offeredIn(report.scans);
  const held = offeredIn(report.scans.filter(({ file }) => report.held?.has(file.path)));
  const suppressed = report.scans.reduce((sum, scan) => sum + scan.suppressed.length, 0);
  return {
    findings: findings.length,
    bySafety: countBySafety(findings),
    byEffect: countByEffect(findings),
    fixable: countBySafety(offered),
    mayMeet: report.scans.some((scan) => meet(takenTogether(scan.findings))),
    ways: findings.filter(({ fix }) => fix !== undefined).length - offered.length,
    held: countBySafety(held),
    allowed: offered.filter(
      ({ safety, unsafeFixes = report.unsafeFixes }) => safety === 'unsafe' && unsafeFixes === true,
    ).length,
    refused: all.length - findings.length,
    refusedLeaks: all.filter((finding) => isRefused(finding) && finding.symptom === 'leak').length,
    suppressed,
    files: report.scans.filter((scan) => !scan.findings.every(isRefused)).length,
    notes: report.scans.reduce((sum, scan) => sum + scan.notes.length, 0),
    skipped: report.skipped.length,
  };
}

/** The fixes of a file that can all be taken: of alternatives only one, a safe one before others. */
function takenTogether(findings: readonly Finding[]): readonly Finding[] {
  const offered = findings.filter(
    ({ fix, alternativeTo }) => fix !== undefined && alternativeTo === undefined,
  );
  const inOrder = SAFETIES.flatMap((safety) => offered.filter((each) => each.safety === safety));
  const taken: Finding[] = [];
  for (const finding of inOrder)
    if (!taken.some(({ key }) => finding.alternatives?.includes(key))) taken.push(finding);
  return taken;
}

function meet(findings: readonly Finding[]): boolean {
  const spans = findings.flatMap(({ safety, fix }) => {
    const edits = safety === 'safe' ? (fix?.edits ?? []) : [];
    if (edits.length === 0) return [];
    return {
      start: Math.min(...edits.map(({ start }) => start)),
      end: Math.max(...edits.map(({ end }) => end)),
    };
  });
  const inOrder = spans.sort((a, b) => a.start - b.start);
  return inOrder.some(({ start }, at) => start < (inOrder[at - 1]?.end ?? 0));
}

export function countBySafety(findings: readonly { readonly safety: Safety }[]): BySafety {
  const count = (safety: Safety) => findings.filter((finding) => finding.safety === safety).length;
  return { safe: count('safe'), unsafe: count('unsafe'), advice: count('advice') };
}
