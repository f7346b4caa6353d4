import { clash, type Edit } from './edit.js';

export interface Plan<T> {
  /** Items whose edits are all taken in this pass. */
  readonly taken: readonly T[];
  /** Items that clash with an earlier one and wait for the next pass, whole. */
  readonly waiting: readonly T[];
}

/** Whole fix or none: an item is taken only if none of its edits clashes with an item taken before it. */
export function plan<T>(items: readonly T[], editsOf: (item: T) => readonly Edit[]): Plan<T> {
  const taken: T[] = [];
  const waiting: T[] = [];
  const occupied: Edit[] = [];
  for (const item of items) {
    const edits = editsOf(item);
    if (edits.some((edit) => occupied.some((other) => clash(edit, other)))) waiting.push(item);
    else {
      taken.push(item);
      occupied.push(...edits);
    }
  }
  return { taken, waiting };
}
