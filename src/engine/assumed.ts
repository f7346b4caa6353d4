import type { EngineSetup } from './engine.js';
import type { Finding } from './outcome.js';

/**
 * A finding with the questions that are left when what the configuration assumes is taken for granted. Where none is, its
 * fix is as safe as a proven one, by assumption, and says so.
 */
export function withAssumed(
  { assumes }: Pick<EngineSetup, 'assumes'>,
  finding: Finding,
  path: string,
): Finding {
  const isAssumed = finding.questions.map((each) => assumes?.(finding.transform, each, path) === true);
  if (!isAssumed.includes(true)) return finding;
  const questions = finding.questions.filter((_, at) => !isAssumed[at]);
  const assumed = [...(finding.assumed ?? []), ...finding.questions.filter((_, at) => isAssumed[at])];
  const isSettled = finding.safety === 'unsafe' && questions.length === 0;
  return { ...finding, questions, assumed, safety: isSettled ? 'safe' : finding.safety };
}
