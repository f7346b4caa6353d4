import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../src/dev/project.js';
import { isNil, measurementsOf } from '../src/report/evidence.js';
import type { TransformMeta } from '../src/toolkit/contract.js';
import { saysNil } from '../src/toolkit/evidence.js';
import evidence from '../transforms/evidence.json' with { type: 'json' };
import { transforms } from '../transforms/index.js';

const FOLDER = join(root, 'bench', 'gpu');
const PROGRAM = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.py'))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
  .join('');
const METAS = transforms.map(({ meta }) => meta);
const IDS = METAS.map(({ id }) => id);

describe('the figures of the catalogue', () => {
  test('belong to transforms', () => {
    expect(IDS).toEqual(expect.arrayContaining(Object.keys(evidence.measured)));
  });

  test.each(METAS.map((meta) => [meta.id, meta] as const))('%s has some, or a reason', (_, meta) => {
    expect(meta.evidence.gpu).toBeDefined();
  });

  test.each(Object.keys(evidence.measured))('%s has a case in the program that measured it', (id) => {
    expect(PROGRAM).toContain(`"${id}"`);
  });

  test('are all there: what failed is not committed', () => {
    expect(JSON.stringify(evidence)).not.toContain('"failure"');
    expect(evidence.machine).not.toHaveProperty('smoke');
  });

  test.each(METAS.map((meta) => [meta.id, meta] as const))(
    '%s: the verdict says what they say',
    (_, meta) => {
      if (isNil(meta)) expect(saysNil(meta), meta.evidence.verdict).toBe(true);
      expect(unbacked(meta)).toEqual([]);
    },
  );

  test('a verdict that says something else is noticed', () => {
    const meta = METAS.find(({ id }) => id === 'no-grad');
    if (meta === undefined) throw new Error('no-grad is gone');
    const saying = (verdict: string) => unbacked({ ...meta, evidence: { ...meta.evidence, verdict } });
    expect(saying('the peak is 65 % lower, 2549 MiB; the documents’ "50 %" is false')).toEqual([]);
    expect(saying('the peak is 50 % lower, 3024 MiB in 99 ms')).toEqual(['50 %', '3024 MiB', '99 ms']);
  });
});

/** Figures of the verdict that no measurement gives; what stands in quotes is the claim of somebody else. */
function unbacked(meta: TransformMeta): string[] {
  const said = meta.evidence.verdict.replace(/"[^"]*"/g, '');
  const rows = measurementsOf(meta);
  const known = rows.flatMap(({ before, after }) => [before, after]).flatMap(quantitiesIn);
  const shares = rows.flatMap(({ before, after }) =>
    sharesBetween(quantitiesIn(before), quantitiesIn(after)),
  );
  return [...said.matchAll(/(\d+(?:\.\d+)?) (%|MiB|ms)/g)]
    .filter(([, number = '', unit]) => {
      const value = Number(number);
      if (unit === '%') return !shares.some((share) => Math.abs(share - value) <= 0.6);
      return !known.some((quantity) => quantity.unit === unit && isRounded(quantity.value, number));
    })
    .map(([text]) => text);
}

interface Quantity {
  /** Empty for a time. */
  readonly label: string;
  readonly value: number;
  readonly unit: string;
}

function quantitiesIn(text: string): Quantity[] {
  return [...text.matchAll(/(peak |reserved |host |\+|)(\d+(?:[ .]\d+)*) (MiB|ms)/g)].map(
    ([, label = '', number = '', unit = '']) => ({ label, value: Number(number.replace(' ', '')), unit }),
  );
}

/** In percent of what was there before. */
function sharesBetween(before: readonly Quantity[], after: readonly Quantity[]): number[] {
  return before.flatMap(({ label, value, unit }) => {
    const other = after.find((quantity) => quantity.label === label && quantity.unit === unit);
    return other === undefined || value === 0 ? [] : [(Math.abs(value - other.value) / value) * 100];
  });
}

function isRounded(value: number, written: string): boolean {
  const decimals = written.split('.')[1]?.length ?? 0;
  return value.toFixed(decimals) === written;
}
