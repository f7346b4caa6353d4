import type { Answer } from '../semantic/answer.js';
import type { Premise } from '../semantic/versions.js';

/** Collects the gates of one site. `no` refuses it, `unknown` makes it unsafe and names the gate, `yes` says nothing. */
export class Proof {
  readonly #unproven: string[] = [];
  readonly #premises: Premise[] = [];
  #refuted: string | undefined;

  /**
   * `otherwise` completes both "left alone because …" and "not proven: …" when the answer is `no` or `unknown`;
   * pass two sentences where one cannot say both.
   */
  require(answer: Answer, otherwise: string | { readonly no: string; readonly unknown: string }): this {
    const words = typeof otherwise === 'string' ? { no: otherwise, unknown: otherwise } : otherwise;
    if (answer === 'no') this.#refuted ??= words.no;
    if (answer === 'unknown' && !this.#unproven.includes(words.unknown)) this.#unproven.push(words.unknown);
    return this;
  }

  /** A gate whose failing would crash or change results when applied. */
  forbid(holds: boolean, because: string): this {
    return this.require(holds ? 'no' : 'yes', because);
  }

  /** What a gate that holds counts on. */
  countOn(premise: Premise): this {
    this.#premises.push(premise);
    return this;
  }

  get premises(): readonly Premise[] {
    return this.#premises;
  }

  get refuted(): string | undefined {
    return this.#refuted;
  }

  /** So far, every gate does. */
  get holds(): boolean {
    return this.#refuted === undefined && this.#unproven.length === 0;
  }

  get unproven(): readonly string[] {
    return this.#unproven;
  }
}
