import type { Finding, Scan, Skipped } from '../engine/outcome.js';
import type { Diagnosis } from '../oom/diagnosis.js';
import type { Ranked } from '../oom/rank.js';
import type { Position } from '../text/lines.js';
import { placeMark } from '../text/place.js';
import type { Safety } from '../toolkit/contract.js';
import { byEffect } from '../toolkit/effect.js';
import { printable } from './cells.js';
import type { Paint, Tone } from './paint.js';
import { plural, wrap } from './prose.js';
import type { Proven } from './prove/proven.js';
import type { Standing } from './prove/verified.js';
import type { TooLarge } from './too-large.js';

/** What a command has to say; every renderer starts from this. */
export interface Report {
  /** After `apply`, the scans of what remains. */
  readonly scans: readonly Scan[];
  readonly skipped: readonly Skipped[];
  /** Files looked at, also those that needed no scan. */
  readonly checked: number;
  /** Only files that changed were asked for. */
  readonly onlyChanged?: boolean;
  /** Patterns of files that were passed over. */
  readonly exclude?: readonly string[];
  /** Unsafe fixes were asked for, too. */
  readonly takesUnsafe?: boolean;
  /** The config has `apply` take unsafe fixes; that of a file may say otherwise for its findings. */
  readonly unsafeFixes?: boolean;
  readonly fixed?: Fixed;
  /** Files whose fixes `apply` would leave alone: they have changes that are not committed. */
  readonly held?: ReadonlySet<string>;
  /** `apply` was told to write such files, too. */
  readonly allowsDirty?: boolean;
  /** Files with fixes are in no git repository: `apply` wants to be told. */
  readonly isWithoutGit?: boolean;
  /** The findings that `apply` fixed. */
  readonly taken?: readonly Taken[];
  /** What `--baseline` left out, and how many recorded findings are no longer there. */
  readonly baseline?: { readonly known: number; readonly gone: number };
  /** Of a run that ran out of memory: then findings come in its order. */
  readonly oom?: Diagnosis;
  /** The log that it was read from is in no file. */
  readonly isLogPiped?: boolean;
  /** The words that chose files and transforms, for a command that goes on from here. */
  readonly aim?: string;
  /** The same for a command that names its file and its transform. */
  readonly terms?: string;
  /** The words that chose the transforms. */
  readonly chosen?: string;
  /** The words that kept findings out. */
  readonly limits?: string;
  /** What `memfix prove` measured on the user's own run. */
  readonly proven?: Proven;
  /** Runs that cannot fit the card that the config names. */
  readonly runs?: readonly TooLarge[];
}

export interface Taken {
  readonly path: string;
  readonly finding: Finding;
}

export interface Fixed {
  readonly findings: number;
  readonly suppressed: number;
  /** Files that were written. */
  readonly files: number;
}

export interface View {
  readonly paint: Paint;
  /** Columns of the terminal. */
  readonly width: number;
  /** Also show the sites that were seen and left alone. */
  readonly verbose: boolean;
  /** Also show the questions that the code answers. */
  readonly isThorough?: boolean;
  /** A person reads it as it is: what does not fit may be cut. */
  readonly isTerminal?: boolean;
}

export const SAFETIES: readonly Safety[] = ['safe', 'unsafe', 'advice'];

export const SAFETY_TONE: Readonly<Record<Safety, Tone>> = {
  safe: 'green',
  unsafe: 'yellow',
  advice: 'cyan',
};

export function isRefused(finding: Finding): boolean {
  return finding.refusal !== undefined;
}

export interface Shown {
  readonly scan: Scan;
  readonly finding: Finding;
  readonly ranked?: Ranked;
}

/** All findings in the order of the report. */
export function inOrder({ scans, oom }: Pick<Report, 'scans' | 'oom'>): readonly Shown[] {
  if (oom === undefined) return scans.flatMap((scan) => scan.findings.map((finding) => ({ scan, finding })));
  return oom.ranked.map((ranked) => ({ scan: ranked.scan, finding: ranked.finding, ranked }));
}

