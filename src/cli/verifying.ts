import { relative, resolve } from 'node:path';
import type { Decide, Finding, Outcome, SourceFile } from '../engine/outcome.js';
import { printable } from '../report/cells.js';
import { plural } from '../report/prose.js';
import { variantOf } from '../report/prove/agreement.js';
import { trainersOf } from '../report/prove/figures.js';
import { memoryRows, rowsOf } from '../report/prove/rows.js';
import { amountsWords } from '../report/prove/words.js';
import { placeText } from '../text/place.js';
import { changesOf, eachBesideOnce, isChanged } from '../workspace/changes.js';
import { Failure } from '../workspace/failure.js';
import { slashed } from '../workspace/places.js';
import { changedLines } from '../workspace/prove/changed-lines.js';
import { type Change, guardTargets } from '../workspace/prove/fixes.js';
import { KeptResults, subjectOf } from '../workspace/prove/memory.js';
import { type Tree, treeOf } from '../workspace/prove/tree.js';
import { type Candidate, type Verdict, type Verified, verify } from '../workspace/prove/verify.js';
import { Workshop } from '../workspace/prove/workshop.js';
import { State } from '../workspace/state.js';
import type { Arguments } from './arguments.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';
import { metricIn, secondsIn } from './run-wishes.js';

interface Offered extends Candidate {
  readonly file: SourceFile;
  readonly finding: Finding;
}

/** The command that decides: in `prove` it stands behind `--`. */
export function decidingCommand(args: Arguments): readonly string[] | undefined {
  const text = args.text('verify');
  if (text === undefined) return args.rest;
  return process.platform === 'win32' ? ['cmd', '/d', '/s', '/c', text] : ['sh', '-c', text];
}

/**
 * What `apply` does where the user's own run decides: a fix that the run has shown to be right is taken, one that it has shown
 * to be wrong is not, and what it does not get to stays what it was: a safe fix is taken, an unsafe one is not.
 */
export async function verifiedOutcomes(
  context: Context,
  look: Look,
  outcomes: readonly Outcome[],
  command: readonly string[],
): Promise<readonly Outcome[]> {
  const { args, io } = context;
  const metric = metricIn(args);
  const [timeout, budget] = [secondsIn(args, 'timeout'), secondsIn(args, 'budget')];
  const tree = treeOf(io.cwd, { link: args.list('link') ?? [], copy: args.list('copy') ?? [] });
  const offered = await offeredIn(context, look, outcomes, tree);
  if (offered.length === 0) {
    context.say('Nothing to verify: there is no fix to apply.');
    return outcomes;
  }
  const workshop = new Workshop(tree);
  let verified: Verified;
  try {
    verified = await verify(
      {
        command,
        tree,
        cwd: io.cwd,
        env: io.env,
        candidates: offered,
        changesFor: async (ids) => changesIn(context, look, await withOnly(look, outcomes, new Set(ids))),
        memory: new KeptResults(State.of(tree.root, io.env), subjectOf(tree, [command, metric?.text])),
        metric,
        timeout,
        budget,
        signal: io.signal,
        starting: (what, number, seconds) =>
          context.say(
            `Run ${number}, ${what} …${seconds === undefined ? '' : ` (about ${Math.ceil(seconds)} s)`}`,
          ),
      },
      workshop,
    );
  } finally {
    const left = workshop.close();
    if (left !== undefined)
      context.warn(new Failure('A temporary folder could not be removed', left, 'Remove it by hand.'));
  }
  for (const line of tableOf(offered, verified, args.text('verify') ?? command.join(' '))) context.say(line);
  const taken = new Set(
    offered.flatMap(({ id, finding }) => (isTaken(finding, verified.verdicts.get(id)) ? [id] : [])),
  );
  return withOnly(look, outcomes, taken);
}

function isTaken({ safety }: Finding, verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'verified' || (verdict?.kind !== 'rejected' && safety === 'safe');
}

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
          groups: changedLines(parser, preview.before, preview.after),
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
    const decide: Decide = (finding, preview) =>
      ids.has(idOf(outcome.file, finding)) ? policy(finding, preview) : { kind: 'skip' };
    const again = isChanged(outcome) ? await engine.repair(outcome.file, decide) : outcome;
    repaired.push(again.kind === 'outcome' ? again : outcome);
  }
  return eachBesideOnce({ scans: repaired.map(({ remaining }) => remaining), outcomes: repaired });
}

function changesIn({ io }: Context, look: Look, outcomes: readonly Outcome[]): readonly Change[] {
  return outcomes.filter(isChanged).flatMap((outcome) => changesOf(io.cwd, look, outcome));
}

function idOf({ path }: SourceFile, { key }: Finding): string {
  return `${path}\n${key}`;
}

const WORDS: Readonly<Record<Verdict['kind'], string>> = {
  verified: 'verified',
  rejected: 'rejected',
  idle: 'not run',
  undecided: 'undecided',
};

function tableOf(offered: readonly Offered[], verified: Verified, command: string): readonly string[] {
  const { verdicts, before, after, compared, runs, seconds } = verified;
  const [trainer] = trainersOf(before.records);
  const where = [
    ...(trainer?.torch ? [`torch ${trainer.torch}`] : []),
    trainer === undefined || trainer.devices.length === 0
      ? 'no GPU'
      : trainer.devices.map(({ name }) => name).join(', '),
    `${plural(runs, 'run')} in ${Math.round(seconds)} s`,
  ];
  const rows = after === undefined ? [] : memoryRows(rowsOf(variantOf([before]), variantOf([after])));
  return [
    `By \`${printable(command)}\` (${where.join(', ')}); compared: ${compared.join(', ')}, exit code, memory:`,
    ...offered.map(({ id, file, finding }) => {
      const verdict = verdicts.get(id) ?? { kind: 'undecided', because: 'it was not tried' };
      const fate = isTaken(finding, verdict) ? 'taken' : 'left';
      return `  ${WORDS[verdict.kind].padEnd(9)} ${fate.padEnd(5)} ${placeText(printable(file.path), finding.at)} ${finding.transform}${whyOf(verdict)}`;
    }),
    ...rows.flatMap(({ label, unit, before: from, after: to }) =>
      from === undefined || to === undefined
        ? []
        : [`  ${label}: ${amountsWords(from.median, to.median, unit)}`],
    ),
  ];
}

function whyOf(verdict: Verdict): string {
  if (verdict.kind === 'verified') return '';
  if (verdict.kind === 'idle') return `: nothing of its change at line ${verdict.line} was executed`;
  return `: ${printable(verdict.because)}`;
}
