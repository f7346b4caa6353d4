import { describe, expect, it } from 'vitest';
import { allFixtures } from '../src/dev/torture/subject.js';
import { loadParser } from '../src/syntax/parser.js';
import { type Remark, swayed } from '../src/testing/wording/remarks.js';
import { transforms } from '../transforms/index.js';

/** A word in a comment or docstring decides nothing: findings are the same with remarks in every body. */
describe('remarks', async () => {
  const means = { parser: await loadParser(), transforms };
  const fixtures = allFixtures();

  it.each<[Remark]>([['comment'], ['docstring'], ['string']])(
    'decide nothing as a %s',
    { timeout: 1_200_000 },
    (remark) => {
      const found = swayed(means, fixtures, remark);
      expect(found.remarks).toBeGreaterThan(1500);
      expect(found.swayed).toEqual([]);
    },
  );
});
