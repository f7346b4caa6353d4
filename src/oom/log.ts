import { type Frame, frameIn, isLibrary, mayBeFrame, namedBelow, pointedAt } from './frame.js';
import { patternOf, plain, rankIn, unquoted, unwrapped } from './line.js';
import { type Complaint, complaintIn, type Figures, figuresIn, mayComplain } from './message.js';
import { ParameterCount } from './parameters.js';

/** Memory that ran out, as a log tells it; the same at several times or in several ranks is told once. */
export interface OutOfMemory extends Complaint {
  readonly message: string;
  readonly figures: Figures;
  /** As in a traceback: the last is where it happened. Empty where only the message was logged. */
  readonly frames: readonly Frame[];
  /** The line of the log with the message, the first time. */
  readonly line: number;
  readonly times: number;
  /** Of those that name one, such as `rank 3`. */
  readonly ranks: readonly string[];
  /** The numbers of the devices that it ran out on. */
  readonly devices: readonly number[];
  /** Several processes wrote their tracebacks into each other. */
  readonly isMixed?: true;
}

/** The lines of one process, told from others by what stands before them. */
interface Lane {
  readonly prefix: string;
  readonly pattern: RegExp;
  readonly rank: string | undefined;
  frames: Frame[];
  /** The last line that belonged to it. */
  last: number;
  /** The line of the error that ended its traceback. */
  endedAt: number | undefined;
  pending: Pending | undefined;
  /** The traceback that is being read followed from the pending one. */
  isChained: boolean;
  /** What an unfinished traceback had when another began: two of the same program, if that begins like it. */
  unfinished: readonly Frame[] | undefined;
  /** Tracebacks of the same program that are written into each other, and have not ended yet. */
  mixed: number;
}

interface Pending {
  readonly complaint: Complaint;
  readonly line: number;
  message: string;
  frames: readonly Frame[];
  readonly isMixed?: true;
}

/** Lines without a word of a process after which its traceback is over. */
const PATIENCE = 2000;
/** Lines of others that may stand between two of a traceback, where several processes write at once. */
const INTERRUPTION = 300;
/** Lines that an error's message may go on for. */
const LONGEST_MESSAGE = 30;
const LONGEST_TEXT = 4096;
const MOST_KINDS = 100;
const MOST_LANES = 256;
const DEEPEST = 1000;

const HEADER = 'Traceback (most recent call last)';
const ORIGINAL = 'Original Traceback';
/** A log in JSON, or a traceback that was printed as a string: its line ends are spelt out. */
const QUOTED = /^\s*\{.*\\n|Traceback \(most recent call last\):\\n/;
const CHAINED = /During handling of the above exception, another|The above exception was the direct cause of/;
/** The last line of a traceback: the error's class, and mostly what it says. */
const ERROR =
  /^(?:(?:\w+\.)+\w+|\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration|OutOfResources))(?::\s|:?$)/;

/** Reads a log line by line, of whatever length, and keeps what it says about memory that ran out. */
export class LogReader {
  readonly #lanes = new Map<string, Lane>();
  readonly #found = new Map<string, OutOfMemory>();
  readonly #parameters = new ParameterCount();
  #line = 0;

  read(coloured: string, number: number): void {
    this.#line = number;
    const raw = plain(unwrapped(coloured));
    this.#parameters.read(raw);
    if (!this.#isWorthALook(raw)) return;
    if (QUOTED.test(raw)) for (const line of unquoted(raw)) this.#read(line);
    else this.#read(raw);
  }

  #read(raw: string): void {
    const line = plain(raw).trimEnd();
    const found = frameIn(line);
    if (found !== undefined) {
      const lane = this.#laneFor(found.prefix);
      this.#enter(lane, found.frame);
      return;
    }
    const lane = this.#laneOf(line);
    if (lane === undefined) this.#alone(line, line);
    else this.#continue(lane, line.slice(lane.pattern.exec(line)?.[0].length ?? 0), line);
  }

  /** How many parameters the run trains, as far as it says so. */
  get parameters(): number | undefined {
    return this.#parameters.value;
  }

