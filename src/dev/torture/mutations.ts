import { loadParser, type PythonParser } from '../../syntax/parser.js';
import { complaints } from '../../testing/cpython.js';
import { type Answers, engineOf, type Judged, judge } from './laws.js';
import { type Mutant, mutantOf, shrunk, textOf } from './mutant.js';
import type { Broken, Scenario, Trial } from './scenario.js';
import { allFixtures, type Subject, subjectOf } from './subject.js';
import { Watchdog } from './watchdog.js';

/** How many results CPython compiles at once. */
const BATCH = 400;

const REFUSED = 'refused by the second parser only';
/** The first parser forgives a lot; a quick look at lines and brackets finds nearly all of it. */
const MOST_REFUSED = 0.005;

interface Made {
  readonly attempt: number;
  readonly text: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

/**
 * Fixtures with other layouts, other ways to write the same and damaged tokens, through the engine: whatever a text looks
 * like, results compile, bytes outside of edits stay, a second run changes nothing, and `apply` does what `check` offers.
 */
export const mutations: Scenario = {
  name: 'mutations',
  summary: 'fixtures in other layouts and damaged, through the engine with both parsers',
  tries: { short: 3000, long: 200_000 },
  async run(trial) {
    const parsers = [await loadParser(), await loadParser('wasm')] as const;
    const subjects = allFixtures().flatMap((fixture) => {
      const name = fixture.folder.split(/[\\/]/).slice(-2).join('/');
      return subjectOf(fixture, name, parsers[0]) ?? [];
    });
    let made: Made[] = [];
    const watchdog = new Watchdog(`seed ${trial.seed}, attempt `);
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      watchdog.begins(attempt);
      const result = await one(trial, attempt, subjects, parsers);
      if (result !== undefined) made.push({ attempt, ...result });
      if (made.length >= BATCH) {
        compileAll(trial, made);
        made = [];
      }
    }
    await watchdog.stop();
    if (trial.times(REFUSED) > trial.count * MOST_REFUSED)
      trial.failed({
        attempt: trial.from,
        law: 'apply does what check offers',
        detail: `${trial.times(REFUSED)} times not`,
      });
    compileAll(trial, made);
  },
};

async function one(
  trial: Trial,
  attempt: number,
  subjects: readonly Subject[],
  parsers: readonly [PythonParser, PythonParser],
): Promise<Omit<Made, 'attempt'> | undefined> {
  const random = trial.random(attempt);
  const [parser, other] = random.chance(0.5) ? parsers : ([parsers[1], parsers[0]] as const);
  const answers = random.oneOf<Answers>('safe', 'unsafe', 'unsafe', 'all', 'mixed');
  const seed = random.below(2 ** 31);
  const mutant = mutantOf(subjects, random);
  const judged = (text: string): Promise<Judged> =>
    judge(
      text,
      engineOf(mutant.subject, parser),
      { engine: engineOf(mutant.subject, other), parser: other },
      answers,
      seed,
    );
  const text = textOf(mutant);
  const { broken, fixes, isSkipped, isRefused, result } = await judged(text);
  trial.counted('mutated files');
  if (isSkipped) trial.counted('not Python');
  if (isRefused === true) trial.counted(REFUSED);
  trial.counted('fixes offered', fixes);
  if (result !== undefined) trial.counted('files changed');
  if (broken === undefined) return result && { text, ...result };
  const smallest = await shrunk(
    mutant,
    async (smaller) => (await judged(smaller)).broken?.law === broken.law,
  );
  const { broken: last = broken } = await judged(textOf(smallest));
  trial.failed(brokenBy(attempt, smallest, answers, last));
  return undefined;
}

function brokenBy(
  attempt: number,
  mutant: Mutant,
  answers: Answers,
  { law, detail }: { readonly law: string; readonly detail: string },
): Broken {
  const described = `${mutant.subject.name} (${answers} fixes): ${detail}`;
  return { attempt, law, detail: described, input: textOf(mutant) };
}

/** What CPython compiled before, it must compile after. */
function compileAll(trial: Trial, made: readonly Made[]): void {
  const now = complaints(made.map(({ after }) => after));
  const suspects = made.filter((_, index) => now[index] !== undefined);
  const before = complaints(suspects.map((each) => each.before));
  trial.counted('compiled by CPython', made.length - suspects.length);
  for (const [index, { attempt, text, after }] of suspects.entries()) {
    if (before[index] !== undefined) trial.counted('not compiled before and after');
    else
      trial.failed({
        attempt,
        law: 'CPython compiles the result',
        detail: complaints([after])[0] ?? '',
        input: text,
      });
  }
}
