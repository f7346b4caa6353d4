import { isWordPart } from './beside.js';
import type { Glimpse } from './glimpse.js';

/** Whether a name may stand for a class of another name, or for one of the file: an import alone keeps the name. */
export function isBoundByHand(name: string, glimpse: Glimpse): boolean {
  const known = glimpse.memo(noNamesYet);
  const answer = known.get(name) ?? findsBinding(name, glimpse.text);
  known.set(name, answer);
  return answer;
}

/** How far before a name its `class` or `as` may stand. */
const FAR = 1_000;

const BINDS_NEXT = /(?<![\w\u0080-\uffff])(?:class|as)(?:[\s\\]|#[^\n]*\n)+$/;

const IS_BOUND = /[\s\\]*(?:=(?!=)|:)/y;

function findsBinding(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (isWordPart(text.charCodeAt(at - 1))) continue;
    IS_BOUND.lastIndex = at + name.length;
    if (IS_BOUND.test(text)) return true;
    const isNext = /[\s\\]/.test(text[at - 1] ?? '') && !isWordPart(text.charCodeAt(at + name.length));
    if (isNext && BINDS_NEXT.test(text.slice(Math.max(0, at - FAR), at))) return true;
  }
  return false;
}

function noNamesYet(): Map<string, boolean> {
  return new Map();
}
