import type { Scan } from '../engine/outcome.js';
import type { Moment, TransformMeta } from '../toolkit/contract.js';
import { cluesIn } from './clues.js';
import { type Frame, isLibrary } from './frame.js';
import type { OutOfMemory } from './log.js';
import { isFragmented, sizeOf } from './message.js';
import { momentsOf } from './moment.js';
import { type CheckedFiles, Places, type Spot } from './places.js';
import { programAround } from './program.js';
import { type Circumstances, type Mark, type Nearness, type Ranked, rankedBy } from './rank.js';
import { type Snapshot, sitesOf } from './snapshot.js';

/** What a log and a snapshot tell, together. */
export interface Evidence {
  /** The name of the log, and what ran out of memory in it. */
  readonly log?: Log;
  readonly snapshot?: { readonly name: string; readonly content: Snapshot };
}

interface Log {
  readonly name: string;
  readonly outOfMemory: readonly OutOfMemory[];
  /** The lines of its errors are the numbers of cells: a notebook keeps what its cells wrote. */
  readonly isNotebook?: boolean;
}

/** Memory that ran out, with its frames where they stand now. */
export interface Located {
  readonly error: OutOfMemory;
  /** `train.log:1532`, or the snapshot's name. */
  readonly source: string;
  readonly frames: readonly LocatedFrame[];
  readonly moments: readonly Moment[];
  /** What the figures and frames say. */
  readonly hints: readonly string[];
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
  /** Those of them that stand where memory ran out; where none does, those that are about that moment of a run. */
  readonly related: ReadonlySet<Ranked>;
  /** What ran out was another program than the files that were checked are of. */
  readonly isElsewhere: boolean;
}

/** Sites of a snapshot below this share of what is live say nothing about a finding. */
const WORTH_A_WORD = 0.01;

export function diagnose(
  { log, snapshot }: Evidence,
  files: CheckedFiles,
  scans: readonly Scan[],
  metaOf: (id: string) => TransformMeta,
): Diagnosis {
  const places = new Places(files);
  for (const { frames } of [
    ...(log?.outOfMemory ?? []),
    ...(snapshot?.content.stacks ?? []),
    ...(snapshot?.content.outOfMemory ?? []),
  ])
    places.acquaint(frames);
  const errors = [
    ...(log?.outOfMemory ?? []).map((error) =>
      locate(error, log === undefined ? '' : sourceOf(log, error), places),
    ),
    ...(snapshot?.content.outOfMemory ?? []).map((error) => locate(error, snapshot?.name ?? '', places)),
  ];
  const marks = [
    ...errors.flatMap(({ frames }, index) => marksOf(frames, index + 1)),
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
    marks,
    tracebacks: errors.filter(({ frames }) => frames.length > 0).length,
    program: programOf(errors, snapshot !== undefined, files),
  };
  const ranked = rankedBy(circumstances, scans, metaOf, places);
  const isElsewhere = snapshot === undefined && errors.length > 0 && errors.every(isOfAnother);
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
  };
}

/** It has frames of its own program, and none of them is in the files. */
function isOfAnother({ frames }: Located): boolean {
  return frames.some((frame) => !frame.isLibrary) && frames.every(({ spot }) => spot === undefined);
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
  const elsewhere = new Set<Nearness>(['moment', 'other', 'unrelated']);
  const there = ranked.filter(({ nearness }) => !elsewhere.has(nearness));
  return new Set(there.length > 0 ? there : ranked.filter(({ nearness }) => nearness === 'moment'));
}

function locate(error: OutOfMemory, source: string, places: Places): Located {
  const frames = error.frames.map((frame, index) => ({
    frame,
    number: index + 1,
    isLibrary: isLibrary(frame),
    spot: places.find(frame),
  }));
  const moments = momentsOf(error.frames);
  const own = frames.flatMap(({ frame, spot }) => (spot === undefined ? [] : [{ frame, spot }]));
  const hints = [...hintsFor(error, moments, frames), ...cluesIn(own, moments, places)];
  return { error, source, frames, moments, hints };
}

