import { printable, widthOf } from './cells.js';

export interface Indent {
  readonly first: string;
  readonly rest: string;
}

/** Words filled into lines of at most `width` columns; one that is longer keeps a line of its own. */
export function wrap(text: string, width: number, indent: Indent): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of wordsOf(text, width)) {
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

/** Short code in backticks is one word, whatever spaces it holds. */
function wordsOf(text: string, width: number): string[] {
  const words = printable(text.replace(/\s+/g, ' ')).match(/(?:`[^`]*`|[^ ])+/g) ?? [];
  return words.flatMap((word) => (widthOf(word) > width / 2 ? word.split(' ') : [word]));
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** As a shell takes it for one word, and no option. */
export function shellWord(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path;
  return /^[\w./+@%:,=-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", "'\\''")}'`;
}

/** A command of memfix as a sentence names it. */
export function command(words: string, aim = ''): string {
  return `\`memfix ${words}${aim === '' ? '' : ` ${aim}`}\``;
}
