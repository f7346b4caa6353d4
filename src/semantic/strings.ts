import type { PyNode } from '../syntax/node.js';

/** What a plain string literal says; undefined for bytes, f-strings, escapes, several literals in a row and everything else. */
export function plainString(node: PyNode): string | undefined {
  if (node.type !== 'string') return undefined;
  const match = /^[uUrR]?("""|'''|"|')([^\\]*)\1$/s.exec(node.text);
  return match?.[2];
}
