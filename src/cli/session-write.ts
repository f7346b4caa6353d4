import type { Engine } from '../engine/engine.js';
import type { Decide, Decision, Finding, Outcome } from '../engine/outcome.js';
import { hunksBetween } from '../report/diff.js';
import { command, plural } from '../report/prose.js';
import { Lines } from '../text/lines.js';
import { placeText } from '../text/place.js';
import { contentHash, type Entry } from '../workspace/answers.js';
import { excludedIn } from '../workspace/changes.js';
import type { Written } from '../workspace/write.js';
import { finishedPaths, type Item, type Review } from './keys.js';
import type { ReviewedFiles } from './session-files.js';
import { isDeclined, isDoneByAnother, placesOf } from './session-places.js';
import { shownNames } from './session-shown.js';

/** What became of one file whose answers were carried out. */
export interface Landed {
  readonly path: string;
  readonly fixes: number;
  readonly suppressed: number;
  readonly failed?: string;
  /** Accepted fixes that do not go with others, in sentences. */
  readonly excluded: readonly string[];
  /** What was written otherwise than it was shown, in sentences with the lines that are there now. */
  readonly otherwise: readonly Otherwise[];
  /** Looks at what the file is now. */
  look(): Afterwards;
}

interface Otherwise {
  readonly note: string;
  readonly lines: readonly string[];
}

interface Afterwards {
  /** Findings that only showed after these fixes; nobody was asked about them. */
  readonly fresh: number;
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

/** What was accepted and is in no file, since that was not written. */
function unwrittenIn(review: Review, landed: readonly Landed[]): readonly (readonly Item[])[] {
  const written = writtenIn(landed);
  const isTaken = ({ ref, path }: Item) =>
    (review.answers.get(ref)?.kind ?? 'skip') !== 'skip' && !written.has(path);
  return placesOf(review.items).filter((place) => place.some(isTaken));
}

function writtenIn(landed: readonly Landed[]): ReadonlySet<string> {
  return new Set(landed.filter(({ failed }) => failed === undefined).map(({ path }) => path));
}

/** The same by name. */
export function unwritten(
  review: Review,
  landed: readonly Landed[],
  files: ReviewedFiles,
): readonly string[] {
  return named(unwrittenIn(review, landed), files);
}

/** The findings that have no answer, by name. */
export function leftOpen(review: Review, landed: readonly Landed[], files: ReviewedFiles): readonly string[] {
  const written = writtenIn(landed);
  const held = new Set(unwrittenIn(review, landed).flat());
  const isDone = (item: Item) =>
    held.has(item) ||
    (written.has(item.path) &&
      ((review.answers.get(item.ref)?.kind ?? 'skip') !== 'skip' || isDoneByAnother(item, review)));
  return named(
    placesOf(review.items).filter((place) => !isDeclined(place, review) && !place.some(isDone)),
    files,
  );
}

function named(places: readonly (readonly Item[])[], files: ReviewedFiles): readonly string[] {
  const lines = places.slice(0, MOST_NAMED).flatMap(([item, ...others]) => {
    if (item === undefined) return [];
    const ways = [item, ...others].map(({ transform }) => transform).join(' or ');
    return [`${placeText(item.path, files.finding(item).at)} ${ways}`];
  });
  const more = places.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])];
}

