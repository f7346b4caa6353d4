import { inItsCell } from '../report/by-cell.js';
import { terminalPage } from '../report/explain.js';
import { SCROLL_KEYS } from './ask.js';
import { type Card, type Drawn, detailText, type Look, noteText } from './screen.js';

/** All about the finding, and the transform's page with the person's own code as its example. */
export function explanation(card: Card, look: Look): string {
  const { source, finding, meta, preview } = card;
  const page =
    meta === undefined
      ? noteText(`There is no page about ${finding.transform}.`, look)
      : terminalPage(meta, inItsCell(source, preview), look);
  return detailText(card, look) + page;
}

/** The row that is first in view after a key: a page by Space and the page keys, a row by the arrows; never beyond the end. */
export function scrolled({ room, length, first }: Drawn, from: number | undefined, key: string): number {
  const page = Math.max(room - 2, 1);
  const rows = { page, '-page': -page, row: 1, '-row': -1 };
  const by = rows[SCROLL_KEYS.get(key) ?? 'page'];
  return Math.max(0, Math.min((from ?? first) + by, Math.max(length - page, 0)));
}
