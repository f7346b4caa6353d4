import type { Comparison } from './compare.js';
import type { ProveReport } from './report.js';
import type { Measure } from './statistics.js';

/** The document of `memfix prove --json`. Fields are only ever added within a version; what is absent is `null`. */
export function proveJson({ command, fixes, repeats, setup, comparison, perFix }: ProveReport): unknown {
  return {
    version: 1,
    kind: 'memfix prove',
    command,
    setup,
    repeats,
    fixes,
    ...comparisonJson(comparison),
    perFix: perFix.map((each) => ({ transform: each.transform, ...comparisonJson(each.comparison) })),
  };
}

/** The same where there was no fix to prove. */
export function nothingJson(command: readonly string[]): unknown {
  const nothing = {
    setup: { python: null, torch: null, transformers: null, platform: null, cpu: null, devices: [] },
    repeats: 0,
    fixes: [],
  };
  const outcome = { verdict: 'nothing to prove', endings: null, figures: [], parities: [], remarks: [] };
  return { version: 1, kind: 'memfix prove', command, ...nothing, ...outcome, perFix: [] };
}

function comparisonJson({ verdict, endings, rows, parities, remarks }: Comparison) {
  return {
    verdict,
    endings,
    figures: rows.map(({ name, label, unit, before, after, judgement }) => ({
      name,
      label,
      unit,
      before: measureJson(before),
      after: measureJson(after),
      judgement,
    })),
    parities: parities.map((parity) => ({
      ...parity,
      first: finite(parity.first),
      last: finite(parity.last),
      most: finite(parity.most),
      chance: parity.chance === null ? null : finite(parity.chance),
    })),
    remarks,
  };
}

function measureJson(measure: Measure | undefined) {
  return measure ?? null;
}

/** JSON has no word for infinity; a difference from `nan` is one. */
function finite(value: number): number | 'infinite' {
  return Number.isFinite(value) ? value : 'infinite';
}
