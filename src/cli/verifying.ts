import { relative, resolve } from 'node:path';
import type { Decide, Finding, Outcome, SourceFile } from '../engine/outcome.js';
import { plural } from '../report/prose.js';
import type { Proven } from '../report/prove/proven.js';
import { changesOf, eachBesideOnce, isChanged } from '../workspace/changes.js';
import { Failure } from '../workspace/failure.js';
import { slashed } from '../workspace/places.js';
import { changedPlaces } from '../workspace/prove/changed-lines.js';
import { keepRun, saveRun } from '../workspace/prove/evidence.js';
import { type Change, guardTargets } from '../workspace/prove/fixes.js';
import { KeptResults, subjectOf } from '../workspace/prove/memory.js';
import { type Limits, OwnRuns } from '../workspace/prove/own-runs.js';
import {
  changedSincePrepared,
  PreparedRuns,
  prepareVerification,
  verifyPlanIn,
} from '../workspace/prove/prepared-verify.js';
import { type Tree, treeOf } from '../workspace/prove/tree.js';
import { type Memory, type Verified, type VerifyTask, verify } from '../workspace/prove/verify.js';
import { Workshop } from '../workspace/prove/workshop.js';
import { State } from '../workspace/state.js';
import type { Arguments } from './arguments.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';
import { provenByRuns } from './proven.js';
import { metricIn, secondsIn } from './run-wishes.js';
import { isTaken, type Offered, runOf, tableOf } from './verify-table.js';

/** What the user's own run has decided. */
export interface Decided {
  readonly outcomes: readonly Outcome[];
  /** What it has said of each fix; absent where nothing ran. */
  readonly proven?: Proven;
}

/** Whether a run of the user's command decides: it is given, stands behind `--` in `prove`, or was made elsewhere. */
export function isDecidedByRun({ args }: Context): boolean {
  return args.text('verify') !== undefined || args.rest !== undefined || args.text('read') !== undefined;
}

/**
 * What `apply` does where the user's own run decides: a fix that the run has shown to be right is taken, one that it has shown
 * to be wrong is not, and what it does not get to stays what it was: a safe fix is taken, an unsafe one is not.
 */
export async function verifiedOutcomes(
  context: Context,
  look: Look,
  outcomes: readonly Outcome[],
): Promise<Decided> {
  const { args, io } = context;
  const read = args.text('read');
  const metric = metricIn(args);
  const limits = { timeout: secondsIn(args, 'timeout'), budget: secondsIn(args, 'budget') };
  const tree = treeIn(context);
  const offered = await offeredIn(context, look, outcomes, tree);
  if (offered.length === 0) {
    context.say('Nothing to verify: there is no fix to apply.');
    return { outcomes };
  }
  const changesFor = async (ids: readonly string[]) =>
    changesIn(context, look, await withOnly(look, outcomes, new Set(ids)));
  const task = { candidates: offered, changesFor };
  const { verified, command } =
    read === undefined
      ? await verifiedHere(context, task, tree, metric, limits)
      : await verifiedElsewhere(resolve(io.cwd, read), task, tree);
  for (const line of tableOf(offered, verified, command)) context.say(line);
  const taken = new Set(
    offered.flatMap(({ id, finding }) => (isTaken(finding, verified.verdicts.get(id)) ? [id] : [])),
  );
  const result = await withOnly(look, outcomes, taken);
  const run = runOf(await look.tools.parser.load(), tree, offered, verified, {
    command,
    outcomes: result,
    changes: changesIn(context, look, result),
  });
  keepRun(State.of(tree.root, io.env), run);
  const file = args.text('save-evidence');
  if (file !== undefined) saveRun(resolve(io.cwd, file), run);
  return { outcomes: result, proven: await provenByRuns(context, look, [run]) };
}

/** `--prepare`: a folder with all that another machine needs to make the runs. */
export async function prepareVerify(
  context: Context,
  look: Look,
  outcomes: readonly Outcome[],
  folder: string,
): Promise<void> {
  const { args, io } = context;
  if ((args.list('link') ?? []).length > 0)
    throw args.misuse('A link leads nowhere on another machine; take `--copy` with `--prepare`.');
  const { command, text } = commandIn(args);
  const metric = metricIn(args)?.text;
  const limits = { timeout: secondsIn(args, 'timeout'), budget: secondsIn(args, 'budget') };
  const tree = treeIn(context);
  const offered = await offeredIn(context, look, outcomes, tree);
  if (offered.length === 0) return context.say('Nothing to verify: there is no fix to apply.');
  const changesFor = async (ids: readonly string[]) =>
    changesIn(context, look, await withOnly(look, outcomes, new Set(ids)));
  const place = resolve(io.cwd, folder);
  const deterministic = args.flag('deterministic');
  const plan = { command, text, metric, deterministic, ...limits, options: args.given };
  await prepareVerification(place, plan, { ...tree, linked: [] }, io.cwd, offered, changesFor);
  context.say(
    `${place} is ready, with ${plural(offered.length, 'fix', 'fixes')}. There: \`python3 verify.py\`. Then here, with the same ` +
      `options: \`memfix apply --read ${folder}\`.`,
  );
}

function treeIn({ args, io }: Context): Tree {
  return treeOf(io.cwd, { link: args.list('link') ?? [], copy: args.list('copy') ?? [] });
}

/** The command that decides: in `prove` it stands behind `--`. */
function commandIn(args: Arguments): { readonly command: readonly string[]; readonly text: string } {
  const text = args.text('verify');
  if (text === undefined) return { command: args.rest ?? [], text: (args.rest ?? []).join(' ') };
  const shell = process.platform === 'win32' ? ['cmd', '/d', '/s', '/c'] : ['sh', '-c'];
  return { command: [...shell, text], text };
}

