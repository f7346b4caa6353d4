import { countOf } from '../budget/quantity.js';
import type { Finding, Scan } from '../engine/outcome.js';
import type { Moment, Safety, Symptom, TransformMeta } from '../toolkit/contract.js';
import { conditionOf } from './condition.js';
import { type Memory, sizeOf } from './message.js';
import {
  bytesWords,
  isOnStack,
  type Mark,
  type Near,
  type Nearness,
  nearer,
  nearest,
  orderOf,
} from './nearness.js';
import type { Places } from './places.js';

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
  /** How many are trained; undefined where neither the log nor the files tell. */
  readonly parameters?: number | undefined;
  /** Bytes that tensors held; 0 where no figures tell. */
  readonly allocated?: number;
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

/** Moments of the start of a run, and of its first step. */
const FIRST: ReadonlySet<Moment> = new Set<Moment>(['loading', 'moving', 'state']);
/** A share of what tensors hold that matters. */
const MUCH = 0.1;
/** Moments that code of one's own may be in without a frame that says so. */
const UNSAID: ReadonlySet<Moment> = new Set<Moment>(['forward', 'evaluation', 'data']);

/** Where in a run. */
const WHEN: Readonly<Record<Moment, string>> = {
  loading: 'during the loading of a model or checkpoint',
  moving: 'during the move of a model to its device',
  saving: 'during the saving of a checkpoint',
  forward: 'in the forward pass',
  backward: 'in the backward pass',
  state: 'where the optimizer makes its state',
  optimizer: 'in the step of the optimizer',
  evaluation: 'in an evaluation',
  data: 'during the loading of data',
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
    const framed = nears.filter(({ mark }) => mark.frame !== undefined);
    // Where a function calls itself, the outer call may be past it.
    const past = framed.filter(({ isAhead }) => isAhead !== true);
    const inTraceback = nearest(past.some(isOnStack) ? past : framed);
    const inSnapshot = nearest(nears.filter(({ mark }) => mark.frame === undefined));
    const isOurs = this.circumstances.program?.has(scan.file.path);
    const isElsewhere = isOurs === false;
    const fit = this.#fit(meta, nears.length > 0, isOurs === true);
    const useless = this.#uselessness(finding, meta);
    const disproof =
      useless ??
      (isElsewhere ? 'no file of the traceback imports it' : undefined) ??
      this.#disproof(finding, meta, fit, inTraceback, inSnapshot);
    const all = [fit, inTraceback, inSnapshot].filter((near) => near !== undefined);
    const place = all.reduce<Nearness>((best, { nearness }) => nearer(best, nearness), 'other');
    const phrases = [
      ...(fit?.nearness === 'cause' ? [fit.because] : []),
      ...(inTraceback === undefined ? [] : [this.#frameWords(inTraceback)]),
      ...(inSnapshot === undefined ? [] : [bytesWords(inSnapshot)]),
    ];
    const condition = this.#condition(scan, finding, inTraceback);
    if (condition !== undefined) phrases.push(`it runs only where \`${condition}\` holds`);
    if (phrases.length === 0) phrases.push(fit?.because ?? this.#elsewhere());
    return {
      ...{ scan, finding, meta },
      // What cannot explain it does not, however near it is.
      nearness: useless !== undefined ? 'unrelated' : disproof !== undefined ? 'other' : place,
      because: disproof ?? phrases.join('; '),
      timeliness: disproof !== undefined ? 2 : fit === undefined || meta.symptom === 'leak' ? 1 : 0,
      bytes: inSnapshot?.mark.bytes ?? 0,
      frame: inTraceback?.mark.frame?.number ?? 0,
    };
  }

  #condition({ file }: Scan, { span }: Finding, near: Near | undefined): string | undefined {
    const line = near === undefined || !isOnStack(near) ? undefined : near.mark.spot.line;
    const module = line === undefined ? undefined : this.places.moduleOf(file.path);
    return module && line !== undefined ? conditionOf(module, span.start, line) : undefined;
  }

  #nears(scan: Scan, { at, end, fix }: Finding): readonly Near[] {
    const marks = this.#marks.get(scan.file.path) ?? [];
    if (marks.length === 0) return [];
    const text = this.places.textOf(scan.file.path);
    const first = text?.lineAt(at) ?? at.line;
    const last = text?.lineAt(end) ?? end.line;
    const around = text?.functionAt(first);
    const changed = text === undefined ? [] : (fix?.edits ?? []).flatMap((edit) => [edit.start, edit.end]);
    const lines = changed.map((offset) => text?.lineOf(offset) ?? first);
    const [from, to] = [Math.min(first, ...lines), Math.max(last, ...lines)];
    return marks.map((mark): Near => {
      const { line, within, isFileOnly } = mark.spot;
      const lastLine = line === undefined ? undefined : (text?.endOf(line) ?? line);
      const isRunning = line !== undefined && lastLine !== undefined && lastLine >= from && line <= to;
      if (line !== undefined && lastLine !== undefined && lastLine >= first && line <= last)
        return { nearness: 'line', mark, isRunning: true };
      const isSame = !isFileOnly && within?.first === around?.first;
      const isAhead = isSame && line !== undefined && first > line && text?.shareLoop(line, first) === false;
      const isLater = isAhead && mark.isOnce === true;
      const nearness = !isSame ? 'file' : mark.isInnermost ? 'function' : 'stack';
      return {
        ...{ nearness, mark, isLater, isRunning: isSame && isRunning },
        // Cells of a notebook, which have no function around them, run in any order.
        isAhead: isAhead && within !== undefined,
      };
    });
  }

  /** Why it cannot help, wherever it stands. */
  #uselessness(
    { holds }: Finding,
    { symptom, moments, movesTo, notOn = [] }: TransformMeta,
  ): string | undefined {
    const { memories, hasHostTensors, devices } = this.circumstances;
    if (holds === 'host' && !memories.has('host')) return 'what it keeps is in host memory, not on the GPU';
    const idle = [...devices].filter((device) => notOn.some((each) => each === device));
    if (idle.length > 0 && idle.length === devices.size) return `does nothing on ${idle.join(' and ')}`;
    if (moments?.length === 0) return 'frees no memory itself';
    if (movesTo !== undefined && memories.size === 1 && memories.has(movesTo))
      return 'puts more into host memory, which ran out';
    if ([...memories].some((memory) => CURES[memory].has(symptom))) return undefined;
    if (hasHostTensors && symptom === 'peak') return undefined;
    return `frees no ${[...memories].join(' or ')} memory: it is about ${ABOUT[symptom]}`;
  }

  /** Why what it frees was not there when memory ran out. */
  #disproof(
    finding: Finding,
    meta: TransformMeta,
    fit: Fit | undefined,
    inTraceback: Near | undefined,
    inSnapshot: Near | undefined,
  ): string | undefined {
    const { moments, isFragmented, tracebacks, marks } = this.circumstances;
    const nowhere = marks.length > 0 && inTraceback === undefined && inSnapshot === undefined;
    if (finding.effect === 'tidy') return 'no gain was measured';
    if (meta.symptom === 'fragmentation' && isFragmented !== true)
      return isFragmented === false
        ? 'little of the memory is reserved and unallocated'
        : 'nothing says that the memory is fragmented';
    if (meta.symptom === 'fragmentation' && nowhere) return 'its file is not in the traceback';
    if (fit === undefined && meta.freesPerParameter !== undefined)
      return this.#floorWords(meta.freesPerParameter);
    if (fit === undefined && (meta.moments ?? []).length > 0 && !this.#mayBeNow(meta))
      return this.#otherMoment(meta.moments ?? []);
    if (meta.symptom === 'leak' && isStarting(moments))
      return 'no step had run yet that could have left something behind';
    if (inTraceback?.isLater === true) return 'it had not run yet';
    const lasts = finding.lasts ?? meta.lasts;
    if (tracebacks === 0 || lasts === undefined || lasts === 'run' || isOnStack(inSnapshot)) return undefined;
    if (lasts === 'statement')
      return inTraceback?.isRunning === true ? undefined : 'what it frees is gone when its statement is done';
    if (!isOnStack(inTraceback)) return 'what it frees is gone when its function returns';
    return inTraceback?.isAhead === true
      ? 'this call had not come to it, and what it frees is gone when its function returns'
      : undefined;
  }

  #otherMoment(moments: readonly Moment[]): string {
    const when = (some: Iterable<Moment>) => [...some].map((moment) => WHEN[moment]).join(' and ');
    const { moments: now } = this.circumstances;
    const ended = now.size === 0 ? 'which no frame shows' : `and the run ended ${when(now)}`;
    return `it frees memory ${when(moments)}, ${ended}`;
  }

  /** Why what is held all along is not what made memory run out. */
  #floorWords(each: number): string {
    const { isFragmented, parameters } = this.circumstances;
    if (isFragmented === true) return 'the memory was not full but in pieces';
    return parameters === undefined
      ? `it frees ${each} bytes for each trained parameter, and neither the log nor the files tell how many there are`
      : `it frees ${sizeOf(each * parameters)} for ${countOf(parameters)} trained parameters, which is little of what is held`;
  }

  /** Where no frame says what the program was doing, it computed something: what has frames of its own it was not. */
  #mayBeNow({ moments = [] }: TransformMeta): boolean {
    const { moments: now, tracebacks } = this.circumstances;
    return now.size === 0 && (tracebacks === 0 || moments.some((moment) => UNSAID.has(moment)));
  }

  /** Why the finding is about this kind of error, wherever it stands. */
  #fit(
    { symptom, moments, freesPerParameter = 0 }: TransformMeta,
    isInAFile: boolean,
    isOurs: boolean,
  ): Fit | undefined {
    const { moments: now, isFragmented, memories, marks, parameters = 0, allocated = 0 } = this.circumstances;
    const during = moments?.find((moment) => now.has(moment));
    const freed = freesPerParameter * parameters;
    if (
      during === undefined &&
      isFragmented !== true &&
      freed > 0 &&
      freed >= MUCH * allocated &&
      !isStarting(now)
    )
      return {
        nearness: 'moment',
        because: `it frees ${sizeOf(freed)} for ${countOf(parameters)} trained parameters`,
      };
    if (moments !== undefined && during === undefined) return undefined;
    if (isFragmented === true && symptom === 'fragmentation')
      return {
        nearness: isInAFile || marks.length === 0 ? 'cause' : 'moment',
        because: 'much of the memory is reserved but unallocated',
      };
    if (during !== undefined) return { nearness: 'moment', because: `memory ran out ${WHEN[during]}` };
    if (symptom === 'leak' && isOurs)
      return { nearness: 'moment', because: 'what it leaves behind stays from step to step' };
    return memories.has('host') && symptom === 'host-memory'
      ? { nearness: 'moment', because: 'it was host memory that ran out' }
      : undefined;
  }

  #frameWords({ nearness, mark: { spot, frame } }: Near): string {
    const isOne = this.circumstances.tracebacks < 2;
    const which = `frame ${frame?.number} of ${isOne ? 'the traceback' : `traceback ${frame?.traceback}`}`;
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

/** No optimizer has stepped yet. */
function isStarting(now: ReadonlySet<Moment>): boolean {
  return now.size > 0 && [...now].every((moment) => FIRST.has(moment));
}

const ABOUT: Readonly<Record<Symptom, string>> = {
  leak: 'GPU memory',
  peak: 'GPU memory',
  fragmentation: 'GPU memory',
  'host-memory': 'host memory',
  sync: 'speed',
  'future-break': 'newer versions',
};

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
