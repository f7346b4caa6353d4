import { byPosition, type Edit } from '../edit/edit.js';
import type { Finding, Scan } from '../engine/outcome.js';
import { aboutWhat, type Question } from '../semantic/question.js';
import type { Reason } from '../semantic/reason.js';
import type { SourceText } from '../text/decode.js';
import { Lines, type Position } from '../text/lines.js';
import type { Numerics, Safety, Symptom } from '../toolkit/contract.js';
import type { Effect } from '../toolkit/effect.js';
import { spanIn } from './by-cell.js';
import { diagnosisJson, type JsonOutOfMemory } from './oom.js';
import { type Assumption, assumptionsOf } from './premises.js';
import type { Setup } from './prove/report.js';
import type { Standing, VerifiedFigure } from './prove/verified.js';
import { inOrder, isRefused, type Report, type Shown } from './report.js';
import { type BySafety, tally } from './tally.js';
import type { TooLarge } from './too-large.js';

/**
 * The document of `--output-format json`. Fields are only ever added within a version.
 * Lines and columns count from 1, columns in characters (code points), ends are exclusive.
 * Offsets count from 0 in UTF-16 code units of the decoded text, without its byte order mark.
 * What is absent is `null`, never missing.
 */
export interface JsonReport {
  readonly version: 2;
  /** In order of path as scanned, then of place; of rank where there is one. As many as the summary says. */
  readonly findings: readonly JsonFinding[];
  /** Sites that were seen and left alone, each with its `refusal`. */
  readonly leftAlone: readonly JsonFinding[];
  /** What `apply` fixed; `null` for a command that writes nothing. Places are those of the text before. */
  readonly applied: readonly JsonApplied[] | null;
  readonly skipped: readonly JsonSkipped[];
  /** Suppression comments that silence nothing or name no transform. */
  readonly notes: readonly JsonNote[];
  /** The versions that fixes count on although nothing in the project pins the package. */
  readonly assumed: readonly Assumption[];
  /** What `--oom` and `--snapshot` tell. */
  readonly oom: JsonOutOfMemory | null;
  /** The run of `--evidence`, in lines. */
  readonly proven: readonly string[] | null;
  /** Runs that cannot fit the card that the config names; `null` where it names none. */
  readonly runs: readonly TooLarge[] | null;
  readonly summary: JsonSummary;
}

export interface JsonFinding {
  readonly path: string;
  /** Of a notebook, among all its cells, from 1; then lines, columns and offsets are those of the cell's own source. */
  readonly cell: number | null;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly id: string;
  /** What its transform is about: what `--select` and `--fail-on` know it by. */
  readonly symptom: Symptom;
  /** How loud it is in formats for forges: a leak is an error, advice a note, everything else a warning. */
  readonly level: Level;
  /** Names the same finding in a later run, as long as its own words stay. */
  readonly key: string;
  /** What its transform is good for, as far as it was measured. */
  readonly effect: Effect;
  readonly safety: Safety;
  readonly numerics: Numerics;
  readonly message: string;
  /** What a person has to answer with yes before the fix is right; the first, where there are several. */
  readonly question: string | null;
  readonly questions: readonly JsonQuestion[];
  /** The texts of `questions`. */
  readonly unproven: readonly string[];
  /** Questions whose yes the config assumes: the fix is safe by assumption where nothing else is asked. */
  readonly assumed: readonly JsonQuestion[];
  /** Keys of findings that are fixed by the same lines in another way: one of them can be taken. */
  readonly alternatives: readonly string[];
  /** Transforms of this run that do the opposite: `apply` leaves the choice to a person. */
  readonly alternativeTo: readonly string[];
  /** The versions that the fix counts on, and what says that they are there. */
  readonly premises: readonly JsonPremise[];
  /** Why the fix is right, a step each, as far as the code and the library prove it. */
  readonly reasons: readonly Reason[];
  /** Questions of its transform that the code answers: nothing speaks against the fix there. */
  readonly answered: readonly JsonQuestion[];
  /** Why the site was left alone; `null` for a finding. */
  readonly refusal: string | null;
  readonly fix: JsonFix | null;
  /** What a person should do, for advice without a fix. */
  readonly advice: string | null;
  /** From 1, for the finding that is likeliest to explain why memory ran out; for sites that were left alone, `null`. */
  readonly rank: number | null;
  /** Why it has that rank, as a phrase. */
  readonly because: string | null;
  /** What `memfix prove` measured for its transform, with `--evidence`. */
  readonly measured: string | null;
  /** What a verification (`apply --verify`) has said of it, with `--evidence`; `stale` where the code is another one since. */
  readonly verified: JsonVerified | null;
}

