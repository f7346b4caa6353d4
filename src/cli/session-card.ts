import { terminalPage } from '../report/explain.js';
import { type Card, type Drawn, detailText, type Look, noteText } from './screen.js';

/** All about the finding, and the transform's page with the person's own code as its example. */
export function explanation(card: Card, look: Look): string {
  const { finding, meta, preview } = card;
  const page =
    meta === undefined
      ? noteText(`There is no page about ${finding.transform}.`, look)
      : terminalPage(meta, preview, look);
  return detailText(card, look) + page;
}

export const SCROLLS: ReadonlySet<string> = new Set([' ', '\x1b[A', '\x1b[B', '\x1b[5~', '\x1b[6~']);

/** The row that is first in view after a key: a page by Space and the page keys, a row by the arrows; never beyond the end. */
export function scrolled({ room, length, first }: Drawn, from: number | undefined, key: string): number {
  const page = Math.max(room - 2, 1);
  const by = { ' ': page, '\x1b[6~': page, '\x1b[5~': -page, '\x1b[A': -1, '\x1b[B': 1 }[key] ?? 0;
  return Math.max(0, Math.min((from ?? first) + by, Math.max(length - page, 0)));
}
