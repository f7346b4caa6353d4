import { relative, resolve } from 'node:path';
import { printable } from '../../report/cells.js';
import { plural } from '../../report/prose.js';
import { type Plan, reportOf } from '../../report/prove/assemble.js';
import { endOf, type Verdict } from '../../report/prove/compare.js';
import { nothingJson, proveJson } from '../../report/prove/json.js';
import { endingWords, ranOutOfMemory, type Trial } from '../../report/prove/record.js';
import { renderProve } from '../../report/prove/render.js';
import type { ProveReport } from '../../report/prove/report.js';
import { bytes } from '../../report/prove/words.js';
import { Failure } from '../../workspace/failure.js';
import { slashed } from '../../workspace/places.js';
import { type Change, guardTargets } from '../../workspace/prove/fixes.js';
import { prepareFolder, readFolder } from '../../workspace/prove/prepared.js';
import { runAll } from '../../workspace/prove/runs.js';
import { type Extra, MOST_COPIED, stateOf, type Tree, treeOf } from '../../workspace/prove/tree.js';
import { Workshop } from '../../workspace/prove/workshop.js';
import type { Arguments } from '../arguments.js';
import { type Context, EXIT } from '../context.js';
import { PAGE_FORMATS } from '../formats.js';
import { fixesIn, type Proposal } from '../proposal.js';
import { metricIn, secondsIn } from '../run-wishes.js';

/** More names than this are a list nobody reads. */
const NAMED = 5;

export async function prove(context: Context): Promise<number> {
  const { args, io } = context;
  if (args.flag('apply')) {
    if (args.text('read') === undefined) wishOf(args);
    const { apply } = await import('./apply.js');
    return apply(context);
  }
  const isJson = args.flag('json') || args.oneOf('output-format', PAGE_FORMATS, 'full') === 'json';
  const tell = (report: ProveReport) => {
    context.out(
      isJson ? `${JSON.stringify(proveJson(report), undefined, 2)}\n` : renderProve(report, context.view),
    );
    return exitCodes[report.comparison.verdict];
  };
  const read = args.text('read');
  if (read !== undefined) {
    if (args.rest !== undefined) throw args.misuse('`--read` runs nothing; leave the command out.');
    const { plan, runs } = readFolder(resolve(io.cwd, read));
    return tell(reportOf(plan, runs));
  }
  const wish = wishOf(args);
  const proposal = await fixesIn(context, wish.perFix);
  if (proposal.fixes.length === 0) {
    const isWaiting = proposal.waiting > 0;
    context.say(
      'Nothing to prove: there is no fix to apply.' +
        (isWaiting ? ` ${plural(proposal.waiting, 'fix', 'fixes')} would need \`--unsafe-fixes\`.` : ''),
    );
    if (isJson) context.out(`${JSON.stringify(nothingJson(wish.command), undefined, 2)}\n`);
    return EXIT.clean;
  }
  const tree = treeOf(io.cwd, { link: args.list('link') ?? [], copy: args.list('copy') ?? [] });
  const targets = (proposal.changes.get('after') ?? []).map(({ target }) => target);
  guardTargets(tree.root, targets);
  const plan: Plan = {
    ...wish,
    fixes: proposal.fixes,
    changed: targets.map((target) => slashed(relative(tree.root, target))),
    perFix: wish.perFix && proposal.fixes.length > 1,
  };
  sayWhatIsCopied(context, tree);
  const folder = args.text('prepare');
  if (folder !== undefined) return prepare(context, resolve(io.cwd, folder), plan, tree, proposal.changes);
  return tell(await compared(context, plan, tree, proposal));
}

const exitCodes: Readonly<Record<Verdict, number>> = {
  better: EXIT.clean,
  equal: EXIT.clean,
  rescued: EXIT.clean,
  worse: EXIT.findings,
  different: EXIT.findings,
  broken: EXIT.findings,
  unproven: EXIT.error,
  idle: EXIT.error,
};

async function compared(context: Context, plan: Plan, tree: Tree, proposal: Proposal): Promise<ProveReport> {
  const { io, args } = context;
  const state = stateOf(tree);
  const workshop = new Workshop(tree);
  try {
    const runs = await runAll(
      {
        plan,
        tree,
        cwd: io.cwd,
        changes: proposal.changes,
        env: io.env,
        timeout: secondsIn(args, 'timeout'),
        metric: metricIn(args)?.pattern,
        deterministic: args.flag('deterministic'),
        signal: io.signal,
        starting: (name, kind) => context.say(`${name}, ${kind}: running …`),
        ended: (name, kind, { ending, seconds }) =>
          context.say(`${name}, ${kind}: exit ${endingWords(ending)}, ${seconds.toFixed(1)} s`),
      },
      workshop,
    );
    const report = reportOf(plan, runs);
    const { verdict } = report.comparison;
    if (verdict === 'unproven') throw unproven(endOf(runs.before), tree);
    if (verdict === 'broken') context.warn(broken(endOf(runs.after)));
    return report;
  } finally {
    const left = workshop.close();
    if (left !== undefined)
      warnOf(context, 'A temporary folder could not be removed', left, 'Remove it by hand.');
    if (stateOf(tree) !== state) {
      warnOf(
        context,
        'Your tree changed meanwhile',
        '`git status` says something else than before; memfix wrote nothing there',
        'See with `git status` whether it was you, or the command through a link or a path outside the copy.',
      );
    }
  }
}

