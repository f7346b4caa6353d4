import type { Finding } from '../engine/outcome.js';
import type { Reason } from '../semantic/reason.js';
import type { Premise } from '../semantic/versions.js';
import type { Report } from './report.js';

/** A version that is assumed of a package that nothing pins. */
export interface Assumption {
  readonly package: string;
  readonly atLeast: string;
}

/** What the fixes of a report count on without a word from the project, each package once. */
export function assumptionsOf({
  scans,
  taken = [],
  oom,
}: Pick<Report, 'scans' | 'taken' | 'oom'>): readonly Assumption[] {
  // What does not explain it is not offered.
  const offered = oom === undefined ? undefined : new Set([...oom.related].map(({ finding }) => finding));
  const findings = [
    ...taken.map(({ finding }) => finding),
    ...scans.flatMap((scan) => scan.findings).filter((finding) => offered?.has(finding) !== false),
  ];
  return assumedBy(findings.filter(({ fix }) => fix !== undefined));
}

export function assumedBy(findings: readonly Finding[]): readonly Assumption[] {
  const floors = new Map(
    findings.flatMap(({ premises = [] }) =>
      premises.flatMap(({ package: name, assumed }) =>
        assumed === undefined ? [] : [[name, assumed] as const],
      ),
    ),
  );
  return [...floors].sort().map(([name, atLeast]) => ({ package: name, atLeast }));
}

/** One sentence for each. */
export function assumptionSentences(assumptions: readonly Assumption[]): readonly string[] {
  return assumptions.map(
    ({ package: name, atLeast }) =>
      `Nothing pins ${name}: ${atLeast} or newer is assumed (\`--target-version ${name}=…\` to change).`,
  );
}

/** "torch 2.0 or newer: uv.lock:3 says `torch ==2.4.0`" */
export function premiseSentence({ package: name, atLeast, because }: Premise): string {
  return `${name} ${atLeast} or newer: ${because}`;
}

/** Why a fix is right: what the code and the library prove, then what was stated. */
export function reasonsOf({ reasons = [], premises = [] }: Finding): readonly Reason[] {
  return [
    ...reasons,
    ...premises.map((premise) => ({ source: 'stated' as const, text: premiseSentence(premise) })),
  ];
}
