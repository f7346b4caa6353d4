import { describe, expect, test } from 'vitest';
import { casesOf } from '../src/dev/fixtures.js';
import { plan } from '../src/edit/plan.js';
import { type Engine, policy } from '../src/engine/engine.js';
import type { Decide, Finding, SourceFile } from '../src/engine/outcome.js';
import { doorOf } from '../src/testing/fixtures.js';
import { type Court, engineFor, repaired, sourceFile } from '../src/testing/laws.js';
import { chosenParser } from '../src/workspace/parser-choice.js';
import { transforms } from '../transforms/index.js';

const EVERYTHING = policy({ unsafe: true });
const court: Court = {
  parser: await chosenParser(process.env['MEMFIX_PARSER']),
  transforms,
  all: transforms,
  withId: true,
  records: false,
  compiles: () => undefined,
};
const folders = ['_together', ...transforms.map(({ meta }) => meta.id)];

/** What one run makes of a case, and what it has applied. */
async function runOf(engine: Engine, file: SourceFile, decide: Decide) {
  const outcome = await repaired(engine, file, decide);
  const newer = new Map(outcome.beside.map(({ path, after }) => [path, after]));
  const after: SourceFile = { ...file, source: { ...file.source, text: outcome.after }, newer };
  const applied = outcome.settled.filter(({ fate }) => fate === 'applied').map(({ finding }) => finding.key);
  return { outcome, after, applied: new Set(applied) };
}

function findingsIn(engine: Engine, file: SourceFile): readonly Finding[] {
  const scan = engine.scan(file);
  if (scan.kind !== 'scan') throw new Error(scan.reason);
  return scan.findings;
}

function isTaken({ fix, safety, alternativeTo }: Finding): boolean {
  return fix !== undefined && safety !== 'advice' && alternativeTo === undefined;
}

function idsOf(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.map(({ transform }) => transform))];
}

describe.each(folders)('%s', (folder) => {
  test.each(casesOf(folder).map((fixture) => [fixture.name, fixture] as const))(
    '%s: what is applied together holds together',
    async (_, fixture) => {
      const file = sourceFile(fixture.input);
      const engine = engineFor(court, transforms, fixture.options, doorOf(fixture));
      const offered = findingsIn(engine, file).filter((each) => isTaken(each));
      // What one transform finds alone has nothing to agree with.
      if (idsOf(offered).length < 2) return;
      const all = await runOf(engine, file, EVERYTHING);
      for (const { because } of all.outcome.settled.filter(({ fate }) => fate === 'excluded'))
        expect(because).toMatch(/\S/);
      // What touches waits for the next pass, where it is asked anew: only what the first one takes meets on paper.
      const { taken } = plan(offered, ({ fix }) => fix?.edits ?? []);
      const first = taken.filter(({ key }) => all.applied.has(key));
      const ids = idsOf(first);
      if (ids.length < 2) return;
      const again = await runOf(engine, all.after, EVERYTHING);
      expect(again.outcome.after).toBe(all.outcome.after);
      for (const id of ids) {
        const own = new Set(first.filter(({ transform }) => transform === id).map(({ key }) => key));
        const others = new Set(first.map(({ key }) => key).filter((key) => !own.has(key)));
        const { after } = await runOf(engine, file, ({ key }) => ({ kind: own.has(key) ? 'apply' : 'skip' }));
        const refused = findingsIn(engine, after).filter(
          ({ key, refusal }) => others.has(key) && refusal !== undefined,
        );
        expect(refused.map(({ transform, refusal }) => `${transform} beside ${id}: ${refusal}`)).toEqual([]);
      }
    },
  );
});
