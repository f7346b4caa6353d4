import type { Outcome, Scan } from '../../engine/outcome.js';
import { plural } from '../../report/prose.js';
import type { Report, Taken } from '../../report/report.js';
import { encode } from '../../text/decode.js';
import { appliedIn, excludedIn, filesIn, isChanged } from '../../workspace/changes.js';
import { Writer } from '../../workspace/writer.js';
import { type Context, EXIT } from '../context.js';
import { failingOf } from '../failing.js';
import { Interrupted } from '../io.js';
import { type Look, prepare, prepareStdin } from '../looking.js';
import { type Output, outputsOf } from '../outputs.js';
import { exitCodeFor, present, putFiles, rendered, sayAssumed, withWishes } from '../results.js';
import { decided, sayDiagnosis, sayNextSteps, settle, withoutBeside } from '../settling.js';
import { tidy } from '../tidying.js';
import {
  guardFiles,
  type Held,
  heldFrom,
  mixedFiles,
  nameHeld,
  reportUnwritten,
  sayHowToUndo,
  sayReload,
  stageFiles,
  type Unwritten,
} from '../writing.js';
import { diff } from './diff.js';

export async function apply(context: Context): Promise<number> {
  const { args } = context;
  const asked = ['interactive', 'resume'] as const;
  const other = args.readsStdin ? '-' : asked.find((name) => args.flag(name));
  const option = (['verify', 'read', 'prepare'] as const).find((name) => args.text(name) !== undefined);
  if (option !== undefined && other !== undefined)
    throw args.misuse(
      `\`--${option}\` lets a run decide; it does not go with \`${other === '-' ? other : `--${other}`}\`.`,
    );
  if (option === 'prepare' && args.rest === undefined)
    throw args.misuse('`--prepare` needs a command to prepare: give it with `--verify`.');
  if (args.text('read') !== undefined && (args.text('verify') ?? args.rest) !== undefined)
    throw args.misuse('`--read` runs nothing; leave the command out.');
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
  const { seen, outcomes: settled, oom } = await settle(context, look);
  const folder = args.text('prepare');
  if (folder !== undefined) {
    const { prepareVerify } = await import('../verifying.js');
    await prepareVerify(context, look, settled, folder);
    return EXIT.clean;
  }
  const { outcomes, proven } = await decided(context, look, settled);
  const held = await guardFiles(
    context,
    look,
    outcomes.filter(isChanged).map(({ file, beside }) => [file.path, ...beside.map(({ path }) => path)]),
  );
  const mixed = mixedFiles(context, look);
  const writer = new Writer(context.io.cwd, look.targets, context.io.env);
  try {
    const landed = await writeAll(context, look, outcomes, held, writer);
    const bugs = outcomes.flatMap((outcome) => outcome.bugs);
    const report: Report = {
      ...landed.report,
      skipped: seen.skipped,
      checked: seen.files,
      exclude: look.project.excluded,
      ...heldFrom(context, look, landed.report.scans),
      ...(proven && { proven }),
    };
    if (oom !== undefined) await sayDiagnosis(context, oom, false);
    await tell(context, report, outputs, oom !== undefined);
    if (oom !== undefined && landed.written.length === 0) await sayNextSteps(context, oom);
    for (const sentence of outcomes.flatMap(excludedIn)) context.say(sentence);
    nameHeld(context, held);
    const isStaged = stageFiles(context, look, landed.written, mixed, writer);
    sayReload(context, landed.written);
    sayHowToUndo(context, landed.roots, isStaged);
    reportUnwritten(context, landed.unwritten);
    context.confess(seen.crashes, bugs);
    const isFailure = landed.unwritten.length + seen.crashes.length + bugs.length > 0;
    return isFailure ? EXIT.error : exitCodeFor(context, report, look.project);
  } finally {
    writer.close();
  }
}

/** What was fixed, and one line on the rest; what the rest is, where a format or `-v` asks for it. */
async function tell(
  context: Context,
  found: Report,
  outputs: readonly Output[],
  isPart: boolean,
): Promise<void> {
  const { args, isVerbose } = context;
  const report = withWishes(context, found);
  const printed = outputs.find(({ file }) => file === undefined)?.format;
  const isTold = printed === undefined || printed === 'short' || printed === 'full';
  if (!isTold || args.flag('statistics')) return present(context, report, outputs);
  const { renderApplied, summarizeApplied } = await import('../../report/applied.js');
  const isWanted = printed !== undefined && (isVerbose || args.each('output-format').length > 0);
  const fixed = renderApplied(report.taken ?? [], context.view);
  const rest = isWanted ? await rendered(context, report, printed) : '';
  // As `git commit` does: what writes ends by itself.
  context.out(`${fixed}${fixed !== '' && rest !== '' ? '\n' : ''}${rest}`);
  await putFiles(context, report, outputs);
  if (!isWanted && !context.isQuiet) context.remark(report);
  sayAssumed(context, report);
  for (const line of summarizeApplied(report, isWanted, isPart)) context.say(line);
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
    return exitCodeFor(context, report, project);
  }
  context.out(encode(outcome.file.source, outcome.after) ?? bytes);
  context.confess([], outcome.bugs);
  const report = { scans: [outcome.remaining], skipped: [], checked: 1 };
  return outcome.bugs.length > 0 ? EXIT.error : exitCodeFor(context, report, project);
}

interface Landed {
  readonly report: Pick<Report, 'scans' | 'fixed' | 'taken'>;
  readonly unwritten: readonly Unwritten[];
  /** The names of the files that were written. */
  readonly written: readonly string[];
  readonly roots: readonly string[];
}

/** One file after the other, each whole; Ctrl-C is heard between two of them. */
async function writeAll(
  context: Context,
  look: Look,
  outcomes: readonly Outcome[],
  held: readonly Held[],
  writer: Writer,
): Promise<Landed> {
  const spared = new Set(held.map(({ path }) => path));
  const isWritten = (outcome: Outcome) => isChanged(outcome) && !spared.has(outcome.file.path);
  writer.expect(outcomes.filter(isWritten));
  const scans: Scan[] = [];
  const unwritten: Unwritten[] = [];
  const done: string[] = [];
  let files = 0;
  const taken: Taken[] = [];
  const asItIs = async ({ file }: Outcome) => {
    const scan = (await look.tools.engine()).scan(file);
    if (scan.kind === 'scan') scans.push(look.project.newLines?.among(scan) ?? scan);
  };
  for (const outcome of outcomes) {
    await new Promise((resume) => setImmediate(resume));
    if (context.io.signal.aborted) {
      if (files === 0) context.io.signal.throwIfAborted();
      throw new Interrupted(`Interrupted after ${plural(files, 'file')}; \`memfix undo\` takes them back.`);
    }
    const { path } = outcome.file;
    if (spared.has(path)) {
      await asItIs(outcome);
      continue;
    }
    const written = isWritten(outcome) ? writer.write(outcome) : undefined;
    if (written?.ok === false) {
      unwritten.push({ path, reason: written.reason });
      await asItIs(outcome);
      continue;
    }
    scans.push(outcome.remaining);
    if (written === undefined) continue;
    files += filesIn([outcome]);
    done.push(...(outcome.after === outcome.file.source.text ? [] : [path]));
    done.push(...outcome.beside.map((change) => change.path));
    taken.push(...appliedIn(outcome).map((finding) => ({ path, finding })));
  }
  return {
    report: { scans, taken, fixed: { findings: taken.length, suppressed: 0, files } },
    unwritten,
    written: done,
    roots: files > 0 ? writer.roots : [],
  };
}
