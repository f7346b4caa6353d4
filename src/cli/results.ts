import { printable } from '../report/cells.js';
import { type FormatName, formatNamed } from '../report/formats/formats.js';
import { assumptionSentences, assumptionsOf } from '../report/premises.js';
import { plural } from '../report/prose.js';
import type { Report } from '../report/report.js';
import { summarize } from '../report/summary.js';
import { Failure } from '../workspace/failure.js';
import type { Project } from '../workspace/project.js';
import { type Context, EXIT } from './context.js';
import { failsOn } from './failing.js';
import { widthOf } from './io.js';
import { aboutRun, type Output } from './outputs.js';

/** Findings to standard output and to files, the summary to standard error. */
export async function present(context: Context, found: Report, outputs: readonly Output[]): Promise<void> {
  const report = withWishes(context, found);
  const printed = outputs.find(({ file }) => file === undefined)?.format;
  const isCounted = context.args.flag('statistics');
  if (printed !== undefined || isCounted)
    await context.show(
      (await rendered(context, report, printed ?? 'short')) + (await runsShown(context, report, printed)),
    );
  await putFiles(context, report, outputs);
  const file = context.args.text('output');
  if (file !== undefined) context.say(`Written to ${printable(file)}.`);
  if (isCounted && printed !== 'json') context.remark(report);
  if (report.oom !== undefined && (isCounted || printed === 'concise')) {
    const { headline } = await import('../report/oom.js');
    for (const error of report.oom.errors) context.say(headline(error));
  }
  sayAssumed(context, report);
  context.say(summarize(report, context.isVerbose));
  if (printed === 'short' && !isCounted) await sayWorth(context, report);
}

export function sayAssumed(context: Context, report: Report): void {
  for (const sentence of assumptionSentences(assumptionsOf(report))) context.say(sentence);
}

/** With what was asked for. */
export function withWishes({ args }: Context, report: Report): Report {
  const onlyChanged = args.given.some((name) => name === 'changed' || name === 'staged' || name === 'since');
  const takesUnsafe = args.choice('unsafe-fixes') === true;
  const allowsDirty = args.given.includes('allow-dirty');
  const { aim, terms, chosen, limits, isLogPiped } = args;
  return {
    ...report,
    onlyChanged,
    takesUnsafe,
    allowsDirty,
    aim,
    terms,
    chosen,
    limits,
    isLogPiped,
  };
}

async function sayWorth(context: Context, report: Report): Promise<void> {
  if (context.isQuiet) return;
  const { mostWorth } = await import('../report/worth.js');
  const gains = new Map(context.catalogue.entries.map(({ id, gain = 0 }) => [id, gain]));
  const view = {
    paint: context.errorPaint,
    width: widthOf(context.io.stderr),
    verbose: context.isVerbose,
    isTerminal: context.io.stderr.isTTY === true,
  };
  const wider = context.catalogue.entries.filter(({ options }) =>
    Object.values(options).some(({ whenNamed }) => whenNamed !== undefined),
  );
  const cached = context.catalogue.entries.filter(({ symptom }) => symptom === 'fragmentation');
  const weights = {
    gain: (id: string) => gains.get(id) ?? 0,
    isCacheOnly: (id: string) => cached.some((entry) => entry.id === id),
    isWiderWhenNamed: (id: string) => wider.some((entry) => entry.id === id),
  };
  for (const line of mostWorth(report, weights, view)) context.say(line);
}

async function runsShown(
  context: Context,
  { runs }: Report,
  format: FormatName | undefined,
): Promise<string> {
  if (runs === undefined || runs.length === 0 || format === 'json' || format === undefined) return '';
  return (await import('../report/too-large.js')).renderTooLarge(runs, context.view);
}

/** What goes to standard output: counts take the place of findings. What most runs have nothing for is loaded when there is something. */
export async function rendered(context: Context, report: Report, format: FormatName): Promise<string> {
  if (context.args.flag('statistics')) {
    const { renderStatistics, statisticsJson } = await import('../report/statistics.js');
    return format === 'json' ? statisticsJson(report) : renderStatistics(report, context.view);
  }
  return textOf(context, report, { format });
}

/** The reports that have files of their own. */
export async function putFiles(context: Context, report: Report, outputs: readonly Output[]): Promise<void> {
  for (const { format, file } of outputs)
    if (file !== undefined) context.write(file, await textOf(context, report, { format, file }));
}

async function textOf(context: Context, report: Report, { format, file }: Output): Promise<string> {
  const { isForEyes, render } = formatNamed(format);
  const isSilent = report.scans.length + report.skipped.length === 0 && report.oom === undefined;
  return isForEyes && isSilent ? '' : render(report, context.viewOf(file), aboutRun(context));
}

/** 1 when findings remain, advice with `--strict` only; 2 with it when a file was skipped. */
export function exitCodeFor(context: Context, report: Report, project: Pick<Project, 'rulesFor'>): number {
  const fails = failsOn(context, report, project) || (report.runs?.length ?? 0) > 0;
  return Math.max(fails ? EXIT.findings : EXIT.clean, strictness(context, report));
}

export function strictness(context: Context, { skipped, scans, checked }: Report): number {
  const overdue = skipped.filter(({ isOverdue }) => isOverdue === true).length;
  if (checked === 0 && overdue > 0) {
    context.warn(
      new Failure(
        'No file was looked at',
        `${plural(overdue, 'file')} took longer than one may take, and so nothing is known`,
        'Try again when the machine is less busy, or give each file more seconds: `MEMFIX_FILE_LIMIT=300`.',
      ),
    );
    return EXIT.error;
  }
  const cells = scans.flatMap(({ notes }) => notes).reduce((sum, { unread = 0 }) => sum + unread, 0);
  if (!context.args.flag('strict') || skipped.length + cells === 0) return EXIT.clean;
  const what = [
    ...(skipped.length > 0 ? [plural(skipped.length, 'file')] : []),
    ...(cells > 0 ? [plural(cells, 'cell')] : []),
  ].join(' and ');
  const were = skipped.length + cells === 1 ? 'was' : 'were';
  context.warn(
    new Failure(
      `${what} ${were} skipped`,
      '`--strict` makes that an error; each is named above with its reason',
      'Repair or exclude them, or leave `--strict` out.',
    ),
  );
  return EXIT.error;
}
