import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixturesFolder } from '../../../src/dev/fixtures.js';
import { policy } from '../../../src/engine/engine.js';
import type { Offer } from '../../../src/report/migrate/offer.js';
import { engineFor, sourceFile } from '../../../src/testing/laws.js';
import { PlannedFixes } from '../../../src/workspace/migrate/candidates.js';
import { Decisions } from '../../../src/workspace/migrate/decisions.js';
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
const TAKE_ALL = policy({ unsafe: true });

/** The fixes of a plan for one file. */
async function plannedFor(text: string | Buffer, id?: string) {
  const engine = engineFor(
    court,
    id === undefined ? transforms : transforms.filter(({ meta }) => meta.id === id),
    {},
  );
  const file = sourceFile(Buffer.from(text));
  const table = new OfferTable(TAKE_ALL, new Decisions([]));
  const outcome = await engine.repair(file, table.offering(file));
  if (outcome.kind === 'skipped') throw new Error(outcome.reason);
  const offers = table.of([outcome]).filter(({ fate }) => fate === 'taken');
  const planned = { path: file.path, target: `/r/${file.path}`, source: file.source, after: outcome.after };
  return { file, planned, offers, fixes: new PlannedFixes(court.parser, [planned], offers) };
}

const TOGETHER = readdirSync(join(fixturesFolder, '_together')).filter((name) => name.startsWith('fix-'));

describe('the fixes of a plan as candidates', () => {
  test.each(TOGETHER)(
    'all of them are the plan, none of them nothing, and each has its places: %s',
    async (name) => {
      const { planned, offers, fixes } = await plannedFor(
        readFileSync(join(fixturesFolder, '_together', name, 'input.py')),
      );
      const ids = fixes.candidates.map(({ id }) => id);
      expect(fixes.changesFor([])).toEqual([]);
      expect(fixes.changesFor(ids).map(({ after }) => after)).toEqual(
        planned.after === planned.source.text ? [] : [planned.after],
      );
      expect(fixes.candidates.flatMap((each) => each.fixes.map(({ ref }) => ref)).sort()).toEqual(
        offers.map(({ ref }) => ref).sort(),
      );
      for (const { id, places } of fixes.candidates) {
        const [change] = fixes.changesFor([id]);
        expect([change?.after === planned.source.text, places.length > 0]).toEqual([false, true]);
      }
    },
  );

  test('are fixes one by one where they do not meet, and an import that two need is made once', async () => {
    const step = (name: string) =>
      `def ${name}(model, loader):\n    model.eval()\n    for batch in loader:\n        print(model(batch).argmax())\n\n\n`;
    const { fixes, planned } = await plannedFor(
      `from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n\n\n${step('evaluate')}${step('test')}evaluate(Net(), [])\ntest(Net(), [])\n`,
      'no-grad',
    );
    expect(fixes.candidates).toHaveLength(2);
    const alone = fixes.candidates.map(({ id }) => fixes.changesFor([id])[0]?.after ?? '');
    for (const text of alone) {
      expect(text.match(/^import torch$/gm)).toHaveLength(1);
      expect(text.match(/no_grad/g)).toHaveLength(1);
    }
    expect(planned.after.match(/no_grad/g)).toHaveLength(2);
  });

  test('go only together where they are not the sum, or nothing is known of them', () => {
    const source = { text: 'a\nb\nc\n', encoding: 'utf-8', bom: false };
    const file = { path: 'x.py', target: '/r/x.py', source, after: 'A\nb\nC\nD\n' };
    const offer = (ref: string, old: number, from: string, to: string): Offer => ({
      ...{
        ref,
        path: 'x.py',
        hash: 'h',
        key: ref,
        likeness: ref,
        line: old,
        transform: ref,
        title: '',
        message: '',
      },
      ...{
        safety: 'unsafe',
        numerics: ref === 'one' ? 'bit-identical' : 'rounding',
        unproven: [],
        fate: 'taken',
      },
      changes: [{ path: 'x.py', hunks: [{ old, new: old, lines: [`-${from}`, `+${to}`] }] }],
    });
    const two = new PlannedFixes(
      court.parser,
      [file],
      [offer('one', 1, 'a', 'A'), offer('two', 3, 'c', 'C')],
    );
    expect(two.candidates.map(({ id, numerics, fixes }) => [id, numerics, fixes.length])).toEqual([
      ['one', 'rounding', 2],
    ]);
    expect(two.changesFor(['one']).map(({ after }) => after)).toEqual([file.after]);
    const sum = { ...file, after: 'A\nb\nC\n' };
    const apart = new PlannedFixes(
      court.parser,
      [sum],
      [offer('one', 1, 'a', 'A'), offer('two', 3, 'c', 'C')],
    );
    expect(apart.changesFor(['two']).map(({ after }) => after)).toEqual(['a\nb\nC\n']);
    const unknown = new PlannedFixes(court.parser, [file], []);
    expect(unknown.candidates.map(({ id }) => id)).toEqual(['x.py']);
    expect(unknown.changesFor(['x.py']).map(({ after }) => after)).toEqual([file.after]);
  });
});
