import { current, type Item, type Review, resume } from './keys.js';
import type { ReviewedFiles } from './session-files.js';

/** The finding that a person means by a number or by some words: the next one that has them, from the top after the last. */
export function goTo(review: Review, typed: string, files: ReviewedFiles): Review {
  const words = typed.trim().toLowerCase();
  if (words === '') return resume(review);
  const { items, cursor } = review;
  const number = /^\d+$/.test(words) ? Number(words) : 0;
  if (number >= 1 && number <= items.length) return { ...resume(review), cursor: number - 1 };
  const ahead = [...items.slice(cursor + 1), ...items.slice(0, cursor)];
  const meant = ahead.find((item) => hasWords(item, words, files));
  if (meant !== undefined) return { ...resume(review), cursor: items.indexOf(meant) };
  const isThis = hasWords(current(review), words, files);
  return resume(
    review,
    isThis
      ? `No other finding has “${typed.trim()}”.`
      : `No finding has “${typed.trim()}” in its path, transform or code.`,
  );
}

function hasWords(item: Item, words: string, files: ReviewedFiles): boolean {
  const { span } = files.finding(item);
  const code = files.file(item.path).source.text.slice(span.start, span.end);
  return [item.path, item.transform, code].some((text) => text.toLowerCase().includes(words));
}
