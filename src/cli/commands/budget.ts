import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { assumptionsOf } from '../../budget/assumptions.js';
import { CARD_NAMES, type Card, cardNamed, cardSized } from '../../budget/cards.js';
import { DOCUMENTED, documented } from '../../budget/documented.js';
import { type Fit, fitInto } from '../../budget/fit.js';
import { budgetOf } from '../../budget/memory.js';
import {
  type BudgetReport,
  budgetJson,
  documentedJson,
  renderBudget,
  renderDocumented,
} from '../../report/budget.js';
import { budgetHtml } from '../../report/budget-html.js';
import { budgetPlot } from '../../report/budget-plot.js';
import { type RunsReport, renderRuns, runsJson } from '../../report/budget-runs.js';
import type { Arguments } from '../arguments.js';
import { isModelFolder } from '../budget-model.js';
import { Fitter } from '../budget-patch.js';
import { subjectOf } from '../budget-subject.js';
import { type Context, EXIT } from '../context.js';
import { PAGE_FORMATS } from '../formats.js';

export async function budget(context: Context): Promise<number> {
  const { args, view, io } = context;
  const isJson = args.oneOf('output-format', PAGE_FORMATS, 'full') === 'json';
  const write = (json: () => unknown, text: () => string) =>
    context.out(isJson ? `${JSON.stringify(json(), undefined, 2)}\n` : text());
  if (args.text('example') !== undefined) {
    if (args.operands.length > 0) throw args.misuse('`--example` brings its own model; leave the other out.');
    const told = documented(args.oneOf('example', DOCUMENTED, '13b'));
    write(
      () => documentedJson(told),
      () => renderDocumented(told, view),
    );
    return EXIT.clean;
  }
  const card = cardIn(args);
  // Without a word it is about the folder.
  if (args.operands.every((word) => isFolder(resolve(io.cwd, word)) && !isModelFolder(word, io.cwd))) {
    const report = await projectReport(context, card);
    write(
      () => runsJson(report),
      () => renderRuns(report, view),
    );
    return EXIT.clean;
  }
  const { run, remarks, sources, script, around } = await subjectOf(context);
  const goal = goalIn(args);
  const size = goal?.bytes;
  const fitter =
    script === undefined ? undefined : new Fitter(script, await context.catalogue.transforms(), around);
  const offered = size === undefined ? undefined : await fitter?.offered();
  const own = size === undefined ? undefined : fitInto(run, size, offered);
  // Where the code's own transforms do not reach it, what a person would have to change comes in, too.
  const fit =
    own?.verdict === 'no' && offered !== undefined ? byHandToo(fitInto(run, size ?? 0), offered) : own;
  const report: BudgetReport = {
    run,
    budget: budgetOf(run),
    assumptions: [...remarks, ...assumptionsOf(run)],
    ...(sources !== undefined && { sources }),
    ...(card !== undefined && { card }),
    ...(fit !== undefined && { fit }),
    ...(goal !== undefined && { goal }),
    ...(script !== undefined && { path: script.path }),
  };
  const plot = args.text('plot');
  if (plot !== undefined) {
    const isPage = /\.html?$/.test(plot);
    context.write(
      plot,
      isPage ? budgetHtml(report, `memfix budget ${args.operands.join(' ')}`) : budgetPlot(report),
    );
  }
  if (args.flag('diff')) {
    if (fit === undefined || fitter === undefined) {
      throw args.misuse('`--diff` writes the changes that `--fit SIZE` proposes for a training script.');
    }
    const { patch, comments } = await fitter.patch(fit.steps);
    context.out(patch);
    if (patch.length === 0) {
      const why = fit.steps.length === 0 ? 'it fits as it is' : 'no transform writes what would make it fit';
      context.say(`There is nothing to write: ${why}.`);
      for (const comment of comments) context.say(comment);
    }
  } else {
    write(
      () => budgetJson(report),
      () => renderBudget(report, view),
    );
  }
  return fit?.verdict === 'no' ? EXIT.findings : EXIT.clean;
}

/** All runs of a folder, by the scripts that make them. */
async function projectReport(context: Context, card: Card | undefined): Promise<RunsReport> {
  const { prepare } = await import('../looking.js');
  const { runsOf } = await import('../budget-runs.js');
  const found = await runsOf(await prepare(context));
  return {
    runs: found.flatMap((each) => ('untold' in each ? [] : [each])),
    untold: found.flatMap((each) => ('untold' in each ? [each] : [])),
    ...(card !== undefined && { card }),
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function cardIn(args: Arguments) {
  const text = args.text('gpu');
  if (text === undefined) return undefined;
  const card = cardNamed(text);
  if (card !== undefined) return card;
  throw args.misuse(`\`--gpu\` cannot be \`${text}\`: memfix knows ${CARD_NAMES.join(', ')}.`);
}

/** A size, or a card by its name. */
function goalIn(args: Arguments): Card | undefined {
  const text = args.text('fit');
  if (text === undefined) return undefined;
  // `4090` is a card, not a number of gigabytes.
  const card = cardNamed(text) ?? cardSized(text);
  if (card !== undefined) return card;
  throw args.misuse(
    `\`--fit\` cannot be \`${text}\`: it is the size of a card, such as 24GB, what CUDA reports of one, such as 23.6GiB, or a card by its name, such as a100-80gb.`,
  );
}

/** A transform that finds nothing to do in this code writes no step. */
function byHandToo(fit: Fit, offered: (transform: string | undefined) => boolean): Fit {
  const steps = fit.steps.map((step) => (offered(step.transform) ? step : { ...step, transform: undefined }));
  return { ...fit, steps };
}
