import type { Finding } from '../engine/outcome.js';
import { isRefused, type Report } from '../report/report.js';
import { type Failing, failingIn } from '../workspace/fail-on.js';
import type { Project } from '../workspace/project.js';
import type { Context } from './context.js';

/** What the command line says; undefined where it leaves that to the config. Also checks the words, so ask before the work begins. */
export function failingOf({ args }: Pick<Context, 'args'>): readonly Failing[] | undefined {
  const words = args.list('fail-on');
  if (args.flag('exit-zero')) {
    if (words !== undefined) throw args.misuse('`--exit-zero` and `--fail-on` cannot be combined.');
    return ['never'];
  }
  if (words === undefined) return undefined;
  const chosen = failingIn(words);
  if (typeof chosen === 'string') throw args.misuse(`\`--fail-on\`: ${chosen}`);
  return chosen;
}

/**
 * Whether findings of this report make the run fail, by the command line or else by the config of each file; advice does with
 * `--strict`, or where it is asked for by its symptom.
 */
export function failsOn(
  context: Pick<Context, 'args'>,
  { scans }: Report,
  project: Pick<Project, 'rulesFor'>,
): boolean {
  const said = failingOf(context);
  const isStrict = context.args.flag('strict');
  const counts = ({ safety, symptom }: Finding, chosen: readonly Failing[]) =>
    chosen.some(
      (each) => (each === 'any' && (safety !== 'advice' || isStrict)) || each === safety || each === symptom,
    );
  return scans.some(({ findings, file }) => {
    const found = findings.filter((finding) => !isRefused(finding));
    if (found.length === 0) return false;
    const chosen = said ?? project.rulesFor(file.path).config.failOn ?? ['any'];
    return found.some((finding) => counts(finding, chosen));
  });
}
