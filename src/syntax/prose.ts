import type { PyNode } from './node.js';

/** A text with blanks for what people say in it, as long as before: comments, docstrings and strings of several words. `quiet`: where comments and strings start and end, in turn. */
export function withoutProse(text: string, quiet: readonly number[]): string {
  let code = '';
  let from = 0;
  for (let index = 0; index < quiet.length; index += 2) {
    const start = quiet[index] ?? 0;
    const end = quiet[index + 1] ?? text.length;
    if (text[start] !== '#' && !isDocstring(text, start) && !SENTENCE.test(text.slice(start, end))) continue;
    code += text.slice(from, start) + ' '.repeat(end - start);
    from = end;
  }
  return code + text.slice(from);
}

/** No name, key or path. */
const SENTENCE = /\w\W*\s\W*\w/;

/** Where the comments and strings of a tree start and end, in turn. */
export function quietPlaces(root: PyNode): readonly number[] {
  const isQuiet = ({ type }: PyNode): boolean => type === 'comment' || type === 'string';
  return [...root.walk((node) => !isQuiet(node))].filter(isQuiet).flatMap(({ start, end }) => [start, end]);
}

/** A string of three quotes that starts its line. */
function isDocstring(text: string, start: number): boolean {
  if (!text.startsWith('"""', start) && !text.startsWith("'''", start)) return false;
  // Most texts have no carriage return, and a search for one would go on to their start.
  const line = text.lastIndexOf('\n', start - 1) + 1;
  return /(?:^|\r)[ \t\f]*[rRuU]?$/.test(text.slice(line, start));
}
