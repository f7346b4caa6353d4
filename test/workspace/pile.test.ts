import { expect, test } from 'vitest';
import { Pile } from '../../src/workspace/pile.js';

test('each job is taken once, from whichever end', () => {
  const here = new Pile(5);
  const there = new Pile(5, here.state);
  const taken = [there.first(), here.last(), there.first(), here.last(), here.last(), there.first()];
  expect({ taken, left: here.left, more: here.last() }).toEqual({
    taken: [0, 4, 1, 3, 2, undefined],
    left: 0,
    more: undefined,
  });
});

test('a pile that was cleared gives nothing', () => {
  const pile = new Pile(2);
  pile.clear();
  expect([pile.first(), pile.last(), pile.left]).toEqual([undefined, undefined, 0]);
});
