import type { Decision } from '../engine/outcome.js';
import { plural } from '../report/prose.js';
import { AnswerBook, type Entry } from '../workspace/answers.js';
import { Failure, reasonOf } from '../workspace/failure.js';
import type { State } from '../workspace/state.js';
import { begin, type Item, type Review } from './keys.js';
import type { ReviewedFiles } from './session-files.js';

/** What a review remembers beyond its own end: answers as they are given, and texts that an editor left. */
export class Memory {
  /** Sound or not, to be opened again. */
  readonly drafts = new Map<string, string>();
  readonly #book: AnswerBook;
  #problem: string | undefined;
  #isProblemTold = false;

  constructor(
    state: State,
    private readonly isResumed: boolean,
    private readonly files: ReviewedFiles,
  ) {
    this.#book = new AnswerBook(state, isResumed);
  }

  /** Why nothing can be remembered. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The problem, the first time it is asked for. */
  news(): string | undefined {
    if (this.#isProblemTold || this.#problem === undefined) return undefined;
    this.#isProblemTold = true;
    return `The answers cannot be saved, so this session cannot be resumed: ${this.#problem}.`;
  }

  /** Answers of an earlier session hold for files that still have the same bytes. */
  begin(): Review {
    const answers = new Map<string, Decision>();
    let left = 0;
    const edits = new Map<string, string>();
    for (const item of this.files.items) {
      const asked = this.files.asked(item);
      const earlier = this.#book.recall(asked);
      left += earlier === undefined ? 0 : 1;
      const decision = this.isResumed ? earlier : undefined;
      if (decision !== undefined) answers.set(item.ref, decision);
      if (decision?.kind === 'edited') edits.set(item.ref, decision.text);
      const draft = this.#book.recallDraft(asked);
      if (draft !== undefined && draft !== '') this.drafts.set(item.ref, draft);
    }
    const start: Review = { ...begin(this.files.items, answers), edits };
    const note = this.#welcome(left);
    return note === undefined ? start : { ...start, note };
  }

  keep(items: readonly Item[], before: Review['answers'], after: Review['answers']): void {
    const changed = items.filter(({ ref }) => before.get(ref) !== after.get(ref));
    this.keepEntries(
      changed.map((item) => ({ ...this.files.asked(item), decision: after.get(item.ref) ?? null })),
    );
  }

  keepDraft(item: Item, draft: string): void {
    this.drafts.set(item.ref, draft);
    this.keepEntries([{ ...this.files.asked(item), draft }]);
  }

  keepEntries(entries: readonly Entry[]): void {
    this.#attempt(() => this.#book.record(entries));
  }

  forget(): void {
    this.#attempt(() => this.#book.remove());
  }

  #attempt(work: () => void): void {
    if (this.#problem !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#problem = error instanceof Failure ? error.detail : reasonOf(error);
    }
  }

  /** `left`: how many answers of an earlier session fit these findings. */
  #welcome(left: number): string | undefined {
    const count = plural(left, 'answer');
    if (this.isResumed)
      return left > 0
        ? `Went on with ${plural(left, 'earlier answer')}.`
        : 'No earlier answer is open for these files as they are now: it begins at the first finding.';
    return left === 0
      ? undefined
      : `An earlier session left ${count} here. To go on with it, press q now and add --resume; any answer here replaces it.`;
  }
}
