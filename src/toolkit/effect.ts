import type { Symptom, TransformMeta } from './contract.js';
import { saysNil } from './evidence.js';

/** What a fix is good for, as far as it was measured. */
export type Effect = 'frees-memory' | 'saves-time' | 'future-proof' | 'tidy';

/** What frees memory comes first, wherever findings are shown. */
export const EFFECTS: readonly Effect[] = ['frees-memory', 'saves-time', 'future-proof', 'tidy'];

const AIMED_AT: Readonly<Record<Symptom, Effect>> = {
  leak: 'frees-memory',
  peak: 'frees-memory',
  fragmentation: 'frees-memory',
  'host-memory': 'frees-memory',
  sync: 'saves-time',
  'future-break': 'future-proof',
};

/** What its symptom is about, unless the evidence says that nothing of it was gained or that it frees nothing itself. */
export function effectOf(meta: Pick<TransformMeta, 'symptom' | 'moments' | 'evidence'>): Effect {
  const aimed = AIMED_AT[meta.symptom];
  if (aimed === 'future-proof') return aimed;
  const isFree = aimed === 'frees-memory' && meta.moments?.length === 0;
  return saysNil(meta) || isFree ? 'tidy' : aimed;
}

/** What transforms of that effect are about. */
export function symptomsOf(effect: string): readonly string[] {
  return Object.entries(AIMED_AT).flatMap(([symptom, aimed]) => (aimed === effect ? [symptom] : []));
}

export function byEffect(a: Effect, b: Effect): number {
  return EFFECTS.indexOf(a) - EFFECTS.indexOf(b);
}
