import type { Span } from '../text/lines.js';
import { type Outline, outlineOf } from './outline.js';

/** A text before it is parsed: what can be told from a quick reading, made on first use and kept. */
export class Glimpse {
  #outline: Outline | null | undefined;
  #stretches: readonly string[] | undefined;

  constructor(readonly text: string) {}

  get outline(): Outline | undefined {
    if (this.#outline === undefined) this.#outline = outlineOf(this.text) ?? null;
    return this.#outline ?? undefined;
  }

  /** The text of each outermost function, and of all that is outside of them; the whole text where that cannot be told. */
  get stretches(): readonly string[] {
    this.#stretches ??= this.#cut();
    return this.#stretches;
  }

  #cut(): readonly string[] {
    const { text, outline } = this;
    if (outline === undefined) return [text];
    const found: string[] = [];
    let outside = '';
    let from = 0;
    for (const { start, bodyStart, end } of outline.pieces) {
      found.push(text.slice(start, end));
      outside += text.slice(from, bodyStart);
      from = end;
    }
    found.push(outside + text.slice(from));
    return found;
  }
}

/** Which of some spans, in order, holds an offset. */
export function spanAt(spans: readonly Span[], offset: number): number | undefined {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.start ?? Infinity) <= offset) low = middle + 1;
    else high = middle;
  }
  const span = spans[low - 1];
  return span !== undefined && offset < span.end ? low - 1 : undefined;
}
