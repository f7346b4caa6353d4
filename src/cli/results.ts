import { renderConcise } from '../report/concise.js';
import { renderFull } from '../report/full.js';
import { renderJson } from '../report/json.js';
import type { Report } from '../report/report.js';
import { renderStatistics } from '../report/statistics.js';
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
export function present(context: Context, report: Report, format: Format): void {
  const { view } = context;
  if (context.args.flag('statistics')) {
    context.out(renderStatistics(report, view));
    context.remark(report);
  } else if (format === 'json') context.out(renderJson(report));
  else context.out(format === 'full' ? renderFull(report, view) : renderConcise(report, view));
  context.say(summarize(report));
}

/** 1 when findings remain; 2 with `--strict` when a file was skipped. */
export function exitCodeFor(context: Context, report: Report): number {
  return Math.max(tally(report).findings > 0 ? EXIT.findings : EXIT.clean, strictness(context, report));
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
