import { createHash } from 'node:crypto';
import type { Decide, Outcome, Scan, Skipped, SourceFile } from '../engine/outcome.js';
import type { Relied } from '../semantic/surroundings.js';
import type { Candidate } from './discover.js';
import { Overdue } from './limit.js';
import { LeftToOthers } from './neighbourhood.js';
import {
  interpret,
  isWorthReading,
  type Opened,
  type Reader,
  type Stamp,
  sameStamp,
  searched,
  unreadable,
} from './read.js';
import type { Tools } from './tools.js';

/** A file to look at, and what an earlier run knows about it. */
export interface Job {
  readonly candidate: Candidate;
  /** What was looked at before: with the same bytes, only the text is wanted. */
  readonly known?: { readonly hash: string; readonly stamp: Stamp };
  /** What was found then includes a fix that this run takes. */
  readonly repairs?: boolean;
}

/** memfix failed on a file: our bug, unless it was a plugin. In words, since errors change when they travel between threads. */
export interface Crash {
  readonly kind: 'crash';
  /** The plugin that failed; the rest of the file's findings are there. */
  readonly plugin?: string;
  readonly path: string;
  readonly message: string;
  readonly details: string;
}

/** What a file shows; a scan that has nothing to say is `nothing`, one that is left to the main thread `left`. All of it can travel between threads. */
export type Sight =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'known'; readonly file: SourceFile }
  | { readonly kind: 'left' }
  | Skipped
  | Scan
  | Crash;

export interface Examined {
  readonly sight: Sight;
  /** What became of a file that a fix was taken for. */
  readonly repaired?: Outcome | Skipped;
  readonly stamp?: Stamp;
  /** Of the bytes, where they are to be known again and looking at them would take longer than hashing them. */
  readonly hash?: string;
  /** What of the project the sight depends on. */
  readonly relied?: Relied;
  /** Other files of the project that the thread refused to read. */
  readonly refused?: readonly Skipped[];
}

/** Examined as far as that goes without waiting: `unread` waits for the parser, `broken` for its repair. */
export type Glance =
  | { readonly kind: 'examined'; readonly examined: Examined }
  | { readonly kind: 'broken'; readonly examined: Examined; readonly scan: Scan }
  | { readonly kind: 'unread' };

/** Reads one file after the other, as far as each deserves. */
export class Examiner {
  readonly #reader: Reader;

  constructor(
    private readonly tools: Tools,
    /** Present when fixes are to be taken. */
    private readonly decide: Decide | undefined,
    /** What is found is kept for later runs, which know the file again by its hash. */
    private readonly remembers: boolean,
    /** Files that no transform would look at are read as well, to say which cannot be. */
    private readonly isThorough = false,
  ) {
    this.#reader = tools.reader();
  }

  /** Some file was worth parsing. */
  get parses(): boolean {
    return this.tools.parser.isLoaded;
  }

  async examine(job: Job): Promise<Examined> {
    return this.finish(job, this.glance(job));
  }

  /** For the files that a glance leaves unread: the engine first, since most files never need the parser. */
  async prepare(): Promise<void> {
    if (this.tools.loaded === undefined) await this.tools.load();
    else await this.tools.parser.load();
  }

  /** After a file that was cut off. */
  async recover(): Promise<void> {
    await this.tools.parser.renew();
  }

  /** Never waits, so that the caller can set it a limit. Throws only `Overdue`. */
  glance(job: Job): Glance {
    try {
      const opened = this.#reader.open(job.candidate);
      return opened.kind === 'skipped' ? examined({ sight: opened }) : this.#look(job, opened);
    } catch (error) {
      if (error instanceof Overdue) throw error;
      if (error instanceof LeftToOthers) return examined({ sight: LEFT });
      return examined({ sight: crashOf(job.candidate.path, error) });
    }
  }

  /** Waits for what a glance had to leave. */
  async finish(job: Job, glance: Glance): Promise<Examined> {
    if (glance.kind === 'examined') return glance.examined;
    if (glance.kind === 'unread') {
      await this.prepare();
      return this.examine(job);
    }
    if (this.decide === undefined) return glance.examined;
    try {
      return {
        ...glance.examined,
        repaired: await (await this.tools.load()).repair(glance.scan.file, this.decide, glance.scan),
      };
    } catch (error) {
      if (error instanceof Overdue) throw error;
      if (error instanceof LeftToOthers) return { sight: LEFT };
      return { sight: crashOf(job.candidate.path, error) };
    }
  }

