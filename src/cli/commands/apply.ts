import type { Finding, Outcome, Scan } from '../../engine/outcome.js';
import { plural } from '../../report/prose.js';
import type { Report } from '../../report/report.js';
import { encode } from '../../text/decode.js';
import { appliedIn, excludedIn, filesIn, isChanged } from '../../workspace/changes.js';
import { Writer } from '../../workspace/writer.js';
import { type Context, EXIT } from '../context.js';
import { failingOf } from '../failing.js';
import { Interrupted } from '../io.js';
import { type Look, lookThrough, prepare, prepareStdin } from '../looking.js';
import { outputsOf } from '../outputs.js';
import { exitCodeFor, present } from '../results.js';
import { settledOutcomes, withoutBeside } from '../settling.js';
import { tidy } from '../tidying.js';
import { guardFiles, reportUnwritten, sayHowToUndo, type Unwritten } from '../writing.js';
import { diff } from './diff.js';

export async function apply(context: Context): Promise<number> {
  const { args } = context;
  if (args.flag('interactive') || args.flag('resume')) {
    const { applyInteractively } = await import('./interactive.js');
    return applyInteractively(context);
  }
  if (args.flag('dry-run')) return diff(context);
  if (args.readsStdin) return applyStdin(context);
  const outputs = outputsOf(context);
  failingOf(context);
  const look = await prepare(context);
  await tidy(context, look.project.root);
  const seen = await lookThrough(context, look, 'fix');
  const outcomes = await settledOutcomes(look, seen);
  await guardFiles(
    context,
    look,
    outcomes.filter(isChanged).flatMap(({ file, beside }) => [file.path, ...beside.map(({ path }) => path)]),
  );
  const landed = await writeAll(context, look, outcomes);
  const bugs = outcomes.flatMap((outcome) => outcome.bugs);
  const report: Report = { ...landed.report, skipped: seen.skipped, checked: seen.files };
  await present(context, report, outputs);
  for (const sentence of outcomes.flatMap(excludedIn)) context.say(sentence);
  sayHowToUndo(context, landed.roots);
  reportUnwritten(context, landed.unwritten);
  context.confess(seen.crashes, bugs);
  const isFailure = landed.unwritten.length + seen.crashes.length + bugs.length > 0;
  return isFailure ? EXIT.error : exitCodeFor(context, report);
}

/** From standard input to standard output: what cannot be fixed comes out as it went in. */
async function applyStdin(context: Context): Promise<number> {
  const { engine, bytes, read, project } = await prepareStdin(context);
  const outcome =
    read.kind === 'file' ? await engine.repair(read.file, withoutBeside(await project.policy())) : read;
  if (outcome.kind === 'skipped') {
    context.out(bytes);
    const report = { scans: [], skipped: [outcome], checked: 1 };
    context.remark(report);
    return exitCodeFor(context, report);
  }
  context.out(encode(outcome.file.source, outcome.after) ?? bytes);
  context.confess([], outcome.bugs);
  const report = { scans: [outcome.remaining], skipped: [], checked: 1 };
  return outcome.bugs.length > 0 ? EXIT.error : exitCodeFor(context, report);
}

interface Landed {
  readonly report: Pick<Report, 'scans' | 'fixed' | 'taken'>;
  readonly unwritten: readonly Unwritten[];
  readonly roots: readonly string[];
}

/** One file after the other, each whole; Ctrl-C is heard between two of them. */
async function writeAll(context: Context, look: Look, outcomes: readonly Outcome[]): Promise<Landed> {
  const writer = new Writer(context.io.cwd, look.targets, context.io.env);
  writer.expect(outcomes.filter(isChanged));
  const scans: Scan[] = [];
  const unwritten: Unwritten[] = [];
  let files = 0;
  const taken: Finding[] = [];
  try {
    for (const outcome of outcomes) {
      await new Promise((resume) => setImmediate(resume));
      if (context.io.signal.aborted) {
        if (files === 0) context.io.signal.throwIfAborted();
        throw new Interrupted(`Interrupted after ${plural(files, 'file')}; \`memfix undo\` takes them back.`);
      }
      const written = isChanged(outcome) ? writer.write(outcome) : undefined;
      if (written?.ok === false) {
        unwritten.push({ path: outcome.file.path, reason: written.reason });
        const scan = (await look.tools.engine()).scan(outcome.file);
        if (scan.kind === 'scan') scans.push(scan);
        continue;
      }
      scans.push(outcome.remaining);
      if (written === undefined) continue;
      files += filesIn([outcome]);
      taken.push(...appliedIn(outcome));
    }
  } finally {
    writer.close();
  }
  const roots = files > 0 ? writer.roots : [];
  return {
    report: { scans, taken, fixed: { findings: taken.length, suppressed: 0, files } },
    unwritten,
    roots,
  };
}
