import { describe, expect, test } from 'vitest';
import { casesOf } from '../src/dev/fixtures.js';
import { plan } from '../src/edit/plan.js';
import { type Engine, policy } from '../src/engine/engine.js';
import type { Decide, Finding, SourceFile } from '../src/engine/outcome.js';
import { doorOf, type FixtureCase } from '../src/testing/fixtures.js';
import { type Court, engineFor, repaired, sourceFile } from '../src/testing/laws.js';
import { chosenParser } from '../src/workspace/parser-choice.js';
import { transforms } from '../transforms/index.js';

const EVERYTHING = policy({ unsafe: true, fixable: () => true });
const court: Court = {
  parser: await chosenParser(process.env['MEMFIX_PARSER']),
  transforms,
  all: transforms,
  withId: true,
  records: false,
  compiles: () => undefined,
};
const folders = ['_together', ...transforms.map(({ meta }) => meta.id)];

/** What one run with everything on makes of a case, and what it has applied. */
async function runOf(fixture: FixtureCase, file: SourceFile, decide: Decide) {
  const engine = engineFor(court, transforms, fixture.options, doorOf(fixture));
  const outcome = await repaired(engine, file, decide);
  const newer = new Map(outcome.beside.map(({ path, after }) => [path, after]));
  const after: SourceFile = { ...file, source: { ...file.source, text: outcome.after }, newer };
  const applied = outcome.settled.filter(({ fate }) => fate === 'applied').map(({ finding }) => finding);
  return { engine, outcome, after, applied };
}

function findingsIn(engine: Engine, file: SourceFile): readonly Finding[] {
  const scan = engine.scan(file);
  if (scan.kind !== 'scan') throw new Error(scan.reason);
  return scan.findings;
}

function isTaken({ fix, safety, alternativeTo }: Finding): boolean {
  return fix !== undefined && safety !== 'advice' && alternativeTo === undefined;
}

describe.each(folders)('%s', (folder) => {
  test.each(casesOf(folder).map((fixture) => [fixture.name, fixture] as const))(
    '%s: what is applied together holds together',
    async (_, fixture) => {
      const file = sourceFile(fixture.input);
      const all = await runOf(fixture, file, EVERYTHING);
      for (const { because } of all.outcome.settled.filter(({ fate }) => fate === 'excluded'))
        expect(because).toMatch(/\S/);
      // What touches waits for the next pass, where it is asked anew: only what the first one takes meets on paper.
      const applied = new Set(all.applied.map(({ key }) => key));
      const offered = findingsIn(all.engine, file).filter((each) => isTaken(each));
      const first = plan(offered, ({ fix }) => fix?.edits ?? []).taken.filter(({ key }) => applied.has(key));
      const ids = [...new Set(first.map(({ transform }) => transform))];
      if (ids.length < 2) return;
      const again = await runOf(fixture, all.after, EVERYTHING);
      expect(again.outcome.after).toBe(all.outcome.after);
      for (const [id, other] of ids.flatMap((id) => ids.map((each) => [id, each] as const))) {
        if (id === other) continue;
        const keysOf = (wanted: string) =>
          new Set(first.filter(({ transform }) => transform === wanted).map(({ key }) => key));
        const { engine, after } = await runOf(fixture, file, ({ key }) => ({
          kind: keysOf(other).has(key) ? 'apply' : 'skip',
        }));
        const own = findingsIn(engine, after).filter(({ key }) => keysOf(id).has(key));
        expect(
          own.flatMap(({ refusal }) => refusal ?? []),
          `${id} beside ${other}`,
        ).toEqual([]);
      }
    },
  );
});
