import { didYouMean, shortened } from '../text/resemblance.js';
import type { Symptom } from '../toolkit/contract.js';
import { SYMPTOMS } from './selection.js';

/** What fails a run: everything, what `apply` would fix, findings of a symptom, or nothing. */
export type Failing = 'any' | 'safe' | 'never' | Symptom;

export const FAILING: readonly Failing[] = ['any', 'safe', ...SYMPTOMS, 'never'];

/** What these words of `--fail-on`, or of the config, say; a sentence about what is wrong with them where they say nothing. */
export function failingIn(words: readonly string[]): readonly Failing[] | string {
  const chosen = words.map((word) => FAILING.find((each) => each === word) ?? { word });
  for (const each of chosen)
    if (typeof each !== 'string')
      return `cannot be \`${shortened(each.word)}\`: it is one of ${FAILING.join(', ')}.${didYouMean(each.word, FAILING)}`;
  const known = chosen.filter((each) => typeof each === 'string');
  if (known.includes('never') && known.length > 1) return '`never` cannot be combined with others.';
  return known;
}
