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
  /** Some files were not even looked at for their imports. */
  readonly isPartial: boolean;
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
  const { folder, files, notebooks, scans } = overview;
  const findings = scans.flatMap((scan) => scan.findings.filter((finding) => !isRefused(finding)));
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
        : `${printable(folder)}: ${countText(files, notebooks)}, ${importsText(overview)}.`,
      width,
      { first: '', rest: '' },
    ),
    ...(mayHaveTorch(overview) ? ['', ...found(rows, overview, width)] : []),
    '',
    ...next(overview, findings.filter(({ safety }) => safety === 'safe').length, { paint, width }),
  ];
  return `${lines.join('\n')}\n`;
}

/** Nothing is said to be without torch that was not looked at. */
function mayHaveTorch({ files, packages, isPartial }: Overview): boolean {
  return files > 0 && (packages.has('torch') || isPartial);
}

function importsText({ packages, isPartial }: Overview): string {
  const torch = packages.get('torch') ?? 0;
  const others = [...packages.keys()].filter((name) => name !== 'torch');
  if (torch === 0 && isPartial) return 'too much to count those with torch';
  if (torch === 0) return 'none with torch';
  const count = `torch in ${isPartial ? 'at least ' : ''}${torch}`;
  return `${count}${others.length === 0 ? '' : ` (with ${others.join(', ')})`}`;
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
  { files, scans, unsettled }: Overview,
  width: number,
): string[] {
  const told = (text: string) => wrap(text, width, { first: '', rest: '' });
  const left = scans.flatMap((scan) => scan.findings.filter(isRefused)).length;
  const nothing =
    left === 0 ? 'Nothing to fix' : `No fixes, and ${plural(left, 'suspicious site')} left alone,`;
  if (unsettled === undefined || unsettled === 0)
    return rows.length === 0 ? told(`${nothing} here.`) : ['Findings:', ...table(rows)];
  const isOne = unsettled === 1;
  const longer = `${isOne ? 'takes' : 'take'} longer than a quick look.`;
  if (unsettled === files) return told(`${isOne ? 'This file' : `All ${files} files`} ${longer}`);
  const some = `${files - unsettled} of ${files} files`;
  const rest = `The other ${isOne ? 'file' : `${unsettled} files`} ${longer}`;
  if (rows.length === 0) return told(`${nothing} in ${some}. ${rest}`);
  return [`In ${some}:`, ...table(rows), ...told(rest)];
}

function next(overview: Overview, safe: number, { paint, width }: Pick<View, 'paint' | 'width'>): string[] {
  const { unsettled } = overview;
  const [command, meaning] = !mayHaveTorch(overview)
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
    ...(mayHaveTorch(overview) ? [paint.dim('Out of memory?  memfix --oom train.log')] : []),
    paint.dim('Help:  memfix --help'),
  ];
}
