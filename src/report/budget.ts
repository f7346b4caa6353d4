import { type Card, leastOf, SOLD } from '../budget/cards.js';
import type { Documented, DocumentedStep } from '../budget/documented.js';
import { type Fit, type Verdict, verdictOf } from '../budget/fit.js';
import type { Budget, PhaseName, Row, RowName, Run } from '../budget/memory.js';
import { countOf, gibibytes, gigabytes, rangeText } from '../budget/quantity.js';
import type { Source } from '../run/draft.js';
import { clip, widthOf } from './cells.js';
import { shellWord, wrap } from './prose.js';
import type { View } from './report.js';
import { GAP, type TableCell, table } from './table.js';

type Style = Pick<View, 'paint' | 'width'>;

/** What `memfix budget` has to say about one run. */
export interface BudgetReport {
  readonly run: Run;
  readonly budget: Budget;
  readonly assumptions: readonly string[];
  /** Where each value is from, for a run that was read. */
  readonly sources?: readonly Source[];
  readonly card?: Card;
  readonly fit?: Fit;
  /** What `fit` is about. */
  readonly goal?: Card;
  /** The script that was read. */
  readonly path?: string;
}

/** Columns below which a source is not folded further. */
const NARROWEST = 20;

const LABELS: Readonly<Record<RowName, string>> = {
  weights: 'weights',
  others: 'other models',
  adapters: 'adapters',
  gradients: 'gradients',
  optimizer: 'optimizer state',
  activations: 'activations',
  logits: 'logits',
  casts: 'autocast copies',
  cache: 'key-value cache',
  temporaries: 'temporaries',
  buckets: 'buckets',
  gathered: 'gathered layers',
  workspaces: 'workspaces',
  overhead: 'overhead',
};

/** Parts in their order, and what they are called. */
export const PART_NAMES = Object.entries(LABELS) as readonly (readonly [RowName, string])[];

export const PHASES: Readonly<Record<PhaseName, string>> = {
  forward: 'loss, forward',
  loss: 'loss, backward',
  backward: 'last block, backward',
  first: 'first block, backward',
  embedding: 'embedding, backward',
  step: 'optimizer step',
  generate: 'generation',
};

const MARGIN = '  ';
const MEASURE = 100;

export function renderBudget(report: BudgetReport, style: Style): string {
  const { run, budget, assumptions, sources, card, fit } = report;
  const { paint } = style;
  const lines = [
    ...wrap(headline(run), style.width, { first: '', rest: MARGIN }).map(paint.bold),
    '',
    ...(sources === undefined ? [] : [...sourceTable(sources, style), '']),
    ...rowTable(budget, style),
    '',
    ...phaseTable(budget, style),
    '',
    paint.bold(`Does it fit?${run.gpus > 1 ? ' (each GPU)' : ''}`),
    ...(card === undefined ? [paint.dim(`${MARGIN}a card as it is sold, and what of it is usable`)] : []),
    ...(card === undefined ? verdicts(budget, style) : cardVerdict(budget, card, style)),
    ...(fit === undefined ? [] : ['', ...fitLines(fit, report, style)]),
    '',
    paint.bold('What this takes for granted'),
    ...bullets(assumptions, style),
  ];
  return `${lines.join('\n')}\n`;
}

function headline(run: Run): string {
  const { parameters, lora, dtype, optimizer, batch, sequence, shape, gpus, parallel } = run;
  const size = shape.kind === 'convolutional' ? shape.model : `${shape.layers} layers × ${shape.hidden}`;
  const parts = [
    `${countOf(parameters)} parameters, ${dtype}`,
    ...(lora === undefined ? [] : [`LoRA rank ${lora.rank}`]),
    ...(run.task === 'generate' ? ['generation'] : [optimizer]),
    ...(run.given.activations === undefined ? [`batch ${batch} × ${sequence}`, size] : []),
    ...(run.checkpointing ? ['checkpointing'] : []),
    ...(gpus > 1
      ? [`${gpus} GPUs, ${run.zero === undefined ? `${parallel} parallel` : `ZeRO-${run.zero}`}`]
      : []),
    ...(run.offload === 'none' ? [] : [`offload: ${run.offload}`]),
  ];
  return parts.join(' · ');
}