export type Level = 'error' | 'warning' | 'note';

/** What grows without end stops a run; advice stops nobody. */
function levelOf({ safety, symptom }: Finding): Level {
  if (safety === 'advice') return 'note';
  return symptom === 'leak' ? 'error' : 'warning';
}

export interface JsonVerified {
  readonly verdict: Standing['kind'];
  /** For a reader. */
  readonly words: string;
  readonly command: string;
  readonly at: string;
  readonly setup: Setup;
  readonly compared: readonly string[];
  readonly figures: readonly VerifiedFigure[];
}

export interface JsonApplied {
  readonly path: string;
  readonly cell: number | null;
  readonly line: number;
  readonly column: number;
  readonly id: string;
  readonly title: string;
  /** What the run of `--verify` has said of it. */
  readonly verified: JsonVerified | null;
}

export interface JsonQuestion {
  readonly text: string;
  /** What `assume` of the configuration names it by. */
  readonly key: string;
}

export interface JsonPremise {
  readonly package: string;
  readonly atLeast: string;
  readonly because: string;
  /** The default floor of the package, where nothing pins it. */
  readonly assumed: string | null;
}

export interface JsonFix {
  readonly title: string;
  /** All of them or none, with those of the imports it needs; in order of place, also where two share one. Never overlapping. */
  readonly edits: readonly JsonEdit[];
  /** What changes in other files of the project with it, or nothing may. */
  readonly files: readonly { readonly path: string; readonly edits: readonly JsonEdit[] }[];
}

export interface JsonEdit {
  readonly cell: number | null;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly start: number;
  readonly end: number;
  /** What takes the place of the characters from `start` to `end`. */
  readonly text: string;
}

export interface JsonSkipped {
  readonly path: string;
  readonly cell: number | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly reason: string;
}