function warnOf(context: Context, title: string, detail: string, next: string): void {
  context.warn(new Failure(title, detail, next));
}

function prepare(
  context: Context,
  folder: string,
  plan: Plan,
  tree: Tree,
  changes: ReadonlyMap<string, readonly Change[]>,
): number {
  if ((context.args.list('link') ?? []).length > 0) {
    throw context.args.misuse('A link leads nowhere on another machine; take `--copy` with `--prepare`.');
  }
  if (context.args.flag('deterministic'))
    throw context.args.misuse('`--deterministic` goes with `--prepare` only where `--apply` does, too.');
  prepareFolder(folder, plan, { ...tree, linked: [] }, context.io.cwd, changes);
  context.say(
    `${folder} is ready. There: \`sh run.sh\`. Then here: \`memfix prove --read ${context.args.text('prepare')}\`.`,
  );
  return EXIT.clean;
}

function broken(trial: Trial): Failure {
  return new Failure(
    'The fixes broke your command',
    lastWords('With them', trial),
    'Please report this with the code it happened on; `--per-fix` tells which fix it was, `--ignore` leaves it out.',
  );
}

/** The command fails without any fix, so there is nothing to compare with. */
function unproven(trial: Trial, tree: Tree): Failure {
  const missing =
    tree.left.length === 0
      ? ''
      : ` The copy lacks what git ignores: ${named(tree.left)}; \`--link\` or \`--copy\` it.`;
  const said = lastWords('Unchanged', trial);
  if (ranOutOfMemory(trial)) {
    const next = `Give a smaller batch, or try \`--unsafe-fixes\`; \`memfix budget\` tells what fits.${missing}`;
    return new Failure('The command runs out of memory with and without the fixes', said, next);
  }
  return trial.ending.kind === 'timed out'
    ? new Failure(
        'The command does not end',
        said,
        `Give a shorter one, or a longer \`--timeout\`.${missing}`,
      )
    : new Failure('The command fails as it is', said, `Give a command that ends well by itself.${missing}`);
}

function lastWords(when: string, { ending, tail }: Trial): string {
  const how = ending.kind === 'exited' ? `it exits with ${ending.code}` : `it is ${endingWords(ending)}`;
  return tail === ''
    ? `${when}, ${how}, and it printed nothing.`
    : `${when}, ${how}. The last it printed:\n${tail
        .split('\n')
        .map((line) => `  ${printable(line)}`)
        .join('\n')}`;
}

function sayWhatIsCopied(
  context: Context,
  { root, commit, files, uncommitted, copied, linked, left }: Tree,
): void {
  const own =
    commit === undefined
      ? `${root}, which is no git repository with a commit`
      : `${plural(files.length, 'file')}${uncommitted > 0 ? `, ${uncommitted} with uncommitted changes` : ''}`;
  context.say(`Copies hold: ${own}.`);
  if (commit !== undefined && copied.length > 0) context.say(`Ignored by git, copied: ${named(copied)}.`);
  if (linked.length > 0) context.say(`Linked, not copied: ${linked.map(({ path }) => path).join(', ')}.`);
  if (left.length > 0) {
    context.say(
      `Not in the copies, being more than ${bytes(MOST_COPIED)} together: ${named(left)}. If the command reads it: ` +
        '`--link` to read it in place (what is written there is written in your tree), or `--copy`.',
    );
  }
}

function named(extras: readonly Extra[]): string {
  const shown = extras.slice(0, NAMED).map(({ path }) => path);
  return shown.join(', ') + (extras.length > NAMED ? ` and ${extras.length - NAMED} more` : '');
}

function wishOf(args: Arguments): Omit<Plan, 'fixes' | 'changed'> {
  const command = args.rest;
  if (command === undefined || command.length === 0) {
    throw args.misuse(
      '`memfix prove` needs your command after `--`, as in `memfix prove . -- python train.py`.',
    );
  }
  if (args.readsStdin) throw args.misuse('`memfix prove` runs files; it cannot read standard input.');
  const metric = metricIn(args)?.text;
  secondsIn(args, 'timeout');
  return {
    command,
    repeats: repeatsIn(args),
    counts: args.choice('counts') !== false,
    perFix: args.flag('per-fix'),
    metric,
  };
}

function repeatsIn(args: Arguments): number {
  const text = args.text('repeat') ?? '1';
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw args.misuse(`\`--repeat\` cannot be \`${text}\`: it is a whole number from 1 to 999.`);
}
