import type { Decision } from '../engine/outcome.js';
import { plural } from '../report/prose.js';
import { placeText } from '../text/place.js';
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
  /** Answers of an earlier session that this one does not go on with; its first own answer replaces them. */
  #untaken = 0;

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

  /** Whether an earlier session's answers are still there to go on with. */
  get hasEarlier(): boolean {
    return this.#untaken > 0;
  }

  /** The problem, the first time it is asked for. */
  news(): string | undefined {
    if (this.#isProblemTold || this.#problem === undefined) return undefined;
    this.#isProblemTold = true;
    return `The answers cannot be saved, so this session cannot be resumed: ${this.#problem}.`;
  }

  /** Answers of an earlier session hold for findings that look as they did then; what was written then is asked again. */
  begin(): Review {
    const answers = new Map<string, Decision>();
    const edits = new Map<string, string>();
    let left = 0;
    let undone = 0;
    for (const item of this.files.items) {
      const asked = this.files.asked(item);
      const { decision, isWritten } = this.#book.recall(asked) ?? {};
      const draft = this.#book.recallDraft(asked);
      if (draft !== undefined && draft !== '') this.drafts.set(item.ref, draft);
      if (decision === undefined) continue;
      if (isWritten) undone++;
      else left++;
      if (!this.isResumed) continue;
      if (decision.kind === 'edited') (isWritten ? this.drafts : edits).set(item.ref, decision.text);
      if (!isWritten) answers.set(item.ref, decision);
    }
    this.#untaken = this.isResumed ? 0 : left;
    const start: Review = { ...begin(this.files.items, answers), edits };
    const note = this.#welcome(left, undone, edits);
    return note === undefined ? start : { ...start, note };
  }

  keep(items: readonly Item[], before: Review['answers'], after: Review['answers']): void {
    const changed = items.filter(({ ref }) => before.get(ref) !== after.get(ref));
    this.keepEntries(
      changed.map((item) => ({ ...this.files.asked(item), decision: after.get(item.ref) ?? null })),
    );
  }

  /** These were carried out: whoever takes that back is asked again. */
  keepWritten(items: readonly Item[], answers: Review['answers']): void {
    this.keepEntries(
      items.flatMap((item) => {
        const decision = answers.get(item.ref);
        if (decision === undefined || decision.kind === 'skip') return [];
        return [{ ...this.files.asked(item), decision, isWritten: true as const }];
      }),
    );
  }

  keepDraft(item: Item, draft: string): void {
    this.drafts.set(item.ref, draft);
    this.keepEntries([{ ...this.files.asked(item), draft }]);
  }

  dropDraft(item: Item): void {
    if (!this.drafts.delete(item.ref)) return;
    this.keepEntries([{ ...this.files.asked(item), draft: '' }]);
  }

  keepEntries(entries: readonly Entry[]): void {
    if (entries.length > 0) this.#untaken = 0;
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

  /** `left`: how many answers of an earlier session fit these findings; `undone`: those that were carried out then. */
  #welcome(left: number, undone: number, edits: Review['edits']): string | undefined {
    if (!this.isResumed)
      return left === 0
        ? undefined
        : `An earlier session left ${plural(left, 'answer')} here. To go on with it, press q now and add --resume; any answer here replaces it.`;
    const [what, they] = undone === 1 ? ['is', 'it is'] : ['are', 'they are'];
    const notes = [
      ...(left > 0 ? [`Went on with ${plural(left, 'earlier answer')}.`] : []),
      ...(undone > 0
        ? [
            `${plural(undone, 'change')} of the earlier session ${what} no longer in the files: ${they} asked about again.`,
          ]
        : []),
      ...this.#draftNote(edits),
    ];
    return notes.length > 0
      ? notes.join(' ')
      : 'There is no earlier answer to go on with in these files as they are now: it begins at the first finding.';
  }

  /** Where texts that an editor left are offered again. */
  #draftNote(edits: Review['edits']): readonly string[] {
    const isOpen = ({ ref }: Item) => this.drafts.has(ref) && this.drafts.get(ref) !== edits.get(ref);
    const items = this.files.items.filter(isOpen);
    const [first] = items;
    if (first === undefined) return [];
    const place = placeText(first.path, this.files.finding(first).at);
    const more = items.length === 1 ? '' : ` and ${items.length - 1} more`;
    return [`You have ${items.length === 1 ? 'a draft' : 'drafts'} for ${place}${more}: e opens it there.`];
  }
}
