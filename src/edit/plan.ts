import { bisect } from '../text/bisect.js';
import { byPosition, clash, type Edit } from './edit.js';

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
  /** Edits that do not overlap, in order. */
  const occupied: Edit[] = [];
  const firstNear = ({ start }: Edit) =>
    bisect(occupied.length, (at) => (occupied[at]?.end ?? Infinity) < start);
  for (const item of items) {
    const edits = [...editsOf(item)].sort(byPosition);
    const isFree = edits.every((edit) => {
      const other = occupied[firstNear(edit)];
      return other === undefined || !clash(edit, other);
    });
    if (!isFree) waiting.push(item);
    else {
      taken.push(item);
      for (const edit of edits.reverse()) occupied.splice(firstNear(edit), 0, edit);
    }
  }
  return { taken, waiting };
}