export interface JsonNote {
  readonly path: string;
  readonly cell: number | null;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface JsonSummary extends BySafety {
  /** Findings by what they are good for. */
  readonly effects: Readonly<Record<Effect, number>>;
  /** Files looked at. */
  readonly checked: number;
  /** Findings, without the sites that were left alone. */
  readonly findings: number;
  /** Files with findings. */
  readonly files: number;
  readonly refused: number;
  readonly suppressed: number;
  readonly skipped: number;
  readonly notes: number;
  /** What `--baseline` left out, and how many recorded findings are gone; `null` without it. */
  readonly baseline: { readonly known: number; readonly gone: number } | null;
  /** What `apply` changed; `null` for a command that writes nothing. */
  readonly fixed: { readonly findings: number; readonly suppressed: number; readonly files: number } | null;
}

export function renderJson(report: Report): string {
  return `${JSON.stringify(toJson(report), undefined, 2)}\n`;
}

export function toJson(report: Report): JsonReport {
  const counts = tally(report);
  const known = new Map<Scan, Lines>();
  const linesOf = (scan: Scan): Lines => {
    const lines = known.get(scan) ?? new Lines(scan.file.source.text);
    known.set(scan, lines);
    return lines;
  };
  const told = (all: readonly Shown[]) => all.map((shown) => findingJson(shown, linesOf(shown.scan), report));
  return {
    version: 2,
    findings: told(inOrder(report).filter(({ finding }) => !isRefused(finding))),
    leftAlone: told(inOrder(report).filter(({ finding }) => isRefused(finding))),
    applied:
      report.taken?.map(({ path, finding }) => ({
        path,
        cell: finding.at.cell ?? null,
        line: finding.at.line,
        column: finding.at.column,
        id: finding.transform,
        title: finding.fix?.title ?? '',
        verified: verifiedJson(report.proven?.taken(path, finding)),
      })) ?? null,
    skipped: report.skipped.map(({ path, at, reason }) => ({
      path,
      cell: at?.cell ?? null,
      line: at?.line ?? null,
      column: at?.column ?? null,
      reason,
    })),
    notes: report.scans.flatMap((scan) =>
      scan.notes.map(({ at, message }) => ({
        path: scan.file.path,
        cell: at.cell ?? null,
        line: at.line,
        column: at.column,
        message,
      })),
    ),
    assumed: assumptionsOf(report),
    oom: report.oom === undefined ? null : diagnosisJson(report.oom),
    proven: report.proven?.summary ?? null,
    runs: report.runs ?? null,
    summary: {
      checked: report.checked,
      findings: counts.findings,
      files: counts.files,
      ...counts.bySafety,
      effects: counts.byEffect,
      refused: counts.refused,
      suppressed: counts.suppressed,
      skipped: counts.skipped,
      notes: counts.notes,
      baseline: report.baseline ?? null,
      fixed: report.fixed ?? null,
    },
  };
}

function findingJson({ scan, finding, ranked }: Shown, lines: Lines, { proven }: Report): JsonFinding {
  const { fix } = finding;
  return {
    path: scan.file.path,
    ...range(finding.at, finding.end),
    id: finding.transform,
    symptom: finding.symptom,
    level: levelOf(finding),
    key: finding.key,
    effect: finding.effect,
    safety: finding.safety,
    numerics: finding.numerics,
    message: finding.message,
    question: finding.questions[0]?.text ?? null,
    questions: finding.questions.map((each) => questionJson(finding.transform, each)),
    unproven: finding.questions.map(({ text }) => text),
    assumed: (finding.assumed ?? []).map((each) => questionJson(finding.transform, each)),
    alternatives: finding.alternatives ?? [],
    alternativeTo: finding.alternativeTo ?? [],
    premises: (finding.premises ?? []).map((premise) => ({ ...premise, assumed: premise.assumed ?? null })),
    reasons: finding.reasons ?? [],
    answered: (finding.answered ?? []).map((each) => questionJson(finding.transform, each)),
    refusal: finding.refusal ?? null,
    fix:
      fix === undefined
        ? null
        : {
            title: fix.title,
            edits: [...fix.importEdits, ...fix.edits]
              .sort(byPosition)
              .map((edit) => editJson(edit, scan.file.source, lines)),
            files: (fix.beside ?? []).map(({ path, text, edits }) => {
              const places = new Lines(text);
              return {
                path,
                edits: [...edits].sort(byPosition).map((edit) => editJson(edit, undefined, places)),
              };
            }),
          },
    advice: finding.advice ?? null,
    rank: ranked?.rank ?? null,
    because: ranked?.because ?? null,
    measured: proven?.measured(finding.transform) ?? null,
    verified: verifiedJson(proven?.standing(scan.file.path, finding)),
  };
}

function verifiedJson(standing: Standing | undefined): JsonVerified | null {
  if (standing === undefined) return null;
  const { kind, label, words, run } = standing;
  const { command, at, setup, compared, figures } = run;
  return { verdict: kind, words: `${label}${words}`, command, at, setup, compared, figures };
}

function questionJson(transform: string, question: Question): JsonQuestion {
  return { text: question.text, key: `${transform}/${aboutWhat(question)}` };
}

function editJson({ text, ...span }: Edit, source: SourceText | undefined, lines: Lines): JsonEdit {
  const { from, to, start, end } = spanIn(source ?? PLAIN, lines, span);
  return { ...range(from, to), start, end, text };
}

/** Of a file that is no notebook. */
const PLAIN: SourceText = { text: '', encoding: 'utf-8', bom: false };

function range(from: Position, to: Position) {
  return {
    cell: from.cell ?? null,
    line: from.line,
    column: from.column,
    endLine: to.line,
    endColumn: to.column,
  };
}
