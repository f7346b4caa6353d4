import { describe, expect, test } from 'vitest';
import { bisect } from '../../src/workspace/prove/bisect.js';

const all = Array.from({ length: 64 }, (_, index) => index);

async function settled(isWrong: (items: readonly number[]) => boolean) {
  let tests = 0;
  const passed: (readonly number[])[] = [];
  const result = await bisect(all, async (items) => {
    tests += 1;
    if (isWrong(items)) return 'wrong';
    passed.push(items);
    return undefined;
  });
  return { tests, passed, accepted: result.accepted, rejected: result.rejected.map(({ item }) => item) };
}

describe('bisect', () => {
  test('one test where all is well', async () => {
    expect(await settled(() => false)).toMatchObject({ tests: 1, accepted: all, rejected: [] });
  });

  test.each([[[0]], [[63]], [[31, 32]], [[7, 8, 50]]])('finds %j by few tests', async (wrong) => {
    const { tests, passed, accepted, rejected } = await settled((items) =>
      items.some((item) => wrong.includes(item)),
    );
    expect(rejected).toEqual(wrong);
    expect(accepted).toEqual(all.filter((item) => !wrong.includes(item)));
    expect(passed.at(-1)).toEqual(accepted);
    expect(tests).toBeLessThanOrEqual(1 + 12 * wrong.length);
  });

  test('of two that do not go together, one is left', async () => {
    const { passed, accepted, rejected } = await settled((items) => items.includes(3) && items.includes(40));
    expect(rejected).toEqual([40]);
    expect(passed.at(-1)).toEqual(accepted);
  });

  test('nothing is tested where there is nothing', async () => {
    expect(await bisect([], async () => 'never asked')).toEqual({ accepted: [], rejected: [] });
  });
});
