import { cardNamed } from '../budget/cards.js';
import type { TooLarge } from '../report/too-large.js';
import { runsOf } from './budget-runs.js';
import type { Look } from './looking.js';

/** Runs of the project that cannot fit the card that its config names: where even the low end of the estimate is too much. */
export async function runsTooLarge(look: Look): Promise<readonly TooLarge[] | undefined> {
  const { gpu } = look.project.config;
  const card = gpu === undefined ? undefined : cardNamed(gpu);
  if (card === undefined) return undefined;
  return (await runsOf(look)).flatMap((each) => {
    if ('untold' in each || each.budget.low <= card.bytes) return [];
    const { path, place, model, budget } = each;
    return [{ path, place, model, peak: budget.peak, low: budget.low, card }];
  });
}
