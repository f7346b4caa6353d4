import type { Offer, OfferFate } from '../../../report/migrate/offer.js';
import { standingOf } from '../../../report/migrate/tally.js';
import type { Verdict } from '../decisions.js';
import type { CampaignFolder } from '../folder.js';
import type { Repository } from '../source.js';
import { Refusal } from './gate.js';

/** What a browser says to some fixes of a plan. */
export interface Saying {
  readonly repository: string;
  readonly plan: string;
  readonly refs: readonly string[];
  readonly verdict: Verdict | null;
}

/** Takes decisions into the campaign, where they are about what is planned there now. */
export class Ballot {
  readonly #repositories: ReadonlyMap<string, Repository>;
  /** What was said in this session, last words only. */
  readonly #said = new Map<string, { readonly repository: string; readonly standing: OfferFate | null }>();

  constructor(
    private readonly folder: CampaignFolder,
    repositories: readonly Repository[],
  ) {
    this.#repositories = new Map(repositories.map((repository) => [repository.id, repository]));
  }

  /** On disk when this returns. */
  cast(saying: Saying): Refusal | undefined {
    const repository = this.#repositories.get(saying.repository);
    if (repository === undefined) return new Refusal(404, 'The campaign has no such repository.');
    const { id, name, planned, pushed } = this.folder.record(repository);
    if (pushed !== undefined)
      return new Refusal(409, `The branch of ${name} is pushed: there is nothing left to decide.`);
    const offers = planned?.key === saying.plan ? this.folder.offers(id, saying.plan) : undefined;
    const matters = offers && mattersOf(offers, saying.refs);
    if (matters === undefined)
      return new Refusal(
        409,
        `The plan of ${name} has changed since this page was loaded. Reload it, and look again.`,
      );
    const decisions = this.folder.decisions(id);
    const news = matters.filter((matter) => (decisions.verdict(matter) ?? null) !== saying.verdict);
    if (news.length > 0)
      this.folder.decide(
        id,
        news.map((matter) => ({ ...matter, verdict: saying.verdict })),
      );
    const { verdict } = saying;
    const refs = new Set(saying.refs);
    for (const { ref, fate } of offers?.filter((offer) => refs.has(offer.ref)) ?? []) {
      const standing = verdict === null ? null : standingOf({ fate, verdict });
      this.#said.set(`${id} ${ref}`, { repository: id, standing });
    }
    return undefined;
  }

  /** What this session came to, counted as everywhere. */
  get outcome(): { readonly accepted: number; readonly rejected: number; readonly repositories: number } {
    const said = [...this.#said.values()].filter(({ standing }) => standing !== null);
    return {
      accepted: said.filter(({ standing }) => standing === 'taken').length,
      rejected: said.filter(({ standing }) => standing === 'rejected').length,
      repositories: new Set(said.map(({ repository }) => repository)).size,
    };
  }
}

/** All of them, or none where one is not in the plan. */
function mattersOf(offers: readonly Offer[], refs: readonly string[]) {
  const wanted = refs.map((ref) => offers.find((offer) => offer.ref === ref));
  const found = wanted.flatMap((offer) => {
    if (offer === undefined) return [];
    const { path, hash, key, likeness, file } = offer;
    return [{ path, hash, key, likeness, ...(file !== undefined && { file }) }];
  });
  return found.length === refs.length ? found : undefined;
}

/** A body, if it is such a saying. */
export function sayingIn(text: string): Saying | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { repository, plan, refs, verdict }: Partial<Record<keyof Saying, unknown>> = value;
  if (typeof repository !== 'string' || typeof plan !== 'string' || !Array.isArray(refs)) return undefined;
  if (refs.length === 0 || !refs.every((ref) => typeof ref === 'string')) return undefined;
  if (verdict !== 'accept' && verdict !== 'reject' && verdict !== null) return undefined;
  return { repository, plan, refs, verdict };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
