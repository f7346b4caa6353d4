import type { Span } from '../text/lines.js';
import { type Outline, outlineOf } from './outline.js';

/** A text before it is parsed: what can be told from a quick reading, made on first use and kept. */
export class Glimpse {
  #outline: Outline | null | undefined;
  #stretches: readonly string[] | undefined;
  readonly #facts = new Map<unknown, unknown>();

  constructor(readonly text: string) {}

  get outline(): Outline | undefined {
    if (this.#outline === undefined) this.#outline = outlineOf(this.text) ?? null;
    return this.#outline ?? undefined;
  }

  /**
   * The code of each outermost function with its decorators, and of all that is outside of them: comments are left out, and
   * strings are empty but for the code in their fields. Where that cannot be told, the whole text is one stretch.
   */
  get stretches(): readonly string[] {
    this.#stretches ??= this.#cut();
    return this.#stretches;
  }

  /** The stretches in which a loop starts. */
  get repeating(): readonly string[] {
    return this.memo(stretchesWithLoops);
  }

  /** What is told from it once: `make` must be a module-level function. */
  memo<V>(make: (glimpse: Glimpse) => V): V {
    if (!this.#facts.has(make)) this.#facts.set(make, make(this));
    return this.#facts.get(make) as V;
  }

  #cut(): readonly string[] {
    const { text, outline } = this;
    if (outline === undefined) return [text];
    const code = new CodeReader(text, outline.quiet);
    const found: string[] = [];
    let outside = '';
    for (const { decorated, bodyStart, end } of outline.pieces) {
      outside += code.upTo(decorated);
      const head = code.upTo(bodyStart);
      // The body starts on a line of its own.
      outside += head.slice(0, head.lastIndexOf('\n') + 1);
      found.push(head + code.upTo(end));
    }
    found.push(outside + code.upTo(text.length));
    return found;
  }
}

const LOOP = /^[ \t]*(?:async[ \t]+)?(?:for|while)\b/m;

function stretchesWithLoops({ stretches }: Glimpse): readonly string[] {
  return stretches.filter((stretch) => LOOP.test(stretch));
}

/** Hands out a text piece by piece, without what is quiet in it. */
class CodeReader {
  #at = 0;
  #next = 0;

  constructor(
    private readonly text: string,
    private readonly quiet: readonly number[],
  ) {}

  upTo(end: number): string {
    const { text, quiet } = this;
    let code = '';
    for (let start = quiet[this.#next]; start !== undefined && start < end; start = quiet[this.#next]) {
      code += text.slice(this.#at, start);
      if (text[start] !== '#') code += '""';
      this.#at = quiet[this.#next + 1] ?? text.length;
      this.#next += 2;
    }
    code += text.slice(this.#at, end);
    this.#at = Math.max(this.#at, end);
    return code;
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
