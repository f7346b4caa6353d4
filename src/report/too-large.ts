import type { Card } from '../budget/cards.js';
import { gibibytes } from '../budget/quantity.js';
import { printable } from './cells.js';
import type { View } from './report.js';

/** A run that cannot fit the card that the config names. */
export interface TooLarge {
  readonly path: string;
  /** Where its model is named. */
  readonly place: string;
  readonly model: string;
  readonly peak: number;
  readonly low: number;
  readonly card: Card;
}

export function renderTooLarge(runs: readonly TooLarge[], { paint }: Pick<View, 'paint'>): string {
  return runs
    .map(({ path, place, peak, low, card }) => {
      const words = `this run needs ${gibibytes(peak)}, at least ${gibibytes(low)}; ${card.name} has ${gibibytes(card.bytes)} usable`;
      return `${paint.bold(printable(place))} ${paint.red('run')} ${words}\n  memfix budget ${printable(path)} --fit ${card.name}\n`;
    })
    .join('');
}
