/** What a test of some items together says: undefined where all is well, else what is wrong. */
export type Test<Item> = (items: readonly Item[]) => Promise<string | undefined>;

export interface Settled<Item> {
  readonly accepted: readonly Item[];
  readonly rejected: readonly { readonly item: Item; readonly because: string }[];
}

/**
 * Which of some items go together, by as few tests as possible: all at once, and where that fails, half by half on top of what has
 * passed. Every passed test holds all that was accepted before, so that what comes out was tested together; one that
 * fails among many takes about two tests for each doubling of their number.
 */
export async function bisect<Item>(
  items: readonly Item[],
  test: Test<Item>,
  accepted: readonly Item[] = [],
): Promise<Settled<Item>> {
  const because = items.length === 0 ? undefined : await test([...accepted, ...items]);
  if (because === undefined) return { accepted: [...accepted, ...items], rejected: [] };
  const [only, ...others] = items;
  if (only !== undefined && others.length === 0) return { accepted, rejected: [{ item: only, because }] };
  const middle = Math.ceil(items.length / 2);
  const left = await bisect(items.slice(0, middle), test, accepted);
  const right = await bisect(items.slice(middle), test, left.accepted);
  return { accepted: right.accepted, rejected: [...left.rejected, ...right.rejected] };
}
