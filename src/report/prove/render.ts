import { plural, wrap } from '../prose.js';
import type { View } from '../report.js';
import { type TableCell, table } from '../table.js';
import type { Comparison, Verdict } from './compare.js';
import { endingWords } from './record.js';
import type { PerFix, ProveReport, Setup } from './report.js';
import { type Judgement, memoryRows, type Row } from './rows.js';
import { changeWords, measureWords, parityWords } from './words.js';

type Style = Pick<View, 'paint' | 'width'>;

const MARGIN = '  ';
const MEASURE = 110;

export function renderProve(report: ProveReport, style: Style): string {
  const { paint } = style;
  const { comparison, perFix } = report;
  const lines = [
    paint.bold(report.command.map(shellWord).join(' ')),
    ...wrap(fixesWords(report), measure(style), { first: MARGIN, rest: MARGIN }),
    paint.dim(MARGIN + setupWords(report.setup, report.repeats)),
    '',
    ...comparisonTable(comparison, style),
    ...(perFix.length === 0 ? [] : ['', paint.bold('Each fix alone'), ...perFixTable(perFix, style)]),
    ...(comparison.remarks.length === 0 ? [] : ['', ...bullets(comparison.remarks, style)]),
    '',
    ...wrap(verdictWords(report), measure(style), { first: '', rest: '' }).map(toneOf(comparison, style)),
  ];
  return `${lines.join('\n')}\n`;
}

function comparisonTable({ endings, rows, parities }: Comparison, style: Style): string[] {
  const { paint } = style;
  const right = (text: string): TableCell => ({ text, align: 'right' });
  const head = (text: string): TableCell => ({ text, align: 'right', paint: paint.dim });
  const lines = table([
    [{ text: '' }, head('before'), head('after'), head('change')],
    ...rows.map((row) => [
      { text: MARGIN + row.label },
      right(measureWords(row.before, row.unit)),
      right(measureWords(row.after, row.unit)),
      { ...right(changeWords(row)), paint: painter(row.judgement, style) },
    ]),
    [
      { text: `${MARGIN}exit code` },
      right(endingWords(endings.before)),
      right(endingWords(endings.after)),
      { text: '' },
    ],
  ]);
  const values = parities.map((parity) => {
    const tone = parity.outcome === 'different' ? paint.red : (text: string) => text;
    return [{ text: `${MARGIN}${parity.of}:` }, { text: parityWords(parity), paint: tone }];
  });
  return [...lines, ...table(values)];
}

function perFixTable(perFix: readonly PerFix[], style: Style): string[] {
  const { paint } = style;
  const cell = ({ rows }: Comparison, names: readonly Row['name'][]): TableCell => {
    const row = rows.find(({ name }) => names.includes(name));
    return row === undefined
      ? { text: '–', align: 'right' }
      : { text: changeWords(row), align: 'right', paint: painter(row.judgement, style) };
  };
  const memory = perFix.flatMap(({ comparison }) => memoryRows(comparison.rows));
  const isGrowth = ({ unit }: Row) => unit === 'bytes per step';
  const names = (rows: readonly Row[]) => rows.map(({ name }) => name);
  const [peaks, growths] = [memory.filter((row) => !isGrowth(row)), memory.filter(isGrowth)];
  const head = (text: string): TableCell => ({ text, align: 'right', paint: paint.dim });
  return table([
    [{ text: '' }, head(peaks[0]?.label ?? 'peak'), head('growth per step'), head('wall time'), { text: '' }],
    ...perFix.map(({ transform, comparison }) => [
      { text: MARGIN + transform },
      cell(comparison, names(peaks)),
      cell(comparison, names(growths)),
      cell(comparison, ['wall time']),
      { text: VERDICTS[comparison.verdict], paint: verdictPaint(comparison.verdict, style) },
    ]),
  ]);
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  better: 'better',
  equal: 'no difference',
  worse: 'more memory',
  different: 'other losses',
  broken: 'breaks the command',
  rescued: 'runs where it did not',
  unproven: 'not proven',
  idle: 'never loaded',
};

