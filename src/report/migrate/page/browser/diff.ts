import type { OfferedChange } from '../../offer.js';
import { type DiffLine, type DiffRow, rowsOf } from '../rows.js';
import { visible } from '../visible.js';
import { codeOf } from './code.js';
import { type Child, h, theirs } from './dom.js';

export type Layout = 'split' | 'unified';

/** What a fix does to one file. Another file than the finding's is named. */
export function diffOf({ path, hunks }: OfferedChange, own: string, layout: Layout): HTMLElement {
  const isPython = /\.pyi?$/.test(path);
  const lay = (rows: readonly DiffRow[]) => (layout === 'split' ? rows.map(splitRow) : unified(rows));
  const bodies = hunks.map((hunk, index) =>
    h(
      'tbody',
      {},
      index > 0 && h('tr', { class: 'gap' }, h('td', { colspan: 4 }, '⋯')),
      lay(rowsOf(hunk, isPython)),
    ),
  );
  const label = `Change of ${visible(path)}`;
  return h(
    'div',
    { class: 'change' },
    path !== own && h('p', { class: 'beside' }, 'also changes ', theirs(path, { class: 'path' })),
    h('table', { class: `diff ${layout}`, 'aria-label': label }, columns(layout), bodies),
  );
}

function columns(layout: Layout): HTMLElement {
  const classes = layout === 'split' ? ['n', 'c', 'n', 'c'] : ['n', 'n', 's', 'c'];
  return h(
    'colgroup',
    {},
    classes.map((name) => h('col', { class: name })),
  );
}

function splitRow({ isChange, old, new: now }: DiffRow): HTMLElement {
  return h(
    'tr',
    {},
    number(old, isChange && 'del'),
    code(old, isChange && 'del'),
    number(now, isChange && 'ins'),
    code(now, isChange && 'ins'),
  );
}

/** What is removed, then what is added, for each run of changed lines. */
function unified(rows: readonly DiffRow[]): readonly Child[] {
  const laid: Child[] = [];
  let removed: Child[] = [];
  let added: Child[] = [];
  const flush = (): void => {
    laid.push(removed, added);
    removed = [];
    added = [];
  };
  for (const { isChange, old, new: now } of rows) {
    if (!isChange) {
      flush();
      laid.push(h('tr', {}, number(old, false), number(now, false), sign(false), code(now, false)));
      continue;
    }
    if (old !== undefined)
      removed.push(
        h('tr', {}, number(old, 'del'), number(undefined, 'del', true), sign('del'), code(old, 'del')),
      );
    if (now !== undefined)
      added.push(
        h('tr', {}, number(undefined, 'ins', true), number(now, 'ins'), sign('ins'), code(now, 'ins')),
      );
  }
  flush();
  return laid;
}

type Mark = 'del' | 'ins' | false;

function number(line: DiffLine | undefined, mark: Mark, isFilled = false): HTMLElement {
  const tone = line === undefined && !isFilled ? 'none' : mark || '';
  return h('td', { class: `number ${tone}` }, line?.number);
}

function sign(mark: Mark): HTMLElement {
  return h('td', { class: `sign ${mark || ''}` }, mark === 'del' ? '−' : mark === 'ins' ? '+' : '');
}

function code(line: DiffLine | undefined, mark: Mark): HTMLElement {
  if (line === undefined) return h('td', { class: 'code none' });
  const said = mark === 'del' ? 'removed: ' : mark === 'ins' ? 'added: ' : undefined;
  const cell = h(
    'td',
    { class: `code ${mark || ''}` },
    said !== undefined && h('span', { class: 'for-ears' }, said),
    codeOf(line, mark || 'ins'),
  );
  cell.style.setProperty('--hang', String(hangOf(line.text)));
  return cell;
}

/** How many columns in a line goes on where it does not fit: a little further than it starts. */
function hangOf(text: string): number {
  const indent = /^[ \t]*/.exec(text)?.[0].replaceAll('\t', '    ').length ?? 0;
  return Math.min(indent, 24) + 4;
}
