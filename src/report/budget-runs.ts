import type { Card } from '../budget/cards.js';
import type { Budget, Run } from '../budget/memory.js';
import { gibibytes, rangeText } from '../budget/quantity.js';
import { printable } from './cells.js';
import { plural, wrap } from './prose.js';
import type { View } from './report.js';
import { type TableCell, table } from './table.js';

/** The runs of a project. */
export interface RunsReport {
  readonly runs: readonly {
    readonly path: string;
    readonly model: string;
    readonly run: Run;
    readonly budget: Budget;
  }[];
  /** Scripts that train, and of which a budget cannot be told. */
  readonly untold: readonly { readonly path: string; readonly untold: string }[];
  readonly card?: Card;
}

/** One line for each run, the largest first. */
export function renderRuns(
  { runs, untold, card }: RunsReport,
  { paint, width }: Pick<View, 'paint' | 'width'>,
): string {
  const right = (text: string): TableCell => ({ text, align: 'right' });
  const rows = [...runs]
    .sort((a, b) => b.budget.peak - a.budget.peak)
    .map(({ path, model, run, budget }) => [
      { text: printable(path), paint: paint.bold },
      { text: `${printable(model)}` },
      { text: `${run.dtype} · ${run.optimizer} · batch ${run.batch} × ${run.sequence}` },
      right(gibibytes(budget.peak)),
      { text: rangeText(budget.low, budget.high), paint: paint.dim },
      ...(card === undefined ? [] : [fitCell(budget, card, paint)]),
    ]);
  const skipped = untold.flatMap(({ path, untold: why }) =>
    wrap(`${printable(path)}: not told, since ${why}`, width, { first: '', rest: '  ' }).map(paint.dim),
  );
  const [first] = runs;
  const next =
    first === undefined
      ? untold.length === 0
        ? 'No script here trains a model that it names. Say its size, `memfix budget 7B`, or a script and the size, `memfix budget train.py 7B`; that of a convolutional network is measured: `torch.cuda.max_memory_allocated()` after a few steps.'
        : 'Give what is missing: `memfix budget <script> <7B | config.json>`.'
      : `${plural(runs.length, 'run')}; \`memfix budget ${printable(first.path)}\` shows where each value is from.`;
  return `${[...table(rows), ...skipped, ...(rows.length + skipped.length > 0 ? [''] : []), ...wrap(next, width, { first: '', rest: '' })].join('\n')}\n`;
}

function fitCell({ low, high }: Budget, card: Card, paint: View['paint']): TableCell {
  if (high <= card.bytes) return { text: `fits ${card.name}`, paint: paint.green };
  return low > card.bytes
    ? { text: `does not fit ${card.name}`, paint: paint.red }
    : { text: `may not fit ${card.name}`, paint: paint.yellow };
}

export function runsJson({ runs, untold, card }: RunsReport): unknown {
  return {
    version: 1,
    card: card ?? null,
    runs: runs.map(({ path, model, run, budget }) => ({
      ...{ path, model, dtype: run.dtype, optimizer: run.optimizer },
      ...{ batch: run.batch, sequence: run.sequence, gpus: run.gpus },
      ...{ peak: budget.peak, low: budget.low, high: budget.high },
      fits:
        card === undefined
          ? null
          : budget.high <= card.bytes
            ? 'yes'
            : budget.low > card.bytes
              ? 'no'
              : 'maybe',
    })),
    untold: untold.map(({ path, untold: because }) => ({ path, because })),
  };
}
