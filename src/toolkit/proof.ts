import type { Answer } from '../semantic/answer.js';
import type { Gate } from '../semantic/gate.js';
import type { Question } from '../semantic/question.js';
import type { Reason } from '../semantic/reason.js';
import type { Premise } from '../semantic/versions.js';

/** Collects the gates of one site. `no` refuses it, `unknown` makes it unsafe and asks a question, `yes` is kept as answered. */
export class Proof {
  readonly #questions: Question[] = [];
  readonly #premises: Premise[] = [];
  readonly #reasons: Reason[] = [];
  readonly #answered: Question[] = [];
  #refuted: string | undefined;

  /** Where the answer can be `no`, the words for it complete "left alone because …". */
  require(answer: 'yes' | 'unknown', otherwise: Question): this;
  require(answer: Answer, otherwise: { readonly no: string; readonly unknown: Question }): this;
  require(answer: Answer, otherwise: Question | { readonly no: string; readonly unknown: Question }): this {
    this.#settle(answer, 'unknown' in otherwise ? otherwise.unknown : otherwise);
    if (answer === 'no' && 'no' in otherwise) this.#refuted ??= otherwise.no;
    return this;
  }

  /** Gates that an analysis has made. */
  meet(...gates: readonly Gate[]): this {
    for (const { answer, otherwise } of gates) {
      if (typeof otherwise === 'string') this.forbid(answer === 'no', otherwise);
      else if ('no' in otherwise) this.require(answer, otherwise);
      else this.#settle(answer, otherwise);
    }
    return this;
  }

  #settle(answer: Answer, question: Question): void {
    // A question about nobody is answered because there is nobody.
    if (answer === 'no' || (answer === 'yes' && question.subject === '')) return;
    const asked = answer === 'yes' ? this.#answered : this.#questions;
    if (!asked.some(({ text }) => text === question.text)) asked.push(question);
  }

  /** What an analysis has found that makes the fix right. */
  because(...reasons: readonly Reason[]): this {
    this.#reasons.push(...reasons);
    return this;
  }

  /** A gate whose failing would crash or change results when applied. */
  forbid(holds: boolean, because: string): this {
    if (holds) this.#refuted ??= because;
    return this;
  }

  /** What a gate that holds counts on. */
  countOn(premise: Premise): this {
    this.#premises.push(premise);
    return this;
  }

  get premises(): readonly Premise[] {
    return this.#premises;
  }

  get reasons(): readonly Reason[] {
    return this.#reasons;
  }

  /** The questions whose answer the code gives. */
  get answered(): readonly Question[] {
    return this.#answered;
  }

  get refuted(): string | undefined {
    return this.#refuted;
  }

  /** So far, every gate does. */
  get holds(): boolean {
    return this.#refuted === undefined && this.#questions.length === 0;
  }

  get questions(): readonly Question[] {
    return this.#questions;
  }
}
