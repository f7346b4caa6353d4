import type { Offer, OfferFate } from './offer.js';
import type { Planned } from './record.js';

/** What stands of the fixes of a plan, by the plan and what was decided since. Every view counts by this. */
export interface Tally {
  /** Fixes that are in the patch, or will be when it is made anew. */
  readonly fixes: number;
  /** Files that they change. */
  readonly files: number;
  /** Of these fixes, how many a person has accepted. */
  readonly accepted: number;
  readonly rejected: number;
  /** Held back until a person looks at them again. */
  readonly held: number;
  /** Fixes by transform. */
  readonly transforms: Readonly<Record<string, number>>;
}

/** An offer of a plan, and what a person said to it. */
export interface Answered extends Pick<Offer, 'fate' | 'transform' | 'changes'> {
  readonly verdict?: 'accept' | 'reject';
}

/** What would become of an offer if its plan were made anew now. */
export function standingOf({ fate, verdict }: Pick<Answered, 'fate' | 'verdict'>): OfferFate {
  if (verdict === 'reject') return 'rejected';
  if (fate === 'dropped') return 'dropped';
  return fate === 'held' && verdict === undefined ? 'held' : 'taken';
}

export function tallyOf(offers: readonly Answered[]): Tally {
  const standing = (wanted: OfferFate) => offers.filter((offer) => standingOf(offer) === wanted);
  const taken = standing('taken');
  const transforms: Record<string, number> = {};
  for (const { transform } of taken) transforms[transform] = (transforms[transform] ?? 0) + 1;
  return {
    fixes: taken.length,
    files: new Set(taken.flatMap(({ changes }) => changes.map(({ path }) => path))).size,
    accepted: taken.filter(({ verdict }) => verdict === 'accept').length,
    rejected: standing('rejected').length,
    held: standing('held').length,
    transforms,
  };
}

/** The same of a plan that nothing was decided about since. */
export function tallyIn(planned: Planned | undefined): Tally {
  const { fixes = [], files = 0, rejected = 0, held = 0 } = planned ?? {};
  const transforms = Object.fromEntries(fixes.map(({ transform, findings }) => [transform, findings]));
  const count = fixes.reduce((sum, { findings }) => sum + findings, 0);
  return { fixes: count, files, accepted: 0, rejected, held, transforms };
}

/** In words, as the parts of a list; `many` puts a number before a noun. */
export function tallyWords(
  { fixes, files, rejected, held }: Tally,
  many: (count: number, one: string, more?: string) => string,
): readonly string[] {
  return [
    ...(fixes > 0 ? [`${many(fixes, 'fix', 'fixes')} in ${many(files, 'file')}`] : []),
    ...(rejected > 0 ? [`${rejected} rejected`] : []),
    ...(held > 0 ? [`${held} held back`] : []),
  ];
}

export interface TransformTotal {
  readonly transform: string;
  readonly fixes: number;
  readonly repositories: number;
}

/** What repositories come to for each transform; what there is most of first. */
export function perTransform(tallies: readonly Pick<Tally, 'transforms'>[]): readonly TransformTotal[] {
  const totals = new Map<string, TransformTotal>();
  for (const [transform, count] of tallies.flatMap(({ transforms }) => Object.entries(transforms))) {
    const { fixes = 0, repositories = 0 } = totals.get(transform) ?? {};
    totals.set(transform, { transform, fixes: fixes + count, repositories: repositories + 1 });
  }
  return [...totals.values()].sort((a, b) => b.fixes - a.fixes || (a.transform < b.transform ? -1 : 1));
}
