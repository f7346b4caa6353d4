import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixturesFolder } from '../../../src/dev/fixtures.js';
import { policy } from '../../../src/engine/engine.js';
import type { SourceFile } from '../../../src/engine/outcome.js';
import type { Offer } from '../../../src/report/migrate/offer.js';
import { engineFor, sourceFile } from '../../../src/testing/laws.js';
import { type Decided, Decisions } from '../../../src/workspace/migrate/decisions.js';
import { OfferTable } from '../../../src/workspace/migrate/offers.js';
import { transforms } from '../../../transforms/index.js';
import { availableParsers } from '../../support/parsers.js';

const [parser] = await availableParsers();
if (parser === undefined) throw new Error('no parser');
const court = {
  parser,
  transforms,
  all: transforms,
  withId: true,
  records: false,
  compiles: () => undefined,
};
const engine = engineFor(court, transforms, {});
const TAKE_ALL = policy({ unsafe: true });

/** What a plan with these decisions offers, and how many fixes it applies. */
async function planned(file: SourceFile, decided: readonly Decided[] = []) {
  const table = new OfferTable(TAKE_ALL, new Decisions(decided));
  const repair = () => engine.repair(file, table.offering(file));
  let outcome = await repair();
  if (table.isToBeRepeated(file)) outcome = await repair();
  if (outcome.kind === 'skipped') throw new Error(outcome.reason);
  const { settled } = outcome;
  return {
    offers: table.of([outcome]),
    applied: settled.filter(({ fate }) => fate === 'applied').length,
    unwanted: table.unwanted(outcome),
  };
}

const rejecting = ({ path, hash, key, likeness, file }: Offer): Decided => {
  return { path, hash, key, likeness, ...(file !== undefined && { file }), verdict: 'reject' };
};

const cards = (offers: readonly Offer[]) =>
  offers.map(({ transform, path, line, fate }) => `${transform} ${path}:${line} ${fate}`);

const CASES = [
  ...readdirSync(join(fixturesFolder, '_together')).map((name) => `_together/${name}`),
  // Their fixes come in several passes, and are alike.
  ...['del-step-tensors/keep-finally-and-closure', 'gradient-accumulation-loop/keep-length-unknown'],
];

describe('a fix that is rejected, alone', () => {
  test.each(CASES)('is one rejected card, and holds nothing else back: %s', async (name) => {
    const file = sourceFile(readFileSync(join(fixturesFolder, name, 'input.py')));
    const first = await planned(file);
    expect(first.offers.filter(({ fate }) => fate === 'taken')).toHaveLength(first.applied);
    for (const offer of first.offers) {
      const again = await planned(file, [rejecting(offer)]);
      const of = (fate: Offer['fate']) => again.offers.filter((each) => each.fate === fate);
      expect([cards(of('rejected')), cards(of('held'))]).toEqual([
        cards([{ ...offer, fate: 'rejected' }]),
        [],
      ]);
      expect(of('taken')).toHaveLength(again.applied);
      expect(again.unwanted.size).toBeLessThanOrEqual(1);
    }
  });
});

test('fixes that are rejected one after the other are never applied, whatever text the others leave', async () => {
  const path = join(fixturesFolder, 'del-step-tensors/keep-finally-and-closure/input.py');
  const file = sourceFile(readFileSync(path));
  const decided: Decided[] = [];
  const isSame = ({ transform }: Offer) => transform === 'memory-logging';
  for (let round = 0; round < 5; round++) {
    const { offers, applied } = await planned(file, decided);
    expect(offers.filter(({ fate }) => fate === 'taken')).toHaveLength(applied);
    const next = offers.find((offer) => isSame(offer) && offer.fate === 'taken');
    if (next === undefined) break;
    decided.push(rejecting(next));
  }
  const { offers } = await planned(file, decided);
  expect(offers.filter((offer) => isSame(offer) && offer.fate === 'taken')).toEqual([]);
  expect(decided.length).toBeGreaterThan(1);
});
