import type { Edit } from '../edit/edit.js';
import { endsItsLine, indentationOf, keywordsAfter, type Layout, startsItsLine } from './layout.js';
import type { PyNode } from './node.js';

/** `name=value` as the last arguments of a call; undefined where it has no argument list of its own (`f(x for x in y)`). */
export function keywordsAtEnd(
  layout: Layout,
  call: PyNode,
  added: readonly (readonly [name: string, value: string])[],
): readonly Edit[] | undefined {
  const list = call.field('arguments');
  const open = list?.children[0];
  if (list?.type !== 'argument_list' || open === undefined) return undefined;
  const last = list.named.at(-1);
  if (last !== undefined) return keywordsAfter(layout, last, added);
  const text = added.map(([name, value]) => `${name}=${value}`).join(', ');
  return [{ start: open.end, end: open.end, text }];
}

/** An argument in front of all others; on a line of its own where the first one has that. Undefined as above. */
export function argumentAtStart(layout: Layout, call: PyNode, written: string): Edit | undefined {
  const list = call.field('arguments');
  const open = list?.children[0];
  if (list?.type !== 'argument_list' || open === undefined) return undefined;
  const first = list.named[0];
  if (first === undefined) return { start: open.end, end: open.end, text: written };
  const newline = layout.lines.newlineNear(layout.lines.lineAt(first.start));
  const gap = startsItsLine(layout, first) ? newline + indentationOf(layout, first) : ' ';
  return { start: first.start, end: first.start, text: `${written},${gap}` };
}

/** Takes an argument away with its comma. On lines of its own it goes with them and the comment behind it. */
export function withoutArgument(layout: Layout, argument: PyNode): readonly Edit[] {
  const { lines, text } = layout;
  const all = argument.parent?.named ?? [];
  const before = all[all.indexOf(argument) - 1];
  const next = all[all.indexOf(argument) + 1];
  const comma = commaAfter(argument);
  const last = comma ?? argument;
  if (startsItsLine(layout, argument) && endsItsLine(layout, last)) {
    const start = lines.start(lines.lineAt(argument.start));
    return [{ start, end: lines.nextStart(lines.lineAt(last.end)), text: '' }];
  }
  if (next !== undefined && lines.lineAt(next.start) === lines.lineAt(last.end))
    return [{ start: argument.start, end: next.start, text: '' }];
  // Nothing of the call stands behind it on its line; a comma in front stays where it has a comment or one follows.
  const commaBefore = before && commaAfter(before);
  const from =
    before === undefined
      ? argument.start
      : before.end + text.slice(before.end, argument.start).trimEnd().length;
  const tight = commaBefore !== undefined && commaBefore.end === from;
  if (tight) return [{ start: comma === undefined ? commaBefore.start : from, end: last.end, text: '' }];
  return [{ start: argument.start, end: last.end, text: '' }];
}

function commaAfter(argument: PyNode): PyNode | undefined {
  for (let next = argument.next; next !== undefined; next = next.next) {
    if (next.type === ',') return next;
    if (next.type !== 'comment') return undefined;
  }
  return undefined;
}
