import type { Prefilter } from '../toolkit/contract.js';

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
