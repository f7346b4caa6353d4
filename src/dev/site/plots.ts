import { type Comparison, comparisonsOf, freed, gainOf } from '../../report/evidence.js';
import type { TransformMeta } from '../../toolkit/contract.js';
import { effectOf } from '../../toolkit/effect.js';
import type { Compared } from '../budget-page.js';
import { escaped } from './markup.js';

/*
 * Every coordinate across is a percentage, so that a plot is as wide as its place and its text as large as other text.
 * Colours are classes: a plot is light and dark with its page.
 */

/** What a GPU measured of one transform: two bars for each quantity, before and after. */
export function evidencePlots(meta: TransformMeta): string {
  const figures = comparisonsOf(meta).map(
    ({ what, quantities }) =>
      `<figure class="plot">\n<figcaption>${inlineCode(what)}</figcaption>\n${quantities.map(pair).join('')}</figure>\n`,
  );
  if (figures.length === 0) return '';
  const legend =
    '<p class="legend"><span class="key before"></span>before <span class="key after"></span>after</p>\n';
  return `${legend}<div class="plots">\n${figures.join('')}</div>\n`;
}

function pair({ name, before, after, beforeText, afterText, differs }: Comparison): string {
  const most = Math.max(before, after, Number.EPSILON);
  const rose = differs && after > before;
  const told = differs ? change(before, after) : 'no difference';
  const label = `${name}: ${beforeText} before, ${afterText} after, ${told}`;
  const bars = `${bar(0, before / most, 'before')}${bar(9, after / most, rose ? 'after worse' : 'after')}`;
  return [
    '<div class="pair">',
    `<span class="name">${name}</span>`,
    `<svg class="bars" width="100%" height="16" role="img" aria-label="${escaped(label)}">${bars}</svg>`,
    `<span class="value">${beforeText} → ${afterText} <b class="${differs ? '' : 'same'}">${told}</b></span>`,
    '</div>\n',
  ].join('');
}

function bar(y: number, share: number, kind: string): string {
  return `<rect class="${kind}" y="${y}" width="${percent(share)}" height="7" rx="1.5"/>`;
}

function change(before: number, after: number): string {
  if (before <= 0) return 'more';
  const share = after / before - 1;
  if (share > 1) return `× ${(share + 1).toFixed(1)}`;
  return `${share < 0 ? '−' : '+'}${Math.round(100 * Math.abs(share))} %`;
}

/** What the safe transforms of the default set left of what their symptom is about, the largest gain first. */
export function freedPlot(metas: readonly TransformMeta[], href: (id: string) => string): string {
  const rows = metas
    .filter((meta) => meta.group === 'default' && meta.safety === 'safe' && effectOf(meta) === 'frees-memory')
    .flatMap((meta) => freed(meta).map((row) => ({ ...row, id: meta.id })))
    .sort((a, b) => b.share - a.share);
  const lines = rows.map(({ id, share, before, after }) => {
    const left = 1 - share;
    const label = `${id}: ${before} before, ${after} after`;
    return [
      '<div class="pair">',
      `<a class="name" href="${href(id)}"><code>${id}</code></a>`,
      `<svg class="bars" width="100%" height="10" role="img" aria-label="${escaped(label)}">`,
      `<rect class="track" width="100%" height="10" rx="2"/><rect class="after" width="${percent(left)}" height="10" rx="2"/></svg>`,
      `<span class="value">${before} → ${after}</span>`,
      '</div>\n',
    ].join('');
  });
  return `<figure class="plot freed">\n<figcaption>What is left after each fix, of what was there before it</figcaption>\n${lines.join('')}</figure>\n`;
}

/** The gain of one transform, small enough for a cell of a table. */
export function gainCell(meta: TransformMeta): string {
  const gain = gainOf(meta);
  if (gain === 0) return '<span class="none" aria-label="no gain measured">–</span>';
  const text = `−${Math.round(100 * gain)} %`;
  return `<span class="gain"><svg width="48" height="8" aria-hidden="true"><rect class="track" width="48" height="8" rx="2"/><rect class="after" width="${(48 * gain).toFixed(1)}" height="8" rx="2"/></svg> ${text}</span>`;
}

/** Errors beyond this are drawn at the edge. */
const WIDEST = 0.7;
const LANE = 34;

/** How far the budget is off, run by run: a dot each. */
export function budgetPlot(runs: readonly Compared[]): string {
  const both = runs.filter(({ other }) => other !== undefined);
  const lanes: readonly (readonly [string, string, readonly number[]])[] = [
    ['memfix, all runs', 'after', runs.map(({ error }) => error)],
    ['memfix, the runs of the last row', 'after', both.map(({ error }) => error)],
    ['torch-preflight 0.5', 'before', both.map(({ other = 0 }) => other)],
  ];
  const parts = lanes.map(([name, kind, errors]) => {
    const label = `${name}: ${errors.length} runs, errors from ${signed(Math.min(...errors))} to ${signed(Math.max(...errors))}`;
    const dots = errors.map(
      (error, index) =>
        `<circle class="${kind}" cx="${at(error)}" cy="${5 + ((index * 11) % (LANE - 10))}" r="2.5"/>`,
    );
    return `<p class="lane">${name} <span>${errors.length} runs</span></p>\n<svg class="strip" width="100%" height="${LANE}" role="img" aria-label="${escaped(label)}">${grid(LANE)}${dots.join('')}</svg>\n`;
  });
  const ticks = TICKS.map(
    (tick) =>
      `<text x="${at(tick)}" y="12" text-anchor="middle">${tick === 0 ? 'exact' : signed(tick)}</text>`,
  );
  const axis = `<svg class="axis" width="100%" height="16" aria-hidden="true">${ticks.join('')}</svg>\n`;
  return `<figure class="plot budget">\n<figcaption>Error of the predicted peak, each run a dot</figcaption>\n${parts.join('')}${axis}</figure>\n`;
}

const TICKS = [-0.6, -0.3, 0, 0.3, 0.6];

function grid(height: number): string {
  return TICKS.map(
    (tick) =>
      `<line class="${tick === 0 ? 'zero' : 'tick'}" x1="${at(tick)}" x2="${at(tick)}" y1="0" y2="${height}"/>`,
  ).join('');
}

function at(error: number): string {
  const held = Math.max(-WIDEST, Math.min(WIDEST, error));
  return percent((held + WIDEST) / (2 * WIDEST));
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${(100 * Math.abs(value)).toFixed(Math.abs(value) < 0.1 ? 1 : 0)} %`;
}

function percent(share: number): string {
  return `${Number((100 * share).toFixed(2))}%`;
}

function inlineCode(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