function sourceTable(sources: readonly Source[], { paint, width }: Style): string[] {
  const widest = (texts: readonly string[]) => Math.max(...texts.map(widthOf));
  const used =
    MARGIN.length + widest(sources.map(({ name }) => name)) + widest(sources.map(({ value }) => value));
  const room = Math.max(width - used - 2 * GAP.length, NARROWEST);
  return [
    paint.bold('What the files say'),
    ...table(
      sources.flatMap(({ name, value, place, words, isAssumed }) => {
        const spot = place === undefined || widthOf(place) <= room ? place : `…${place.slice(1 - room)}`;
        const whole = spot === undefined ? words : `${spot}${GAP}${words}`;
        const told = widthOf(whole) <= room ? [whole] : wrap(whole, room, { first: '', rest: '' });
        return told.map((line, at) => [
          { text: at === 0 ? MARGIN + name : '' },
          { text: at === 0 ? value : '', paint: isAssumed ? paint.yellow : paint.bold },
          { text: clip(line, room), paint: paint.dim },
        ]);
      }),
    ),
  ];
}

function rowTable({ rows, at, peak, low, high, host }: Budget, { paint, width }: Style): string[] {
  const amount = (bytes: number): TableCell => ({ text: gibibytes(bytes), align: 'right' });
  const how = ({ how: words, host: away }: Row) =>
    away > 0 ? `in host memory: ${gibibytes(away)} = ${words}` : words;
  const names = [...rows.map(({ name }) => LABELS[name].length), 'host memory'.length];
  const beside = MARGIN.length + Math.max(...names) + 2 * GAP.length + gibibytes(peak).length;
  const shown = (words: string) => clip(words, Math.max(width - beside, 20));
  return table([
    ...rows.map((row) => [
      { text: MARGIN + LABELS[row.name] },
      amount(row.bytes),
      { text: shown(how(row)), paint: row.given ? paint.yellow : paint.dim },
    ]),
    [
      { text: `${MARGIN}peak`, paint: paint.bold },
      { ...amount(peak), paint: paint.bold },
      { text: shown(`${rangeText(low, high)}; at: ${PHASES[at.name]}`), paint: paint.dim },
    ],
    ...(host > 0 ? [[{ text: `${MARGIN}host memory` }, amount(host)]] : []),
  ]);
}

function phaseTable({ phases, peak }: Budget, { paint, width }: Style): string[] {
  if (phases.length < 2) return [];
  const longest = Math.min(30, Math.max(10, width - 40));
  return [
    paint.bold('Over one step'),
    ...table(
      phases.map(({ name, bytes }) => [
        { text: MARGIN + PHASES[name] },
        { text: gibibytes(bytes), align: 'right' as const },
        { text: '█'.repeat(Math.max(1, Math.round((longest * bytes) / peak))), paint: paint.dim },
      ]),
    ),
  ];
}

/** Columns of a verdict before the names of cards. */
const VERDICT = 52;

/** The cards around the answer; those far below and above it say nothing new. */
function verdicts(budget: Budget, { paint, width }: Style): string[] {
  const cards = SOLD.map(([size, names]) => ({ size, names, bytes: leastOf(names) }));
  const first = cards.findIndex(({ bytes }) => verdictOf(budget, bytes) !== 'no');
  const at = first === -1 ? cards.length : first;
  return table(
    cards.slice(Math.max(0, at - 2), at + 3).map(({ size, names, bytes }) => {
      const verdict = verdictOf(budget, bytes);
      return [
        { text: `${MARGIN}${size} GB`, align: 'right' as const },
        { text: gibibytes(bytes), align: 'right' as const },
        { text: verdictText(verdict, bytes - budget.peak, budget), paint: toneOf(verdict, paint) },
        { text: clip(names.join(', '), Math.max(width - VERDICT, 0)), paint: paint.dim },
      ];
    }),
  );
}

function cardVerdict(budget: Budget, { name, bytes }: Card, { paint }: Style): string[] {
  const verdict = verdictOf(budget, bytes);
  const text = `${MARGIN}${name}, ${gibibytes(bytes)} usable: ${verdictText(verdict, bytes - budget.peak, budget)}`;
  return [toneOf(verdict, paint)(text)];
}

