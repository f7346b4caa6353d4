/**
 * `npm run torture -- [--only name,…] [--seed n] [--long] [--count n] [--from n] [--keep folder]`: mutated files, killed
 * processes, full disks, damaged state. Prints its seed, which repeats the run, and counts of what happened; fails where a
 * promise was broken. `--from` and `--count` repeat single tries; `--keep` writes the input of each failure to a folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { torture } from './torture/run.js';
import type { Broken } from './torture/scenario.js';
import { scenarios } from './torture/scenarios.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string' },
    long: { type: 'boolean' },
    count: { type: 'string' },
    from: { type: 'string' },
    keep: { type: 'string' },
  },
});
const names = values.only?.split(',') ?? scenarios.map(({ name }) => name);
const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name));
const numbers = [values.seed, values.count, values.from].map((text) =>
  text === undefined ? undefined : Number(text),
);
if (
  unknown.length > 0 ||
  numbers.some((number) => number !== undefined && !(Number.isSafeInteger(number) && number >= 0))
) {
  process.stderr.write(
    `Cannot run\n  ${unknown.length > 0 ? `There is no ${unknown.join(', ')}.` : 'Seeds and counts are whole numbers.'}\n` +
      `  Next: npm run torture -- --only ${scenarios.map(({ name }) => name).join(',')} --seed 1\n`,
  );
  process.exit(2);
}
const [seed = Date.now() % 1_000_000, count, from] = numbers;
process.stdout.write(`seed ${seed}\n`);
let failed = 0;
for (const scenario of scenarios.filter(({ name }) => names.includes(name))) {
  const { name, tries } = scenario;
  const { counts, failures, seconds, skipped } = await torture(scenario, {
    seed,
    count: count ?? tries[values.long === true ? 'long' : 'short'],
    from,
    onFailure: (failure) => show(name, failure),
  });
  const counted = [...counts].map(([what, times]) => `${times} ${what}`).join(', ');
  process.stdout.write(
    skipped === undefined
      ? `${name}: ${counted}; ${failures.length} failures, ${seconds.toFixed(0)} s\n`
      : `${name}: skipped: ${skipped}\n`,
  );
  failed += failures.length;
}
process.exitCode = failed > 0 ? 1 : 0;

function show(name: string, { attempt, law, detail, input }: Broken): void {
  process.stdout.write(
    `${name}: ${law}: ${detail}\n  again: npm run torture -- --only ${name} --seed ${seed} --from ${attempt} --count 1\n`,
  );
  if (values.keep === undefined || input === undefined) return;
  mkdirSync(values.keep, { recursive: true });
  writeFileSync(join(values.keep, `${name}-${seed}-${attempt}.py`), input);
}
