import { calledAround } from '../syntax/code-text.js';
import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';

/** Whether a keyword may matter, going by the last word of what is called, where that is told, and by the code behind its `=`. */
export type MayMatter = (called: string | undefined, behind: string) => boolean;

/** The names of keyword arguments that are called so; of functions without one that `may` matter, none. */
export function keywordsNamed(module: PyModule, name: string, may?: MayMatter): readonly PyNode[] {
  const isTold = may !== undefined && module.glimpse.outline !== undefined;
  const isWhere = isTold ? module.isWhere((code) => someKeyword(code, name, may)) : () => true;
  const places = module.atPlaces(
    name,
    (offset) => mayBeKeyword(module.text, offset, name.length) && isWhere(offset),
  );
  return places.filter((node) => {
    const entry = node.parent;
    return node.text === name && entry?.type === 'keyword_argument' && entry.name === node;
  });
}

/** How much of the code behind a name is looked at. */
const REACH = 200;

/** Whether code without strings and comments has a keyword of this name that may matter. */
function someKeyword(code: string, name: string, may: MayMatter): boolean {
  const keyword = new RegExp(`(?<![\\w.\\u0080-\\uffff])${name}[\\s\\\\]*=(?!=)`, 'g');
  return [...code.matchAll(keyword)].some(({ index, 0: { length } }) => {
    const called = calledAround(code, index);
    const end = index + length;
    // A dict may come to be spread into any call.
    return may(called === 'dict' ? undefined : called, code.slice(end, end + REACH));
  });
}

/** Whether what follows a name may make it a keyword: `name=`, with room or a comment between them. */
function mayBeKeyword(text: string, start: number, length: number): boolean {
  if (text[start - 1] === '.') return false;
  let at = start + length;
  while (/[\s\\]/.test(text[at] ?? '')) at++;
  return text[at] === '#' || (text[at] === '=' && text[at + 1] !== '=');
}
