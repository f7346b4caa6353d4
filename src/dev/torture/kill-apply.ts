import { statSync } from 'node:fs';
import { join } from 'node:path';
import { badEnd, memfix, programMissing } from './program.js';
import type { Random } from './random.js';
import type { Scenario } from './scenario.js';
import {
  APPLY,
  copyOf,
  filesIn,
  lastWords,
  type Sample,
  sameFiles,
  sampleIn,
  strayFiles,
  tornFiles,
} from './tree.js';

/**
 * `apply` is killed at any moment. Each file is then entirely old or entirely new; `undo` brings the old bytes back, or a
 * second `apply` finishes; and the next run removes the drafts of the one that was killed.
 */
export const killApply: Scenario = {
  name: 'kill-apply',
  summary: 'kill -9 of apply at any moment, then undo, or apply again',
  tries: { short: 12, long: 500 },
  unavailable: programMissing,
  async run(trial) {
    const sample = await sampleIn(trial.folder, 16, trial.random(-1));
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      const folder = copyOf(sample, join(trial.folder, `project-${attempt}`));
      const setting = { cwd: folder, state: join(trial.folder, `state-${attempt}`) };
      const killAfter = random.chance(0.3)
        ? random.next() * sample.milliseconds
        : onceWritten(folder, sample, random);
      const { signal } = await memfix({ ...setting, killAfter }, ...APPLY, '.');
      trial.counted('applies');
      if (signal === 'SIGKILL') trial.counted('killed');
      const broken = (law: string, detail: string): void => trial.failed({ attempt, law, detail });
      const torn = tornFiles(folder, sample);
      if (torn.length > 0) broken('every file is old or new', torn.join(', '));
      const written = writtenIn(folder, sample);
      trial.counted('files written before the kill', written);
      const finishes = random.chance(0.5);
      if (finishes) {
        const again = await memfix(setting, ...APPLY, '.');
        if (badEnd(again) !== undefined) broken('a second apply ends well', badEnd(again) ?? '');
        else if (!sameFiles(sample.after, filesIn(folder, sample.before)))
          broken('a second apply finishes', `${otherFiles(folder, sample).join(', ')}: ${lastWords(again)}`);
      }
      // What was written in two runs is taken back in two.
      for (let runs = finishes ? 2 : 1; runs > 0; runs--) {
        const undone = await memfix(setting, 'undo');
        if (badEnd(undone) !== undefined) broken('undo ends well', badEnd(undone) ?? '');
      }
      trial.counted('undone');
      if (!sameFiles(sample.before, filesIn(folder, sample.before)))
        broken('undo brings every byte back', `after ${finishes ? 'two applies' : 'a killed apply'}`);
      const strays = strayFiles(folder, sample);
      if (strays.length > 0) broken('the next run removes drafts', strays.join(', '));
    }
  },
};

/** Whether one of the files has been replaced, or anything new is there: drafts come and go in between. */
function onceWritten(folder: string, { before }: Sample, random: Random): () => boolean {
  const path = join(folder, random.pick([...before.keys()]) ?? '');
  const { ino } = statSync(path);
  return () => statSync(path).ino !== ino;
}

/** The files that are not as an undisturbed `apply` leaves them. */
function otherFiles(folder: string, { before, after }: Sample): readonly string[] {
  const now = filesIn(folder, before);
  return [...after].flatMap(([path, bytes]) => (now.get(path)?.equals(bytes) ? [] : [path]));
}

function writtenIn(folder: string, { before }: Sample): number {
  const now = filesIn(folder, before);
  return [...before].filter(([path, bytes]) => !now.get(path)?.equals(bytes)).length;
}