export async function land(
  path: string,
  review: Review,
  files: ReviewedFiles,
  engine: Engine,
  write: (outcome: Outcome) => Promise<Written>,
): Promise<Landed> {
  const nothing = {
    ...{ path, fixes: 0, suppressed: 0, excluded: [], otherwise: [] },
    look: () => ({ fresh: 0, declined: [] }),
  };
  const outcome = await engine.repair(files.file(path), answeredOnce(path, review), files.scan(path), true);
  if (outcome.kind === 'skipped') return { ...nothing, failed: outcome.reason };
  const bugs = outcome.bugs.length === 0 ? {} : { failed: outcome.bugs.join('; ') };
  if (outcome.after === outcome.file.source.text && outcome.beside.length === 0)
    return { ...nothing, ...bugs };
  const written = await write(outcome);
  if (!written.ok) return { ...nothing, failed: written.reason };
  const twins = new Set(
    review.items.flatMap((item) => (item.path === path ? item.twins : [])).map(({ key }) => key),
  );
  const count = (...fates: readonly string[]) =>
    outcome.settled.filter(({ fate, finding }) => fates.includes(fate) && !twins.has(finding.key)).length;
  const known = new Set(keysIn(path, review));
  const look = () => {
    const remaining = outcome.remaining.findings.filter((finding) => finding.fix !== undefined);
    const isFresh = (finding: Finding) => !known.has(finding.key) && !files.isKnown(path, finding);
    return {
      fresh: remaining.filter(isFresh).length,
      declined: declinedAfter(path, review, outcome, remaining),
    };
  };
  return {
    path,
    fixes: count('applied', 'edited'),
    suppressed: count('suppressed'),
    excluded: excludedIn(outcome),
    otherwise: otherwiseIn(outcome, files.scan(path)?.findings ?? []),
    look,
    ...bugs,
  };
}

/** Fixes that waited for one beside them, and were joined with it or changed by it. */
function otherwiseIn({ file, after, settled }: Outcome, shown: readonly Finding[]): readonly Otherwise[] {
  const textOf = ({ fix }: Finding) => fix?.edits.map(({ text }) => text).join('\0');
  const others = shown.filter((finding) =>
    settled.some(
      (each) =>
        each.fate === 'applied' &&
        each.finding.key === finding.key &&
        textOf(each.finding) !== textOf(finding),
    ),
  );
  if (others.length === 0) return [];
  const hunks = hunksBetween(file.source.text, after, 0);
  return others.map(({ span, at, transform }) => {
    const line = new Lines(file.source.text).lineAt(span.start);
    const hunk = hunks.find(({ oldStart, oldLines }) => line >= oldStart && line < oldStart + oldLines);
    return {
      note: `${placeText(file.path, at)}: ${transform} was joined with the fix beside it, so that this is written:`,
      lines: (hunk?.lines ?? []).map(({ kind, text }) => `${kind} ${text.trimEnd()}`),
    };
  });
}

function keysIn(path: string, { items }: Review): readonly string[] {
  const own = items.filter((item) => item.path === path);
  return own.flatMap(({ key, twins }) => [key, ...twins.map((twin) => twin.key)]);
}

/** The same refusals under the names they have in the new text; none where old and new cannot be matched in order. */
function declinedAfter(
  path: string,
  review: Review,
  { file, after }: Outcome,
  remaining: readonly Finding[],
): readonly Entry[] {
  const isLeft = (item: Item) =>
    (review.answers.get(item.ref)?.kind ?? 'skip') === 'skip' && !isDoneByAnother(item, review);
  const left = review.items.filter((item) => item.path === path && isLeft(item)).sort((a, b) => a.at - b.at);
  const isTwin = ({ key, transform }: Finding) =>
    left.some(
      (item) =>
        item.twins.some((twin) => twin.transform === transform) &&
        remaining.some(
          (other) => other.transform === item.transform && other.alternatives?.includes(key) === true,
        ),
    );
  const single = remaining.filter((finding) => !isTwin(finding));
  const matches = left.every((item, index) => single[index]?.transform === item.transform);
  if (left.length !== single.length || !matches) return [];
  const hash = contentHash(file.source, after);
  const names = shownNames(after, remaining);
  return single.flatMap((finding, index): Entry[] => {
    const isAnswered = review.answers.has(left[index]?.ref ?? '');
    const key = names.get(finding);
    return isAnswered && key !== undefined ? [{ path, hash, key, decision: { kind: 'skip' } }] : [];
  });
}

/** A finding that is still there after its answer was carried out, as a person's own text may leave it, stays. */
function answeredOnce(path: string, { items, answers }: Review): Decide {
  const open = new Map<string, Decision>();
  for (const item of items) {
    const answer = item.path === path ? answers.get(item.ref) : undefined;
    if (answer === undefined) continue;
    open.set(item.key, answer);
    // A comment silences one transform.
    if (answer.kind === 'suppress') for (const { key } of item.twins) open.set(key, answer);
  }
  return ({ key }) => {
    const answer = open.get(key);
    open.delete(key);
    return answer ?? { kind: 'skip' };
  };
}

