import type { Finding } from '../../engine/outcome.js';
import { printable } from '../cells.js';
import { shellWord } from './render.js';
import type { Unit } from './rows.js';
import type { Measure } from './statistics.js';
import { type CodeState, type Standing, standingBy, type VerifiedRun, verifiedSummary } from './verified.js';
import { amountsWords } from './words.js';

/** What earlier runs of the user's command have shown, for patches and reports. */
export interface Proven {
  /** The command, the set-up, what was measured and what came of it: lines for a reader. */
  readonly summary: readonly string[];
  /** What was measured for a transform, as a phrase. */
  measured(transform: string): string | undefined;
  /** What a verification has said of a finding of this file. */
  standing(path: string, finding: Finding): Standing | undefined;
  /** The same of a finding as it was before its fix was written. */
  taken(path: string, finding: Finding): Standing | undefined;
}

interface Document {
  readonly version: 1;
  readonly kind: 'memfix prove';
  readonly command: readonly string[];
  readonly setup: { readonly torch: string | null; readonly devices: readonly string[] };
  readonly repeats: number;
  readonly fixes: readonly { readonly transform: string }[];
  readonly verdict: string;
  readonly figures: readonly Figure[];
  readonly parities: readonly { readonly of: string; readonly outcome: string }[];
  readonly perFix: readonly (Pick<Document, 'verdict' | 'figures'> & { readonly transform: string })[];
}

interface Figure {
  readonly label: string;
  readonly unit: Unit;
  readonly before: Measure | null;
  readonly after: Measure | null;
  readonly judgement: string;
}

/** Undefined for a text that `memfix prove --json` did not write. */
export function provenIn(text: string): Proven | undefined {
  const document = documentIn(text);
  if (document === undefined) return undefined;
  const { command, setup, repeats, fixes, verdict, figures, parities, perFix } = document;
  const where = [
    ...(setup.torch === null ? [] : [`torch ${setup.torch}`]),
    setup.devices.length === 0 ? 'no GPU' : setup.devices.join(', '),
    repeats === 1 ? 'one run each' : `median of ${repeats} runs each`,
  ];
  const summary = [
    `memfix prove -- ${command.map(shellWord).join(' ')}`,
    `  ${where.join(' · ')}; fixes: ${fixes.map(({ transform }) => transform).join(', ')}; ${verdict}`,
    ...figures.flatMap((figure) => {
      const words = figureWords(figure);
      return words === undefined ? [] : [`  ${words}`];
    }),
    ...parities.map(({ of, outcome }) => `  ${of}: ${outcome}`),
  ];
  return {
    summary: summary.map(printable),
    measured(transform) {
      if (!fixes.some((fix) => fix.transform === transform)) return undefined;
      const alone = perFix.find((each) => each.transform === transform);
      if (alone === undefined && fixes.length > 1) return 'measured only together with the others';
      const { figures: own, verdict: outcome } = alone ?? document;
      const words = own
        .filter(({ judgement }) => judgement !== 'same')
        .flatMap((each) => figureWords(each) ?? []);
      return printable(
        words.length === 0 ? `${outcome}: no difference was measured` : `${outcome}: ${words.join(', ')}`,
      );
    },
    standing: () => undefined,
    taken: () => undefined,
  };
}

/** The same of verifications; `stateOf` says whether the code is still what ran. */
export function provenBy(
  runs: readonly VerifiedRun[],
  nameOf: (path: string) => string,
  stateOf: (run: VerifiedRun) => CodeState,
): Proven {
  return {
    summary: verifiedSummary(runs),
    measured: () => undefined,
    standing: (path, finding) => standingBy(runs, nameOf(path), finding, stateOf),
    taken: (path, finding) => standingBy(runs, nameOf(path), finding, () => 'before'),
  };
}

function figureWords({ label, unit, before, after }: Figure): string | undefined {
  return before === null || after === null
    ? undefined
    : `${label} ${amountsWords(before.median, after.median, unit)}`;
}

function documentIn(text: string): Document | undefined {
  try {
    const json: Partial<Document> | null = JSON.parse(text);
    const isOurs = json?.kind === 'memfix prove' && json.version === 1 && Array.isArray(json.figures);
    return isOurs && Array.isArray(json.fixes) && Array.isArray(json.perFix) ? (json as Document) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
