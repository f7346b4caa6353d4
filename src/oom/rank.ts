import type { Finding, Scan } from '../engine/outcome.js';
import type { Moment, Safety, Symptom, TransformMeta } from '../toolkit/contract.js';
import { type Memory, sizeOf } from './message.js';
import type { Places, Spot } from './places.js';

/**
 * How near a finding is to where memory ran out, the nearest first: it is what the message complains of; on the line of a
 * frame; in the innermost function; in another function of the stack; in the file of a frame; about that moment of a run.
 */
const NEARNESS = ['cause', 'line', 'function', 'stack', 'file', 'moment', 'other', 'unrelated'] as const;
export type Nearness = (typeof NEARNESS)[number];

/** A place that the log or the snapshot points at. */
export interface Mark {
  readonly spot: Spot;
  /** The innermost of its stack that is in the files. */
  readonly isInnermost: boolean;
  /** Which frame of which traceback, each from 1; absent for a mark of the snapshot. */
  readonly frame?: { readonly number: number; readonly traceback: number };
  /** Live bytes that were allocated there or in what it calls: for a mark of the snapshot. */
  readonly bytes?: number;
}

/** What is known about the memory that ran out. */
export interface Circumstances {
  readonly memories: ReadonlySet<Memory>;
  /** Who ran out, such as `CUDA` or `MPS`. */
  readonly devices: ReadonlySet<string>;
  /** Tensors in host memory were among what ran out: what lightens a GPU would lighten the host. */
  readonly hasHostTensors: boolean;
  readonly moments: ReadonlySet<Moment>;
  /** Undefined where no figures tell. */
  readonly isFragmented: boolean | undefined;
  readonly marks: readonly Mark[];
  readonly tracebacks: number;
  /** The files of the program that ran; undefined where that is not known. */
  readonly program: ReadonlySet<string> | undefined;
}

export interface Ranked {
  readonly scan: Scan;
  readonly finding: Finding;
  /** From 1; undefined for a site that was left alone. */
  readonly rank: number | undefined;
  readonly nearness: Nearness;
  /** A phrase. */
  readonly because: string;
}

/** Symptoms, the likeliest to end a run first. */
const SYMPTOMS: readonly Symptom[] = ['leak', 'peak', 'fragmentation', 'host-memory', 'sync', 'future-break'];
const SAFETIES: readonly Safety[] = ['safe', 'unsafe', 'advice'];
const CURES: Readonly<Record<Memory, ReadonlySet<Symptom>>> = {
  GPU: new Set<Symptom>(['leak', 'peak', 'fragmentation']),
  host: new Set<Symptom>(['leak', 'host-memory']),
};

const DURING: Readonly<Record<Moment, string>> = {
  loading: 'memory ran out while a model or checkpoint was loaded',
  saving: 'memory ran out while a checkpoint was saved',
  forward: 'memory ran out in the forward pass',
  backward: 'memory ran out in the backward pass',
  optimizer: 'memory ran out in the step of the optimizer',
  evaluation: 'memory ran out in an evaluation',
  data: 'memory ran out while data were loaded',
};

/** All findings, those that are likeliest to have to do with it first; sites that were left alone come last. */
export function rankedBy(
  circumstances: Circumstances,
  scans: readonly Scan[],
  metaOf: (id: string) => TransformMeta,
  places: Places,
): readonly Ranked[] {
  const judge = new Judge(circumstances, places);
  const judged = scans
    .flatMap((scan) => scan.findings.map((finding) => judge.judge(scan, finding, metaOf(finding.transform))))
    .sort(compare);
  let rank = 0;
  return judged.map(({ scan, finding, nearness, because }) => ({
    ...{ scan, finding, nearness, because },
    rank: finding.refusal === undefined ? ++rank : undefined,
  }));
}

interface Judged extends Omit<Ranked, 'rank'> {
  readonly meta: TransformMeta;
  /** 0 where it is about what the program was doing, 2 where it is about something else. */
  readonly timeliness: 0 | 1 | 2;
  readonly bytes: number;
  /** Of the nearest frame. */
  readonly frame: number;
}