function fixesWords({ fixes }: ProveReport): string {
  const count = fixes.reduce((sum, { findings }) => sum + findings, 0);
  const files = new Set(fixes.flatMap((fix) => fix.files)).size;
  const names = fixes.map(({ transform, findings }) =>
    findings === 1 ? transform : `${transform} (${findings})`,
  );
  return `${plural(count, 'fix', 'fixes')} in ${plural(files, 'file')}: ${names.join(', ')}`;
}

function setupWords({ python, torch, devices, platform }: Setup, repeats: number): string {
  return [
    ...(python === null ? [] : [`Python ${python}`]),
    ...(torch === null ? [] : [`torch ${torch}`]),
    devices.length === 0 ? `no GPU${platform === null ? '' : ` (${platform})`}` : devices.join(', '),
    repeats === 1 ? 'one run each' : `median of ${repeats} runs each, ± half of their range`,
  ].join(' · ');
}

function verdictWords({ comparison, perFix, fixes }: ProveReport): string {
  const { verdict, endings, parities, rows } = comparison;
  switch (verdict) {
    case 'broken': {
      const culprits = perFix.filter((each) => each.comparison.verdict === 'broken');
      const names = culprits.map(({ transform }) => `\`${transform}\``).join(', ');
      const hint =
        culprits.length > 0
          ? ` Alone, ${names} ${culprits.length === 1 ? 'does' : 'do'}.`
          : fixes.length > 1 && perFix.length === 0
            ? ' `--per-fix` finds out which.'
            : '';
      return `The fixes broke your command: ${endingSentence(endings.after)}, and without them it ends well.${hint}`;
    }
    case 'different':
      return 'The command ends well with the fixes, but its values are not the same. Do not take these fixes before you know why.';
    case 'worse':
      return `The command ends well with the fixes, but needs more memory: ${changed(rows, 'worse')}.`;
    case 'rescued':
      return 'Without the fixes the command runs out of memory; with them it ends well.';
    case 'unproven':
      return `Nothing is proven: the command fails as it is (${endingSentence(endings.before)}).`;
    case 'idle':
      return 'Nothing is proven: the command never loads the files that the fixes change. Give one that does.';
    case 'equal': {
      const isTimed = rows.some(({ name, judgement }) => name === 'wall time' && judgement !== 'unknown');
      const what = isTimed ? 'memory or time' : 'memory';
      return `The command ends well with the fixes${sameValues(parities)}. No difference in ${what} was measured.`;
    }
    case 'better':
      return `The command ends well with the fixes${sameValues(parities)}. Better: ${changed(rows, 'better')}.`;
  }
}

function endingSentence(ending: Comparison['endings']['after']): string {
  return ending.kind === 'exited' ? `it exits with ${ending.code}` : `it is ${endingWords(ending)}`;
}

function sameValues(parities: Comparison['parities']): string {
  if (parities.length === 0) return '';
  return parities.every(({ outcome }) => outcome === 'identical')
    ? ' and computes the same values'
    : parities.some(({ outcome }) => outcome === 'chance')
      ? ' and its values differ no more than between two unchanged runs'
      : ' and its values differ only as the fixes say they may';
}

function changed(rows: readonly Row[], judgement: Judgement): string {
  return rows
    .filter((row) => row.judgement === judgement)
    .map((row) => `${row.label} ${changeWords(row)}`)
    .join(', ');
}

function toneOf({ verdict }: Comparison, style: Style): (text: string) => string {
  return verdictPaint(verdict, style);
}

function verdictPaint(verdict: Verdict, { paint }: Style): (text: string) => string {
  if (verdict === 'better' || verdict === 'rescued') return paint.green;
  return verdict === 'equal' ? (text) => text : paint.red;
}

function painter(judgement: Judgement, { paint }: Style): (text: string) => string {
  return judgement === 'better' ? paint.green : judgement === 'worse' ? paint.red : paint.dim;
}

function bullets(items: readonly string[], style: Style): string[] {
  return items.flatMap((item) => wrap(item, measure(style), { first: `${MARGIN}• `, rest: `${MARGIN}  ` }));
}

/** As one would type it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function measure({ width }: Style): number {
  return Math.min(width, MEASURE);
}
