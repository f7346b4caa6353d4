import type { Measurement } from './measure.js';
import { deviation, growth, median, ratios } from './statistics.js';
import { figure, type Judgement, pointsOf, type WorkResult } from './targets.js';

export interface Results {
  readonly date: string;
  readonly machine: string;
  /** Processes that wanted to run, over the last minute, before and after. */
  readonly load: readonly [number, number];
  readonly cores: number;
  readonly runs: number;
  readonly versions: readonly string[];
  readonly notes: readonly string[];
  readonly works: readonly WorkResult[];
  readonly targets: readonly Judgement[];
}

export function markdown(results: Results): string {
  const { load, cores } = results;
  const noisy = Math.max(...load) > cores + 1 ? ' **The machine was busy: these figures are noisy.**' : '';
  return [
    '# Benchmark',
    '',
    `${results.date}, ${results.machine}. Load ${load.map((each) => each.toFixed(1)).join(' before, ')} after.${noisy}`,
    `Up to ${results.runs} interleaved runs after a warm-up; median ± median absolute deviation; ratios are medians of the`,
    "rounds' ratios. Peak memory is that of the process tree in the warm-up.",
    '',
    ...results.versions.map((version) => `- ${version}`),
    ...results.notes.map((note) => `- ${note}`),
    '',
    '## Targets',
    '',
    ...table(
      ['work', 'target', 'measured', 'by CPU time', 'verdict'],
      results.targets.map(({ work, limit, measured, byCpu, verdict }) => [
        work,
        limit,
        measured,
        byCpu,
        verdict,
      ]),
    ),
    ...results.works.flatMap(section),
  ].join('\n');
}

function section(result: WorkResult): readonly string[] {
  const { title, sizes, measurements } = result;
  const [reference] = measurements;
  const rows = measurements.map((each) =>
    each.problem === undefined
      ? [
          each.name,
          `${figure(median(each.seconds))} ± ${figure(deviation(each.seconds))} s`,
          `${figure(Math.min(...each.seconds))}–${figure(Math.max(...each.seconds))} s`,
          `${figure(median(each.cpuSeconds))} s`,
          reference === undefined ? '' : against(reference, each),
          each.peakBytes === undefined ? '–' : `${figure(each.peakBytes / 1e6)} MB`,
          each.lines.toLocaleString('en'),
          String(each.seconds.length),
          ...(sizes === undefined ? [] : [slope(result, measurements.indexOf(each))]),
        ]
      : [each.name, each.problem, '–', '–', '–', '–', '–', '0', ...(sizes === undefined ? [] : ['–'])],
  );
  const head = sizes === undefined ? 'what' : 'size';
  return [
    '',
    `## ${title}`,
    '',
    ...table(
      [
        head,
        'time',
        'range',
        'CPU',
        `× ${reference?.name ?? ''}`,
        'peak',
        'lines',
        'runs',
        ...(sizes === undefined ? [] : ['slope of CPU']),
      ],
      rows,
    ),
  ];
}

/** From the size before: 1 is linear, 2 quadratic. */
function slope(result: WorkResult, at: number): string {
  if (result.measurements.slice(0, at + 1).some(({ problem }) => problem !== undefined)) return '–';
  const value = growth(
    pointsOf({ ...result, measurements: result.measurements.slice(0, at + 1) }, 'cpuSeconds'),
  );
  return value === undefined ? '–' : value.toFixed(2);
}

function against(reference: Measurement, each: Measurement): string {
  const all = ratios(each.seconds, reference.seconds);
  return all.length === 0 ? '–' : figure(median(all));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