  /** After the last line: what ran out of memory, the most frequent first. */
  end(): readonly OutOfMemory[] {
    for (const lane of this.#lanes.values()) this.#settle(lane);
    const all = [...this.#found.values()];
    return all
      .filter((one) => !all.some((other) => other !== one && saysMore(other, one)))
      .sort((a, b) => Number(b.frames.length > 0) - Number(a.frames.length > 0) || b.times - a.times);
  }

  /** Most lines of a log are neither a traceback nor about memory. */
  #isWorthALook(raw: string): boolean {
    for (const [key, lane] of this.#lanes) {
      if (this.#line - lane.last > PATIENCE) this.#close(key, lane);
    }
    return this.#lanes.size > 0 || mayBeFrame(raw) || mayComplain(raw);
  }

  #laneFor(prefix: string): Lane {
    const pattern = patternOf(prefix);
    const known = this.#lanes.get(pattern);
    if (known !== undefined) return known;
    const lane: Lane = {
      prefix,
      pattern: new RegExp(`^${pattern}`),
      rank: rankIn(prefix),
      frames: [],
      last: this.#line,
      endedAt: undefined,
      pending: undefined,
      isChained: false,
      unfinished: undefined,
      mixed: 0,
    };
    this.#lanes.set(pattern, lane);
    const [eldest] = this.#lanes;
    if (this.#lanes.size > MOST_LANES && eldest !== undefined) this.#close(...eldest);
    return lane;
  }

  /** The lane whose words the line starts with: the longest, since no words at all start every line. */
  #laneOf(line: string): Lane | undefined {
    let best: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.prefix.length >= (best?.prefix.length ?? -1) && lane.pattern.test(line)) best = lane;
    }
    return best;
  }

  #enter(lane: Lane, frame: Frame): void {
    lane.last = this.#line;
    if (lane.endedAt !== undefined && lane.mixed === 0) this.#begin(lane);
    const [first] = lane.unfinished ?? [];
    if (lane.unfinished !== undefined && first !== undefined && isSame(first, frame)) {
      lane.mixed = Math.max(lane.mixed, 1) + 1;
      lane.frames = [...lane.unfinished];
    }
    lane.unfinished = undefined;
    const before = lane.frames.at(-1);
    // Two that write line by line: a function that calls itself shows its statement in between.
    if (lane.mixed === 0 && before !== undefined && before.source === undefined && isSame(before, frame))
      lane.mixed = before.line > 0 && !frame.path.startsWith('<') ? 2 : 0;
    if (lane.mixed > 0) {
      lane.endedAt = undefined;
      // What the others wrote already is theirs, too.
      if (lane.frames.some((each) => isSame(each, frame))) return;
    }
    if (lane.frames.length < DEEPEST) lane.frames.push(frame);
  }

  #begin(lane: Lane): void {
    if (lane.endedAt === undefined && lane.frames.length > 0 && this.#line - lane.last <= INTERRUPTION)
      lane.unfinished = lane.frames;
    else lane.mixed = 0;
    if (!lane.isChained) this.#settle(lane);
    lane.frames = [];
    lane.endedAt = undefined;
  }

  /** What happened in a worker or a replica is told behind the traceback of who waited for it. */
  #goInto(lane: Lane): void {
    lane.pending = undefined;
    lane.endedAt = undefined;
    lane.frames = [...lane.frames];
  }

  #continue(lane: Lane, text: string, whole: string): void {
    const isOpen = lane.endedAt === undefined && this.#line - lane.last <= INTERRUPTION;
    if (text.includes(HEADER)) {
      if (text.includes(ORIGINAL)) this.#goInto(lane);
      else this.#begin(lane);
      lane.last = this.#line;
      return;
    }
    if (CHAINED.test(text)) {
      lane.isChained = lane.pending !== undefined;
      return;
    }
    if (isOpen && this.#takeSource(lane, text)) return;
    const isError = (isOpen || lane.mixed > 0) && ERROR.test(text.replace(/^[│|\s]+/, ''));
    const complaint = isOpen || this.#mayGoOn(lane) ? complaintIn(text, isError) : undefined;
    if (complaint !== undefined) this.#complain(lane, complaint, text);
    else if (isError) this.#endWithout(lane);
    else if (lane.pending !== undefined && this.#mayGoOn(lane)) this.#goOn(lane.pending, text);
    else this.#alone(text, whole);
  }

  /** The statement below a frame, or a line that belongs to it. */
  #takeSource(lane: Lane, text: string): boolean {
    const frame = lane.frames.at(-1);
    if (frame === undefined) return false;
    const more = namedBelow(frame, text) ?? pointedAt(text);
    if (more !== undefined) {
      lane.last = this.#line;
      lane.frames[lane.frames.length - 1] = { ...frame, ...more };
      return true;
    }
    if (!/^ {4}|^\t/.test(text)) return /^\s*│.*│$|^\s*\d+ |^ {2}\[Previous line repeated/.test(text);
    lane.last = this.#line;
    if (frame.source === undefined) lane.frames[lane.frames.length - 1] = { ...frame, source: text.trim() };
    return true;
  }

  #mayGoOn({ endedAt }: Lane): boolean {
    return endedAt !== undefined && this.#line - endedAt <= LONGEST_MESSAGE;
  }

  #complain(lane: Lane, complaint: Complaint, text: string): void {
    lane.last = this.#line;
    lane.endedAt = this.#line;
    if (lane.isChained) this.#joinChain(lane);
    else if (lane.pending !== undefined) {
      // The same error, told again in another line of its message.
      if (lane.mixed === 0 && lane.pending.frames === lane.frames) this.#goOn(lane.pending, text);
      else this.#settle(lane);
    }
    const isMixed = lane.mixed > 0;
    lane.mixed = Math.max(0, lane.mixed - 1);
    // Which statement belongs to which frame cannot be told where several write at once.
    const frames = isMixed ? lane.frames.map(({ path, line, name }) => ({ path, line, name })) : lane.frames;
    const message = messageIn(text);
    lane.pending ??= {
      complaint,
      line: this.#line,
      message,
      frames,
      ...(isMixed && { isMixed: true as const }),
    };
  }

  #endWithout(lane: Lane): void {
    lane.last = this.#line;
    lane.endedAt = this.#line;
    if (lane.isChained) this.#joinChain(lane);
  }

  /** A caught error's traceback starts where it was caught; the one that followed tells how the program got there. */
  #joinChain(lane: Lane): void {
    lane.isChained = false;
    const { pending } = lane;
    const [first] = pending?.frames ?? [];
    if (pending === undefined || first === undefined) return;
    const at = lane.frames.findLastIndex(({ path, name }) => path === first.path && name === first.name);
    if (at > 0) pending.frames = [...lane.frames.slice(0, at), ...pending.frames];
    // Caught by a library that does not tell where: how the program got there is all that there is of its own.
    else if (pending.frames.every(isLibrary)) pending.frames = [...lane.frames, ...pending.frames];
  }

  /** Narrow consoles break a message in several lines. */
  #goOn(pending: Pending, text: string): void {
    if (this.#line - pending.line > LONGEST_MESSAGE || text.trim() === '') return;
    if (
      !/unallocated|reserved in total|\bcached\b/.test(pending.message) &&
      pending.message.length < LONGEST_TEXT
    )
      pending.message += ` ${messageIn(text)}`;
  }

  /** A line outside of any traceback. */
  #alone(text: string, whole: string): void {
    const complaint = mayComplain(text) ? complaintIn(text, ERROR.test(text)) : undefined;
    if (complaint === undefined) return;
    const pending = { complaint, line: this.#line, message: messageIn(text), frames: [] };
    this.#keep(pending, rankIn(whole));
  }

  #close(key: string, lane: Lane): void {
    this.#settle(lane);
    this.#lanes.delete(key);
  }

  #settle(lane: Lane): void {
    if (lane.pending !== undefined) this.#keep(lane.pending, lane.rank);
    lane.pending = undefined;
    lane.isChained = false;
  }

  #keep({ complaint, message, frames, line, isMixed }: Pending, rank: string | undefined): void {
    const key = JSON.stringify([complaint, frames.map(({ path, line, name }) => [path, line, name])]);
    const known = this.#found.get(key);
    if (known === undefined && this.#found.size >= MOST_KINDS) return;
    const ranks = [...(known?.ranks ?? [])];
    if (rank !== undefined && !ranks.includes(rank)) ranks.push(rank);
    const figures = figuresIn(message);
    const devices = new Set(known?.devices);
    if (figures.device !== undefined) devices.add(figures.device);
    this.#found.set(key, {
      ...(known ?? { ...complaint, message, figures, frames, line, ...(isMixed && { isMixed }) }),
      ...{ times: (known?.times ?? 0) + 1, ranks, devices: [...devices] },
    });
  }
}

function isSame(a: Frame, b: Frame): boolean {
  return a.path === b.path && a.line === b.line && a.name === b.name;
}

/** The same error was told with its traceback; a process was killed when another had failed. */
function saysMore(other: OutOfMemory, one: OutOfMemory): boolean {
  if (one.isGuess) return !other.isGuess || (other.isGuess && isScheduled(other) && !isScheduled(one));
  return (
    one.frames.length === 0 &&
    other.frames.length > 0 &&
    other.memory === one.memory &&
    JSON.stringify(other.figures) === JSON.stringify(one.figures)
  );
}

/** A scheduler or the kernel says that it was for want of memory. */
function isScheduled({ message }: OutOfMemory): boolean {
  return /\boom[-_]kill|out-of-memory handler/i.test(message);
}

function messageIn(text: string): string {
  return /^\W+$/.test(text) ? '' : text.slice(0, LONGEST_TEXT).trim();
}
