import type { Decision } from '../engine/outcome.js';
import type { Safety } from '../toolkit/contract.js';
import { answeredWith, coverNote, numbersOf } from './session-places.js';

/** One finding of the review, by name: what it looks like is the screen's business. */
export interface Item {
  /** Its path and `shown`. */
  readonly ref: string;
  readonly path: string;
  /** The engine's name for it in the text that was scanned. */
  readonly key: string;
  /** Names what a person sees of it: it has another name once that changes. */
  readonly shown: string;
  readonly transform: string;
  readonly safety: Safety;
  /** What is worth more comes first: by effect, leaks before all else, then file by file. */
  readonly rank: number;
  readonly at: number;
  /** What it says, names aside: findings in a row that say the same can be answered together. */
  readonly like: string;
  /** Findings that are fixed by the same lines in another way: of them and this one, at most one is taken. */
  readonly rivals: readonly string[];
  /** Findings inside of what its fix counts for: where it is taken, none of them is. */
  readonly covers: readonly string[];
  /** Findings of other transforms whose fix is the same to the byte: they have no card of their own. */
  readonly twins: readonly { readonly key: string; readonly transform: string }[];
}

/** What one answering key changed, so that `u` can take it back. */
interface Step {
  readonly cursor: string;
  readonly before: ReadonlyMap<string, Decision | undefined>;
  /** Answers that were given; what they decide of alternatives aside. */
  readonly count: number;
}

/**
 * `asking` waits for a key. The next seven are errands that the session runs before it asks again.
 * The last three end the review: everything answered, `q`, or Ctrl-C.
 */
export type Mode =
  | 'asking'
  | 'edit'
  | 'suppress'
  | 'remember'
  | 'find'
  | 'explain'
  | 'help'
  | 'print'
  | 'finished'
  | 'quit'
  | 'interrupted';

export interface Review {
  /** In the order they are asked. */
  readonly items: readonly Item[];
  /** Index of the finding on screen. */
  readonly cursor: number;
  readonly answers: ReadonlyMap<string, Decision>;
  /** The person's own replacements, sound and shown; `y` takes them. */
  readonly edits: ReadonlyMap<string, string>;
  readonly steps: readonly Step[];
  readonly mode: Mode;
  /** A sentence about the last key. */
  readonly note?: string;
}

export const CTRL_C = '\x03';
/** Something was pasted. */
export const PASTED = 'paste';
const CTRL_D = '\x04';

/** Starts at the first finding without an answer. */
export function begin(items: readonly Item[], answers: ReadonlyMap<string, Decision> = new Map()): Review {
  const first = items.findIndex((item) => !answers.has(item.ref));
  const mode = first === -1 ? 'finished' : 'asking';
  return { items, cursor: Math.max(first, 0), answers, edits: new Map(), steps: [], mode };
}

export function press(review: Review, key: string): Review {
  const { note: _, ...quiet } = review;
  const at: Review = { ...quiet, mode: 'asking' };
  switch (key) {
    case 'y':
      return acceptThis(at);
    case 'Y':
      return { ...at, mode: 'remember' };
    case 'l':
      return likeInARow(at).length === 1 ? acceptThis(at) : acceptAll(at, likeInARow(at), 'those in a row');
    case 'n':
      return decide(at, [current(at)], skip);
    case 'a':
      return acceptAll(at, restOfFile(at), 'this file');
    case 'd':
      return skipAll(at, restOfFile(at), 'the rest of this file');
    case 'A':
      return acceptAll(at, allOfTransform(at), current(at).transform);
    case 'D':
      return skipAll(at, allOfTransform(at), current(at).transform);
    case 'j':
      return toPlace(at, 1) ?? noted(at, 'This is the last finding.');
    case 'k':
      return toPlace(at, -1) ?? noted(at, 'This is the first finding.');
    case 'u':
      return undo(at);
    case 'e':
      return { ...at, mode: 'edit' };
    case 's':
      return { ...at, mode: 'suppress' };
    case '/':
    case 'g':
      return { ...at, mode: 'find' };
    case 'i':
      return { ...at, mode: 'explain' };
    case '?':
      return { ...at, mode: 'help' };
    case 'p':
      return { ...at, mode: 'print' };
    case 'q':
    case CTRL_D:
      return { ...at, mode: 'quit' };
    case CTRL_C:
      return { ...at, mode: 'interrupted' };
    case PASTED:
      return noted(at, 'Pasted text is not taken as keys.');
    default:
      if (/^[1-9]$/.test(key)) return toAlternative(at, Number(key));
      return noted(at, `${/^[!-~]$/.test(key) ? `“${key}”` : 'That'} is not a key here; ? lists them.`);
  }
}

