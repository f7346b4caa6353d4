import { dirname, resolve } from 'node:path';
import type { Engine } from '../../engine/engine.js';
import type { Outcome, Scan } from '../../engine/outcome.js';
import type { Diagnosis } from '../../oom/diagnosis.js';
import { printable } from '../../report/cells.js';
import { plural } from '../../report/prose.js';
import type { Proven } from '../../report/prove/proven.js';
import { forTerminal, withoutMarks } from '../../report/terminal.js';
import { entryFor } from '../../workspace/assumptions.js';
import { Failure } from '../../workspace/failure.js';
import { repositoryRoot, shownFrom } from '../../workspace/places.js';
import { interpret, Reader } from '../../workspace/read.js';
import { assumeFile, takeBackAssumptions, writeAssumptions } from '../../workspace/remember.js';
import { State } from '../../workspace/state.js';
import type { Visit } from '../../workspace/visit.js';
import { Writer } from '../../workspace/writer.js';
import { refuseLooseFile } from '../baseline.js';
import { type Context, EXIT } from '../context.js';
import { Interrupted, wantsColor } from '../io.js';
import { type Look, prepare } from '../looking.js';
import { evidenceOf } from '../oom.js';
import { page, pagerFor } from '../pager.js';
import { provenByRuns, provenOf } from '../proven.js';
import { exitCodeFor } from '../results.js';
import type { Reasons } from '../session-files.js';
import type { Remember } from '../session-remember.js';
import { newIn, related, sayDiagnosis, sayNextSteps } from '../settling.js';
import { tidy } from '../tidying.js';
import {
  guardFiles,
  mixedFiles,
  nameHeld,
  reportUnwritten,
  sayHowToUndo,
  sayReload,
  stageFiles,
} from '../writing.js';

/** `apply --interactive`: the same files and guards as `apply`, with a person's answers. */
export async function applyInteractively(context: Context): Promise<number> {
  const { args, io } = context;
  const flag = args.flag('interactive') ? '--interactive' : '--resume';
  if (args.readsStdin)
    throw args.misuse(`\`${flag}\` asks questions on standard input; \`-\` reads a file from it.`);
  if (args.flag('dry-run'))
    throw args.misuse(`\`${flag}\` writes what you accept; \`--dry-run\` writes nothing.`);
  if (args.isLogPiped)
    throw args.misuse(
      `\`${flag}\` asks questions on standard input, which the log came through: save it in a file and name that, \`memfix apply -i ${args.aim}\`.`,
    );
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    throw args.misuse(
      `\`${flag}\` needs a terminal on standard input and standard error. Without one, \`memfix apply\` takes the safe fixes and \`memfix diff\` prints them.`,
    );
  }
  refuseLooseFile(context);
  const look = await prepare(context);
  await tidy(context, look.project.root);
  const evidence = await evidenceOf(context);
  const found: Visit & { readonly reasons?: Reasons; readonly oom?: Diagnosis } =
    evidence === undefined ? await newIn(context, look) : await related(context, look, evidence);
  if (found.oom !== undefined) await sayDiagnosis(context, found.oom, true);
  const seen = withoutUnsound(found, await look.tools.engine());
  const held = await guardFiles(
    context,
    look,
    seen.scans
      .filter(hasFix)
      .map(({ file, findings }) => [
        file.path,
        ...findings.flatMap(({ fix }) => fix?.beside?.map(({ path }) => path) ?? []),
      ]),
  );
  const spared = new Set(held.map(({ path }) => path));
  const open = seen.scans.filter((scan) => hasFix(scan) && !spared.has(scan.file.path));
  nameHeld(context, held);
  context.remark({ scans: seen.scans, skipped: seen.skipped, checked: seen.files });
  context.confess(seen.crashes, []);
  const state = new Map(seen.scans.map((scan) => [scan.file.path, scan]));
  const code =
    open.length === 0
      ? await nothingToReview(context, seen.scans, found.oom)
      : await converse(context, look, open, state, found.reasons);
  // What was said above the first card is out of sight by now.
  if (open.length > 0) nameHeld(context, held);
  const report = { scans: [...state.values()], skipped: seen.skipped, checked: seen.files };
  if (code !== EXIT.clean) return code;
  if (seen.crashes.length > 0) return EXIT.error;
  return exitCodeFor(context, report, look.project);
}

function hasFix({ findings }: Scan): boolean {
  return findings.some((finding) => finding.fix !== undefined);
}

/** Nobody is asked about a file in which nothing could be changed. */
function withoutUnsound(seen: Visit, engine: Engine): Visit {
  const objections = new Map(seen.scans.map((scan) => [scan, hasFix(scan) && engine.objection(scan.file)]));
  return {
    ...seen,
    scans: seen.scans.filter((scan) => !objections.get(scan)),
    skipped: [...seen.skipped, ...[...objections.values()].flatMap((objection) => objection || [])],
  };
}

