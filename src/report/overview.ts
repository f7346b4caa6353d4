import type { Scan } from '../engine/outcome.js';
import { EFFECTS } from '../toolkit/effect.js';
import { printable } from './cells.js';
import { countByEffect } from './effects.js';
import { plural, wrap } from './prose.js';
import { isRefused, type View } from './report.js';
import { table } from './table.js';

export interface Overview {
  readonly folder: string;
  /** Notebooks included. */
  readonly files: number;
  readonly notebooks: number;
  readonly packages: ReadonlyMap<string, number>;
  readonly scans: readonly Scan[];
  /** Files that a quick look could not settle; undefined where everything is known. */
  readonly unsettled: number | undefined;
}

const GOOD_FOR = {
  'frees-memory': 'would free memory',
  'saves-time': 'would save time',
  'future-proof': 'would keep up with new versions',
  tidy: 'would tidy up',
} as const;

/** What `memfix` alone says about the folder it is in, and the one next command. */
export function renderOverview(overview: Overview, { paint, width }: View): string {
  const { folder, files, notebooks, packages, scans } = overview;
  const findings = scans.flatMap((scan) => scan.findings.filter((finding) => !isRefused(finding)));
  const torch = packages.get('torch') ?? 0;
  const others = [...packages.keys()].filter((name) => name !== 'torch');
  const counts = countByEffect(findings);
  const rows = EFFECTS.filter((effect) => counts[effect] > 0).map((effect) => {
    const safe = findings.filter((each) => each.effect === effect && each.safety === 'safe').length;
    return [
      { text: `  ${counts[effect]}`, paint: paint.bold, align: 'right' as const },
      { text: GOOD_FOR[effect] },
      { text: safe === 0 ? '' : `${safe} proven safe`, paint: paint.green },
    ];
  });
  const lines = [
    `${paint.bold('memfix')}  proven fixes for PyTorch code that wastes GPU memory`,
    '',
    ...wrap(
      files === 0
        ? `There are no Python files in ${printable(folder)}.`
        : `${printable(folder)}: ${countText(files, notebooks)}, ${torch === 0 ? 'none with torch' : `torch in ${torch}`}${others.length === 0 ? '' : ` (with ${others.join(', ')})`}.`,
      width,
      { first: '', rest: '' },
    ),
    ...(files === 0 || torch === 0 ? [] : ['', ...found(rows, overview, width)]),
    '',
    ...next(overview, findings.filter(({ safety }) => safety === 'safe').length, { paint, width }),
  ];
  return `${lines.join('\n')}\n`;
}

function countText(files: number, notebooks: number): string {
  const scripts = files - notebooks;
  return [
    ...(scripts > 0 || notebooks === 0 ? [plural(scripts, 'Python file')] : []),
    ...(notebooks > 0 ? [plural(notebooks, 'notebook')] : []),
  ].join(' and ');
}

function found(
  rows: readonly (readonly Parameters<typeof table>[0][number][number][])[],
  { files, unsettled }: Overview,
  width: number,
): string[] {
  if (unsettled === undefined)
    return rows.length === 0 ? ['Nothing was found.'] : ['Findings:', ...table(rows)];
  const told = (text: string) => wrap(text, width, { first: '', rest: '' });
  const more = `${unsettled} of ${plural(files, 'file')} ${unsettled === 1 ? 'needs' : 'need'} a longer look`;
  if (rows.length === 0)
    return unsettled === 0
      ? ['A quick look found nothing.']
      : told(`Nothing at a quick look, but ${more}: \`memfix check\` takes it.`);
  return [
    'At a quick look:',
    ...table(rows),
    ...(unsettled === 0 ? [] : told(`And there may be more: ${more}.`)),
  ];
}

function next(
  { files, packages, unsettled }: Overview,
  safe: number,
  { paint, width }: Pick<View, 'paint' | 'width'>,
): string[] {
  const [command, meaning] =
    files === 0 || !packages.has('torch')
      ? ['memfix check path/to/your/training/code', 'where there is some']
      : unsettled === undefined && safe > 0
        ? [
            'memfix apply',
            `takes the ${plural(safe, 'safe fix', 'safe fixes')}; \`memfix diff\` shows them first`,
          ]
        : ['memfix check', 'shows what there is to fix, and why'];
  const line = `Next:  ${command}  ${meaning}`;
  return [
    ...(line.length <= width
      ? [`Next:  ${paint.bold(command)}  ${paint.dim(meaning)}`]
      : [
          `Next:  ${paint.bold(command)}`,
          ...wrap(meaning, width, { first: '       ', rest: '       ' }).map(paint.dim),
        ]),
    ...(files > 0 && packages.has('torch') ? [paint.dim('Out of memory?  memfix --oom train.log')] : []),
    paint.dim('Help:  memfix --help'),
  ];
}
