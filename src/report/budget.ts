import { CARDS } from '../budget/cards.js';
import type { Documented, DocumentedStep } from '../budget/documented.js';
import { type Fit, verdictOf } from '../budget/fit.js';
import type { Budget, Row, RowName, Run } from '../budget/memory.js';
import { countOf, gigabytes } from '../budget/quantity.js';
import { wrap } from './prose.js';
import type { View } from './report.js';
import { type TableCell, table } from './table.js';

type Style = Pick<View, 'paint' | 'width'>;

/** What `memfix budget` has to say about one run. */
export interface BudgetReport {
  readonly run: Run;
  readonly budget: Budget;
  readonly assumptions: readonly string[];
  readonly fit?: Fit;
}

const LABELS: Readonly<Record<RowName, string>> = {
  weights: 'weights',
  adapters: 'adapters',
  gradients: 'gradients',
  optimizer: 'optimizer state',
  activations: 'activations',
  logits: 'logits',
  casts: 'autocast copies',
  buckets: 'DDP buckets',
  gathered: 'gathered layers',
  overhead: 'overhead',
};

const MARGIN = '  ';
const MEASURE = 100;

export function renderBudget({ run, budget, assumptions, fit }: BudgetReport, style: Style): string {
  const { paint } = style;
  const lines = [
    paint.bold(headline(run)),
    '',
    ...rowTable(budget, style),
    '',
    paint.bold(run.gpus > 1 ? 'Does it fit? (each GPU)' : 'Does it fit?'),
    ...verdicts(budget.peak, style),
    ...(fit === undefined ? [] : ['', ...fitLines(fit, style)]),
    '',
    paint.bold('What this takes for granted'),
    ...bullets(assumptions, style),
  ];
  return `${lines.join('\n')}\n`;
}

function headline(run: Run): string {
  const { parameters, loraRank, dtype, optimizer, batch, sequence, shape, gpus, parallel } = run;
  const parts = [
    `${countOf(parameters)} parameters, ${dtype}`,
    ...(loraRank === undefined ? [] : [`LoRA rank ${loraRank}`]),
    optimizer,
    ...(run.given.activations === undefined
      ? [`batch ${batch} × ${sequence}`, `${shape.layers} layers × ${shape.hidden}`]
      : []),
    ...(run.checkpointing ? ['checkpointing'] : []),
    ...(gpus > 1 ? [`${gpus} GPUs, ${parallel} parallel`] : []),
    ...(run.offload === 'none' ? [] : [`offload: ${run.offload}`]),
  ];
  return parts.join(' · ');
}

function rowTable({ rows, total, step, host }: Budget, { paint }: Style): string[] {
  const amount = (bytes: number): TableCell => ({ text: gigabytes(bytes), align: 'right' });
  const how = ({ how: words, host: away }: Row) =>
    away > 0 ? `in host memory: ${gigabytes(away)} = ${words}` : words;
  return table([
    ...rows.map((row) => [
      { text: MARGIN + LABELS[row.name] },
      amount(row.bytes),
      { text: how(row), paint: row.given ? paint.yellow : paint.dim },
    ]),
    [
      { text: `${MARGIN}total`, paint: paint.bold },
      { ...amount(total), paint: paint.bold },
    ],
    ...(step > total
      ? [
          [
            { text: `${MARGIN}in the step`, paint: paint.bold },
            { ...amount(step), paint: paint.bold },
            { text: 'no activations, but temporaries of the optimizer', paint: paint.dim },
          ],
        ]
      : []),
    ...(host > 0 ? [[{ text: `${MARGIN}host memory` }, amount(host)]] : []),
  ]);
}

/** The sizes around the answer; those far below and above it say nothing new. */
function verdicts(peak: number, { paint }: Style): string[] {
  const first = CARDS.findIndex(({ size }) => verdictOf(peak, size * 1e9) !== 'no');
  const at = first === -1 ? CARDS.length : first;
  return table(
    CARDS.slice(Math.max(0, at - 2), at + 3).map(({ size, names }) => {
      const verdict = verdictOf(peak, size * 1e9);
      const spare = size * 1e9 - peak;
      const text =
        verdict === 'no' ? `no, ${gigabytes(-spare)} too much` : `${verdict}, ${gigabytes(spare)} to spare`;
      const tone = { fits: paint.green, tight: paint.yellow, no: paint.red }[verdict];
      return [
        { text: `${MARGIN}${size} GB`, align: 'right' as const },
        { text: names.join(', '), paint: paint.dim },
        { text, paint: tone },
      ];
    }),
  );
}

