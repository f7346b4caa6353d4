import { enclosingFunction } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';

/** What names a site when lines move: its rule, the functions around it and its own text, spaces aside. */
export function wordsOf(id: string, node: PyNode): string {
  const around: string[] = [];
  for (let at = enclosingFunction(node); at !== undefined; at = enclosingFunction(at)) {
    around.push(at.name?.text ?? '');
  }
  return [id, ...around, node.text.replace(/\s+/g, ' ')].join('\0');
}
