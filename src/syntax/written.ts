import type { PyNode } from './node.js';

/**
 * The text of an expression as it can be written anywhere: in parentheses where its lines are only held together by brackets
 * around it.
 */
export function standalone(node: PyNode): string {
  return isHeldTogether(node) ? node.text : `(${node.text})`;
}

/** Whether each end of a line in it is in brackets or a string of its own, or after a backslash. */
function isHeldTogether(node: PyNode): boolean {
  const { text, start } = node;
  if (!/[\r\n]/.test(text)) return true;
  let depth = 0;
  let end = start;
  for (const leaf of leavesOf(node)) {
    const gap = text.slice(end - start, leaf.start - start);
    if (depth === 0 && /[\r\n]/.test(gap.replace(/\\(?:\r\n|\r|\n)/g, ''))) return false;
    if (/^[([{]$/.test(leaf.type)) depth++;
    if (/^[)\]}]$/.test(leaf.type)) depth--;
    end = leaf.end;
  }
  return true;
}

/** The text on one line, long strings apart; undefined where a comment stands in it. */
export function onOneLine(node: PyNode): string | undefined {
  for (const leaf of leavesOf(node)) if (leaf.type === 'comment') return undefined;
  return copyOf(node);
}

/** The same for a second time that it is written: comments stay where they are. */
export function copyOf(node: PyNode): string {
  const { text, start } = node;
  let line = '';
  let before: PyNode | undefined;
  for (const leaf of leavesOf(node)) {
    if (leaf.type === 'comment') continue;
    const gap = before === undefined ? '' : text.slice(before.end - start, leaf.start - start);
    const closes = /^[)\]}]$/.test(leaf.type);
    // A comma before the end of arguments belongs to their lines.
    if (closes && before?.type === ',' && /[\r\n]/.test(gap) && leaf.parent?.type === 'argument_list')
      line = line.slice(0, -1);
    if (!/[\r\n]/.test(gap)) line += gap;
    else if (!closes && !/^(?:[([{]|\.)$/.test(before?.type ?? '') && leaf.type !== '.') line += ' ';
    line += leaf.text;
    before = leaf;
  }
  return line;
}

/** What is written between two parts of an expression. */
export function textBetween(first: PyNode, second: PyNode): string {
  for (const { text, start, end } of first.ancestors())
    if (end >= second.end) return text.slice(first.end - start, second.start - start);
  return '';
}

function* leavesOf(node: PyNode): Generator<PyNode> {
  for (const inner of node.walk(({ type }) => type !== 'string')) {
    const isLeaf = inner.children.length === 0 || (inner.type === 'string' && inner !== node);
    if (isLeaf && inner.start < inner.end) yield inner;
  }
}
