import type { Decide, Finding, Outcome, Preview, SourceFile } from '../../engine/outcome.js';
import { type Offer, Original } from '../../report/migrate/offer.js';
import { contentHash } from '../answers.js';
import type { Decisions, Matter } from './decisions.js';
import { sha256 } from './hash.js';

type Draft = Omit<Offer, 'fate'>;

/** Takes what a policy takes, but for what a person does not want, and keeps what there was to choose from. */
export class OfferTable {
  readonly #drafts = new Map<string, Map<Finding, Draft>>();

  constructor(
    private readonly policy: Decide,
    private readonly decisions: Decisions,
  ) {}

  /** The answers for one file. */
  answering(file: SourceFile): Decide {
    const place = new Place(file);
    return async (finding, preview) => {
      const answer = await this.policy(finding, preview);
      if (answer.kind === 'skip') return answer;
      const verdict = this.decisions.about(place.matter(finding, preview));
      return isUnwanted(verdict) ? { kind: 'skip' } : answer;
    };
  }

  /** The same answers; what they are about is kept. */
  offering(file: SourceFile): Decide {
    const drafts = new Map<Finding, Draft>();
    this.#drafts.set(file.path, drafts);
    const place = new Place(file);
    const answer = this.answering(file);
    return async (finding, preview) => {
      const isOffered = (await this.policy(finding, preview)).kind !== 'skip';
      if (isOffered) drafts.set(finding, place.draft(finding, preview));
      return answer(finding, preview);
    };
  }

  /** What was offered in the files of these outcomes, and what came of it. */
  of(outcomes: readonly Outcome[]): readonly Offer[] {
    return outcomes.flatMap(({ file, settled }) => {
      const drafts = [...(this.#drafts.get(file.path) ?? new Map<Finding, Draft>()).values()];
      const wanted = drafts.filter((draft) => !isUnwanted(this.decisions.about(draft)));
      const applied = settled.filter(({ fate }) => fate === 'applied').map(({ finding }) => finding);
      const taken = takenOf(wanted, applied);
      return drafts.map((draft): Offer => {
        const verdict = this.decisions.about(draft);
        if (isUnwanted(verdict)) return { ...draft, fate: verdict === 'hold' ? 'held' : 'rejected' };
        return { ...draft, fate: taken.has(draft) ? 'taken' : 'dropped' };
      });
    });
  }
}

function isUnwanted(verdict: ReturnType<Decisions['about']>): boolean {
  return verdict === 'reject' || verdict === 'hold';
}

/** Those that were applied. One that had to wait for another fix may be known by another key by then. */
function takenOf(drafts: readonly Draft[], applied: readonly Finding[]): ReadonlySet<Draft> {
  const taken = new Set<Draft>();
  const left = [...applied];
  for (const isSame of [isOfKey, isOfTransform]) {
    for (const draft of drafts) {
      const at = taken.has(draft) ? -1 : left.findIndex((finding) => isSame(draft, finding));
      if (at === -1) continue;
      taken.add(draft);
      left.splice(at, 1);
    }
  }
  return taken;
}

function isOfKey(draft: Draft, { key, transform }: Finding): boolean {
  return draft.key === key && draft.transform === transform;
}

function isOfTransform(draft: Draft, { transform }: Finding): boolean {
  return draft.transform === transform;
}

/** A file that fixes are found in. They share its text until some of them are applied, so it is hashed and split once. */
class Place {
  #original: Original | undefined;
  #hash = '';

  constructor(private readonly file: SourceFile) {}

  matter(finding: Finding, { before }: Preview): Matter {
    const words = before.slice(finding.span.start, finding.span.end);
    this.#show(before);
    return {
      path: this.file.path,
      hash: this.#hash,
      key: finding.key,
      likeness: sha256(`${finding.transform}\0${words}`).slice(0, 16),
    };
  }

  draft(finding: Finding, preview: Preview): Draft {
    const matter = this.matter(finding, preview);
    const { transform, at, message, safety, numerics, unproven, fix } = finding;
    const beside = preview.beside ?? [];
    return {
      ...matter,
      ref: sha256(JSON.stringify([matter.path, matter.hash, matter.key])).slice(0, 16),
      line: at.line,
      transform,
      title: fix?.title ?? '',
      ...{ message, safety, numerics, unproven },
      changes: [
        this.#show(preview.before).changedTo(preview.after),
        ...beside.map(({ path, before, after }) => new Original(path, before).changedTo(after)),
      ],
    };
  }

  /** A fix that only another one makes possible is found in what that leaves of the file. */
  #show(text: string): Original {
    if (this.#original?.text !== text) {
      this.#original = new Original(this.file.path, text);
      this.#hash = contentHash(this.file.source, text);
    }
    return this.#original;
  }
}
