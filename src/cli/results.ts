import { formatNamed } from '../report/formats/formats.js';
import { assumptionSentences, assumptionsOf } from '../report/premises.js';
import type { Report } from '../report/report.js';
import { summarize } from '../report/summary.js';
import { Failure } from '../workspace/failure.js';
import { type Context, EXIT } from './context.js';
import { failsOn } from './failing.js';
import { aboutRun, type Output } from './outputs.js';

/** Findings to standard output and to files, the summary to standard error. */
export async function present(context: Context, report: Report, outputs: readonly Output[]): Promise<void> {
  const isCounted = context.args.flag('statistics');
  if (isCounted) {
    const { renderStatistics } = await import('../report/statistics.js');
    context.out(renderStatistics(report, context.view));
    context.remark(report);
  }
  for (const output of outputs) await putOut(context, report, output, isCounted);
  if (report.oom !== undefined && (isCounted || outputs.some(({ format }) => format === 'concise'))) {
    const { headline } = await import('../report/oom.js');
    for (const error of report.oom.errors) context.say(headline(error));
  }
  for (const sentence of assumptionSentences(assumptionsOf(report))) context.say(sentence);
  context.say(summarize(report));
}

/** Counts take the place of what would go to standard output, not of files. */
async function putOut(context: Context, report: Report, output: Output, isCounted: boolean): Promise<void> {
  const { format, file } = output;
  if (file === undefined && isCounted) return;
  const { isForEyes, render } = formatNamed(format);
  const isSilent = report.scans.length + report.skipped.length === 0 && report.oom === undefined;
  const text = isForEyes && isSilent ? '' : await render(report, context.viewOf(file), aboutRun(context));
  if (file === undefined) context.out(text);
  else context.write(file, text);
}

/** 1 when findings remain; 2 with `--strict` when a file was skipped. */
export function exitCodeFor(context: Context, report: Report): number {
  return Math.max(failsOn(context, report) ? EXIT.findings : EXIT.clean, strictness(context, report));
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
