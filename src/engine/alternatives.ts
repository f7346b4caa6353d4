import { clash, type Edit } from '../edit/edit.js';
import type { Safety, Transform } from '../toolkit/contract.js';
import type { Finding, SourceFile } from './outcome.js';
import { ownEdits, previewOf } from './preview.js';

/** The best first. */
export const SAFETIES: readonly Safety[] = ['safe', 'unsafe', 'advice'];

/** What a transform finds in a text. */
type Look = (file: SourceFile, transform: Transform) => readonly Finding[];

/**
 * Findings of which one fix leaves nothing for the other to do, since it changes the same lines or counts for all that the
 * other changes: a person takes one of them. Asked only where they meet, since each answer is a scan. Of two that do the
 * same, only one is a finding; where a comment silences it, neither is.
 */
export function withAlternatives(
  file: SourceFile,
  found: readonly Finding[],
  suppressed: readonly Finding[],
  transforms: readonly Transform[],
  look: Look,
): readonly Finding[] {
  const rivals = new Map<Finding, Set<Finding>>();
  const repeated = new Map<Finding, Finding>();
  const note = (one: Finding, other: Finding) => rivals.set(one, (rivals.get(one) ?? new Set()).add(other));
  for (const pair of meeting([...found, ...suppressed])) {
    const isSame = areSame(pair, transforms);
    const [one, other] = isSame ? inOrder(...pair) : pair;
    const isChoice = !pair.some((each) => suppressed.includes(each));
    if (!isChoice && (!isSame || suppressed.includes(other))) continue;
    const isAlone = excludes(file, one, other, transforms, look);
    if (isAlone && isSame && isWhole(one, other)) repeated.set(other, one);
    else if (isChoice && (isAlone || excludes(file, other, one, transforms, look))) {
      note(one, other);
      note(other, one);
    }
  }
  if (rivals.size + repeated.size === 0) return found;
  const isOffered = (finding: Finding) => {
    const by = repeated.get(finding);
    return by === undefined || repeated.has(by);
  };
  return found.filter(isOffered).map((finding) => {
    const keys = [...(rivals.get(finding) ?? [])].filter(isOffered).map(({ key }) => key);
    return keys.length === 0 ? finding : { ...finding, alternatives: keys };
  });
}

/** Their transforms do the same, such as to run code without gradients. */
function areSame([one, other]: readonly [Finding, Finding], transforms: readonly Transform[]): boolean {
  const isNamed = (a: Finding, b: Finding) =>
    transforms.some(({ meta }) => meta.id === a.transform && meta.sameAs?.includes(b.transform));
  return isNamed(one, other) || isNamed(other, one);
}

/** Of two fixes that do the same, the one to offer first: what is safer, changes more, asks less. */
function inOrder(a: Finding, b: Finding): readonly [Finding, Finding] {
  const order =
    SAFETIES.indexOf(a.safety) - SAFETIES.indexOf(b.safety) ||
    Number(isWithin(a, b)) - Number(isWithin(b, a)) ||
    a.questions.length - b.questions.length ||
    a.transform.localeCompare(b.transform);
  return order > 0 ? [b, a] : [a, b];
}

/** Nothing of the second fix lies beside the first, or it counts for a whole function, of which a scan tells what is left. */
function isWhole(one: Finding, other: Finding): boolean {
  return isWithin(other, one) || isCovered(other, one);
}

function isWithin(inner: Finding, outer: Finding): boolean {
  if (isCovered(outer, inner)) return true;
  const [a, b] = [reach(inner.fix?.edits ?? []), reach(outer.fix?.edits ?? [])];
  return b.start <= a.start && a.end <= b.end;
}

/** Each costs two scans by one transform. */
const MOST_PAIRS = 32;

/** Whether the first fix counts for all that the second changes. */
export function isCovered({ fix: by }: Finding, { fix }: Finding): boolean {
  const { edits = [] } = fix ?? {};
  const isIn = (edit: Edit) => by?.covers?.some(({ start, end }) => start < edit.start && edit.end <= end);
  return edits.length > 0 && edits.every(isIn);
}

/** Pairs of fixes that touch one another's edits, or of which the first counts for the second. */
function* meeting(found: readonly Finding[]): Generator<readonly [Finding, Finding]> {
  const offered = found.flatMap((finding) => {
    const { edits = [], covers = [] } = finding.fix ?? {};
    const { start, end } = reach(edits);
    return edits.length === 0
      ? []
      : [{ finding, edits, start, last: Math.max(end, ...covers.map((each) => each.end)) }];
  });
  offered.sort((a, b) => a.start - b.start);
  let pairs = 0;
  for (const [at, one] of offered.entries()) {
    for (let next = at + 1; next < offered.length; next++) {
      const other = offered[next];
      if (other === undefined || other.start > one.last) break;
      const meets = one.edits.some((edit) => other.edits.some((each) => clash(edit, each)));
      if (!meets && !isCovered(one.finding, other.finding)) continue;
      if (++pairs > MOST_PAIRS) return;
      yield [one.finding, other.finding];
    }
  }
}

function reach(edits: readonly Edit[]): { readonly start: number; readonly end: number } {
  return {
    start: Math.min(...edits.map(({ start }) => start)),
    end: Math.max(...edits.map(({ end }) => end)),
  };
}

/** Whether the second finding is gone once the first is fixed. */
function excludes(
  file: SourceFile,
  first: Finding,
  second: Finding,
  transforms: readonly Transform[],
  look: Look,
): boolean {
  const transform = transforms.find(({ meta }) => meta.id === second.transform);
  if (transform === undefined || first.fix === undefined) return false;
  const { after } = previewOf(file, first);
  const now = look({ ...file, source: { ...file.source, text: after } }, transform);
  const edits = ownEdits(first.fix);
  const at = moved(second.span.start, edits);
  const changed = reach(first.fix.edits);
  const end = moved(changed.end, edits);
  const left =
    now.find(({ span }) => span.start === at) ??
    now.find(({ span }) => span.start >= changed.start && span.start <= end);
  return left?.fix === undefined;
}

/** Where a place lies once the edits before it are made. */
function moved(offset: number, edits: readonly Edit[]): number {
  return edits.reduce(
    (at, { start, end, text }) => (end <= offset ? at + text.length - (end - start) : at),
    offset,
  );
}
