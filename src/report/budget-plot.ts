import type { Budget, Phase, RowName } from '../budget/memory.js';
import { gibibytes } from '../budget/quantity.js';
import { type BudgetReport, PART_NAMES, PHASES } from './budget.js';

const COLOURS: Readonly<Record<RowName, string>> = {
  weights: '#4269d0',
  others: '#2a4494',
  adapters: '#6cc5b0',
  gradients: '#efb118',
  optimizer: '#ff725c',
  activations: '#3ca951',
  logits: '#a463f2',
  casts: '#97bbf5',
  cache: '#9c6b4e',
  temporaries: '#ff8ab7',
  buckets: '#d8b365',
  gathered: '#8dd3c7',
  workspaces: '#9498a0',
  overhead: '#bbbbbb',
};
const WIDTH = 760;
const LEFT = 170;
const RIGHT = 90;
const BAR = 22;
const GAP = 8;
const TITLE = 34;
const LEGEND = 20;

/** What fills the card over one step, as a picture: now, and after what `--fit` proposes. */
export function budgetPlot({ budget, card, fit }: BudgetReport): string {
  const charts: readonly (readonly [string, Budget])[] = [
    ['Over one step', budget],
    ...(fit === undefined || fit.steps.length === 0 ? [] : [['After what is proposed', fit.budget] as const]),
  ];
  const limit = card?.bytes ?? fit?.size;
  const most =
    Math.max(limit ?? 0, ...charts.map(([, { high, peak }]) => (high < Infinity ? high : peak))) * 1.02;
  const scale = (bytes: number) => (bytes / most) * (WIDTH - LEFT - RIGHT);
  let y = 8;
  const parts: string[] = [];
  for (const [title, { phases }] of charts) {
    parts.push(text(8, y + 20, title, 'font-weight="bold" font-size="15"'));
    y += TITLE;
    const top = y;
    for (const phase of phases) {
      parts.push(...bar(phase, y, scale));
      y += BAR + GAP;
    }
    if (limit !== undefined) {
      const x = (LEFT + scale(limit)).toFixed(1);
      parts.push(
        `<line x1="${x}" x2="${x}" y1="${top - 4}" y2="${y - GAP + 4}" stroke="#d62728" stroke-dasharray="4 3"/>`,
        text(LEFT + scale(limit), top - 8, gibibytes(limit), 'text-anchor="middle" fill="#d62728"'),
      );
    }
  }
  const shown = PART_NAMES.filter(([name]) =>
    charts.some(([, { phases }]) => phases.some((phase) => (phase.parts[name] ?? 0) > 0)),
  );
  for (const [index, [name, label]] of shown.entries()) {
    const x = 8 + (index % 5) * 148;
    const line = y + 8 + Math.floor(index / 5) * LEGEND;
    parts.push(
      `<rect x="${x}" y="${line}" width="12" height="12" fill="${COLOURS[name]}"/>`,
      text(x + 18, line + 11, label),
    );
  }
  const height = y + 16 + Math.ceil(shown.length / 5) * LEGEND;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;
}

function* bar(phase: Phase, y: number, scale: (bytes: number) => number): Generator<string> {
  yield text(LEFT - 8, y + 15, PHASES[phase.name], 'text-anchor="end"');
  let x = LEFT;
  for (const [name, label] of PART_NAMES) {
    const bytes = phase.parts[name] ?? 0;
    if (bytes <= 0) continue;
    const width = scale(bytes);
    yield `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${COLOURS[name]}"><title>${label}: ${gibibytes(bytes)}</title></rect>`;
    x += width;
  }
  yield text(x + 6, y + 15, gibibytes(phase.bytes));
}

function text(x: number, y: number, words: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y}" ${more}>${words}</text>`;
}
