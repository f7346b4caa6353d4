import { createHash } from 'node:crypto';
import type { Finding } from '../../engine/outcome.js';
import { printable } from '../cells.js';
import type { Setup } from './report.js';
import type { Row, Unit } from './rows.js';
import { amountsWords } from './words.js';

/** What a run of the user's command has said about a fix. */
export type VerdictKind = 'verified' | 'rejected' | 'idle' | 'undecided';

/** One verification: what ran, where, and what came of each fix. */
export interface VerifiedRun {
  readonly command: string;
  /** When it ended, in UTC. */
  readonly at: string;
  /** The version of memfix. */
  readonly memfix: string;
  readonly setup: Setup;
  readonly compared: readonly string[];
  readonly runs: number;
  readonly seconds: number;
  /** Memory of the command as it is and with all that was verified. */
  readonly figures: readonly VerifiedFigure[];
  /** The Python files that the command loaded, from the root of the tree: digests of their code, before and with what was taken. */
  readonly code: readonly { readonly path: string; readonly before: string; readonly after: string }[];
  readonly findings: readonly VerifiedFinding[];
}

export interface VerifiedFigure {
  readonly label: string;
  readonly unit: Unit;
  readonly before: number;
  readonly after: number;
}

export interface VerifiedFinding {
  readonly path: string;
  readonly id: string;
  /** The finding's own, which no line moves. */
  readonly key: string;
  /** The same where what was taken is in the code, since it counts its equals; null for one that is no longer there. */
  readonly after: string | null;
  /** Tells its fix from another one for the same place. */
  readonly fix: string;
  readonly verdict: VerdictKind;
  /** Why it was not verified. */
  readonly because: string | null;
}

/** What is known of a finding by earlier runs. */
export interface Standing {
  /** `stale`: the run was of other code. */
  readonly kind: VerdictKind | 'stale';
  /** What a reader is told, after the label. */
  readonly words: string;
  readonly label: string;
  readonly run: VerifiedRun;
}

const VERSION = 1;
const KIND = 'memfix verified';
const VERDICTS: ReadonlySet<unknown> = new Set<VerdictKind>(['verified', 'rejected', 'idle', 'undecided']);
/** The first of several runs that is of this kind speaks for a finding: one that shows it to be wrong above all. */
const WEIGHT: readonly Standing['kind'][] = ['rejected', 'verified', 'idle', 'undecided', 'stale'];

/** One finding in each line, so that a diff of the file shows what changed. */
export function renderVerified(runs: readonly VerifiedRun[]): string {
  const text = runs.map(({ code, findings, ...rest }) => {
    const lists = Object.entries({ code, findings }).map(
      ([name, items]) =>
        `      "${name}": [${items.map((item) => `\n        ${JSON.stringify(item)}`).join(',')}\n      ]`,
    );
    const plain = Object.entries(rest).map(([name, value]) => `      "${name}": ${JSON.stringify(value)}`);
    return `    {\n${[...plain, ...lists].join(',\n')}\n    }`;
  });
  return `{\n  "version": ${VERSION},\n  "kind": "${KIND}",\n  "verifications": [\n${text.join(',\n')}\n  ]\n}\n`;
}

/** Undefined for a text that memfix did not write as evidence of verifications. */
export function verifiedIn(text: string): readonly VerifiedRun[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isRecord(json) || json['version'] !== VERSION || json['kind'] !== KIND) return undefined;
  const { verifications } = json;
  if (!Array.isArray(verifications)) return undefined;
  const all: readonly unknown[] = verifications;
  return all.every(isRun) ? all : undefined;
}

/** With one more; an earlier one of the same command is told no longer. */
export function withRun(runs: readonly VerifiedRun[], run: VerifiedRun): readonly VerifiedRun[] {
  return [...runs.filter(({ command }) => command !== run.command), run];
}

/** Names a fix by what it writes, wherever that stands. */
export function fixDigest({ fix }: Pick<Finding, 'fix'>): string {
  const written = [
    [...(fix?.importEdits ?? []), ...(fix?.edits ?? [])].map(({ text }) => text),
    (fix?.beside ?? []).map(({ path, edits }) => [path, edits.map(({ text }) => text)]),
  ];
  return createHash('sha256').update(JSON.stringify(written)).digest('hex').slice(0, 16);
}

/** The code of a run, held against what it is now: as it was before the fixes, as it was with what was taken, or another. */
export type CodeState = 'before' | 'after' | { readonly changed: string };

