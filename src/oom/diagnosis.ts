import type { Scan } from '../engine/outcome.js';
import { placeText } from '../text/place.js';
import type { Moment, TransformMeta } from '../toolkit/contract.js';
import { cluesIn } from './clues.js';
import { type Frame, isCell, isLibrary } from './frame.js';
import { gradOffIn, isDecoratedSince, passIn } from './grad-off.js';
import { hintsFor } from './hints.js';
import type { OutOfMemory } from './log.js';
import { isFragmented } from './message.js';
import { momentsOf } from './moment.js';
import type { Mark, Nearness } from './nearness.js';
import { type CheckedFiles, Places, type Spot } from './places.js';
import { programAround } from './program.js';
import { type Circumstances, type Ranked, rankedBy } from './rank.js';
import { type Setting, settingOf } from './setting.js';
import { type Snapshot, sitesOf } from './snapshot.js';
import { neverTrains } from './trains.js';

/** What a log and a snapshot tell, together. */
export interface Evidence {
  /** The name of the log, and what ran out of memory in it. */
  readonly log?: Log;
  readonly snapshot?: { readonly name: string; readonly content: Snapshot };
  /** How many parameters the script trains, as its files say. */
  readonly parameters?: number;
}

interface Log {
  readonly name: string;
  readonly outOfMemory: readonly OutOfMemory[];
  /** How many parameters the run trained, as it said. */
  readonly parameters?: number | undefined;
  /** The lines of its errors are the numbers of cells: a notebook keeps what its cells wrote. */
  readonly isNotebook?: boolean;
}

const NO_TRACEBACK =
  'The log has no traceback of it, so nothing says where: give all that the run printed, its errors too.';

/** Memory that ran out, with its frames where they stand now. */
export interface Located {
  readonly error: OutOfMemory;
  /** `train.log:1532`, or the snapshot's name. */
  readonly source: string;
  readonly frames: readonly LocatedFrame[];
  readonly moments: readonly Moment[];
  /** What the figures and frames say. */
  readonly hints: readonly string[];
  readonly setting: Setting;
}

export interface LocatedFrame {
  readonly frame: Frame;
  /** Its place in the traceback, from 1. */
  readonly number: number;
  readonly isLibrary: boolean;
  readonly spot: Spot | undefined;
}

export interface Site {
  readonly frame: Frame;
  readonly bytes: number;
  readonly spot: Spot | undefined;
}

export interface Diagnosis {
  readonly errors: readonly Located[];
  readonly snapshot?: {
    readonly name: string;
    readonly content: Snapshot;
    /** Where what is live was allocated, the largest first. */
    readonly sites: readonly Site[];
  };
  readonly ranked: readonly Ranked[];
  /** Those of them that explain it: they stand where memory ran out, or are about that moment of a run. */
  readonly related: ReadonlySet<Ranked>;
  /** What ran out was another program than the files that were checked are of. */
  readonly isElsewhere: boolean;
  /** What would explain it, and a comment silences. */
  readonly silenced: readonly Ranked[];
  /** Files of the tracebacks that were not looked through. */
  readonly unchecked: readonly string[];
  /** What `memfix budget` can do with the script that was started; undefined where that is not known. */
  readonly budget?: 'can' | 'needs-model' | 'cannot';
}

/** The first file of the project in the traceback: the script that was started. */
export function startedScript([error]: readonly Located[]): string | undefined {
  const file = error?.frames.find(({ spot }) => spot !== undefined)?.spot?.file;
  return file?.endsWith('.py') === true ? file : undefined;
}

/** Sites of a snapshot below this share of what is live say nothing about a finding. */
const WORTH_A_WORD = 0.01;

