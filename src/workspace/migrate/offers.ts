import type { Decide, Finding, Outcome, Preview, SourceFile } from '../../engine/outcome.js';
import { ownEdits } from '../../engine/preview.js';
import { type Offer, Original } from '../../report/migrate/offer.js';
import { premiseSentence } from '../../report/premises.js';
import { contentHash } from '../answers.js';
import { type Decisions, type Matter, nameOf } from './decisions.js';
import { sha256 } from './hash.js';

type Draft = Omit<Offer, 'fate'>;

/** Takes what a policy takes, but for what a person does not want, and keeps what there was to choose from. */
export class OfferTable {
  readonly #drafts = new Map<string, Map<Finding, Draft>>();
  /** Files of which the fixes leave other texts than those that were decided about. */
  readonly #changed = new Set<string>();

  constructor(
    private readonly policy: Decide,
    private readonly decisions: Decisions,
  ) {}

  /** The answers for one file, where all fixes are taken that are wanted or only some of them. */
  answering(file: SourceFile, isWhole: boolean): Decide {
    return this.#answers(file, isWhole && !this.#changed.has(file.path), () => undefined);
  }

  /** `seen` hears of each fix that there is to choose from. */
  #answers(file: SourceFile, isSame: boolean, seen: (finding: Finding, draft: () => Draft) => void): Decide {
    const place = new Place(file);
    const unwanted = new Set<Finding>();
    return async (finding, preview, earlier) => {
      // What a person does not want stays unwanted when other fixes make it safe, and is not offered twice.
      if (earlier !== undefined && unwanted.has(earlier)) return { kind: 'skip' };
      const answer = await this.policy(finding, preview);
      if (answer.kind === 'skip') return answer;
      const matter = place.matter(finding, preview);
      seen(finding, () => place.draft(finding, preview, matter));
      if (!isUnwanted(this.decisions.about(matter, isSame))) return answer;
      unwanted.add(finding);
      return { kind: 'skip' };
    };
  }

  /** The same answers; what they are about is kept. */
  offering(file: SourceFile): Decide {
    const drafts = new Map<Finding, Draft>();
    this.#drafts.set(file.path, drafts);
    return this.#answers(file, !this.#changed.has(file.path), (finding, draft) =>
      drafts.set(finding, draft()),
    );
  }

  /**
   * Whether a file has to be repaired once more: something was rejected in a text that other fixes left of it, and these
   * fixes now leave another text. Then its likes are held back.
   */
  isToBeRepeated(file: SourceFile): boolean {
    if (this.#changed.has(file.path)) return false;
    const drafts = [...(this.#drafts.get(file.path)?.values() ?? [])].map(nameOf);
    const rejected = this.decisions.rejectedAfterOthers(file.path, contentHash(file.source));
    if (rejected.every((each) => drafts.includes(nameOf(each)))) return false;
    this.#changed.add(file.path);
    return true;
  }

  /** The findings that are left of an outcome because a person does not want their fixes. */
  unwanted({ file, settled }: Outcome): ReadonlySet<Finding> {
    const drafts = this.#drafts.get(file.path);
    return new Set(
      settled.flatMap(({ finding, remains }) => (remains && drafts?.has(finding) ? [remains] : [])),
    );
  }

  /** What was offered in the files of these outcomes, and what came of it. */
  of(outcomes: readonly Outcome[]): readonly Offer[] {
    return outcomes.flatMap(({ file, settled }) => {
      const drafts = [...(this.#drafts.get(file.path) ?? new Map<Finding, Draft>()).values()];
      const about = (draft: Draft) => this.decisions.about(draft, !this.#changed.has(file.path));
      const wanted = drafts.filter((draft) => !isUnwanted(about(draft)));
      const applied = settled.filter(({ fate }) => fate === 'applied').map(({ finding }) => finding);
      const taken = takenOf(wanted, applied);
      return drafts.map((draft): Offer => {
        const verdict = about(draft);
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
  const left = new Set(applied);
  for (const sign of [
    ({ transform, key }: Named) => `${transform} ${key}`,
    ({ transform }: Named) => transform,
  ]) {
    /** Last first. */
    const alike = new Map<string, Finding[]>();
    for (const finding of [...left].reverse()) {
      const same = alike.get(sign(finding));
      if (same === undefined) alike.set(sign(finding), [finding]);
      else same.push(finding);
    }
    for (const draft of drafts) {
      const finding = taken.has(draft) ? undefined : alike.get(sign(draft))?.pop();
      if (finding === undefined) continue;
      taken.add(draft);
      left.delete(finding);
    }
  }
  return taken;
}

type Named = Pick<Finding, 'transform' | 'key'>;

/** A file that fixes are found in. They share its text until some of them are applied, so it is hashed and split once. */
class Place {
  #original: Original | undefined;
  #hash = '';
  /** Of the file itself. */
  readonly #own: string;

  constructor(private readonly file: SourceFile) {
    this.#own = contentHash(file.source);
  }

  matter(finding: Finding, { before }: Preview): Matter {
    const words = before.slice(finding.span.start, finding.span.end);
    this.#show(before);
    return {
      path: this.file.path,
      hash: this.#hash,
      file: this.#own,
      key: finding.key,
      likeness: sha256(`${finding.transform}\0${words}`).slice(0, 16),
    };
  }

  draft(finding: Finding, { before }: Preview, matter: Matter): Draft {
    const { transform, at, message, safety, numerics, questions, premises, fix } = finding;
    return {
      ...matter,
      ref: sha256(JSON.stringify([matter.path, matter.hash, matter.key])).slice(0, 16),
      line: at.line,
      ...(at.cell !== undefined && { cell: at.cell }),
      transform,
      title: fix?.title ?? '',
      ...{ message, safety, numerics, unproven: questions.map(({ text }) => text) },
      ...(premises && { premises: premises.map(premiseSentence) }),
      changes: [
        ...this.#show(before).editedIn(this.file.source, fix === undefined ? [] : ownEdits(fix)),
        ...(fix?.beside ?? []).map(({ path, text, edits }) => new Original(path, text).edited(edits)),
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
