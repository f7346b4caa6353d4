import type { Finding } from '../engine/outcome.js';
import { placeText } from '../text/place.js';
import { byEffect } from '../toolkit/effect.js';
import { clipStart, printable } from './cells.js';
import { shellWord, wrap } from './prose.js';
import { isRefused, type Report, SAFETIES, SAFETY_TONE, type Shown, type View } from './report.js';
import { table } from './table.js';

/** So many are named, where there are more. */
const MOST = 3;

export interface Weights {
  /** The share of memory that a transform took away where it was measured. */
  gain(id: string): number;
  /** What it gives back was reserved and unused: no peak falls by it. */
  isCacheOnly(id: string): boolean;
  /** A transform that finds more where it is named. */
  isWiderWhenNamed(id: string): boolean;
}

/** The findings that are most worth fixing, one of each kind, and the command for it; nothing where all can be seen at a glance. */
export function mostWorth(
  report: Report,
  weights: Weights,
  { paint, width, isTerminal }: View,
): readonly string[] {
  if (report.oom !== undefined) return [];
  const all = report.scans.flatMap((scan) =>
    scan.findings.filter((finding) => !isRefused(finding)).map((finding) => ({ scan, finding })),
  );
  if (all.length <= MOST) return [];
  const isLeak = (finding: Finding) => finding.symptom === 'leak';
  const isHeld = ({ scan }: Shown) => report.held?.has(scan.file.path) === true;
  const sorted = all.sort((one, other) => {
    const [a, b] = [one.finding, other.finding];
    return (
      byEffect(a.effect, b.effect) ||
      SAFETIES.indexOf(a.safety) - SAFETIES.indexOf(b.safety) ||
      Number(isLeak(b)) - Number(isLeak(a)) ||
      // What has the most to be answered is the least likely to be right.
      a.questions.length - b.questions.length ||
      Number(weights.isCacheOnly(a.transform)) - Number(weights.isCacheOnly(b.transform)) ||
      weights.gain(b.transform) - weights.gain(a.transform) ||
      // As good, and nothing keeps `apply` from it.
      Number(isHeld(one)) - Number(isHeld(other))
    );
  });
  const kinds = new Map<string, Shown>();
  for (const each of sorted) if (!kinds.has(each.finding.transform)) kinds.set(each.finding.transform, each);
  const chosen = [...kinds.values()].slice(0, MOST);
  const rows = chosen.map(({ scan, finding }) => ({
    place: placeText(printable(scan.file.path), finding.at),
    safety: finding.safety,
    command: commandFor(scan.file.path, finding, report, weights),
  }));
  const lines = table(
    rows.map(({ place, safety, command }) => [
      { text: `  ${place}` },
      { text: safety, paint: paint[SAFETY_TONE[safety]] },
      { text: command, paint: paint.bold },
    ]),
  );
  const isNarrow = rows.some(
    ({ command }) => Math.max(...rows.map(({ place }) => place.length)) + command.length + 12 > width,
  );
  return [
    'Most worth fixing:',
    ...(isNarrow
      ? rows.flatMap(({ place, safety, command }) => [
          `  ${isTerminal === true ? clipStart(place, width - safety.length - 4) : place}  ${paint[SAFETY_TONE[safety]](safety)}`,
          `    ${paint.bold(command)}`,
        ])
      : lines),
    ...widerNote(chosen, report, weights, width),
  ];
}

/** Why one command does not select as the others do. */
function widerNote(
  shown: readonly Shown[],
  report: Report,
  weights: Weights,
  width: number,
): readonly string[] {
  const wider = shown.find(
    ({ finding: { transform, fix } }) => fix !== undefined && isWider(transform, report, weights),
  );
  if (wider === undefined) return [];
  const { transform } = wider.finding;
  const note = `\`--fixable\`, since \`--select ${transform}\` would look for more than is shown here.`;
  return wrap(note, width, { first: '  ', rest: '  ' });
}

/** A command that names the transform would look for more than this run did, which did not name it. */
function isWider(transform: string, { chosen = '' }: Report, weights: Weights): boolean {
  return weights.isWiderWhenNamed(transform) && !chosen.split(/[\s,=]+/).includes(transform);
}

/** It does what was shown, and no more. */
function commandFor(
  path: string,
  { transform, safety, fix, alternativeTo }: Finding,
  report: Report,
  weights: Weights,
): string {
  const { terms = '', chosen = '', held, isWithoutGit } = report;
  if (fix === undefined) return `memfix explain ${transform}`;
  const isTaken = safety === 'safe' && alternativeTo === undefined;
  const which = isWider(transform, report, weights)
    ? ['--fixable', transform, chosen]
    : ['--select', transform];
  const allowed = [
    held?.has(path) === true ? '--allow-dirty' : '',
    isWithoutGit === true ? '--allow-no-vcs' : '',
  ];
  return ['memfix apply', isTaken ? '' : '-i', ...which, ...allowed, terms, shellWord(path)]
    .filter((word) => word !== '')
    .join(' ');
}
