import type { Glimpse } from '../syntax/glimpse.js';
import type { Prefilter, Transform } from '../toolkit/contract.js';

interface Haystack {
  includes(literal: string): boolean;
}

/** All of the outer list, one of each inner list. Literals are ASCII, so bytes and decoded text agree. */
export function passes(prefilter: Prefilter, haystack: Haystack): boolean {
  return prefilter.every((wanted) =>
    typeof wanted === 'string'
      ? haystack.includes(wanted)
      : wanted.some((literal) => haystack.includes(literal)),
  );
}

/** Whether a transform could have a site in this text: its literals, then its own cue. */
export function mayHaveSite(transform: Transform, path: string, glimpse: Glimpse): boolean {
  return passes(transform.prefilter, glimpse.text) && (transform.cue?.(glimpse.text, path, glimpse) ?? true);
}
