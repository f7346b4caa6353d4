import type { Decide, Finding, Outcome, Preview, SourceFile } from '../../engine/outcome.js';
import { changeShown, type Offer } from '../../report/migrate/offer.js';
import { contentHash } from '../answers.js';
import type { Decisions } from './decisions.js';
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
    return async (finding, preview) => {
      const answer = await this.policy(finding, preview);
      if (answer.kind === 'skip') return answer;
      const verdict = this.decisions.about(matterOf(file, finding, preview));
      return isUnwanted(verdict) ? { kind: 'skip' } : answer;
    };
  }

  /** The same answers; what they are about is kept. */
  offering(file: SourceFile): Decide {
    const drafts = new Map<Finding, Draft>();
    this.#drafts.set(file.path, drafts);
    const answer = this.answering(file);
    return async (finding, preview) => {
      const isOffered = (await this.policy(finding, preview)).kind !== 'skip';
      if (isOffered) drafts.set(finding, draftOf(file, finding, preview));
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

function matterOf(file: SourceFile, finding: Finding, { before }: Preview) {
  const words = before.slice(finding.span.start, finding.span.end);
  return {
    path: file.path,
    // A fix that only another one makes possible is found in what that leaves of the file.
    hash: contentHash(file.source, before),
    key: finding.key,
    likeness: sha256(`${finding.transform}\0${words}`).slice(0, 16),
  };
}

function draftOf(file: SourceFile, finding: Finding, preview: Preview): Draft {
  const matter = matterOf(file, finding, preview);
  const { transform, at, message, safety, numerics, unproven, fix } = finding;
  const changes = [{ path: file.path, ...preview }, ...(preview.beside ?? [])];
  return {
    ...matter,
    ref: sha256(JSON.stringify([matter.path, matter.hash, matter.key])).slice(0, 16),
    line: at.line,
    transform,
    title: fix?.title ?? '',
    ...{ message, safety, numerics, unproven },
    changes: changes.map(({ path, before, after }) => changeShown(path, before, after)),
  };
}
