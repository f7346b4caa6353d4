import type { Diagnosis, Located, Site } from '../oom/diagnosis.js';
import { isFragmented, sizeOf } from '../oom/message.js';
import type { Spot } from '../oom/places.js';
import type { Ranked } from '../oom/rank.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { placeText } from '../text/place.js';
import { clip, clipStart, printable, widthOf } from './cells.js';
import { nextSteps } from './oom-next.js';
import { plural, wrap } from './prose.js';
import type { View } from './report.js';
import { GAP, table } from './table.js';
import { withoutMarks } from './terminal.js';

type Style = Pick<View, 'paint' | 'width'>;

const MARGIN = '  ';
/** Errors that are told in full. */
const TOLD = 3;
/** Frames of a traceback that are shown: the innermost. */
const FRAMES = 12;
const SITES = 8;
/** Columns below which a line of source says nothing. */
const NARROWEST = 12;

/** What the log and the snapshot say, before any finding. */
export function renderDiagnosis(diagnosis: Diagnosis, style: Style): string[][] {
  const { errors, snapshot } = diagnosis;
  const more = errors.length - TOLD;
  return [
    ...errors.slice(0, TOLD).map((error) => errorBlock(error, style)),
    ...(more > 0 ? [[`${MARGIN}and ${plural(more, 'other place')} in the log where memory ran out`]] : []),
    ...(snapshot === undefined ? [] : [snapshotBlock(snapshot, style)]),
    wrap(verdictOf(diagnosis), style.width, { first: '', rest: '' }),
  ];
}

/** For below the findings that explain it. */
export function renderNextSteps(diagnosis: Diagnosis, style: Style): string[] {
  const steps = nextSteps(diagnosis);
  return steps.length === 0 ? [] : ['What to do next:', ...bullets(steps, style, '• ')];
}

/** `Out of memory: CUDA on GPU 0, 2.50 GiB` */
export function headline({ error: { who, devices, times, ranks } }: Located): string {
  const device = devices.length === 0 ? '' : ` on GPU ${[...devices].sort((a, b) => a - b).join(', ')}`;
  const often = times > 1 ? `, ${times} times` : '';
  return `Out of memory: ${who}${device}${often}${ranks.length === 0 ? '' : ` (${inOrder(ranks).join(', ')})`}`;
}