/** Those of a scan that a session asks about: of a run that ran out of memory, what may explain it. */
export function askedIn({ oom }: Report, { findings }: Scan): readonly Finding[] {
  if (oom === undefined) return findings;
  const related = new Set([...oom.related].map(({ finding }) => finding));
  return findings.filter((finding) => related.has(finding));
}

/** Findings to show, with their scan: what frees memory first, leaks before the rest, unless they are ranked. */
export function shownFindings(report: Report, view: Pick<View, 'verbose'>): readonly Shown[] {
  const shown = inOrder(report).filter(({ finding }) => view.verbose || !isRefused(finding));
  if (report.oom !== undefined) return shown;
  const isLeak = ({ finding }: Shown) => finding.symptom === 'leak';
  return shown.sort(
    (a, b) => byEffect(a.finding.effect, b.finding.effect) || Number(isLeak(b)) - Number(isLeak(a)),
  );
}

/** Transforms may phrase a refusal with or without its first words; the reader always gets the whole sentence. */
export function refusalSentence(reason: string): string {
  return `left alone because ${reason.replace(/^(?:left alone )?(?:because )?/, '')}`;
}

/** How safe a fix is, and whether that rests on what the config assumes or on a run of the user's command. */
export function standingOf({ safety, assumed }: Finding, shown?: Standing): string {
  if (safety === 'unsafe' && shown?.kind === 'verified') return 'verified';
  return assumed === undefined || safety !== 'safe' ? safety : 'safe by assumption';
}

/** Why `apply` leaves a fix that does the opposite of another to a person. */
export function alternativeSentence(ids: readonly string[]): string {
  const named = ids.map((id) => `\`${id}\``).join(' and ');
  return `${named} of this run does the opposite; \`memfix apply --interactive\` lets you choose`;
}

/** The lines for files and comments that a reader should know about, in the form compilers use; folded on a terminal. */
export function remarks(report: Report, { paint, width, verbose, isTerminal }: View): string[] {
  const said = (path: string, at: Position | undefined, kind: string, words: string) => {
    const mark = at === undefined ? '' : placeMark(at);
    const plain = `${printable(path)}${mark}: ${kind}: `;
    const painted = `${paint.bold(printable(path))}${paint.dim(mark)}: ${paint.magenta(kind)}: `;
    if (isTerminal !== true) return [painted + printable(words)];
    const lines = wrap(plain + words, width, { first: '', rest: '  ' });
    return lines.map((line, index) => (index === 0 ? line.replace(plain, () => painted) : line));
  };
  const most = isTerminal === true && !verbose ? MOST_ALIKE : Infinity;
  const { named, left } = firstOfEach(report.skipped, most);
  return [
    ...report.scans.flatMap(({ file, notes }) =>
      notes.flatMap(({ at, message }) => said(file.path, at, 'note', message)),
    ),
    ...named.flatMap(({ path, at, reason }) => said(path, at, 'skipped', reason)),
    ...[...left].map(
      ([reason, count]) => `${plural(count, 'more file')} ${paint.magenta('skipped')}: ${reason} (-v)`,
    ),
  ];
}

/** Of files that are skipped for the same reason, so many are named on a terminal. */
const MOST_ALIKE = 5;

/** A repository of another language, or of another Python, would fill the window. */
function firstOfEach(
  skipped: readonly Skipped[],
  most: number,
): { readonly named: readonly Skipped[]; readonly left: ReadonlyMap<string, number> } {
  const seen = new Map<string, number>();
  const left = new Map<string, number>();
  const named = skipped.filter(({ reason }) => {
    const kind = reason.replace(/(?<=^not valid Python 3):.*/, '');
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    if (count > most) left.set(kind, (left.get(kind) ?? 0) + 1);
    return count <= most;
  });
  return { named, left };
}
