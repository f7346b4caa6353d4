import { GOALS, type Goal, reaches, type StageName } from './record.js';

const WORDS: Readonly<Record<Goal, string>> = {
  plan: 'plan --failed',
  commit: 'run --failed',
  push: 'run --push --failed',
  pr: 'run --push --pr --failed',
};

/**
 * What has to follow `memfix migrate` to try again what failed in a stage: as far as the run went that failed, and never
 * less far than the stage.
 */
export function retryWords(goal: Goal, stage: StageName): string {
  if (stage === 'pr') return 'pr --failed';
  return WORDS[reaches(goal, stage) ? goal : (GOALS.find((each) => reaches(each, stage)) ?? goal)];
}

/** The same where only another commit of the repository can help. */
export const RENEW_WORDS = 'plan --update --failed';
