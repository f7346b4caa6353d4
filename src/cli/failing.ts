import type { Finding } from '../engine/outcome.js';
import { isRefused, type Report } from '../report/report.js';
import { didYouMean } from '../text/resemblance.js';
import type { Symptom } from '../toolkit/contract.js';
import type { Context } from './context.js';

/** What `--fail-on` may be: everything, nothing, what `apply` would fix, or findings of a symptom. */
export const FAILING = ['any', 'safe', 'leak', 'never'] as const;

type Failing = (typeof FAILING)[number] | Symptom;

/** Also checks the words, so ask before the work begins. */
export function failingOf({ args, catalogue }: Pick<Context, 'args' | 'catalogue'>): readonly Failing[] {
  const symptoms = catalogue.entries.map(({ symptom }) => symptom);
  const known = [...new Set<Failing>([...FAILING, ...symptoms])];
  const words = args.list('fail-on');
  if (args.flag('exit-zero')) {
    if (words !== undefined) throw args.misuse('`--exit-zero` and `--fail-on` cannot be combined.');
    return ['never'];
  }
  const chosen = (words ?? ['any']).map((word) => {
    const found = known.find((each) => each === word);
    if (found !== undefined) return found;
    throw args.misuse(
      `\`--fail-on\` cannot be \`${word}\`: it is one of ${known.join(', ')}.${didYouMean(word, known)}`,
    );
  });
  if (chosen.includes('never') && chosen.length > 1)
    throw args.misuse('`--fail-on never` cannot be combined with others.');
  return chosen;
}

/** Whether findings of this report make the run fail; advice does with `--strict`, or where it is asked for by its symptom. */
export function failsOn(context: Pick<Context, 'args' | 'catalogue'>, { scans }: Report): boolean {
  const chosen = failingOf(context);
  const isStrict = context.args.flag('strict');
  const symptoms = new Map(context.catalogue.entries.map(({ id, symptom }) => [id, symptom]));
  const counts = ({ safety, transform }: Finding) =>
    chosen.some(
      (each) =>
        (each === 'any' && (safety !== 'advice' || isStrict)) ||
        each === safety ||
        each === symptoms.get(transform),
    );
  return scans.some(({ findings }) => findings.some((finding) => !isRefused(finding) && counts(finding)));
}
