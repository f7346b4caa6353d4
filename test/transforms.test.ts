import { describe, expect, it } from 'vitest';
import { complaints } from '../src/dev/cpython.js';
import { transforms } from '../transforms/index.js';
import { casesOf } from './support/fixtures.js';
import { bytesOf, type Court, caseLaws, engineFor, repaired, sourceFile } from './support/laws.js';
import { availableParsers } from './support/parsers.js';
import { VARIANTS } from './support/variants.js';

/** What a transform that edits must bring before it is believed. */
const LEAST = { fix: 8, keep: 10 };

const parsers = await availableParsers();
const results = new Map<string, Buffer>();

for (const parser of parsers) {
  const court = (subject: string, tested: Court['transforms']): Court => ({
    parser,
    transforms: tested,
    all: transforms,
    withId: subject.startsWith('_'),
    compiles: (label, bytes) => {
      results.set(`${parser.backend}: ${subject}/${label}`, bytes);
    },
  });

  describe(`${parser.backend} parser`, () => {
    for (const transform of transforms) {
      const { id } = transform.meta;
      describe(id, () => {
        for (const fixture of casesOf(id))
          describe(fixture.name, () => caseLaws(court(id, [transform]), fixture));
      });
    }

    for (const folder of ['_together', '_bytes']) {
      describe(folder, () => {
        for (const fixture of casesOf(folder))
          describe(fixture.name, () => caseLaws(court(folder, transforms), fixture));
      });
    }

    it.each([
      ['33 KiB', 33 * 1024],
      ['1 MiB', 1024 * 1024 + 1],
    ])('fixes the last lines of a file of more than %s', async (_, size) => {
      const filler =
        'def scale_%(values):\n    return [value * 2 for value in values]  # \u00fc \u{1f525}\n\n\n';
      const above = Array.from({ length: Math.ceil(size / 70) }, (_each, at) =>
        filler.replace('%', `${at}`),
      ).join('');
      const save = 'import torch\n\n\ndef finish(model, path):\n%    torch.save(model.state_dict(), path)\n';
      const input = Buffer.from(above + save.replace('%', ''));
      expect(input.length).toBeGreaterThan(size);
      const file = sourceFile(input);
      const outcome = await repaired(
        engineFor(court('large', transforms), transforms, {}),
        file,
        ({ safety }) => ({
          kind: safety === 'safe' ? 'apply' : 'skip',
        }),
      );
      const expected = above + save.replace('%', '    torch.cuda.empty_cache()\n');
      expect(bytesOf(outcome.after, file).equals(Buffer.from(expected))).toBe(true);
    });
  });
}

describe.each(transforms.map((transform) => [transform.meta.id, transform] as const))(
  '%s',
  (id, { meta, prefilter }) => {
    const cases = casesOf(id);
    const count = (kind: string): number => cases.filter((each) => each.kind === kind).length;

    if (meta.safety !== 'advice') {
      it('is shown where it must not act at least as often as where it must', () => {
        expect(count('fix')).toBeGreaterThanOrEqual(LEAST.fix);
        expect(count('keep')).toBeGreaterThanOrEqual(Math.max(LEAST.keep, count('fix')));
      });

      it.each(VARIANTS)('has a fix that can be varied: $name', ({ fits }) => {
        expect(cases.filter(({ kind, input }) => kind === 'fix' && fits(input))).not.toEqual([]);
      });
    }

    it('shows one of its fixtures on its page', () => {
      expect(cases.map(({ name }) => name)).toContain(meta.example);
    });

    it('is never looser than its class', () => {
      const order = ['safe', 'unsafe', 'advice'];
      for (const recorded of cases.flatMap((each) => each.recorded ?? [])) {
        if ('safety' in recorded)
          expect(order.indexOf(recorded.safety)).toBeGreaterThanOrEqual(order.indexOf(meta.safety));
      }
    });

    it('filters on literals that bytes of any encoding show', () => {
      expect(prefilter).not.toEqual([]);
      for (const literal of prefilter.flat()) expect(literal).toMatch(/^[\x20-\x7e]{3,}$/);
    });
  },
);

it('gives results that CPython compiles', () => {
  const distinct = new Map([...results].map(([label, bytes]) => [bytes.toString('latin1'), label]));
  const answers = complaints([...distinct.keys()].map((bytes) => Buffer.from(bytes, 'latin1')));
  const refused = [...distinct.values()].flatMap((label, at) =>
    answers[at] === undefined ? [] : [`${label}: ${answers[at]}`],
  );
  expect(distinct.size).toBeGreaterThan(0);
  expect(refused).toEqual([]);
});
