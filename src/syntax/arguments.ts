import type { Edit } from '../edit/edit.js';
import { endsItsLine, indentationOf, type Layout, startsItsLine } from './layout.js';
import type { PyNode } from './node.js';

/** Where new items of a list go: before all others, after all others, or after one of them. */
type Place = 'first' | 'last' | PyNode;

/**
 * The edits that add arguments to a call, entries to a dict or names to an import: everything that is added to such a list
 * goes through here. On lines of their own where their neighbour has that, otherwise on its line. Comments stay with the
 * item that they follow; backslashes, commas at either end of a line and commas after the last item stay as they are.
 */
export function withItems(
  layout: Layout,
  list: PyNode,
  place: Place,
  written: readonly string[],
): readonly Edit[] {
  const [first] = list.named;
  const neighbour = place === 'first' ? first : place === 'last' ? list.named.at(-1) : place;
  if (neighbour === undefined) {
    const at = list.start + 1;
    const gap = layout.text[at] === '#' ? '  ' : '';
    return [insertion(at, written.join(', ') + gap)];
  }
  return place === 'first' ? itemBefore(layout, neighbour, written) : itemAfter(layout, neighbour, written);
}

function itemBefore(layout: Layout, item: PyNode, written: readonly string[]): readonly Edit[] {
  const newline = layout.lines.newlineNear(layout.lines.lineAt(item.start));
  const gap = startsItsLine(layout, item) ? newline + indentationOf(layout, item) : ' ';
  return [insertion(item.start, written.map((each) => `${each},${gap}`).join(''))];
}

/**
 * Behind an item on a line of its own each gets a line of its own below it, after any comment and with its comma on the same
 * side; otherwise they follow on the same line.
 */
function itemAfter(layout: Layout, item: PyNode, written: readonly string[]): readonly Edit[] {
  const { lines, text } = layout;
  const line = lines.lineAt(item.end);
  const end = lines.end(line);
  const rest = text.slice(item.end, end);
  const newline = lines.newlineNear(line);
  const leading = leadingComma(layout, item);
  if (leading !== undefined && /^[ \t]*(?:#.*)?$/s.test(rest)) {
    return [insertion(end, written.map((each) => `${newline}${leading}${each}`).join(''))];
  }
  const indentation = indentationOf(layout, item);
  const below = written.map((each) => `${newline}${indentation}${each}`).join(',');
  const beside = `, ${written.join(', ')}`;
  const starts = startsItsLine(layout, item);
  // `zeros(n` and `).to(d)` on the line below: what is added goes to the bracket.
  const [gap] = (starts ? null : /^[ \t]*(?:\r\n|\r|\n)[ \t]+(?=[)}])/.exec(text.slice(item.end))) ?? [];
  if (gap !== undefined && isIndented(layout, item, item.end + gap.length))
    return [insertion(item.end, ','), insertion(item.end + gap.length, written.join(', '))];
  if (starts && /^[ \t]*,?[ \t]*[)}]/.test(rest)) return [insertion(item.end, `,${below}`)];
  if (!starts || !/^[ \t]*,?[ \t]*(?:#.*)?$/s.test(rest)) return [insertion(item.end, beside)];
  const comma = item.next?.type === ',' ? item.next : undefined;
  if (comma !== undefined && comma.end <= end) return [insertion(end, `${below},`)];
  if (comma !== undefined) return [insertion(item.end, beside)];
  if (end === item.end) return [insertion(end, `,${below}`)];
  return [insertion(item.end, ','), insertion(end, below)];
}

/** Whether a place is further in than the line of an item begins. */
function isIndented({ lines, text }: Layout, item: PyNode, at: number): boolean {
  const start = lines.start(lines.lineAt(item.start));
  return at - lines.start(lines.lineAt(at)) > (/^[ \t]*/.exec(text.slice(start))?.[0].length ?? 0);
}

function insertion(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

/** What is before an item whose line begins with the comma of the item above, unless a backslash ties it to that line. */
function leadingComma(layout: Layout, item: PyNode): string | undefined {
  const { text, lines } = layout;
  const before = text.slice(lines.start(lines.lineAt(item.start)), item.start);
  const comma = item.previous;
  const isLeading = comma?.type === ',' && startsItsLine(layout, comma);
  return isLeading && /^[ \t]*,[ \t]*$/.test(before) ? before : undefined;
}

/** `name=value` as the last arguments of a call; undefined where it has no argument list of its own (`f(x for x in y)`). */
export function keywordsAtEnd(
  layout: Layout,
  call: PyNode,
  added: readonly (readonly [name: string, value: string])[],
): readonly Edit[] | undefined {
  const list = call.arguments;
  if (list?.type !== 'argument_list') return undefined;
  const last = list.named.at(-1);
  return withItems(layout, list, 'last', keywords(layout, last, added));
}

/** `name=value` behind an existing argument. */
export function keywordAfter(layout: Layout, argument: PyNode, name: string, value: string): readonly Edit[] {
  const list = argument.parent;
  return list === undefined
    ? []
    : withItems(layout, list, argument, keywords(layout, argument, [[name, value]]));
}

/** As they are written: the spaces around `=` follow the neighbour. */
function keywords(
  layout: Layout,
  neighbour: PyNode | undefined,
  added: readonly (readonly [name: string, value: string])[],
): readonly string[] {
  const given = neighbour?.name;
  const givenValue = neighbour?.value;
  const between = given && givenValue ? layout.text.slice(given.end, givenValue.start) : '=';
  const equals = /^[ \t]*=[ \t]*$/.test(between) ? between : '=';
  return added.map(([name, value]) => `${name}${equals}${value}`);
}

/** `"name": value` behind an existing entry of a dict, with the neighbour's quotes. */
export function entryAfter(layout: Layout, pair: PyNode, name: string, value: string): readonly Edit[] {
  const quote = /^["']/.exec(pair.key?.text ?? '')?.[0] ?? '"';
  const dict = pair.parent;
  return dict === undefined ? [] : withItems(layout, dict, pair, [`${quote}${name}${quote}: ${value}`]);
}

/** One more name of an import, after another. */
export function importedAfter(layout: Layout, name: PyNode, added: string): readonly Edit[] {
  const statement = name.parent;
  return statement === undefined ? [] : withItems(layout, statement, name, [added]);
}

/** An argument before all others. Undefined as above. */
export function argumentAtStart(layout: Layout, call: PyNode, written: string): readonly Edit[] | undefined {
  const list = call.arguments;
  return list?.type === 'argument_list' ? withItems(layout, list, 'first', [written]) : undefined;
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
