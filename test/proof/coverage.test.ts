import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { casesOf, fixturesFolder } from '../../src/dev/fixtures.js';
import { allFixtures } from '../../src/dev/torture/subject.js';
import { transforms } from '../../transforms/index.js';

/** `npm run prove` executes them; this only says that they are there, so it needs no torch. */
describe('executed proofs', () => {
  const isProven = (id: string, name: string) => existsSync(join(fixturesFolder, id, name, 'proof.py'));

  it.each(
    transforms.map(({ meta }) => meta.id).filter((id) => casesOf(id).some(({ kind }) => kind === 'fix')),
  )('%s, which edits, has one', (id) => {
    const fixes = casesOf(id).filter(({ kind }) => kind === 'fix');
    expect(fixes.some(({ name }) => isProven(id, name))).toBe(true);
  });

  it('a dozen traps are shown to be traps, each with the rewrite that fails', () => {
    const negative = allFixtures().filter(
      ({ kind, folder }) => kind === 'keep' && existsSync(join(folder, 'proof.py')),
    );
    expect(negative.length).toBeGreaterThanOrEqual(12);
    for (const { folder } of negative) expect(existsSync(join(folder, 'naive.py'))).toBe(true);
  });
});
