import { assumptionSentences, assumptionsOf } from '../report/premises.js';
import type { Report } from '../report/report.js';
import { summarize } from '../report/summary.js';
import { tally } from '../report/tally.js';
import { Failure } from '../workspace/failure.js';
import { type Context, EXIT } from './context.js';

const FORMATS = ['full', 'concise', 'json'] as const;
type Format = (typeof FORMATS)[number];

/** Also checks the word, so ask before the work begins. */
export function formatOf(context: Context): Format {
  return context.args.oneOf('output-format', FORMATS, 'full');
}

/** Findings to standard output, the summary to standard error. */
export async function present(context: Context, report: Report, format: Format): Promise<void> {
  const isCounted = context.args.flag('statistics');
  const shown = await rendered(context, report, isCounted ? 'statistics' : format);
  context.out(shown + (await runsShown(context, report, format)));
  if (isCounted) context.remark(report);
  if (report.oom !== undefined && (isCounted || format === 'concise')) {
    const { headline } = await import('../report/oom.js');
    for (const error of report.oom.errors) context.say(headline(error));
  }
  for (const sentence of assumptionSentences(assumptionsOf(report))) context.say(sentence);
  context.say(summarize(report));
}

async function runsShown(context: Context, { runs }: Report, format: Format): Promise<string> {
  if (runs === undefined || runs.length === 0 || format === 'json') return '';
  return (await import('../report/too-large.js')).renderTooLarge(runs, context.view);
}

/** What most runs have nothing for is loaded when there is something. */
async function rendered(context: Context, report: Report, format: Format | 'statistics'): Promise<string> {
  const { view } = context;
  if (format === 'json') return (await import('../report/json.js')).renderJson(report);
  const isSilent = report.scans.length + report.skipped.length === 0 && report.oom === undefined;
  if (isSilent && format !== 'statistics') return '';
  if (format === 'full') return (await import('../report/full.js')).renderFull(report, view);
  if (format === 'concise') return (await import('../report/concise.js')).renderConcise(report, view);
  return (await import('../report/statistics.js')).renderStatistics(report, view);
}

/** 1 when findings remain; 2 with `--strict` when a file was skipped. */
export function exitCodeFor(context: Context, report: Report): number {
  return Math.max(
    tally(report).findings + (report.runs?.length ?? 0) > 0 ? EXIT.findings : EXIT.clean,
    strictness(context, report),
  );
}

export function strictness(context: Context, { skipped }: Report): number {
  if (!context.args.flag('strict') || skipped.length === 0) return EXIT.clean;
  context.warn(
    new Failure(
      skipped.length === 1 ? 'A file was skipped' : `${skipped.length} files were skipped`,
      '`--strict` makes that an error; each is named above with its reason',
      'Repair or exclude them, or leave `--strict` out.',
    ),
  );
  return EXIT.error;
}
