import type { PyNode } from '../syntax/node.js';
import { cellsIn, positionInCells } from '../text/notebook/notebook.js';
import { placeText } from '../text/place.js';
import type { Answer } from './answer.js';
import type { PyModule } from './module.js';
import type { Question } from './question.js';

/** One precondition of a fix: what a `no` completes "left alone because …" with, and what a person is asked where it is unknown. */
export type Gate =
  | { readonly answer: 'yes' | 'unknown'; readonly otherwise: Question }
  | { readonly answer: 'yes' | 'no'; readonly otherwise: string }
  | { readonly answer: Answer; readonly otherwise: { readonly no: string; readonly unknown: Question } };

export function gate(holds: boolean, otherwise: string): Gate {
  return { answer: holds ? 'yes' : 'no', otherwise };
}

/** Code in a sentence: one line, not too long. */
export function shown(node: PyNode): string {
  const text = withoutComments(node).replace(/\s+/g, ' ');
  return text.length <= 40 ? text : `${text.slice(0, 37)}…`;
}

function withoutComments(node: PyNode): string {
  if (!node.text.includes('#')) return node.text;
  let text = '';
  let from = node.start;
  for (const { type, start, end } of node.walk()) {
    if (type !== 'comment') continue;
    text += node.text.slice(from - node.start, start - node.start);
    from = end;
  }
  return text + node.text.slice(from - node.start);
}

/** A place of another file in a sentence. */
export function placeOf(module: PyModule, node: PyNode): string {
  return `\`${spotOf(module, node)}\``;
}

/** A place as people find it: in a notebook, by cell. */
export function spotOf(module: PyModule, node: PyNode): string {
  const told = positionInCells(module.lines, cellsIn(module.text));
  return placeText(module.path, told(module.lines.position(node.start)));
}