  #look({ candidate, known, repairs }: Job, { bytes, stamp }: Opened): Glance {
    const isAsItWas = known !== undefined && sameStamp(known.stamp, stamp);
    const hash = isAsItWas ? known.hash : known && hashOf(bytes);
    const isKnown = hash !== undefined && hash === known?.hash;
    const onlyText = isKnown && repairs !== true;
    const engine = this.tools.loaded;
    if (engine === undefined && !onlyText) return { kind: 'unread' };
    const among = onlyText ? undefined : engine?.among(searched(candidate.path, bytes), candidate.path);
    if (among !== undefined && !isKnown) {
      const worth = isWorthReading(candidate, bytes, among.transforms.length > 0);
      if (worth === 'nothing' && this.isThorough && !this.tools.parser.isLoaded) return { kind: 'unread' };
      const broken = worth === 'nothing' ? this.#unreadable(candidate, bytes) : undefined;
      if (broken !== undefined)
        return examined({ sight: broken, stamp, ...(this.remembers && { hash: hash ?? hashOf(bytes) }) });
      if (worth !== 'yes') return examined({ sight: { kind: worth }, stamp });
    }
    if (!this.tools.parser.isLoaded && !onlyText) return { kind: 'unread' };
    const mark = { stamp, ...(this.remembers && { hash: hash ?? hashOf(bytes) }) };
    const read = interpret(candidate, bytes);
    if (read.kind === 'skipped') return examined({ sight: read, ...mark });
    const { file } = read;
    if (engine === undefined || onlyText) return examined({ sight: { kind: 'known', file }, ...mark });
    const scan = engine.scan(file, among);
    if (scan.kind === 'skipped') return examined({ sight: scan, ...mark });
    const { relied = [] } = scan;
    const sight = isSilent(scan) ? (this.#unreadable(candidate, bytes) ?? NOTHING) : scan;
    const seen = { sight, ...mark, ...(relied.length > 0 && { relied }) };
    const isBroken = this.decide !== undefined && takesAny(scan, this.decide);
    return isBroken ? { kind: 'broken', examined: seen, scan } : examined(seen);
  }

  /** Not all of a file is parsed where nothing is found in it. */
  #unreadable(candidate: Candidate, bytes: Buffer): Skipped | undefined {
    return this.isThorough ? unreadable(candidate, bytes, this.tools.parser) : undefined;
  }
}

const NOTHING: Sight = { kind: 'nothing' };
const LEFT: Sight = { kind: 'left' };

function examined(examined: Examined): Glance {
  return { kind: 'examined', examined };
}

export function tooLong(path: string, limit: number): Skipped {
  return { kind: 'skipped', path, reason: `it took too long: more than ${limit / 1000} s`, isOverdue: true };
}

/** Whether a policy takes one of these fixes. Only a person needs a preview to say so. */
export function takesAny({ findings }: Pick<Scan, 'findings'>, decide: Decide): boolean {
  return findings.some((finding) => {
    if (finding.fix === undefined) return false;
    const decision = decide(finding, { before: '', after: '' });
    return decision instanceof Promise || decision.kind !== 'skip';
  });
}

/** What becomes of a file when none of its fixes is taken. */
export function leftAsIs(scan: Scan): Outcome {
  const offered = scan.findings.filter((finding) => finding.fix !== undefined);
  return {
    kind: 'outcome',
    file: scan.file,
    after: scan.file.source.text,
    beside: [],
    settled: offered.map((finding) => ({ finding, fate: 'declined' })),
    remaining: scan,
    bugs: [],
  };
}

export function crashOf(path: string, error: unknown): Crash {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: 'crash', path, message, details: (error instanceof Error && error.stack) || message };
}

/** What a plugin failed to find in a file. */
export function crashesOf({ file, faults = [] }: Scan): readonly Crash[] {
  return faults.map(({ plugin, message, details }) => ({
    kind: 'crash',
    path: file.path,
    plugin,
    message,
    details,
  }));
}

function isSilent({ findings, suppressed, notes, faults = [] }: Scan): boolean {
  return findings.length + suppressed.length + notes.length + faults.length === 0;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('base64');
}
