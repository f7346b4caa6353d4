import { join } from 'node:path';
import { campaignIn, difference, remotesIn } from './campaign.js';
import { badEnd, memfix, programMissing } from './program.js';
import type { Scenario } from './scenario.js';
import { lastWords } from './tree.js';

/** A campaign is killed at any moment, more than once: `resume` ends where an undisturbed run does, each branch pushed once. */
export const killMigrate: Scenario = {
  name: 'kill-migrate',
  summary: 'kill -9 of migrate run and resume at any moment, then resume',
  tries: { short: 3, long: 300 },
  unavailable: programMissing,
  async run(trial) {
    const remotes = await remotesIn(trial.folder, trial.random(-1));
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      const campaign = campaignIn(join(trial.folder, `attempt-${attempt}`), remotes.folder);
      const setting = { cwd: campaign.folder, state: join(trial.folder, `state-${attempt}`) };
      const kills = 1 + random.below(3);
      for (let kill = 0; kill < kills; kill++) {
        const words = kill === 0 ? ['run', '--push'] : ['resume'];
        const killAfter = random.next() * remotes.milliseconds;
        const { signal } = await memfix({ ...setting, killAfter }, 'migrate', ...words);
        trial.counted('runs');
        if (signal === 'SIGKILL') trial.counted('killed');
      }
      // Where the first was killed before it wrote down anything, there is nothing to resume.
      const resumed = await memfix(setting, 'migrate', 'resume');
      const last = resumed.status === 2 ? await memfix(setting, 'migrate', 'run', '--push') : resumed;
      const problem =
        badEnd(last) ?? (last.status === 0 ? difference(campaign, remotes) : `it ended ${lastWords(last)}`);
      if (problem !== undefined)
        trial.failed({ attempt, law: 'a campaign is resumed to the same end', detail: problem });
    }
  },
};
