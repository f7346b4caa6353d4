import { strict as assert } from 'node:assert';
import { dirname, join } from 'node:path';
import type { PythonParser } from '../syntax/parser.js';
import type { Transform } from '../toolkit/contract.js';
import type { LoadedPlugin } from '../workspace/catalogue.js';
import { complaints, hasPython } from './cpython.js';
import { casesIn, type FixtureCase } from './fixtures.js';
import { type Court, caseLaws, type Law } from './laws.js';
import { swayed } from './wording/remarks.js';
import { neutral, Renaming, suggestive } from './wording/renaming.js';
import type { Means } from './wording/tiers.js';

export interface LawSetting {
  readonly parser: PythonParser;
  /** The transforms of memfix itself: a plugin must get on with them. */
  readonly others: readonly Transform[];
  /** The folder with a folder of cases for each transform; beside the plugin's file where it is not named. */
  readonly fixtures?: string;
  /** Whether `findings.json` is written anew, and `output.py` where there is none. */
  readonly records: boolean;
}

/** The laws that the fixtures of a plugin are held to: those of memfix's own. */
export function pluginLaws({ file, transforms }: LoadedPlugin, setting: LawSetting): readonly Law[] {
  const { parser, others, records } = setting;
  const folder = setting.fixtures ?? join(dirname(file), 'fixtures');
  const all = [...others, ...transforms];
  const results = new Map<string, string>();
  const laws = transforms.flatMap((transform): readonly Law[] => {
    const { id } = transform.meta;
    const cases = casesIn(join(folder, id));
    const court: Court = {
      parser,
      transforms: [transform],
      all,
      withId: false,
      records,
      compiles: (label, bytes) => void results.set(bytes.toString('latin1'), `${id}/${label}`),
    };
    const ofCases = cases.flatMap((fixture) =>
      caseLaws(court, fixture).map(({ name, check }) => ({ name: `${id}/${fixture.name}: ${name}`, check })),
    );
    const ofAll = transformLaws(transform, cases).map(({ name, check }) => ({
      name: `${id}: ${name}`,
      check,
    }));
    return [...ofAll, ...ofCases, ...wordLaws({ parser, transforms: [transform] }, id, cases)];
  });
  return hasPython()
    ? [...laws, { name: 'CPython compiles every result', check: () => compile(results) }]
    : laws;
}

function transformLaws({ meta }: Transform, cases: readonly FixtureCase[]): readonly Law[] {
  const count = (kind: string) => cases.filter((each) => each.kind === kind).length;
  const acting = meta.safety === 'advice' ? 'report' : 'fix';
  const order = ['safe', 'unsafe', 'advice'];
  return [
    {
      name: 'is shown where it must act, and at least as often where it must not',
      check: () => {
        assert.ok(count(acting) > 0, `there is no case ${acting}-…`);
        assert.ok(
          count('keep') >= count(acting),
          `there are ${count(acting)} cases ${acting}-…, and ${count('keep')} keep-…`,
        );
      },
    },
    {
      name: 'shows one of its cases on its page',
      check: () =>
        assert.ok(
          cases.some(({ name }) => name === meta.example),
          `\`meta.example\` is no case: ${meta.example}`,
        ),
    },
    {
      name: 'is never looser than its class',
      check: () => {
        for (const recorded of cases.flatMap((each) => each.recorded ?? []))
          if ('safety' in recorded) assert.ok(order.indexOf(recorded.safety) >= order.indexOf(meta.safety));
      },
    },
  ];
}

/** Names and remarks prove nothing. */
function wordLaws(means: Means, id: string, cases: readonly FixtureCase[]): readonly Law[] {
  const renaming = () => new Renaming(means, cases);
  return [
    {
      name: `${id}: no change of names makes a finding safe`,
      check: () => {
        for (const choose of [neutral, suggestive(1), suggestive(2)])
          assert.deepEqual(renaming().all(choose).violations, []);
        assert.deepEqual(renaming().each(suggestive(2), 1).violations, []);
      },
    },
    {
      name: `${id}: comments, docstrings and texts decide nothing`,
      check: () => {
        for (const remark of ['comment', 'docstring', 'string'] as const)
          assert.deepEqual(swayed(means, cases, remark).swayed, []);
      },
    },
  ];
}

function compile(results: ReadonlyMap<string, string>): void {
  const answers = complaints([...results.keys()].map((bytes) => Buffer.from(bytes, 'latin1')));
  const labels = [...results.values()];
  assert.deepEqual(
    answers.flatMap((answer, at) => (answer === undefined ? [] : [`${labels[at]}: ${answer}`])),
    [],
  );
}
