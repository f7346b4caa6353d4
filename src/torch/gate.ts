import type { Answer } from '../semantic/answer.js';
import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';

/** One precondition of a fix; the words complete "left alone because …" and "not proven: …". */
export interface Gate {
  readonly answer: Answer;
  readonly otherwise: string | { readonly no: string; readonly unknown: string };
}

export function gate(holds: boolean, otherwise: string): Gate {
  return { answer: holds ? 'yes' : 'no', otherwise };
}

/** Code in a sentence: one line, not too long. */
export function shown(node: PyNode): string {
  const text = node.text.replace(/\s+/g, ' ');
  return text.length <= 40 ? text : `${text.slice(0, 37)}…`;
}

/** A place of another file in a sentence. */
export function placeOf(module: PyModule, node: PyNode): string {
  return `\`${module.path}:${module.lines.position(node.start).line}\``;
}
