import { resolve } from 'node:path';
import type { Scan } from '../../engine/outcome.js';
import type { CheckedFiles } from '../../oom/places.js';
import { printable } from '../../report/cells.js';
import type { Report } from '../../report/report.js';
import type { TooLarge } from '../../report/too-large.js';
import { crashesOf } from '../../workspace/examine.js';
import { slashed } from '../../workspace/places.js';
import { refuseLooseFile, withoutKnown } from '../baseline.js';
import { type Context, EXIT } from '../context.js';
import { failingOf } from '../failing.js';
import { type Look, lookThrough, prepare, prepareStdin } from '../looking.js';
import { evidenceOf, withDiagnosis } from '../oom.js';
import { outputsOf } from '../outputs.js';
import { provenOf } from '../proven.js';
import { exitCodeFor, present } from '../results.js';
import { checkedFiles } from '../settling.js';

export async function check(context: Context): Promise<number> {
  if (context.args.flag('show-settings')) return showSettings(context);
  if (context.args.flag('show-files')) return showFiles(context);
  const isWatching = context.args.flag('watch');
  if (isWatching && context.args.readsStdin)
    throw context.args.misuse('`--watch` looks at files; `-` reads standard input.');
  if (context.args.readsStdin) return checkStdin(context);
  if (!isWatching) return checkFiles(context);
  const { again } = await import('../watching.js');
  return again(context, () => checkFiles(context));
}

async function checkFiles(context: Context): Promise<number> {
  const outputs = outputsOf(context);
  failingOf(context);
  refuseLooseFile(context);
  const evidence = await evidenceOf(context);
  const look = await prepare(context);
  const proven = await provenOf(context, look);
  const needsText =
    outputs.some(({ format }) => format !== 'concise') || evidence !== undefined || proven !== undefined;
  const seen = await lookThrough(context, look, needsText ? 'report' : 'places');
  const fresh = withoutKnown(
    context,
    look,
    { scans: seen.scans, skipped: seen.skipped, checked: seen.files },
    seen.crashes,
  );
  const found: Report = {
    ...fresh,
    exclude: look.project.excluded,
    unsafeFixes: look.project.rules.unsafeFixes,
    ...(await heldIn(context, look, fresh.scans)),
    ...(proven && { proven }),
    ...(look.project.config.gpu !== undefined && { runs: await runsOf(look) }),
  };
  const report =
    evidence === undefined
      ? found
      : await withDiagnosis(found, evidence, checkedFiles(context, look, evidence), look.project);
  await present(context, report, outputs);
  context.confess(seen.crashes, []);
  return seen.crashes.length > 0 ? EXIT.error : exitCodeFor(context, report, look.project);
}

async function heldIn(
  context: Context,
  look: Look,
  scans: readonly Scan[],
): Promise<Pick<Report, 'held' | 'isWithoutGit'>> {
  const hasFixes = scans.some(({ findings }) => findings.some(({ fix }) => fix !== undefined));
  if (context.isQuiet || !hasFixes) return {};
  const { heldFrom } = await import('../writing.js');
  return heldFrom(context, look, scans);
}

async function runsOf(look: Look): Promise<readonly TooLarge[]> {
  const { runsTooLarge } = await import('../budget-check.js');
  return (await runsTooLarge(look)) ?? [];
}

async function showSettings(context: Context): Promise<number> {
  const isJson = outputsOf(context).some(({ format }) => format === 'json');
  const { settingsOf } = await import('../settings.js');
  const { renderSettings, settingsJson } = await import('../../report/settings.js');
  const settings = settingsOf(context);
  context.out(isJson ? settingsJson(settings) : renderSettings(settings, context.view));
  return EXIT.clean;
}

/** What a check would look at, a line each. */
async function showFiles(context: Context): Promise<number> {
  const { discovery } = await prepare(context);
  context.out(discovery.candidates.map(({ path }) => `${printable(path)}\n`).join(''));
  context.remark({ scans: [], skipped: discovery.skipped, checked: discovery.candidates.length });
  return EXIT.clean;
}

async function checkStdin(context: Context): Promise<number> {
  if (context.args.text('baseline') !== undefined)
    throw context.args.misuse('`--baseline` knows files; `-` reads standard input.');
  const outputs = outputsOf(context);
  const evidence = await evidenceOf(context);
  const { engine, read, project } = await prepareStdin(context);
  const scan = read.kind === 'file' ? engine.scan(read.file) : read;
  const found =
    scan.kind === 'scan'
      ? { scans: [scan], skipped: project.ground.refused, checked: 1 }
      : { scans: [], skipped: [scan], checked: 1 };
  const files: CheckedFiles = {
    paths: new Map(found.scans.map(({ file: { path } }) => [path, slashed(resolve(context.io.cwd, path))])),
    text: (path) => found.scans.find(({ file }) => file.path === path)?.file.source.text,
  };
  const report = await withDiagnosis(found, evidence, files, project);
  await present(context, report, outputs);
  const crashes = found.scans.flatMap(crashesOf);
  context.confess(crashes, []);
  return crashes.length > 0 ? EXIT.error : exitCodeFor(context, report, project);
}
