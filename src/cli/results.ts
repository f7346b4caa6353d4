import { assumptionSentences, assumptionsOf } from '../report/premises.js';
import type { Report } from '../report/report.js';
import { summarize } from '../report/summary.js';
import { tally } from '../report/tally.js';
import { Failure } from '../workspace/failure.js';
import { type Context, EXIT } from './context.js';
import { FINDING_FORMATS, type FindingFormat } from './formats.js';
import { widthOf } from './io.js';

/** Also checks the word, so ask before the work begins. */
export function formatOf(context: Context): FindingFormat {
  return context.args.oneOf('output-format', FINDING_FORMATS, 'short');
}

/** Findings to standard output, the summary to standard error. */
export async function present(context: Context, found: Report, format: FindingFormat): Promise<void> {
  const report = withLeaks(context, found);
  const isCounted = context.args.flag('statistics');
  const shown = await rendered(context, report, format);
  await context.show(shown + (await runsShown(context, report, format)));
  if (isCounted && format !== 'json') context.remark(report);
  if (report.oom !== undefined && (isCounted || format === 'concise')) {
    const { headline } = await import('../report/oom.js');
    for (const error of report.oom.errors) context.say(headline(error));
  }
  sayAssumed(context, report);
  context.say(summarize(report));
  if (format === 'short' && !isCounted) await sayWorth(context, report);
}

export function sayAssumed(context: Context, report: Report): void {
  for (const sentence of assumptionSentences(assumptionsOf(report))) context.say(sentence);
}

/** With what the catalogue knows of its transforms, and what was asked for. */
export function withLeaks({ catalogue, args }: Context, report: Report): Report {
  const leaks = catalogue.entries.filter(({ symptom }) => symptom === 'leak').map(({ id }) => id);
  const onlyChanged = args.given.some((name) => name === 'changed' || name === 'staged' || name === 'since');
  return { ...report, leaks: new Set(leaks), onlyChanged };
}

async function sayWorth(context: Context, report: Report): Promise<void> {
  if (context.isQuiet) return;
  const { mostWorth } = await import('../report/worth.js');
  const gains = new Map(context.catalogue.entries.map(({ id, gain = 0 }) => [id, gain]));
  const view = {
    paint: context.errorPaint,
    width: widthOf(context.io.stderr),
    verbose: context.isVerbose,
  };
  for (const line of mostWorth(report, { gain: (id) => gains.get(id) ?? 0 }, view)) context.say(line);
}

async function runsShown(context: Context, { runs }: Report, format: FindingFormat): Promise<string> {
  if (runs === undefined || runs.length === 0 || format === 'json') return '';
  return (await import('../report/too-large.js')).renderTooLarge(runs, context.view);
}

/** What most runs have nothing for is loaded when there is something. */
export async function rendered(context: Context, report: Report, format: FindingFormat): Promise<string> {
  const { view } = context;
  if (context.args.flag('statistics')) {
    const { renderStatistics, statisticsJson } = await import('../report/statistics.js');
    return format === 'json' ? statisticsJson(report) : renderStatistics(report, view);
  }
  if (format === 'json') return (await import('../report/json.js')).renderJson(report);
  if (report.scans.length + report.skipped.length === 0 && report.oom === undefined) return '';
  if (format === 'full') return (await import('../report/full.js')).renderFull(report, view);
  if (format === 'concise') return (await import('../report/concise.js')).renderConcise(report, view);
  return (await import('../report/short.js')).renderShort(report, view);
}

/** 1 when findings remain, advice with `--strict` only; 2 with it when a file was skipped. */
export function exitCodeFor(context: Context, report: Report): number {
  const { safe, unsafe, advice } = tally(report).bySafety;
  const counted = safe + unsafe + (context.args.flag('strict') ? advice : 0);
  return Math.max(
    counted + (report.runs?.length ?? 0) > 0 ? EXIT.findings : EXIT.clean,
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
