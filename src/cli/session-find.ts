import { placeMark, placeText } from '../text/place.js';
import { current, type Item, type Review, resume } from './keys.js';
import type { ReviewedFiles } from './session-files.js';
import { numbersOf } from './session-places.js';

/**
 * The finding that a person means by its number, by a line such as `train.py:36`, or by some words: the next one that has
 * them, from the top after the last. A number that no finding has is a line.
 */
export function goTo(review: Review, typed: string, files: ReviewedFiles): Review {
  const words = typed.trim().toLowerCase();
  if (words === '') return resume(review);
  const { items, cursor } = review;
  const isNumber = /^\d+$/.test(words);
  const numbered = isNumber ? numbersOf(items).indexOf(Number(words)) : -1;
  if (numbered !== -1) return { ...resume(review), cursor: numbered };
  const wanted = isNumber ? `:${words}` : words;
  const ahead = [...items.slice(cursor + 1), ...items.slice(0, cursor)];
  const meant = ahead.find((item) => hasWords(item, wanted, files));
  if (meant !== undefined) return { ...resume(review), cursor: items.indexOf(meant) };
  const isThis = hasWords(current(review), wanted, files);
  return resume(
    review,
    isThis
      ? `No other finding has “${typed.trim()}”.`
      : `No finding has “${typed.trim()}” as its number, cell or line, or in its path, transform or code.`,
  );
}

function hasWords(item: Item, words: string, files: ReviewedFiles): boolean {
  const { span, at } = files.finding(item);
  const code = files.file(item.path).source.text.slice(span.start, span.end);
  const transforms = [item.transform, ...item.twins.map(({ transform }) => transform)];
  const texts = [item.path, code, ...transforms];
  if (texts.some((text) => text.toLowerCase().includes(words))) return true;
  const places = [
    ...[`${item.path}${placeMark(at)}`, placeText(item.path, at), `${item.path}:${at.line}`],
    ...(at.cell === undefined ? [] : [`${item.path}:${at.cell}:${at.line}`]),
  ];
  return places.some((place) => hasPlace(place.toLowerCase(), words));
}

/** `:3` is not in `train.py:36`. */
function hasPlace(place: string, words: string): boolean {
  const at = place.indexOf(words);
  return at !== -1 && !(/\d$/.test(words) && /^\d/.test(place.slice(at + words.length)));
}