interface Near {
  readonly nearness: Nearness;
  readonly mark: Mark;
  /** It stands in the function, and had not run yet. */
  readonly isLater?: boolean;
}

interface Fit {
  readonly nearness: 'cause' | 'moment';
  readonly because: string;
}

class Judge {
  readonly #marks = new Map<string, Mark[]>();

  constructor(
    private readonly circumstances: Circumstances,
    private readonly places: Places,
  ) {
    for (const mark of circumstances.marks) {
      const { file } = mark.spot;
      this.#marks.set(file, [...(this.#marks.get(file) ?? []), mark]);
    }
  }

  judge(scan: Scan, finding: Finding, meta: TransformMeta): Judged {
    const nears = this.#nears(scan, finding);
    const inTraceback = nearest(nears.filter(({ mark }) => mark.frame !== undefined));
    const inSnapshot = nearest(nears.filter(({ mark }) => mark.frame === undefined));
    const fit = this.#fit(meta, nears.length > 0);
    const isElsewhere = this.circumstances.program?.has(scan.file.path) === false;
    const doubt =
      finding.effect === 'tidy' ? 'but no gain was measured' : isElsewhere ? '' : this.#doubt(meta, fit);
    const all = [fit, inTraceback, inSnapshot].filter((near) => near !== undefined);
    const place = all.reduce<Nearness>((best, { nearness }) => nearer(best, nearness), 'other');
    const useless = this.#uselessness(meta);
    const phrases = [
      ...(fit?.nearness === 'cause' ? [fit.because] : []),
      ...(inTraceback === undefined ? [] : [this.#frameWords(inTraceback)]),
      ...(inSnapshot === undefined ? [] : [bytesWords(inSnapshot)]),
    ];
    if (useless !== undefined) phrases.push(useless);
    else if (isElsewhere) phrases.splice(0, phrases.length, 'no file of the traceback imports it');
    else if (phrases.length === 0) phrases.push(fit?.because ?? this.#elsewhere());
    else if (doubt !== undefined) phrases.push(doubt);
    return {
      ...{ scan, finding, meta },
      // What is in doubt explains nothing, however near it is.
      nearness: useless !== undefined ? 'unrelated' : doubt !== undefined ? 'other' : place,
      because: phrases.join('; '),
      timeliness: doubt !== undefined ? 2 : fit === undefined ? 1 : 0,
      bytes: inSnapshot?.mark.bytes ?? 0,
      frame: inTraceback?.mark.frame?.number ?? 0,
    };
  }

  #nears(scan: Scan, { at, end }: Finding): readonly Near[] {
    const marks = this.#marks.get(scan.file.path) ?? [];
    if (marks.length === 0) return [];
    const text = this.places.textOf(scan.file.path);
    const first = text?.lineAt(at) ?? at.line;
    const last = text?.lineAt(end) ?? end.line;
    const around = text?.functionAt(first);
    return marks.map((mark): Near => {
      const { line, within, isFileOnly } = mark.spot;
      if (line !== undefined && line >= first && line <= last) return { nearness: 'line', mark };
      const isSame = !isFileOnly && within?.first === around?.first;
      const isLater = isSame && line !== undefined && first > line && text?.shareLoop(line, first) === false;
      const nearness = !isSame || isLater ? 'file' : mark.isInnermost ? 'function' : 'stack';
      return { nearness, mark, isLater };
    });
  }

  /** Why it cannot help, wherever it stands. */
  #uselessness({ symptom, moments, notOn = [] }: TransformMeta): string | undefined {
    const { memories, hasHostTensors, devices } = this.circumstances;
    const idle = [...devices].filter((device) => notOn.some((each) => each === device));
    if (idle.length > 0 && idle.length === devices.size) return `does nothing on ${idle.join(' and ')}`;
    if (moments?.length === 0) return 'frees no memory itself';
    if ([...memories].some((memory) => CURES[memory].has(symptom))) return undefined;
    if (hasHostTensors && symptom === 'peak') return undefined;
    return `frees no ${[...memories].join(' or ')} memory: it is about ${ABOUT[symptom]}`;
  }

  /** Why it is hardly what is wanted here. */
  #doubt({ symptom, moments = [] }: TransformMeta, fit: Fit | undefined): string | undefined {
    if (symptom === 'fragmentation' && this.circumstances.isFragmented === false)
      return 'but little of the memory is reserved and unallocated';
    const isUntimely = fit === undefined && moments.length > 0 && this.circumstances.moments.size > 0;
    return isUntimely ? 'but it costs memory at another moment' : undefined;
  }

