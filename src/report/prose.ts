import { printable, widthOf } from './cells.js';

export interface Indent {
  readonly first: string;
  readonly rest: string;
}

/** Words filled into lines of at most `width` columns; a word that is longer keeps a line of its own. */
export function wrap(text: string, width: number, indent: Indent): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of printable(text.replace(/\s+/g, ' ')).split(' ')) {
    if (word === '') continue;
    const size = widthOf(word);
    const margin = widthOf(lines.length === 0 ? indent.first : indent.rest);
    if (line !== '' && margin + used + 1 + size > width) {
      lines.push(line);
      line = word;
      used = size;
    } else {
      line += line === '' ? word : ` ${word}`;
      used += line === word ? size : size + 1;
    }
  }
  lines.push(line);
  return lines.map((content, index) => (index === 0 ? indent.first : indent.rest) + content);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