/** To the finding so many numbers on, the first of its alternatives. */
function toPlace(review: Review, by: number): Review | undefined {
  const numbers = numbersOf(review.items);
  const cursor = numbers.indexOf((numbers[review.cursor] ?? 0) + by);
  return cursor === -1 ? undefined : { ...review, cursor };
}

/** Back to asking, after an errand or with something to say. */
export function resume(review: Review, note?: string): Review {
  const { note: _, ...quiet } = review;
  return note === undefined ? { ...quiet, mode: 'asking' } : noted({ ...quiet, mode: 'asking' }, note);
}

/** The finding on screen is accepted, as `y` does. */
export function take(review: Review, note: string): Review {
  return noted(press(review, 'y'), note);
}

export function suppress(review: Review, reason: string): Review {
  const decision: Decision = reason === '' ? { kind: 'suppress' } : { kind: 'suppress', reason };
  return decide(resume(review), [current(review)], () => decision);
}

/** The person's text becomes what `y` applies; undefined goes back to the proposed fix. */
export function rewrite(review: Review, text: string | undefined, note: string): Review {
  const { ref } = current(review);
  const edits = new Map(review.edits);
  if (text === undefined) edits.delete(ref);
  else edits.set(ref, text);
  return { ...resume(review, note), edits };
}

/** Files whose findings all have an answer. */
export function finishedPaths(review: Review): ReadonlySet<string> {
  const paths = new Set(review.items.map((item) => item.path));
  for (const item of review.items) if (!review.answers.has(item.ref)) paths.delete(item.path);
  return paths;
}

export function current(review: Review): Item {
  const item = review.items[review.cursor];
  if (item === undefined) throw new RangeError('a review without findings has no current one');
  return item;
}

function accept(item: Item, review: Review): Decision {
  const text = review.edits.get(item.ref);
  return text === undefined ? { kind: 'apply' } : { kind: 'edited', text };
}

function skip(): Decision {
  return { kind: 'skip' };
}

/** The finding on screen and the later ones of its file that are still open. */
function restOfFile(review: Review): readonly Item[] {
  const { path } = current(review);
  return review.items.filter(
    (item, index) => item.path === path && isMeant(review, item, index >= review.cursor),
  );
}

/** The finding on screen and all open ones of its transform, before and after it. */
function allOfTransform(review: Review): readonly Item[] {
  const { transform } = current(review);
  return review.items.filter((item) => item.transform === transform && isMeant(review, item, true));
}

/** The finding on screen and those right after it, in its file, that say the same. */
export function likeInARow(review: Review): readonly Item[] {
  const { like, path } = current(review);
  const after = review.items.slice(review.cursor + 1);
  const end = after.findIndex(
    (item) => item.like !== like || item.path !== path || review.answers.has(item.ref),
  );
  return [current(review), ...(end === -1 ? after : after.slice(0, end))];
}

/** The finding on screen among its alternatives, in the order of their numbers. */
export function alternativesOf(review: Review): readonly Item[] {
  const { ref, rivals } = current(review);
  const group = review.items.filter((item) => item.ref === ref || rivals.includes(item.ref));
  return group.length > 1 ? group : [];
}

function toAlternative(review: Review, number: number): Review {
  const meant = alternativesOf(review)[number - 1];
  if (meant === undefined) return noted(review, `There is no alternative ${number} here.`);
  return { ...review, cursor: review.items.indexOf(meant) };
}

/** Open findings of the transform on screen, itself included, and those of them that `A` takes. */
export function openOfTransform(review: Review): { readonly kin: number; readonly reach: number } {
  const all = allOfTransform(review);
  return { kin: withoutRivals(all).length, reach: withoutRivals(takenTogether(review, all)).length };
}

/** One of those that change the same lines, the first. */
function withoutRivals(items: readonly Item[]): readonly Item[] {
  return items.filter((item, at) => !items.slice(0, at).some(({ ref }) => item.rivals.includes(ref)));
}

/** Advice is only ever taken by its own `y`, and what is unsafe only where an unsafe one is on the screen. */
function takenTogether(review: Review, items: readonly Item[]): readonly Item[] {
  const { safety } = current(review);
  return items.filter((item) => item.safety === 'safe' || (item.safety === 'unsafe' && safety === 'unsafe'));
}