interface Ran {
  readonly verified: Verified;
  readonly command: string;
}

type Task = Pick<VerifyTask, 'candidates' | 'changesFor'>;

async function verifiedHere(
  context: Context,
  task: Task,
  tree: Tree,
  metric: ReturnType<typeof metricIn>,
  limits: Pick<Limits, 'timeout' | 'budget'>,
): Promise<Ran> {
  const { args, io } = context;
  const { command, text } = commandIn(args);
  const workshop = new Workshop(tree);
  try {
    const runner = new OwnRuns(
      {
        words: command,
        tree,
        cwd: io.cwd,
        env: io.env,
        metric: metric?.pattern,
        signal: io.signal,
        deterministic: args.flag('deterministic'),
      },
      {
        ...limits,
        starting: (what, number, seconds) =>
          context.say(
            `Run ${number}, ${what} …${seconds === undefined ? '' : ` (about ${Math.ceil(seconds)} s)`}`,
          ),
      },
      workshop,
    );
    const memory = new KeptResults(
      State.of(tree.root, io.env),
      subjectOf(tree, [command, metric?.text, args.flag('deterministic')]),
    );
    return { verified: await verify({ ...task, memory, metric: metric?.text }, runner), command: text };
  } finally {
    const left = workshop.close();
    if (left !== undefined)
      context.warn(new Failure('A temporary folder could not be removed', left, 'Remove it by hand.'));
  }
}

/** By the runs that a prepared folder brought back. */
async function verifiedElsewhere(folder: string, task: Task, tree: Tree): Promise<Ran> {
  const plan = verifyPlanIn(folder);
  const [here, there] = [task.candidates, plan.candidates].map((all) => all.map(({ id }) => id).sort());
  if (JSON.stringify(here) !== JSON.stringify(there))
    throw new Failure(
      'Other fixes than those that were prepared',
      `${plural(there?.length ?? 0, 'fix was', 'fixes were')} prepared, and ${here?.length} are offered now`,
      `Give the paths and options that it was prepared with (${plan.options.map((name) => `\`--${name}\``).join(', ')}), or prepare it again if the code has changed.`,
    );
  const pattern = plan.metric === undefined ? undefined : new RegExp(plan.metric, 'g');
  const runner = new PreparedRuns(folder, tree, pattern);
  const verified = await verify({ ...task, memory: NO_MEMORY, metric: plan.metric }, runner);
  const trials = [verified.before, ...(verified.after === undefined ? [] : [verified.after])];
  const changed = changedSincePrepared(folder, tree, trials);
  if (changed !== undefined)
    throw new Failure(
      'The code has changed since it was prepared',
      `The runs loaded ${changed}, which is another file now`,
      'Take the change back, or prepare it again. Nothing was changed.',
    );
  return { verified, command: plan.text };
}

const NO_MEMORY: Memory = { get: () => undefined, set: () => undefined };

/** What the policy of this run would take of the files as they are; what only another fix brings to light waits for the next run. */
async function offeredIn(
  context: Context,
  look: Look,
  outcomes: readonly Outcome[],
  tree: Tree,
): Promise<readonly Offered[]> {
  const engine = await look.tools.engine();
  const parser = await look.tools.parser.load();
  const policy = await look.project.policy();
  const offered: Offered[] = [];
  for (const { file } of outcomes.filter(isChanged)) {
    const target = look.targets.get(file.path)?.target ?? resolve(context.io.cwd, file.path);
    guardTargets(tree.root, [target]);
    const collect: Decide = async (finding, preview) => {
      const decision = await policy(finding, preview);
      if (decision.kind === 'apply' && preview.before === file.source.text)
        offered.push({
          id: idOf(file, finding),
          file,
          finding,
          path: slashed(relative(tree.root, target)),
          numerics: finding.numerics,
          places: changedPlaces(parser, preview.before, preview.after),
        });
      return { kind: 'skip' };
    };
    await engine.repair(file, collect);
  }
  return offered;
}

/** The files with some of the fixes only. */
async function withOnly(
  look: Look,
  outcomes: readonly Outcome[],
  ids: ReadonlySet<string>,
): Promise<readonly Outcome[]> {
  const engine = await look.tools.engine();
  const policy = await look.project.policy();
  const repaired: Outcome[] = [];
  for (const outcome of outcomes) {
    const { file } = outcome;
    /** The lines that were offered. What another fix brings to light may have the key of one that is done. */
    const offered = new Map<string, string>();
    const decide: Decide = (finding, preview, earlier) => {
      const id = idOf(file, earlier ?? finding);
      const line = lineAt(preview.before, finding);
      if (preview.before === file.source.text) offered.set(id, line);
      const isNew = earlier === undefined && offered.get(id) !== line;
      return ids.has(id) && !isNew ? policy(finding, preview) : { kind: 'skip' };
    };
    const again = isChanged(outcome) ? await engine.repair(outcome.file, decide) : outcome;
    repaired.push(again.kind === 'outcome' ? again : outcome);
  }
  return eachBesideOnce({ scans: repaired.map(({ remaining }) => remaining), outcomes: repaired });
}

function lineAt(text: string, { span }: Finding): string {
  const end = text.indexOf('\n', span.start);
  return text.slice(text.lastIndexOf('\n', span.start - 1) + 1, end === -1 ? text.length : end).trim();
}

function changesIn({ io }: Context, look: Look, outcomes: readonly Outcome[]): readonly Change[] {
  return outcomes.filter(isChanged).flatMap((outcome) => changesOf(io.cwd, look, outcome));
}

function idOf({ path }: SourceFile, { key }: Finding): string {
  return `${path}\n${key}`;
}
