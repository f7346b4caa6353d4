import { join } from 'node:path';
import { badEnd, memfix, programMissing } from './program.js';
import type { Scenario } from './scenario.js';
import { APPLY, copyOf, filesIn, lastWords, sameFiles, sampleIn, strayFiles, tornFiles } from './tree.js';

/** Two programs work on one tree at once: nothing is torn or lost, and what both wrote can be taken back. */
export const twoProcesses: Scenario = {
  name: 'two-processes',
  summary: 'two applies, or an apply with a check or an undo, on one tree at once',
  tries: { short: 4, long: 200 },
  unavailable: programMissing,
  async run(trial) {
    const sample = await sampleIn(trial.folder, 12, trial.random(-1));
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      const folder = copyOf(sample, join(trial.folder, `project-${attempt}`));
      const setting = { cwd: folder, state: join(trial.folder, `state-${attempt}`) };
      const other = random.oneOf([...APPLY, '.'], [...APPLY, '.'], ['check', '.'], ['undo']);
      const both = await Promise.all([memfix(setting, ...APPLY, '.'), memfix(setting, ...other)]);
      trial.counted(`apply with ${other[0]}`);
      const broken = (law: string, detail: string): void => trial.failed({ attempt, law, detail });
      for (const run of both) {
        const bad = badEnd(run);
        if (bad !== undefined) broken('both end well', bad);
      }
      const torn = tornFiles(folder, sample);
      if (torn.length > 0) broken('every file is old or new', torn.join(', '));
      for (let runs = 0; runs < 2; runs++) await memfix(setting, 'undo');
      if (!sameFiles(sample.before, filesIn(folder, sample.before)))
        broken('undo brings every byte back', both.map(lastWords).join('\n'));
      const strays = strayFiles(folder, sample);
      if (strays.length > 0) broken('no drafts are left', strays.join(', '));
    }
  },
};