function verdictText(verdict: Verdict, spare: number, { high }: Budget): string {
  if (verdict !== 'no' && high === Infinity) return `open, ${gibibytes(spare)} for what is not counted`;
  return verdict === 'no' ? `no, ${gibibytes(-spare)} too much` : `${verdict}, ${gibibytes(spare)} to spare`;
}

function toneOf(verdict: Verdict, paint: Style['paint']): (text: string) => string {
  return { fits: paint.green, tight: paint.yellow, no: paint.red }[verdict];
}

function fitLines(
  { size, verdict, steps, budget }: Fit,
  { goal: card, path = '.' }: Pick<BudgetReport, 'goal' | 'path'>,
  style: Style,
): string[] {
  const { paint } = style;
  const goal = card === undefined ? gibibytes(size) : `${card.name}, ${gibibytes(size)} usable`;
  const isOpen = budget.high === Infinity;
  if (steps.length === 0)
    return [
      paint.bold(`To fit ${goal}`),
      ...(isOpen
        ? openLines(size - budget.peak, style)
        : [`${MARGIN}nothing has to change: it ${said(verdict)}`]),
    ];
  const ids = steps.flatMap(({ transform }) => transform ?? []);
  return [
    paint.bold(
      verdict === 'no'
        ? `To fit ${goal}: nothing reaches it; this comes closest`
        : `To fit ${goal}, gentlest first${verdict === 'tight' && !isOpen ? ' (tight: within what the estimate may be off)' : ''}`,
    ),
    ...steps.flatMap((step, index) => [
      `${MARGIN}${index + 1}. ${paint.bold(step.name)}: ${gibibytes(step.before)} → ${gibibytes(step.after)}`,
      ...wrap(`${step.what}; ${step.price}`, measure(style), { first: `${MARGIN}   `, rest: `${MARGIN}   ` }),
      `${MARGIN}   ${paint.dim(step.transform === undefined ? 'a setting of your run; no transform writes it' : `transform: ${step.transform}`)}`,
    ]),
    `${MARGIN}Then it needs ${gibibytes(budget.peak)}${verdict === 'no' ? ', still too much: use more or larger GPUs' : ''}.`,
    ...(isOpen && verdict !== 'no' ? openLines(size - budget.peak, style) : []),
    ...(ids.length === 0
      ? []
      : [
          `${MARGIN}See where:`,
          `${MARGIN}${MARGIN}memfix check --select ${ids.join(',')} --unsafe-fixes ${shellWord(path)}`,
        ]),
  ];
}

/** Something is there that is not counted, so that nobody can say that it fits. */
function openLines(spare: number, style: Style): string[] {
  return wrap(
    `Whether it fits cannot be told: ${gibibytes(spare)} are left for what is not counted, see below.`,
    measure(style),
    { first: MARGIN, rest: MARGIN },
  );
}

function said(verdict: Fit['verdict']): string {
  return verdict === 'tight' ? 'fits, within what the estimate may be off' : 'fits';
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
export function budgetJson({ run, budget, assumptions, sources, card, fit, goal }: BudgetReport): unknown {
  const { family, ...shape } =
    run.shape.kind === 'transformer' ? run.shape : { ...run.shape, family: undefined };
  return {
    version: 2,
    run: { ...run, shape: { ...shape, measured: family?.measured ?? true }, lora: run.lora ?? null },
    sources: (sources ?? []).map((source) => ({ ...source, place: source.place ?? null })),
    rows: budget.rows,
    phases: budget.phases,
    peak: budget.peak,
    low: budget.low,
    high: budget.high,
    at: budget.at.name,
    host: budget.host,
    gpus: SOLD.map(([size, names]) => ({
      size: size * 2 ** 30,
      usable: leastOf(names),
      names,
      verdict: verdictOf(budget, leastOf(names)),
    })),
    card: card === undefined ? null : { ...card, verdict: verdictOf(budget, card.bytes) },
    assumptions,
    fit:
      fit === undefined
        ? null
        : {
            size: fit.size,
            goal: goal?.name ?? null,
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
