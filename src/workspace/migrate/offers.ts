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
      return verdict === 'reject' || verdict === 'hold' ? { kind: 'skip' } : answer;
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
      const dropped = new Set(
        settled.filter(({ fate }) => fate === 'dropped').map(({ finding }) => finding.key),
      );
      const drafts = [...(this.#drafts.get(file.path) ?? new Map<Finding, Draft>()).values()];
      return drafts.map((draft): Offer => {
        const verdict = this.decisions.about(draft);
        if (verdict === 'reject') return { ...draft, fate: 'rejected' };
        if (verdict === 'hold') return { ...draft, fate: 'held' };
        return { ...draft, fate: dropped.has(draft.key) ? 'dropped' : 'taken' };
      });
    });
  }
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