/** What became of the findings of a review, alternatives counted once. */
interface Counts {
  readonly applied: number;
  readonly suppressed: number;
  readonly declined: number;
  /** Accepted, and left out beside other fixes. */
  readonly leftOut: number;
  readonly unanswered: number;
  /** Of these, those that were accepted, in files that were not written. */
  readonly unwritten: number;
  readonly gone: number;
  /** Files that got a fix; one that only got a comment has none. */
  readonly fixedFiles: number;
}

export function countsOf(review: Review, landed: readonly Landed[], gone: number): Counts {
  const sum = (of: (file: Landed) => number) => landed.reduce((total, file) => total + of(file), 0);
  const applied = sum(({ fixes }) => fixes);
  const suppressed = sum((file) => file.suppressed);
  const places = placesOf(review.items);
  const declined = places.filter((place) => isDeclined(place, review)).length;
  const leftOut = sum(({ excluded }) => excluded.length);
  const isWritten = ({ path }: Item) =>
    landed.some((file) => file.path === path && file.failed === undefined);
  const isSkipped = ({ ref }: Item) => review.answers.get(ref)?.kind === 'skip';
  const covered = places.filter((place) =>
    place.every((item) => isWritten(item) && isSkipped(item) && isDoneByAnother(item, review)),
  ).length;
  const unanswered = Math.max(places.length - applied - suppressed - declined - leftOut - covered, 0);
  const unwritten = unwrittenIn(review, landed).length;
  const fixedFiles = landed.filter(({ fixes }) => fixes > 0).length;
  return { applied, suppressed, declined, leftOut, unanswered, unwritten, gone, fixedFiles };
}

/** Whether an answer was given that is in no file: a no, or one about a file that was not written. */
export function hasOpenAnswer({ items, answers }: Review, landed: readonly Landed[]): boolean {
  const written = writtenIn(landed);
  return items.some(({ ref, path }) => {
    const answer = answers.get(ref);
    return answer !== undefined && (answer.kind === 'skip' || !written.has(path));
  });
}

/** The same in one line. */
export function totals(counts: Counts): string {
  const { applied, suppressed, declined, leftOut, unwritten, gone, fixedFiles } = counts;
  const open = counts.unanswered - unwritten;
  return [
    applied === 0
      ? 'No fix applied'
      : `${plural(applied, 'fix', 'fixes')} applied in ${plural(fixedFiles, 'file')}`,
    ...(suppressed > 0 ? [`${suppressed} suppressed`] : []),
    ...(declined > 0 ? [`${declined} declined`] : []),
    ...(leftOut > 0 ? [`${leftOut} left out`] : []),
    ...(unwritten > 0 ? [`${unwritten} accepted but not written`] : []),
    ...(open > 0 ? [`${open} left open`] : []),
    ...(gone > 0 ? [`${gone} no longer there`] : []),
  ].join(', ');
}

/** Where a review stopped, and how to go on; `isHeld`: there are answers or drafts to go on with. */
export function farewell(
  { items, cursor, mode }: Review,
  is: Readonly<Record<'interrupted' | 'isKept' | 'isHeld' | 'isChanged', boolean>>,
  aim: string | undefined,
): string {
  const where =
    mode === 'interrupted' ? `${items[cursor]?.path} was left as it was` : 'not all files were written';
  const { interrupted, isKept, isHeld } = is;
  const left = interrupted ? `Stopped; ${where}. ` : '';
  // A file that changed meanwhile has changes that are in no commit.
  const dirty = is.isChanged && aim?.includes('--allow-dirty') !== true ? ' --allow-dirty' : '';
  const again = command(`${isHeld ? 'apply -i --resume' : 'apply -i'}${dirty}`, aim);
  return isKept ? `${left}${again} ${isHeld ? 'goes on from here' : 'asks about what is left open'}.` : left;
}