  /** Why the finding is about this kind of error, wherever it stands. */
  #fit({ symptom, moments }: TransformMeta, isInAFile: boolean): Fit | undefined {
    const { moments: now, isFragmented, memories, marks } = this.circumstances;
    const during = moments?.find((moment) => now.has(moment));
    if (moments !== undefined && during === undefined) return undefined;
    if (isFragmented === true && symptom === 'fragmentation')
      return {
        nearness: isInAFile || marks.length === 0 ? 'cause' : 'moment',
        because: 'much of the memory is reserved but unallocated',
      };
    if (during !== undefined) return { nearness: 'moment', because: DURING[during] };
    return memories.has('host') && symptom === 'host-memory'
      ? { nearness: 'moment', because: 'it was host memory that ran out' }
      : undefined;
  }

  #frameWords({ nearness, mark: { spot, frame }, isLater }: Near): string {
    const isOne = this.circumstances.tracebacks < 2;
    const which = `frame ${frame?.number} of ${isOne ? 'the traceback' : `traceback ${frame?.traceback}`}`;
    if (isLater === true) return `in ${which}, behind the line that ran`;
    if (nearness === 'file') return `in the file of ${which}`;
    const name = spot.within === undefined ? 'the top of the file' : `\`${spot.within.name}\``;
    return `${nearness === 'line' ? 'on the line of' : 'in'} ${which}, ${name}`;
  }

  #elsewhere(): string {
    const { marks, tracebacks } = this.circumstances;
    if (marks.length === 0) return 'no frame is in the files that were checked';
    return tracebacks === 0 ? 'hardly anything that is live was allocated there' : 'not in the traceback';
  }
}

const ABOUT: Readonly<Record<Symptom, string>> = {
  leak: 'GPU memory',
  peak: 'GPU memory',
  fragmentation: 'GPU memory',
  'host-memory': 'host memory',
  sync: 'speed',
  'future-break': 'newer versions',
};

function bytesWords({ nearness, mark: { spot, bytes = 0 } }: Near): string {
  const size = `${sizeOf(bytes)} of what is live was allocated`;
  if (nearness === 'line') return `${size} on its line`;
  if (nearness === 'file') return `${size} in its file`;
  const name = spot.within === undefined ? 'the top of the file' : `\`${spot.within.name}\``;
  return `${size} ${nearness === 'function' ? 'in' : 'below'} ${name}`;
}

/** Of equals, the one with more bytes, or the frame that is nearer to the allocation. */
function nearest(nears: readonly Near[]): Near | undefined {
  return nears.reduce<Near | undefined>((best, near) => {
    if (best === undefined) return near;
    const by = orderOf(near.nearness) - orderOf(best.nearness);
    const weight = ({ mark }: Near) => mark.bytes ?? mark.frame?.number ?? 0;
    return by < 0 || (by === 0 && weight(near) > weight(best)) ? near : best;
  }, undefined);
}

function compare(a: Judged, b: Judged): number {
  return (
    Number(a.finding.refusal !== undefined) - Number(b.finding.refusal !== undefined) ||
    orderOf(a.nearness) - orderOf(b.nearness) ||
    b.bytes - a.bytes ||
    a.timeliness - b.timeliness ||
    b.frame - a.frame ||
    SYMPTOMS.indexOf(a.meta.symptom) - SYMPTOMS.indexOf(b.meta.symptom) ||
    SAFETIES.indexOf(a.finding.safety) - SAFETIES.indexOf(b.finding.safety)
  );
}

function orderOf(nearness: Nearness): number {
  return NEARNESS.indexOf(nearness);
}

function nearer(a: Nearness, b: Nearness): Nearness {
  return orderOf(a) <= orderOf(b) ? a : b;
}
