import { isWordPart, startOfWord } from './beside.js';
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

/** Behind the names of `self.qf = MLP(…)` and `q, target = Net().to(device), Net()`. */
const MADE = /=[ \t\\\n]*(?:[a-z_]\w*\.){0,9}[A-Z]\w*\(/g;

/** Names further back are left of something else. */
const LONGEST_LEFT = 200;

/** The names that a file gives to what classes make. */
export function namesMade({ text }: Glimpse): ReadonlySet<string> {
  const names = [...text.matchAll(MADE)].flatMap(({ index }) => {
    const before = text.slice(Math.max(0, index - LONGEST_LEFT), index);
    const left = before.slice(before.lastIndexOf('\n') + 1);
    return left.split(',').map((target) => /(\w+)\s*$/.exec(target)?.[1] ?? '');
  });
  return new Set(names.filter((name) => name !== ''));
}

/** What a file evaluates, loads or takes the parameters of: `fcn` of `self.fcn.eval()`. */
export function namesOfModules(glimpse: Glimpse): ReadonlySet<string> {
  const { text } = glimpse;
  const ends = OF_MODULE.flatMap((method) => glimpse.placesOf(method));
  const names = ends.map((end) => text.slice(startOfWord(text, end), end));
  return new Set(names.filter((name) => name !== '' && name !== 'self'));
}

/** Looked for as they are: a regular expression would try every word of a text. */
const OF_MODULE: readonly string[] = ['.eval()', '.parameters()', '.load_state_dict('];
