import type { Finding, Outcome } from '../engine/outcome.js';
import { printable } from '../report/cells.js';
import { type FixCount, loosest } from '../report/prove/report.js';
import { placeText } from '../text/place.js';
import { byEffect } from '../toolkit/effect.js';
import { besideChange } from './beside.js';
import type { Candidate } from './discover.js';
import { leftAsIs } from './examine.js';
import { Failure } from './failure.js';
import type { Change } from './prove/fixes.js';
import type { Visit } from './visit.js';

export function isChanged({ file, after, beside }: Outcome): boolean {
  return after !== file.source.text || beside.length > 0;
}

/** The findings that an outcome has fixed as they were proposed. */
export function appliedIn({ settled }: Outcome): readonly Finding[] {
  return settled.flatMap(({ fate, finding }) => (fate === 'applied' ? [finding] : []));
}

/** The fixes that were left out because they do not go with others, in sentences. */
export function excludedIn({ file, settled }: Outcome): readonly string[] {
  return settled.flatMap(({ fate, finding: { at, transform }, because = '' }) => {
    if (fate !== 'excluded') return [];
    const place = placeText(printable(file.path), at);
    return [`${place}: \`${transform}\` was left out beside other fixes: ${printable(because)}.`];
  });
}

/** How many files these change. */
export function filesIn(outcomes: readonly Outcome[]): number {
  return outcomes.reduce(
    (sum, { file, after, beside }) => sum + (after === file.source.text ? 0 : 1) + beside.length,
    0,
  );
}

/** Another file is changed by the first that asks for it; what the next would do to it shows in another run. */
export function eachBesideOnce({ scans, outcomes }: Pick<Visit, 'scans' | 'outcomes'>): readonly Outcome[] {
  const changed = new Set<string>();
  return outcomes.map((outcome, index) => {
    const paths = outcome.beside.map(({ path }) => path);
    const isTaken = paths.some((path) => changed.has(path));
    for (const path of paths) changed.add(path);
    const scan = scans[index];
    return isTaken && scan !== undefined ? leftAsIs(scan) : outcome;
  });
}

/** What becomes of an outcome's own file and of the files beside it. */
export function changesOf(
  cwd: string,
  { targets }: { readonly targets: ReadonlyMap<string, Candidate> },
  outcome: Outcome,
): readonly Change[] {
  const target = targets.get(outcome.file.path)?.target ?? outcome.file.path;
  return [{ target, source: outcome.file.source, after: outcome.after }, ...besideChanges(cwd, outcome)];
}

function besideChanges(cwd: string, { beside }: Outcome): readonly Change[] {
  return beside.map((change) => {
    const found = besideChange(cwd, change);
    if (typeof found !== 'string') return { ...found, after: change.after };
    throw new Failure(
      'A file cannot be changed',
      `${change.path}: ${found}`,
      'Run it again; nothing was done.',
    );
  });
}

const MOST_QUESTIONS = 10;

/** The fixes that were applied, by transform: those that free memory first. */
export function fixCounts(outcomes: readonly Outcome[]): readonly FixCount[] {
  const applied = outcomes.flatMap(({ file, settled }) =>
    settled.filter(({ fate }) => fate === 'applied').map(({ finding }) => ({ ...finding, path: file.path })),
  );
  const effects = new Map(applied.map(({ transform, effect }) => [transform, effect]));
  const ids = [...effects].sort(([a, one], [b, other]) => byEffect(one, other) || (a < b ? -1 : 1));
  return ids.map(([transform]) => {
    const own = applied.filter((finding) => finding.transform === transform);
    const unsafe = own.filter(({ safety }) => safety !== 'safe').length;
    const asked = new Set(own.flatMap(({ questions }) => questions.map(({ text }) => text)));
    return {
      transform,
      findings: own.length,
      files: [...new Set(own.map(({ path }) => path))],
      numerics: loosest(own.map(({ numerics }) => numerics)),
      ...(unsafe > 0 && { unsafe, questions: [...asked].slice(0, MOST_QUESTIONS) }),
    };
  });
}