function inOrder(ranks: readonly string[]): readonly string[] {
  return [...ranks].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function errorBlock(located: Located, style: Style): string[] {
  const { paint } = style;
  const said = figureSentence(located);
  const frames = frameLines(located, style);
  return [
    `${paint.red(paint.bold(printable(headline(located))))}${GAP}${paint.dim(printable(located.source))}`,
    ...bullets(said === '' ? [located.error.message] : [said], style, ''),
    ...frames,
    ...(frames.length > 0 && located.hints.length > 0 ? [''] : []),
    ...bullets(located.hints, style, '• '),
  ];
}

function figureSentence({ error: { figures, who } }: Located): string {
  const { tried, capacity, free, allocated, unallocated, besides } = figures;
  const has = who === 'MPS' ? 'The limit is' : 'The device has';
  const parts = [
    ...(tried === undefined ? [] : [`It tried to allocate ${sizeOf(tried)}.`]),
    ...(capacity === undefined
      ? []
      : [`${has} ${sizeOf(capacity)}${free === undefined ? '' : `, of which ${sizeOf(free)} is free`}.`]),
    ...(allocated === undefined
      ? []
      : [
          `Tensors hold ${sizeOf(allocated)}${unallocated === undefined ? '' : `; ${sizeOf(unallocated)} is reserved but unallocated`}${besides === undefined ? '' : `, other allocations ${sizeOf(besides)}`}.`,
        ]),
  ];
  return parts.join(' ');
}

/** The frames of the user's own code: where they are now, or as the log has them. */
function frameLines({ frames }: Located, { paint, width }: Style): string[] {
  const own = frames.filter(({ isLibrary, spot }) => !isLibrary || spot !== undefined);
  const shown = own.slice(-FRAMES);
  if (shown.length === 0) return [];
  const cut = own.length - shown.length;
  const last = frames.at(-1);
  const failed = last === undefined || shown.includes(last) ? [] : [last];
  const all = [...shown, ...failed];
  const rows = all.map(({ number, frame, spot }) => [
    { text: `${number}`, paint: paint.dim, align: 'right' as const },
    spot === undefined
      ? { text: clipStart(`${withoutPackages(frame.path)}:${frame.line}`, width / 2), paint: paint.dim }
      : { text: clipStart(spotText(spot, frame.line, `:(was ${frame.line})`), width / 2) },
    { text: printable(frame.name), paint: paint.bold },
  ]);
  const used = Math.max(...table(rows).map((line) => widthOf(withoutMarks(line))));
  const room = width - used - 2 * MARGIN.length - GAP.length;
  const full = rows.map((row, index) =>
    room < NARROWEST ? row : [...row, { text: clip(all[index]?.frame.source ?? '', room), paint: paint.dim }],
  );
  const library = failed.length === 0 ? '' : ', and the one of a library';
  return [
    '',
    ...wrap(
      `frames of your code${cut === 0 ? '' : `, without the outermost ${cut}`}${library}; it ran out in the last:`,
      width,
      { first: MARGIN, rest: MARGIN },
    ),
    ...table(full).map((line) => MARGIN + MARGIN + line),
  ];
}

function snapshotBlock(snapshot: NonNullable<Diagnosis['snapshot']>, style: Style): string[] {
  const { paint } = style;
  const { name, content, sites } = snapshot;
  const { live, reserved, unrecorded } = content;
  const rows = sites.slice(0, SITES).map((site) => siteRow(site, live, style));
  const hints =
    unrecorded > live / 2
      ? [
          `${sizeOf(unrecorded)} of it has no stack: call \`torch.cuda.memory._record_memory_history()\` before the model is made, and the snapshot tells where it was allocated.`,
        ]
      : [];
  return [
    `${paint.bold('Snapshot:')} ${sizeOf(live)} live of ${sizeOf(reserved)} reserved${GAP}${paint.dim(printable(name))}`,
    ...(rows.length === 0 ? [] : [`${MARGIN}where it was allocated, in your code:`]),
    ...table(rows).map((line) => MARGIN + MARGIN + line),
    ...bullets(hints, style, '• '),
  ];
}

function siteRow({ frame, bytes, spot }: Site, live: number, { paint, width }: Style) {
  const place =
    spot === undefined ? `${frame.path}:${frame.line}` : spotText(spot, frame.line, `:${frame.line}`);
  return [
    { text: sizeOf(bytes), align: 'right' as const },
    { text: `${Math.round((100 * bytes) / Math.max(live, 1))} %`, paint: paint.dim, align: 'right' as const },
    { text: clipStart(place, width / 2), ...(spot === undefined && { paint: paint.dim }) },
    { text: printable(frame.name), paint: paint.bold },
  ];
}

/** `otherwise`: where the statement is no longer there. A line of a notebook is one of a cell, nobody knows of which. */
function spotText({ file, told }: Spot, line: number, otherwise: string): string {
  if (told !== undefined) return placeText(file, told);
  return file + (isNotebookName(file) ? `: line ${line} of a cell` : otherwise);
}

/** Where packages are installed says nothing. */
function withoutPackages(path: string): string {
  return path.replace(/^.*\/(?:site|dist)-packages\//, '');
}

/** How many findings explain it. */
export function verdictOf(diagnosis: Diagnosis): string {
  return [countsOf(diagnosis), ...silencedWords(diagnosis), ...uncheckedWords(diagnosis)].join(' ');
}

function silencedWords({ silenced }: Diagnosis): readonly string[] {
  return silenced.map(
    ({ scan, finding, because }) =>
      `\`${finding.transform}\` at ${placeText(scan.file.path, finding.at)} (${because}) may explain it, but a comment of the file silences it.`,
  );
}

function uncheckedWords({ unchecked }: Diagnosis): readonly string[] {
  const [first, ...more] = unchecked;
  if (first === undefined) return [];
  const others = more.length === 0 ? ' is' : ` and ${plural(more.length, 'other file', 'other files')} are`;
  return [
    `${first}${others} in the traceback and ${more.length === 0 ? 'was' : 'were'} not checked: leave out the path.`,
  ];
}

function countsOf({ ranked, related, isElsewhere }: Diagnosis): string {
  const all = found(ranked).length;
  if (isElsewhere && all > 0)
    return `The ${all === 1 ? 'finding here is' : `${all} findings here are`} of another program than the one that ran out.`;
  const near = found(related).length;
  const spared = related.size - near;
  const sites = `${plural(spared, 'site')} there ${spared === 1 ? 'was' : 'were'} seen and left alone; \`-v\` says why.`;
  return [rankedSentence(all, near), ...(spared === 0 ? [] : [sites])].join(' ');
}

function rankedSentence(all: number, near: number): string {
  if (all === 0) return 'memfix has no finding in the files that were checked.';
  if (near === 0)
    return all === 1
      ? 'The only finding here does not explain it.'
      : `None of the ${all} findings here explains it.`;
  const order =
    near === 1 ? '1 finding may explain it' : `${near} findings may explain it, the likeliest first`;
  return near === all ? `${order}.` : `${order}; ${plural(all - near, 'other does', 'others do')} not.`;
}

/** The remarks on an error, for a terminal of this width. */
export function hintLines({ hints }: Located, width: number): readonly string[] {
  return bullets(hints, { width }, '• ');
}

/** Without the sites that were left alone. */
function found(ranked: Iterable<Ranked>): readonly Ranked[] {
  return [...ranked].filter(({ rank }) => rank !== undefined);
}

function bullets(texts: readonly string[], { width }: Pick<Style, 'width'>, bullet: string): string[] {
  const rest = ' '.repeat(MARGIN.length + bullet.length);
  return texts.flatMap((text) => wrap(text, width, { first: MARGIN + bullet, rest }));
}

/** For `--output-format json`. Sizes are bytes; what is absent is `null`. */
export interface JsonOutOfMemory {
  readonly errors: readonly {
    readonly memory: 'GPU' | 'host';
    readonly message: string;
    /** The log with the line of the message, or the snapshot. */
    readonly source: string;
    readonly times: number;
    readonly ranks: readonly string[];
    readonly device: number | null;
    readonly tried: number | null;
    readonly capacity: number | null;
    readonly free: number | null;
    readonly allocated: number | null;
    readonly unallocated: number | null;
    readonly fragmented: boolean | null;
    /** What the program was doing, as far as its functions tell. */
    readonly moments: readonly string[];
    readonly hints: readonly string[];
    /** As in the traceback, the innermost last. */
    readonly frames: readonly JsonFrame[];
  }[];
  readonly snapshot: {
    readonly path: string;
    readonly live: number;
    readonly reserved: number;
    readonly unrecorded: number;
    readonly sites: readonly (JsonFrame & { readonly bytes: number })[];
  } | null;
}

interface JsonFrame {
  readonly path: string;
  readonly line: number;
  readonly function: string;
  /** The file among those checked, and the line where the statement is now. */
  readonly found: { readonly path: string; readonly line: number | null; readonly cell?: number } | null;
}

const JSON_SITES = 100;

export function diagnosisJson({ errors, snapshot }: Diagnosis): JsonOutOfMemory {
  return {
    errors: errors.map(({ error, source, frames, moments, hints }) => {
      const { device, tried, capacity, free, allocated, unallocated } = error.figures;
      return {
        ...{ memory: error.memory, message: error.message, source, times: error.times, ranks: error.ranks },
        ...{ device: device ?? null, tried: tried ?? null, capacity: capacity ?? null, free: free ?? null },
        ...{ allocated: allocated ?? null, unallocated: unallocated ?? null },
        fragmented: isFragmented(error.figures) ?? null,
        ...{ moments, hints },
        frames: frames.map(frameJson),
      };
    }),
    snapshot:
      snapshot === undefined
        ? null
        : {
            path: snapshot.name,
            live: snapshot.content.live,
            reserved: snapshot.content.reserved,
            unrecorded: snapshot.content.unrecorded,
            sites: snapshot.sites
              .slice(0, JSON_SITES)
              .map((site) => ({ ...frameJson(site), bytes: site.bytes })),
          },
  };
}

function frameJson({ frame, spot }: Pick<Site, 'frame' | 'spot'>): JsonFrame {
  const { path, line, name } = frame;
  return {
    ...{ path, line, function: name },
    found:
      spot === undefined
        ? null
        : {
            path: spot.file,
            line: spot.told?.line ?? null,
            ...(spot.told?.cell !== undefined && { cell: spot.told.cell }),
          },
  };
}