/** What the runs say of a finding; where the code is another one by now, what they said is told as something past. */
export function standingBy(
  runs: readonly VerifiedRun[],
  path: string,
  finding: Finding,
  stateOf: (run: VerifiedRun) => CodeState,
): Standing | undefined {
  if (finding.fix === undefined) return undefined;
  const fix = fixDigest(finding);
  const standings = runs.flatMap((run): readonly Standing[] => {
    const state = stateOf(run);
    const keyOf = (each: VerifiedFinding) => (state === 'after' ? each.after : each.key);
    const found = run.findings.find(
      (each) => each.path === path && each.id === finding.transform && keyOf(each) === finding.key,
    );
    if (found === undefined) return [];
    if (typeof state !== 'string') return [old(run, found, state.changed)];
    return [found.fix === fix ? fresh(run, found) : old(run, found, 'the fix')];
  });
  return standings.sort((a, b) => WEIGHT.indexOf(a.kind) - WEIGHT.indexOf(b.kind))[0];
}

function fresh(run: VerifiedRun, { verdict, because }: VerifiedFinding): Standing {
  const by = `\`${run.command}\` (${setupPhrase(run.setup)})`;
  const why = because ?? '';
  const words = {
    verified: [by, ...together(run)].join('; '),
    rejected: `${why}; ${by}`,
    idle: `${why}; ${by}`,
    undecided: `${why}; ${by}`,
  };
  return { kind: verdict, label: LABELS[verdict], words: printable(words[verdict]), run };
}

/** They were measured together: what each of them does is not known. */
function together(run: VerifiedRun): readonly string[] {
  const count = run.findings.filter(({ verdict }) => verdict === 'verified').length;
  const phrases = figurePhrases(run).join(', ');
  return phrases === '' ? [] : [count > 1 ? `all ${count} together: ${phrases}` : phrases];
}

function old(run: VerifiedRun, { verdict }: VerifiedFinding, what: string): Standing {
  const words = `${WAS[verdict]} by \`${run.command}\`, and ${what} has changed since`;
  return { kind: 'stale', label: 'stale: ', words: printable(words), run };
}

const LABELS: Readonly<Record<VerdictKind, string>> = {
  verified: 'verified by your run: ',
  rejected: 'rejected by your run: ',
  idle: 'not run: ',
  undecided: 'undecided: ',
};

const WAS: Readonly<Record<VerdictKind, string>> = {
  verified: 'verified',
  rejected: 'rejected',
  idle: 'not run',
  undecided: 'left undecided',
};

/** Versions and machine, as far as the command's own Python knew them. */
export function setupPhrase({ python, torch, transformers, devices, cpu }: Setup): string {
  const versions = [
    ...(python === null ? [] : [`Python ${python}`]),
    ...(torch === null ? [] : [`torch ${torch}`]),
    ...(transformers === null ? [] : [`transformers ${transformers}`]),
  ];
  const machine = devices.length > 0 ? devices.join(', ') : `no GPU${cpu === null ? '' : `, ${cpu}`}`;
  return [...versions, machine].join(', ');
}

export function figurePhrases({ figures }: Pick<VerifiedRun, 'figures'>): readonly string[] {
  return figures.map(({ label, unit, before, after }) => `${label} ${amountsWords(before, after, unit)}`);
}

/** The figures of a comparison that are known on both sides. */
export function figuresOf(rows: readonly Row[]): readonly VerifiedFigure[] {
  return rows.flatMap(({ label, unit, before, after }) =>
    before === undefined || after === undefined
      ? []
      : [{ label, unit, before: before.median, after: after.median }],
  );
}

/** The runs in lines: the command, where it ran, and how many fixes it said what of. */
export function verifiedSummary(runs: readonly VerifiedRun[]): readonly string[] {
  return runs.flatMap((run) => {
    const count = (kind: VerdictKind) => run.findings.filter(({ verdict }) => verdict === kind).length;
    const counts = [...VERDICTS]
      .map((kind) => kind as VerdictKind)
      .flatMap((kind) => (count(kind) === 0 ? [] : [`${count(kind)} ${WAS[kind]}`]));
    return [
      `memfix apply --verify '${run.command}'`,
      `  ${setupPhrase(run.setup)}; ${counts.join(', ')}; compared: ${run.compared.join(', ')}`,
      ...figurePhrases(run).map((phrase) => `  ${phrase}`),
    ].map(printable);
  });
}

function isRun(value: unknown): value is VerifiedRun {
  if (!isRecord(value) || !isRecord(value['setup'])) return false;
  const lists = ['compared', 'figures', 'code', 'findings'].map((name) => value[name]);
  const { devices } = value['setup'];
  if (typeof value['command'] !== 'string' || ![...lists, devices].every(Array.isArray)) return false;
  const [, figures, code, findings] = lists as readonly (readonly unknown[])[];
  return (
    (figures ?? []).every((each) => isRecord(each) && typeof each['before'] === 'number') &&
    (code ?? []).every(
      (each) => isRecord(each) && ['path', 'before', 'after'].every((name) => typeof each[name] === 'string'),
    ) &&
    (findings ?? []).every((each) => isRecord(each) && VERDICTS.has(each['verdict']))
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