async function nothingToReview(
  context: Context,
  scans: readonly Scan[],
  oom: Diagnosis | undefined,
): Promise<number> {
  const advice = scans.flatMap(({ findings }) => findings).filter((finding) => finding.advice !== undefined);
  const hint = `; \`memfix check\` has ${plural(advice.length, 'finding')} that no diff can settle`;
  const filter = (['staged', 'changed'] as const).find((name) => context.args.flag(name));
  const why = filter !== undefined && scans.length === 0 ? ` among ${filter} files` : '';
  context.say(`There is nothing to review${why}${advice.length === 0 ? '' : hint}.`);
  if (oom !== undefined) await sayNextSteps(context, oom);
  return EXIT.clean;
}

/** Keeps `state` at what each file holds after the session. */
async function converse(
  context: Context,
  look: Look,
  open: readonly Scan[],
  state: Map<string, Scan>,
  reasons: Reasons | undefined,
): Promise<number> {
  const { args, io } = context;
  const writer = new Writer(io.cwd, look.targets, io.env);
  const { review } = await import('../session.js');
  // What ends the process from outside reads as Ctrl-C to the session.
  const leave = () => process.emit('SIGINT', 'SIGINT');
  io.signal.addEventListener('abort', leave);
  const paths: string[] = [];
  const outcomes: Outcome[] = [];
  const mixed = mixedFiles(context, look);
  const terminal = {
    input: io.stdin as NodeJS.ReadStream,
    output: (io.screen ?? io.stderr) as NodeJS.WriteStream,
    color: wantsColor(args.color, io.env, io.stderr),
  };
  try {
    const result = await review({
      engine: await look.tools.engine(),
      scans: open,
      reasons,
      metas: new Map(look.project.vocabulary.metas.map((meta) => [meta.id, meta])),
      proven: await provenFor(context, look),
      write: async (outcome: Outcome) => {
        const written = writer.write(outcome);
        if (written.ok) {
          outcomes.push(outcome);
          paths.push(outcome.file.path, ...outcome.beside.map(({ path }) => path));
        }
        return written;
      },
      reread: (path) => reread(look, path),
      remember: rememberer(look, writer),
      assumesIn: (path) => printable(assumedIn(look, path)),
      state: State.of(repositoryRoot(io.cwd) ?? io.cwd, io.env),
      resume: args.flag('resume'),
      aim: args.aim,
      page: async (text) => {
        const pager = pagerFor(withoutMarks(text), io);
        return pager !== undefined && (await page(pager, forTerminal(text), io.env));
      },
      terminal,
    });
    const isStaged = stageFiles(context, look, paths, mixed, writer);
    sayReload(context, paths);
    if (result.files > 0) sayHowToUndo(context, writer.roots, isStaged);
    reportUnwritten(context, result.failed);
    // The session has said what was left.
    if (io.signal.aborted) throw new Interrupted();
    if (result.interrupted) return 130;
    for (const { file, remaining } of outcomes) state.set(file.path, remaining);
    return result.failed.length > 0 ? EXIT.error : EXIT.clean;
  } finally {
    io.signal.removeEventListener('abort', leave);
    writer.close();
  }
}

/** The file of `--evidence`, or what was verified here before. */
async function provenFor(context: Context, look: Look): Promise<Proven | undefined> {
  const { io } = context;
  const named = await provenOf(context, look);
  if (named !== undefined) return named;
  const { keptRuns } = await import('../../workspace/prove/evidence.js');
  const runs = keptRuns(State.of(repositoryRoot(io.cwd) ?? io.cwd, io.env));
  return runs.length === 0 ? undefined : provenByRuns(context, look, runs);
}

/** The file that a yes about a file is written into, as it is shown. */
function assumedIn({ project }: Look, path: string): string {
  return shownFrom(project.request.cwd, assumeFile(project.rulesFor(path).config.path, project.root));
}

/** Writes into the config that is in force, or makes one beside the project. */
function rememberer({ project }: Look, writer: Writer): Remember {
  return (transform, questions, at, reach) => {
    const { path } = at;
    const file = assumeFile(project.rulesFor(path).config.path, project.root);
    const { cwd } = project.request;
    const place = { ...at, path: shownFrom(dirname(file), resolve(cwd, path)) };
    const { isolated, isTarget } = project.request;
    if (isolated || isTarget) {
      const flag = isolated ? '--isolated' : '--strict-config';
      return {
        note: `Nothing was written down: \`${flag}\` takes no such answers from a config.`,
      };
    }
    try {
      const change = writeAssumptions(
        file,
        questions.map((question) => entryFor(transform, question, place, reach)),
        ({ before, after }) => writer.expectOther(file, before, after),
      );
      const name = shownFrom(cwd, file);
      return {
        file: name,
        note: `Accepted, and written to \`assume\` of ${name}.`,
        takeBack: () => change !== undefined && takeBackAssumptions(change),
        isFor: (other) => project.rulesFor(other) === project.rulesFor(path),
      };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { note: `${error.message}. ${error.next}` };
    }
  };
}

function reread(look: Look, path: string) {
  const candidate = look.targets.get(path);
  if (candidate === undefined) return undefined;
  const opened = new Reader().open(candidate);
  const read = opened.kind === 'opened' ? interpret(candidate, opened.bytes) : opened;
  return read.kind === 'file' ? read.file : undefined;
}