function isMeant(review: Review, item: Item, inReach: boolean): boolean {
  return inReach && (item === current(review) || !review.answers.has(item.ref));
}

/** What can be taken together is applied, and said so where it is not proven safe; the rest is left open. */
function acceptAll(review: Review, meant: readonly Item[], what: string): Review {
  const here = current(review);
  // Of its alternatives, the one on the screen is meant.
  const able = takenTogether(review, [here, ...meant.filter((item) => item !== here)]);
  const items = withoutRivals(able).filter((item) => !able.some(({ covers }) => covers.includes(item.ref)));
  const unsafe = items.filter((item) => item.safety === 'unsafe').length;
  const left = meant.filter(
    (item) =>
      !able.includes(item) &&
      !items.some((other) => answeredWith(review, other, { kind: 'apply' }).includes(item.ref)),
  );
  const rest = leftNote(left);
  if (items.length === 0) return noted(review, `Nothing to apply in one go.${rest}`);
  const risk = unsafe === 0 ? '' : items.length === 1 ? ', an unsafe one' : `, ${unsafe} of them unsafe`;
  const note = `Accepted ${items.length} of ${what}${risk}; u takes it back.${coverNote(review, items)}${rest}`;
  return noted(decide(review, items, accept), note);
}

function leftNote(left: readonly Item[]): string {
  const advice = left.filter((item) => item.safety === 'advice').length;
  const unsafe = left.length - advice;
  const parts = [
    ...(unsafe === 0 ? [] : [`${unsafe} unsafe, which ${unsafe === 1 ? 'is' : 'are'} asked about`]),
    ...(advice === 0 ? [] : [`${advice} advice, which needs its own y`]),
  ];
  return parts.length === 0 ? '' : ` Left open: ${parts.join('; ')}.`;
}

function skipAll(review: Review, items: readonly Item[], what: string): Review {
  const next = decide(review, items, skip);
  return items.length === 1 ? next : noted(next, `Skipped ${items.length} of ${what}; u takes it back.`);
}

function decide(
  review: Review,
  items: readonly Item[],
  answer: (item: Item, review: Review) => Decision,
): Review {
  const given = new Map(items.map((item) => [item.ref, answer(item, review)]));
  const known = new Set(review.items.map(({ ref }) => ref));
  // Of alternatives only one is taken: the others are answered with it.
  for (const item of items)
    for (const other of answeredWith(review, item, given.get(item.ref)))
      if (known.has(other)) given.set(other, skip());
  const before = new Map([...given.keys()].map((ref) => [ref, review.answers.get(ref)]));
  const answers = new Map([...review.answers, ...given]);
  const steps = [...review.steps, { cursor: current(review).ref, before, count: items.length }];
  return toOpen({ ...review, answers, steps }, review.cursor);
}

function acceptThis(review: Review): Review {
  const next = decide(review, [current(review)], accept);
  const note = coverNote(review, [current(review)]);
  return note === '' ? next : noted(next, note.trimStart());
}

function undo(review: Review): Review {
  const step = review.steps.at(-1);
  if (step === undefined)
    return noted(
      review,
      review.answers.size === 0
        ? 'There is no answer to undo.'
        : 'No answer of this session is left to undo; k goes back to an earlier one, which can be given anew.',
    );
  const answers = new Map(review.answers);
  for (const [ref, decision] of step.before) {
    if (decision === undefined) answers.delete(ref);
    else answers.set(ref, decision);
  }
  const cursor = review.items.findIndex((item) => item.ref === step.cursor);
  const steps = review.steps.slice(0, -1);
  const many = step.count === 1 ? 'answer' : `${step.count} answers`;
  return noted(
    { ...review, answers, steps, cursor: cursor === -1 ? review.cursor : cursor },
    `Took back the last ${many}.`,
  );
}

/** To the next finding without an answer, from `start` on and then from the top; done when there is none. */
export function toOpen(review: Review, start: number): Review {
  const open = (item: Item) => !review.answers.has(item.ref);
  const ahead = review.items.findIndex((item, index) => index >= start && open(item));
  const cursor = ahead === -1 ? review.items.findIndex(open) : ahead;
  return cursor === -1 ? { ...review, mode: 'finished' } : { ...review, mode: 'asking', cursor };
}

function noted(review: Review, note: string): Review {
  return { ...review, note };
}
