import { dirname } from 'node:path';
import { compared, findingsIn, renderBaseline } from '../../report/baseline.js';
import { printable } from '../../report/cells.js';
import { plural } from '../../report/prose.js';
import { shownFrom } from '../../workspace/places.js';
import { baselineFile, filesOf, recordedIn } from '../baseline.js';
import { type Context, EXIT } from '../context.js';
import { lookThrough, prepare } from '../looking.js';
import { strictness } from '../results.js';

/** Records today's findings: `check --baseline` tells only of others. What this run did not look for stays recorded. */
export async function baseline(context: Context): Promise<number> {
  const { args, io } = context;
  if (args.readsStdin) throw args.misuse('a baseline is about files; `-` reads standard input.');
  const look = await prepare(context);
  const named = args.text('output');
  const isPrinted = named === '-';
  const file = baselineFile(context, isPrinted ? undefined : named, look);
  const before = recordedIn(context, file) ?? [];
  const seen = await lookThrough(context, look, 'places');
  const files = filesOf(context, look, file, [...seen.skipped, ...seen.crashes]);
  const { known, gone, unseen } = compared(seen.scans, before, files);
  const today = findingsIn(seen.scans, files);
  const text = renderBaseline([...today, ...unseen]);
  if (isPrinted) context.out(text);
  else context.write(file, text);
  const report = { scans: seen.scans, skipped: seen.skipped, checked: seen.files };
  context.remark(report);
  const fresh = today.length - known.length;
  const news = [
    ...(fresh > 0 ? [`${fresh} new`] : []),
    ...(gone.length > 0 ? [`${gone.length} gone`] : []),
  ].join(', ');
  const place = isPrinted ? dirname(file) : file;
  context.say(
    `Recorded ${plural(today.length + unseen.length, 'finding')}${news === '' ? '' : ` (${news})`} in ${printable(shownFrom(io.cwd, place))}. \`memfix check --baseline\` reports only others.`,
  );
  context.confess(seen.crashes, []);
  return seen.crashes.length > 0 ? EXIT.error : Math.max(EXIT.clean, strictness(context, report));
}
