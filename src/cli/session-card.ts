import type { Engine } from '../engine/engine.js';
import { inItsCell } from '../report/by-cell.js';
import { terminalPage } from '../report/explain.js';
import type { Proven } from '../report/prove/proven.js';
import { lineText } from '../text/place.js';
import type { TransformMeta } from '../toolkit/contract.js';
import { SCROLL_KEYS } from './ask.js';
import { alternativesOf, current, likeInARow, openOfTransform, type Review } from './keys.js';
import { type Card, type Drawn, detailText, helpText, type Look, noteText } from './screen.js';
import { previewOf } from './session-edit.js';
import type { ReviewedFiles } from './session-files.js';
import { isAnswered, numbersOf, placesOf } from './session-places.js';

interface Sources {
  readonly engine: Engine;
  readonly metas: ReadonlyMap<string, TransformMeta>;
  readonly proven?: Proven | undefined;
}

/** The finding on screen. */
export async function cardOf(
  review: Review,
  files: ReviewedFiles,
  sources: Sources,
  draft?: string,
): Promise<Card> {
  const item = current(review);
  const file = files.file(item.path);
  const proposed = files.finding(item);
  const text = review.edits.get(item.ref);
  // What is asked is asked about the proposed fix.
  const places = placesOf(review.items);
  const finding = text === undefined ? proposed : { ...proposed, questions: [], assumed: [] };
  return {
    ...{ position: numbersOf(review.items)[review.cursor] ?? 1, total: places.length },
    answered: places.filter((place) => isAnswered(place, review.answers)).length,
    ...{ ...openOfTransform(review), row: likeInARow(review).length },
    alternatives: alternativesOf(review).map((each) => ({
      title: `${each.transform} (${each.safety}): ${files.finding(each).fix?.title}`,
      isThis: each === item,
    })),
    covers: coversOf(review, files),
    ...{ path: item.path, source: file.source, finding, reason: files.reason(item) },
    meta: sources.metas.get(item.transform),
    standing: sources.proven?.standing(item.path, proposed),
    preview: await previewOf(sources.engine, file, proposed, text),
    answer: review.answers.get(item.ref),
    isEdited: text !== undefined,
    hasDraft: draft !== undefined && draft !== text,
    twins: item.twins.map(({ transform }) => transform),
  };
}

/** `no-grad-block (safe) at line 83 and line 91: y leaves these out, n asks about them`. */
function coversOf({ items, answers, cursor }: Review, files: ReviewedFiles): string | undefined {
  const inside = items.filter(({ ref }) => items[cursor]?.covers.includes(ref) && !answers.has(ref));
  if (inside.length === 0) return undefined;
  const kinds = new Map<string, string[]>();
  for (const item of inside) {
    const kind = `${item.transform} (${item.safety})`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), lineText(files.finding(item).at)]);
  }
  const named = [...kinds].map(([kind, places]) => `${kind} at ${places.join(' and ')}`);
  const [these, them] = inside.length === 1 ? ['this', 'it'] : ['these', 'them'];
  return `${named.join(', ')}: y leaves ${these} out, n asks about ${them}`;
}

/** The help in pieces that fit the window; the last one has room for so many rows below it. */
export function helpPages(look: Look, below: number): readonly string[] {
  const lines = helpText(look).trimEnd().split('\n');
  const room = Math.max(look.height - 1, 1);
  const pages: string[][] = [];
  for (let at = 0; at < lines.length; at += room) pages.push(lines.slice(at, at + room));
  if ((pages.at(-1)?.length ?? 0) + below > look.height) pages.push([]);
  return pages.map((page) => page.map((line) => `${line}\n`).join(''));
}

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
