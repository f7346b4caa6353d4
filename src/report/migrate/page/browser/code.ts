import type { DiffLine, Stretch } from '../rows.js';
import { type Child, h, shown } from './dom.js';

/** A line in its colours; what changed in it is an insertion or a deletion. */
export function codeOf({ tokens, changed }: DiffLine, mark: 'ins' | 'del'): Child {
  const children: Child[] = [];
  let at = 0;
  for (const { kind, text } of tokens) {
    for (const { from, to, isChanged } of cut(at, at + text.length, changed)) {
      const piece = shown(text.slice(from - at, to - at));
      const coloured = kind === 'plain' ? piece : h('span', { class: `t-${kind}` }, piece);
      children.push(isChanged ? h(mark, {}, coloured) : coloured);
    }
    at += text.length;
  }
  return children;
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly isChanged: boolean;
}

/** A token in pieces that lie wholly inside or outside what changed. */
function cut(start: number, end: number, changed: readonly Stretch[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = start;
  for (const [from, to] of changed) {
    if (to <= at || from >= end) continue;
    if (from > at) pieces.push({ from: at, to: from, isChanged: false });
    const stop = Math.min(to, end);
    pieces.push({ from: Math.max(from, at), to: stop, isChanged: true });
    at = stop;
  }
  if (at < end) pieces.push({ from: at, to: end, isChanged: false });
  return pieces;
}
