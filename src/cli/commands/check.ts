import { type Context, EXIT } from '../context.js';
import { lookThrough, prepare, prepareStdin } from '../looking.js';
import { exitCodeFor, formatOf, present } from '../results.js';

export async function check(context: Context): Promise<number> {
  if (context.args.flag('show-settings')) return showSettings(context);
  if (context.args.readsStdin) return checkStdin(context);
  const format = formatOf(context);
  const look = await prepare(context);
  const seen = await lookThrough(context, look, 'report');
  const report = { scans: seen.scans, skipped: seen.skipped, checked: seen.files };
  await present(context, report, format);
  context.confess(seen.crashes, []);
  return seen.crashes.length > 0 ? EXIT.error : exitCodeFor(context, report);
}

async function showSettings(context: Context): Promise<number> {
  const format = formatOf(context);
  const { settingsOf } = await import('../settings.js');
  const { renderSettings, settingsJson } = await import('../../report/settings.js');
  const settings = settingsOf(context);
  context.out(format === 'json' ? settingsJson(settings) : renderSettings(settings, context.view));
  return EXIT.clean;
}

async function checkStdin(context: Context): Promise<number> {
  const format = formatOf(context);
  const { engine, read } = await prepareStdin(context);
  const scan = read.kind === 'file' ? engine.scan(read.file) : read;
  const report =
    scan.kind === 'scan'
      ? { scans: [scan], skipped: [], checked: 1 }
      : { scans: [], skipped: [scan], checked: 1 };
  await present(context, report, format);
  return exitCodeFor(context, report);
}
