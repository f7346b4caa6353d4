import { describe, expect, it } from 'vitest';
import { casesOf, isChosen, recording } from '../src/dev/fixtures.js';
import { VARIANTS } from '../src/testing/variants.js';
import { chosenParser } from '../src/workspace/parser-choice.js';
import { transforms } from '../transforms/index.js';
import { fixtureSuite } from './support/suite.js';

/** What a transform must bring before it is believed: where it acts (or speaks), and where it must not. */
const LEAST = { default: { acts: 8, keep: 10 }, other: { acts: 4, keep: 5 } };

// The parser that users get on this machine: native where it loads. transforms-wasm.test.ts runs the other.
fixtureSuite(await chosenParser(process.env['MEMFIX_PARSER']));

const chosen = transforms.filter(({ meta }) => isChosen(meta.id));

describe.each(chosen.map((transform) => [transform.meta.id, transform] as const))(
  '%s',
  (id, { meta, prefilter }) => {
    const cases = casesOf(id);
    const count = (kind: string): number => cases.filter((each) => each.kind === kind).length;

    const isAdvice = meta.safety === 'advice';

    // These count what is there: a transform that is being written has less.
    it.skipIf(recording)('is shown where it must not act at least as often as where it must', () => {
      const least = LEAST[meta.group === 'default' && !isAdvice ? 'default' : 'other'];
      const acts = count(isAdvice ? 'report' : 'fix');
      expect(acts).toBeGreaterThanOrEqual(least.acts);
      expect(count('keep')).toBeGreaterThanOrEqual(Math.max(least.keep, acts));
    });

    if (!isAdvice) {
      it.skipIf(recording).each(VARIANTS)('has a fix that can be varied: $name', ({ fits }) => {
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
