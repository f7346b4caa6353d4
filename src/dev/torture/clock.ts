import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { badEnd, memfix, programMissing } from './program.js';
import type { Random } from './random.js';
import type { Scenario } from './scenario.js';
import { copyOf, lastWords, sampleIn } from './tree.js';

const CHECK = ['check', '--output-format', 'json', '.'] as const;

/** Times that a broken clock, an archive or another machine gives to files, in seconds. */
function strangeTime(random: Random, known: number): number {
  return random.oneOf(
    known,
    known + 1,
    known - 1,
    0,
    1,
    known + 10 * 365 * 86_400,
    4_102_444_800,
    known - 86_400,
  );
}

/**
 * Files change while clocks jump: times of files go back, ahead, or stay the same although the text is another one. What a
 * `check` with everything remembered says is what one without any memory says.
 */
export const clockJumps: Scenario = {
  name: 'clock',
  summary: 'files change while their times stay, go back or lie in the future, with a cache in use',
  tries: { short: 4, long: 300 },
  unavailable: programMissing,
  async run(trial) {
    const sample = await sampleIn(trial.folder, 6, trial.random(-1));
    const cwd = copyOf(sample, join(trial.folder, 'project'));
    const state = join(trial.folder, 'state');
    await memfix({ cwd, state }, ...CHECK);
    const paths = [...sample.before.keys()];
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      for (const path of paths.filter(() => random.chance(0.5))) {
        const file = join(cwd, path);
        const { mtimeMs, atime } = statSync(file);
        const bytes = readFileSync(file);
        const [before, after] = [sample.before.get(path) ?? bytes, sample.after.get(path) ?? bytes];
        writeFileSync(file, bytes.equals(before) ? after : before);
        utimesSync(file, atime, strangeTime(random, mtimeMs / 1000));
        trial.counted('files changed');
      }
      const known = await memfix({ cwd, state }, ...CHECK);
      const fresh = await memfix({ cwd, state: join(trial.folder, `fresh-${attempt}`) }, ...CHECK);
      trial.counted('checks compared');
      const bad = badEnd(known) ?? badEnd(fresh);
      if (bad !== undefined) trial.failed({ attempt, law: 'check ends well', detail: bad });
      else if (known.stdout !== fresh.stdout)
        trial.failed({
          attempt,
          law: 'check says the same with a cache as without',
          detail: lastWords(known),
        });
    }
  },
};