export function diagnose(
  { log, snapshot, parameters }: Evidence,
  files: CheckedFiles,
  scans: readonly Scan[],
  metaOf: (id: string) => TransformMeta,
): Diagnosis {
  const places = new Places(files, log?.isNotebook === true ? log.name.replace(/^\.\//, '') : undefined);
  for (const { frames } of [
    ...(log?.outOfMemory ?? []),
    ...(snapshot?.content.stacks ?? []),
    ...(snapshot?.content.outOfMemory ?? []),
  ])
    places.acquaint(frames);
  const isRead = (spot: Spot) => readsOnly(spot, scans, metaOf, places);
  const errors = [
    ...(log?.outOfMemory ?? []).map((error) =>
      locate(error, log === undefined ? '' : sourceOf(log, error), places, files, isRead),
    ),
    ...(snapshot?.content.outOfMemory ?? []).map((error) =>
      locate(error, snapshot?.name ?? '', places, files, isRead),
    ),
  ];
  const marks = [
    ...errors.flatMap(({ frames }, index) => marksOf(frames, index + 1, places)),
    ...(snapshot === undefined ? [] : liveMarks(snapshot.content, places)),
  ];
  const circumstances: Circumstances = {
    memories: new Set(errors.length === 0 ? ['GPU'] : errors.map(({ error }) => error.memory)),
    devices: new Set(errors.map(({ error }) => error.who)),
    hasHostTensors: errors.some(({ error }) => error.isTensor && error.memory === 'host'),
    moments: new Set(errors.flatMap(({ moments }) => moments)),
    isFragmented: errors
      .map(({ error }) => isFragmented(error.figures))
      .reduce((one, other) => one === true || other || (one ?? other), undefined),
    parameters: log?.parameters ?? parameters,
    allocated: Math.max(0, ...errors.map(({ error }) => error.figures.allocated ?? 0)),
    marks,
    tracebacks: errors.filter(({ frames }) => frames.length > 0).length,
    program: programOf(errors, snapshot !== undefined, files),
  };
  const ranked = rankedBy(circumstances, scans, metaOf, places);
  const isElsewhere =
    snapshot === undefined && errors.length > 0 && errors.every((error) => isOfAnother(error, files));
  return {
    errors,
    ...(snapshot && {
      snapshot: {
        ...snapshot,
        sites: sitesOf(snapshot.content).map((site) => ({ ...site, spot: places.find(site.frame) })),
      },
    }),
    ranked,
    related: isElsewhere ? new Set() : relatedAmong(ranked),
    isElsewhere,
    silenced: isElsewhere
      ? []
      : silencedAmong(scans, (each) => rankedBy(circumstances, each, metaOf, places)),
    unchecked: [
      ...new Set(errors.flatMap(({ frames }) => frames.flatMap(({ spot }) => spot?.file ?? []))),
    ].filter((file) => files.beyond?.has(file)),
  };
}

function silencedAmong(
  scans: readonly Scan[],
  rank: (scans: readonly Scan[]) => readonly Ranked[],
): readonly Ranked[] {
  const silent = scans.filter(({ suppressed }) => suppressed.length > 0);
  const ranked = rank(silent.map((scan) => ({ ...scan, findings: scan.suppressed })));
  return [...relatedAmong(ranked)].filter((each) => each.rank !== undefined);
}

/** It has frames of its own program, and none of them is in the files. */
function isOfAnother({ frames }: Located, files: CheckedFiles): boolean {
  return (
    // Of cells it is not known which notebook they are of.
    frames.some((frame) => !frame.isLibrary && !isCell(frame.frame)) &&
    frames.every(({ spot }) => spot === undefined || files.beyond?.has(spot.file) === true)
  );
}

/** A snapshot has no frame of the top of a program, and an error without frames tells of none. */
function programOf(
  errors: readonly Located[],
  hasSnapshot: boolean,
  files: CheckedFiles,
): ReadonlySet<string> | undefined {
  const started = errors.map(({ frames }) => frames.flatMap(({ spot }) => spot?.file ?? []));
  if (hasSnapshot || started.length === 0 || started.some((own) => own.length === 0)) return undefined;
  return programAround(files, started.flat());
}

function sourceOf({ name, isNotebook }: Log, { line }: OutOfMemory): string {
  return isNotebook === true ? `${name}: cell ${line}` : `${name}:${line}`;
}

function relatedAmong(ranked: readonly Ranked[]): ReadonlySet<Ranked> {
  const elsewhere = new Set<Nearness>(['other', 'unrelated']);
  return new Set(ranked.filter(({ nearness }) => !elsewhere.has(nearness)));
}

/** Whether a finding says of a line, or of its function, that it is computed only to be read. */
function readsOnly(
  { file, line, within }: Spot,
  scans: readonly Scan[],
  metaOf: (id: string) => TransformMeta,
  places: Places,
): boolean {
  const text = places.textOf(file);
  const scan = scans.find((each) => each.file.path === file);
  if (text === undefined || scan === undefined || line === undefined) return false;
  return scan.findings.some(({ transform, at, end }) => {
    if (metaOf(transform).moments?.[0] !== 'evaluation') return false;
    const [first, last] = [text.lineAt(at) ?? at.line, text.lineAt(end) ?? end.line];
    const isHead = within !== undefined && new RegExp(`\\bdef ${within.name}\\b`).test(text.lineWith(first));
    return (first <= line && line <= last) || (isHead && within.first <= first && line <= within.last);
  });
}

function locate(
  error: OutOfMemory,
  source: string,
  places: Places,
  files: CheckedFiles,
  isRead: (spot: Spot) => boolean,
): Located {
  const frames = error.frames.map((frame, index) => ({
    frame,
    number: index + 1,
    isLibrary: isLibrary(frame),
    spot: places.find(frame),
  }));
  const gradOff = gradOffIn(frames, places);
  const isGradOff = gradOff?.isPart === false;
  const own = frames.flatMap(({ frame, spot }) => (spot === undefined ? [] : [{ frame, spot }]));
  const started = own.map(({ spot }) => spot.file);
  const program = started.length === 0 ? undefined : programAround(files, started);
  const inner = own.findLast(({ frame }) => frame.name !== 'forward')?.spot;
  const isOnlyRead = () => (inner !== undefined && isRead(inner)) || neverTrains(frames, places, program);
  const pass = passIn(frames, places) ?? (isOnlyRead() ? 'evaluation' : undefined);
  const moments = momentsOf(error.frames, isGradOff, pass);
  const setting = settingOf(frames, places, program);
  const hints = [
    ...decoratedSince(frames, places),
    ...hintsFor(error, { moments, gradOff, located: frames, setting }),
    ...(frames.length === 0 && error.memory === 'GPU' ? [NO_TRACEBACK] : []),
    ...cluesIn(own, moments, places, isGradOff),
  ];
  return { error, source, frames, moments, hints, setting };
}

function decoratedSince(frames: readonly LocatedFrame[], places: Places): readonly string[] {
  const { spot, frame } =
    frames.find((each, index) => isDecoratedSince(each, frames[index - 1], places)) ?? {};
  if (spot === undefined || frame === undefined) return [];
  return [
    `\`${frame.name}\` (${placeText(spot.file, spot.told ?? { line: frame.line })}) turns gradients off by a decorator that the traceback does not have: the code was changed since this run. Run it again before anything else.`,
  ];
}

function marksOf(frames: readonly LocatedFrame[], traceback: number, places: Places): readonly Mark[] {
  const innermost = frames.findLast(({ spot }) => spot !== undefined);
  const again = frames.findIndex((frame) => mayRunAgain(frame, places));
  return frames.flatMap((frame, index) =>
    frame.spot === undefined
      ? []
      : [
          {
            spot: frame.spot,
            isInnermost: frame === innermost,
            isOnce: again === -1 || again >= index,
            frame: { number: frame.number, traceback },
          },
        ],
  );
}

/** What starts a program, and calls its function once. */
const LAUNCHERS =
  /\/(?:runpy|contextlib|hydra\/.*|click\/.*|typer\/.*|fire\/.*|absl\/app|accelerate\/commands\/.*|torch\/utils\/_contextlib|torch\/distributed\/(?:run|launch|launcher\/.*|elastic\/.*)|torch\/multiprocessing\/spawn)(?:\.py)?$|^</;

/** Whether what a frame calls may have been called before. */
function mayRunAgain({ frame, isLibrary, spot }: LocatedFrame, places: Places): boolean {
  if (spot === undefined) return !(isLibrary && LAUNCHERS.test(frame.path));
  return spot.line === undefined || places.textOf(spot.file)?.isInLoop(spot.line) !== false;
}

/** Bytes by place, of those that matter: each block counts once for every function that it was allocated below. */
function liveMarks({ stacks, live }: Snapshot, places: Places): readonly Mark[] {
  const marks = new Map<string, { spot: Spot; isInnermost: boolean; bytes: number }>();
  const spots = new Map<string, Spot | undefined>();
  const spotOf = (frame: Frame): Spot | undefined => {
    const key = JSON.stringify([frame.path, frame.line, frame.name]);
    if (!spots.has(key)) spots.set(key, places.find(frame));
    return spots.get(key);
  };
  for (const { frames, bytes } of stacks) {
    const found = frames.map(spotOf).filter((spot) => spot !== undefined);
    const counted = new Set<string>();
    for (const [index, spot] of found.entries()) {
      const isInnermost = index === found.length - 1;
      const key = JSON.stringify([spot.file, spot.line, spot.within?.first, isInnermost]);
      if (counted.has(key)) continue;
      counted.add(key);
      const mark = marks.get(key) ?? { spot, isInnermost, bytes: 0 };
      mark.bytes += bytes;
      marks.set(key, mark);
    }
  }
  return [...marks.values()].filter(({ bytes }) => bytes >= live * WORTH_A_WORD);
}
