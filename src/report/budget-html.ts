import { gibibytes, rangeText } from '../budget/quantity.js';
import { type BudgetReport, PART_NAMES, PHASES, renderBudget } from './budget.js';
import { budgetPlot } from './budget-plot.js';
import { noColor } from './paint.js';

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}' +
  'table{border-collapse:collapse}td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ddd}' +
  'td:first-child,th:first-child{text-align:left}pre{background:#f6f6f6;padding:1rem;overflow-x:auto}svg{width:100%}';

/** The budget as a page by itself: the picture, its figures, and all that the terminal is told. */
export function budgetHtml(report: BudgetReport, title: string): string {
  const { budget, fit } = report;
  const tables = [
    figures('Over one step', report.budget),
    ...(fit === undefined || fit.steps.length === 0 ? [] : [figures('After what is proposed', fit.budget)]),
  ];
  const text = renderBudget(report, { paint: noColor, width: 100 });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${html(title)}</title><style>${STYLE}</style></head>
<body><h1>${html(title)}</h1>
<p>Peak: <strong>${html(gibibytes(budget.peak))}</strong>, ${html(rangeText(budget.low, budget.high))}.</p>
${budgetPlot(report)}${tables.join('\n')}
<h2>In words</h2>
<pre>${html(text)}</pre>
</body></html>
`;
}

function figures(title: string, { phases }: BudgetReport['budget']): string {
  const shown = PART_NAMES.filter(([name]) => phases.some(({ parts }) => (parts[name] ?? 0) > 0));
  const cell = (bytes: number) => `<td>${bytes > 0 ? html(gibibytes(bytes)) : ''}</td>`;
  const head = shown.map(([, label]) => `<th>${html(label)}</th>`).join('');
  const rows = phases.map(
    ({ name, parts, bytes }) =>
      `<tr><td>${html(PHASES[name])}</td>${shown.map(([part]) => cell(parts[part] ?? 0)).join('')}${cell(bytes)}</tr>`,
  );
  return `<h2>${html(title)}</h2>\n<table><tr><th>phase</th>${head}<th>all</th></tr>${rows.join('')}</table>`;
}

function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
