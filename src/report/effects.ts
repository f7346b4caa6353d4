import { EFFECTS, type Effect } from '../toolkit/effect.js';

export type ByEffect = Readonly<Record<Effect, number>>;

/** What one does, and what several do. */
const VERBS: Readonly<Record<Effect, readonly [one: string, several: string]>> = {
  'frees-memory': ['frees memory', 'free memory'],
  'saves-time': ['saves time', 'save time'],
  'future-proof': ['keeps up with new versions', 'keep up with new versions'],
  tidy: ['tidies up', 'tidy up'],
};

/** How it stands in a table. */
export const EFFECT_WORDS: Readonly<Record<Effect, string>> = {
  'frees-memory': 'frees memory',
  'saves-time': 'saves time',
  'future-proof': 'future-proof',
  tidy: 'tidy',
};

export function countByEffect(findings: readonly { readonly effect: Effect }[]): ByEffect {
  const count = (effect: Effect) => findings.filter((finding) => finding.effect === effect).length;
  return {
    'frees-memory': count('frees-memory'),
    'saves-time': count('saves-time'),
    'future-proof': count('future-proof'),
    tidy: count('tidy'),
  };
}

/** "3 free memory, 12 save time": what frees memory is told first. */
export function effectPhrase(counts: ByEffect): string {
  return EFFECTS.filter((effect) => counts[effect] > 0)
    .map((effect) => `${counts[effect]} ${VERBS[effect][counts[effect] === 1 ? 0 : 1]}`)
    .join(', ');
}
