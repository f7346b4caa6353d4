import { behindBracket, type CodeLine, functionAround, turnOf } from '../../syntax/code-text.js';

interface InnerFunction {
  readonly header: CodeLine;
  readonly name: string;
  readonly parameters: readonly string[];
}

/** What is followed through the lines of some code, by the words for it. */
class Followed {
  readonly #words = new Set<string>();
  /** The functions inside, which may be handed it, and may hand it back. */
  readonly #inner: readonly InnerFunction[];

  constructor(readonly lines: readonly CodeLine[]) {
    this.#inner = lines.flatMap((header) => {
      if (!HEADER.test(header.text) || functionAround(header) === undefined) return [];
      const [, name = '', ...parameters] = wordsOf(header.text);
      return [{ header, name, parameters }];
    });
  }

  isIn(text: string): boolean {
    const words = this.#words;
    // Mostly there are few, and none is in it: then its words need not be told from one another.
    if (words.size <= FEW && !this.#mayBeIn(text)) return false;
    for (const [word] of text.matchAll(READ)) if (words.has(word)) return true;
    return false;
  }

  #mayBeIn(text: string): boolean {
    for (const word of this.#words) if (text.includes(word)) return true;
    return false;
  }

  /** From a line that has it to whatever that sets or may change. */
  passOn(line: CodeLine): void {
    for (const word of changedBy(line.text)) this.#words.add(word);
    if (this.#inner.length === 0) return;
    const { text } = line;
    const around = functionAround(line);
    for (const { header, name, parameters } of this.#inner) {
      if (around === header) this.#words.add(name);
      if (text.includes(name) && wordsOf(text).includes(name))
        for (const word of parameters) this.#words.add(word);
    }
  }

  get size(): number {
    return this.#words.size;
  }
}

const FEW = 16;

/** More passes than this change nothing in code that somebody wrote. */
const MAX_PASSES = 5;

/**
 * Whether what some lines give may come to a place that reads it, going by the words of the code: what is set from them, or
 * changed with them, may have it. `gives`: the same question of a part of them. `readIn`: the parts of a line that are read.
 * `false` only where nothing leads there.
 */
export function mayLead(
  lines: readonly CodeLine[],
  giving: readonly CodeLine[],
  gives: (text: string) => boolean,
  readIn: (text: string) => readonly string[],
): boolean {
  // What is read in a function without a name is not followed.
  if (lines.some(({ text }) => LAMBDA.test(text) && readIn(text).length > 0)) return true;
  const sources = new Set(giving);
  const followed = new Followed(lines);
  for (let pass = 0, size = -1; followed.size > size; pass++) {
    if (pass === MAX_PASSES) return true;
    size = followed.size;
    for (const line of lines) {
      const { text } = line;
      const isSource = sources.has(line);
      if ((!isSource && !followed.isIn(text)) || HEADER.test(text)) continue;
      if (readIn(text).some((part) => (isSource && gives(part)) || followed.isIn(part))) return true;
      followed.passOn(line);
    }
  }
  return false;
}

/** What the calls in some code are given, where they are called so. */
export function givenIn(text: string, isCalled: (name: string) => boolean): readonly string[] {
  const found: string[] = [];
  if (!text.includes('(')) return found;
  for (const { 0: call, 1: name = '', index } of text.matchAll(CALLED)) {
    const open = index + call.length - 1;
    if (isCalled(name)) found.push(text.slice(open, behindBracket(text, open)));
  }
  return found;
}

function wordsOf(text: string): readonly string[] {
  return text.match(WORD) ?? [];
}

const WORD = /(?!\d)[\w\u0080-\uffff]+/g;
const CALLED = /(?<![\w\u0080-\uffff])([\w\u0080-\uffff]+)[\s\\]*\(/g;
/** A word that is asked for more than its shape or place, and no keyword of a call. */
const READ =
  /(?<![\w\u0080-\uffff])(?!\d)[\w\u0080-\uffff]+(?![\w\u0080-\uffff])(?!\.(?:shape|size|device|dtype|dim|ndim|is_cuda)\b|=(?!=)|[ \t]+is\b)/g;
const HEADER = /^(?:async[ \t]+)?def\b/;
const LAMBDA = /=[\s\\]*lambda\b/;
const LOOP = /^(?:async[ \t]+)?for\b([\s\S]*?)\bin\b/;
const NO_CHANGE = /^(?:if|elif|while|return|assert|raise|del|yield)\b/;
/** `outputs.append(…)` changes what it is called on, `collect(net, outputs)` may change what it is given. */
const FILLED = /^([\w\u0080-\uffff.]+)\.(?:add|append|extend|put|push|update)[\s\\]*\(/;

/** The words for what a line sets or may change. */
function changedBy(text: string): readonly string[] {
  if (text.includes(';') || text.includes(':=')) return wordsOf(text);
  if (NO_CHANGE.test(text)) return [];
  const left = LOOP.exec(text)?.[1] ?? text.slice(0, behindTargets(text));
  if (left !== '') return wordsOf(left).filter((word) => word !== 'self');
  return wordsOf(FILLED.exec(text)?.[1] ?? text);
}

/** Behind the last `=` of an assignment; 0 where it is none. */
function behindTargets(text: string): number {
  let depth = 0;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 61) depth += turnOf(code);
    else if (depth === 0 && text[at + 1] !== '=' && !'=!<>'.includes(text[at - 1] ?? ' ')) end = at;
  }
  return end;
}