function marksOf(frames: readonly LocatedFrame[], traceback: number): readonly Mark[] {
  const innermost = frames.findLast(({ spot }) => spot !== undefined);
  return frames.flatMap((frame) =>
    frame.spot === undefined
      ? []
      : [{ spot: frame.spot, isInnermost: frame === innermost, frame: { number: frame.number, traceback } }],
  );
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

const MEANING: Readonly<Record<Moment, string>> = {
  loading:
    'A model or checkpoint was being loaded: where the device has its weights already, it holds them twice until that is done.',
  saving: 'A checkpoint was being saved.',
  forward: 'It was the forward pass: it keeps activations for the backward pass, more with every layer.',
  backward:
    'It was the backward pass: activations, gradients and what it computes with are all held at once.',
  optimizer:
    'It was the step of the optimizer: its state is made at the first step, and is as large as the weights or more.',
  evaluation:
    'It was an evaluation: it keeps activations only where gradients are recorded, and outputs only where they are collected.',
  data: 'Data were being loaded.',
};

function hintsFor(
  { figures, memory, isGuess, frames, ranks, devices }: OutOfMemory,
  moments: readonly Moment[],
  located: readonly LocatedFrame[],
): readonly string[] {
  const { tried, capacity, free, allocated, unallocated } = figures;
  const hints: string[] = [];
  if (tried !== undefined && capacity !== undefined && tried > capacity) {
    hints.push(
      `One tensor of ${sizeOf(tried)} is more than the whole device has: look at its shape; a missing batch dimension or a matrix of all pairs is more likely than a leak.`,
    );
  } else if (isFragmented(figures)) {
    hints.push(
      `${sizeOf(unallocated ?? 0)} is reserved but unallocated, and would have held the ${sizeOf(tried ?? 0)} that was asked for: the memory is fragmented. See whether \`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\` in the environment helps (torch 2.1 or newer).`,
    );
  }
  const { others = [] } = figures;
  if (others.length > 0) {
    const held = sizeOf(others.reduce((sum, { bytes }) => sum + bytes, 0));
    hints.push(
      `${held} of the device is held by ${others.length === 1 ? 'another process' : 'other processes'}: ${others.map(({ process }) => process).join(', ')}. If ${others.length === 1 ? 'it is' : 'they are'} of this run, each rank needs a card of its own: \`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\` before anything is made on the GPU. Else no change to this code frees that.`,
    );
  } else if (
    capacity !== undefined &&
    free !== undefined &&
    allocated !== undefined &&
    unallocated !== undefined
  ) {
    const outside = capacity - free - allocated - unallocated;
    if (outside > 0.1 * capacity)
      hints.push(
        `${sizeOf(outside)} is in use outside of PyTorch's allocator: by other processes on the device (\`nvidia-smi\` lists them), by the driver for this one, or by libraries such as NCCL. No tensor of this code holds it.`,
      );
  }
  if (ranks.length > 1 && devices.length === 1 && others.length === 0)
    hints.push(
      `${ranks.length} ranks ran out on what each calls GPU ${devices[0]}: that is right where each sees one card only (\`CUDA_VISIBLE_DEVICES\`). Else they share it, and each needs one of its own: \`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\`.`,
    );
  if (isGuess)
    hints.push(
      'A process was killed. That is mostly for want of host memory; `dmesg` or the scheduler knows.',
    );
  else if (memory === 'host') hints.push('It was the memory of the host, not of the GPU.');
  hints.push(...moments.map((moment) => MEANING[moment]));
  if (frames.some(({ path }) => /\/torchinductor_|\/torch\/_inductor\//.test(path)))
    hints.push('It was in compiled code, whose frames stand for no line of yours.');
  if (located.length > 0 && located.every(({ spot }) => spot === undefined)) {
    const own = located.findLast((frame) => !frame.isLibrary)?.frame.path;
    if (own !== undefined)
      hints.push(`None of its files is among those that were checked: run memfix where \`${own}\` is.`);
  }
  return hints;
}