function fitLines({ size, verdict, steps, budget }: Fit, style: Style): string[] {
  const { paint } = style;
  const goal = gigabytes(size);
  if (steps.length === 0)
    return [paint.bold(`To fit ${goal}`), `${MARGIN}nothing has to change: it ${said(verdict)}`];
  const ids = steps.flatMap(({ transform }) => transform ?? []);
  return [
    paint.bold(
      verdict === 'no'
        ? `To fit ${goal}: nothing reaches it; this comes closest`
        : `To fit ${goal}, gentlest first${verdict === 'tight' ? ' (tight: less than a tenth to spare)' : ''}`,
    ),
    ...steps.flatMap((step, index) => [
      `${MARGIN}${index + 1}. ${paint.bold(step.name)}: ${gigabytes(step.before)} → ${gigabytes(step.after)}`,
      ...wrap(`${step.what}; ${step.price}`, measure(style), { first: `${MARGIN}   `, rest: `${MARGIN}   ` }),
      `${MARGIN}   ${paint.dim(step.transform === undefined ? 'a setting of your run; no transform writes it' : `transform: ${step.transform}`)}`,
    ]),
    `${MARGIN}Then it needs ${gigabytes(budget.peak)}${verdict === 'no' ? ', still too much: use more or larger GPUs' : ''}.`,
    ...(ids.length === 0
      ? []
      : [`${MARGIN}See where: memfix check --select ${ids.join(',')} --unsafe-fixes .`]),
  ];
}

function said(verdict: Fit['verdict']): string {
  return verdict === 'tight' ? 'fits, with less than a tenth to spare' : 'fits';
}

/** A documented budget: its own arithmetic, the same run computed, and what is wrong in it. */
export function renderDocumented({ document, steps, wrong }: Documented, style: Style): string {
  const { paint } = style;
  const lines = [
    paint.bold(document),
    ...steps.flatMap((step) => ['', ...stepTable(step, style)]),
    '',
    paint.bold('What is wrong in it'),
    ...wrong.flatMap((text, index) =>
      wrap(text, measure(style), { first: `${MARGIN}${index + 1}. `, rest: `${MARGIN}   ` }),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function stepTable(
  { name, computedAs, rows, claimed, computed }: DocumentedStep,
  { paint }: Style,
): string[] {
  const cell = (bytes: number | undefined): TableCell => ({
    text: bytes === undefined ? '–' : gigabytes(bytes),
    align: 'right',
  });
  const lines = table([
    [
      { text: name, paint: paint.bold },
      { text: 'documented', paint: paint.dim, align: 'right' },
      { text: 'computed', paint: paint.dim, align: 'right' },
    ],
    ...rows.map((row) => [{ text: MARGIN + LABELS[row.name] }, cell(row.claimed), cell(row.computed)]),
    [
      { text: `${MARGIN}total`, paint: paint.bold },
      { ...cell(claimed), paint: paint.bold },
      { ...cell(computed), paint: paint.bold },
    ],
  ]);
  return [...lines, paint.dim(`${MARGIN}computed: ${computedAs}`)];
}

function bullets(items: readonly string[], style: Style): string[] {
  return items.flatMap((item) => wrap(item, measure(style), { first: `${MARGIN}• `, rest: `${MARGIN}  ` }));
}

function measure({ width }: Style): number {
  return Math.min(width, MEASURE);
}

/** The document of `memfix budget --output-format json`. Sizes are bytes; fields are only ever added within a version. */
export function budgetJson({ run, budget, assumptions, fit }: BudgetReport): unknown {
  return {
    version: 1,
    run: { ...run, loraRank: run.loraRank ?? null },
    rows: budget.rows,
    total: budget.total,
    step: budget.step,
    peak: budget.peak,
    host: budget.host,
    gpus: CARDS.map(({ size, names }) => ({
      size: size * 1e9,
      names,
      verdict: verdictOf(budget.peak, size * 1e9),
    })),
    assumptions,
    fit:
      fit === undefined
        ? null
        : {
            size: fit.size,
            verdict: fit.verdict,
            steps: fit.steps.map((step) => ({ ...step, transform: step.transform ?? null })),
            peak: fit.budget.peak,
            rows: fit.budget.rows,
          },
  };
}

export function documentedJson({ name, document, steps, wrong }: Documented): unknown {
  return {
    version: 1,
    example: name,
    document,
    steps: steps.map((step) => ({
      ...step,
      rows: step.rows.map((row) => ({ ...row, computed: row.computed ?? null })),
    })),
    wrong,
  };
}
