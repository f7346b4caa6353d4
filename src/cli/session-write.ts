import type { Engine } from '../engine/engine.js';
import type { Decide, Decision, Finding, Outcome } from '../engine/outcome.js';
import { command, plural } from '../report/prose.js';
import { placeText } from '../text/place.js';
import { contentHash, type Entry } from '../workspace/answers.js';
import { excludedIn } from '../workspace/changes.js';
import type { Written } from '../workspace/write.js';
import { finishedPaths, type Item, type Review } from './keys.js';
import { type ReviewedFiles, refOf } from './session-files.js';

/** What became of one file whose answers were carried out. */
export interface Landed {
  readonly path: string;
  readonly fixes: number;
  readonly suppressed: number;
  readonly failed?: string;
  /** Findings that only showed after these fixes; nobody was asked about them. */
  readonly fresh: number;
  /** Accepted fixes that do not go with others, in sentences. */
  readonly excluded: readonly string[];
  /** What was declined, for a later session that finds the file as it is now. */
  readonly declined: readonly Entry[];
}

/** After Ctrl-C only files with an answer to everything count, and never the one on screen. */
export function pathsToWrite(review: Review): readonly string[] {
  const touched = new Set<string>();
  for (const { ref, path } of review.items) {
    const answer = review.answers.get(ref);
    if (answer !== undefined && answer.kind !== 'skip') touched.add(path);
  }
  if (review.mode !== 'interrupted') return [...touched];
  const finished = finishedPaths(review);
  const onScreen = review.items[review.cursor]?.path;
  return [...touched].filter((path) => finished.has(path) && path !== onScreen);
}

const MOST_NAMED = 5;

/** The findings that are still there, by name: those without an answer, and in files that could not be written. */
export function leftOpen(review: Review, landed: readonly Landed[], files: ReviewedFiles): readonly string[] {
  const written = new Set(landed.filter(({ failed }) => failed === undefined).map(({ path }) => path));
  const open = review.items.filter(({ ref, path }) => {
    const answer = review.answers.get(ref);
    return answer === undefined || (answer.kind !== 'skip' && !written.has(path));
  });
  const named = open
    .slice(0, MOST_NAMED)
    .map((item) => `${placeText(item.path, files.finding(item).at)} ${item.transform}`);
  const more = open.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])];
}

export async function land(
  path: string,
  review: Review,
  files: ReviewedFiles,
  engine: Engine,
  write: (outcome: Outcome) => Promise<Written>,
): Promise<Landed> {
  const nothing = { path, fixes: 0, suppressed: 0, fresh: 0, excluded: [], declined: [] };
  const outcome = await engine.repair(files.file(path), answeredOnce(path, review.answers));
  if (outcome.kind === 'skipped') return { ...nothing, failed: outcome.reason };
  const bugs = outcome.bugs.length === 0 ? {} : { failed: outcome.bugs.join('; ') };
  if (outcome.after === outcome.file.source.text && outcome.beside.length === 0)
    return { ...nothing, ...bugs };
  const written = await write(outcome);
  if (!written.ok) return { ...nothing, failed: written.reason };
  const count = (...fates: readonly string[]) =>
    outcome.settled.filter((settled) => fates.includes(settled.fate)).length;
  const remaining = outcome.remaining.findings.filter((finding) => finding.fix !== undefined);
  const known = new Set(review.items.map((item) => item.ref));
  return {
    path,
    fixes: count('applied', 'edited'),
    suppressed: count('suppressed'),
    fresh: remaining.filter((finding) => !known.has(refOf(path, finding)) && !files.isKnown(path, finding))
      .length,
    excluded: excludedIn(outcome),
    declined: declinedAfter(path, review, remaining, contentHash(outcome.file.source, outcome.after)),
    ...bugs,
  };
}

/** The same refusals under the names they have in the new text; none where old and new cannot be matched in order. */
function declinedAfter(
  path: string,
  review: Review,
  remaining: readonly Finding[],
  hash: string,
): readonly Entry[] {
  const isLeft = ({ ref }: Item) => (review.answers.get(ref)?.kind ?? 'skip') === 'skip';
  const left = review.items.filter((item) => item.path === path && isLeft(item)).sort((a, b) => a.at - b.at);
  const matches = left.every((item, index) => remaining[index]?.transform === item.transform);
  if (left.length !== remaining.length || !matches) return [];
  return remaining.flatMap(({ key }, index): Entry[] => {
    const isDeclined = review.answers.has(left[index]?.ref ?? '');
    return isDeclined ? [{ path, hash, key, decision: { kind: 'skip' } }] : [];
  });
}

/** A finding that is still there after its answer was carried out, as a person's own text may leave it, stays. */
function answeredOnce(path: string, answers: ReadonlyMap<string, Decision>): Decide {
  const open = new Map(answers);
  return (finding) => {
    const ref = refOf(path, finding);
    const answer = open.get(ref);
    open.delete(ref);
    return answer ?? { kind: 'skip' };
  };
}

/** What became of the findings, in one line. */
export function totals(
  count: Readonly<Record<'applied' | 'suppressed' | 'declined' | 'unanswered', number>> & {
    readonly landed: readonly Landed[];
  },
): string {
  const { landed, applied, suppressed, declined, unanswered } = count;
  // A file that only got a comment has no fix.
  const files = landed.filter(({ fixes }) => fixes > 0).length;
  return [
    applied === 0
      ? 'No fix applied'
      : `${plural(applied, 'fix', 'fixes')} applied in ${plural(files, 'file')}`,
    ...(suppressed > 0 ? [`${suppressed} suppressed`] : []),
    ...(declined > 0 ? [`${declined} declined`] : []),
    ...(unanswered > 0 ? [`${unanswered} left open`] : []),
  ].join(', ');
}

/** Where a review stopped, and how to go on. */
export function farewell(
  { items, cursor, mode, answers }: Review,
  interrupted: boolean,
  isKept: boolean,
  aim: string | undefined,
): string {
  const where =
    mode === 'interrupted' ? `${items[cursor]?.path} was left as it was` : 'not all files were written';
  const left = interrupted ? `Stopped; ${where}. ` : '';
  const again = command(answers.size === 0 ? 'apply -i' : 'apply -i --resume', aim);
  return isKept ? `${left}${again} ${answers.size === 0 ? 'asks again' : 'goes on from here'}.` : left;
}
