import type { Answer } from '../semantic/answer.js';
import type { PyModule } from '../semantic/module.js';
import { ask, type Question } from '../semantic/question.js';
import type { PyNode } from '../syntax/node.js';

/** One precondition of a fix: what a `no` completes "left alone because …" with, and what a person is asked where it is unknown. */
export type Gate =
  | { readonly answer: 'yes' | 'unknown'; readonly otherwise: Question }
  | { readonly answer: 'yes' | 'no'; readonly otherwise: string }
  | { readonly answer: Answer; readonly otherwise: { readonly no: string; readonly unknown: Question } };

export function gate(holds: boolean, otherwise: string): Gate {
  return { answer: holds ? 'yes' : 'no', otherwise };
}

/** What "nobody differentiates it" is in a question that is answered with yes. */
export const ONLY_READ = 'only read and never differentiated';

/** `code`: what is detached. */
export function hasDetach(code: string, otherwise = 'a Python number'): Question {
  return ask('tensor')`Is \`${code}\` a tensor (${otherwise} has no \`.detach()\`)?`;
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
  return `\`${module.path}:${module.lines.position(node.start).line}\``;
}
