import { closeSync, existsSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { reasonOf } from '../failure.js';
import { redactedBytes } from '../secrets.js';

/** What a command printed, as far as anybody asks. */
export interface Output {
  /** What the metric found, in order. */
  readonly logged: readonly number[];
  /** The last lines. */
  readonly tail: string;
}

const TAIL_LINES = 25;
/** Characters of a line that are enough to know what it says. */
const LONGEST_LINE = 2000;
const PIECE = 4 * 1024 * 1024;
const LINE_END = /\r\n|\r|\n/;

/** Reads it piece by piece: a log may be larger than memory. A match lies within a line; a line may be redrawn with `\r`. */
export function readOutput(path: string, metric?: RegExp): Output {
  const logged: number[] = [];
  let last: readonly string[] = [];
  const take = (lines: readonly string[]) => {
    if (metric !== undefined) for (const line of lines) logged.push(...valuesIn(line, metric));
    const telling = lines.filter((line) => line.trim() !== '');
    last = [...last, ...telling.slice(-TAIL_LINES).map(shortened)].slice(-TAIL_LINES);
  };
  try {
    for (const lines of linesIn(path)) take(lines);
  } catch (error) {
    take([`(its output could not be read: ${reasonOf(error)})`]);
  }
  return { logged, tail: last.join('\n') };
}

/** Takes the secrets that memfix knows out of what a command printed; a secret lies within a line. */
export function redactOutput(path: string): void {
  // It was stopped before it began.
  if (!existsSync(path)) return;
  const draft = `${path}.redacted`;
  const [from, to] = [openSync(path, 'r'), openSync(draft, 'w', 0o600)];
  let isChanged = false;
  const write = (bytes: Buffer) => {
    const clean = redactedBytes(bytes);
    isChanged ||= clean !== bytes;
    for (let at = 0; at < clean.length; ) at += writeSync(to, clean, at);
  };
  try {
    const piece = Buffer.allocUnsafe(PIECE);
    let held = 0;
    for (let read = -1; read !== 0; ) {
      read = readSync(from, piece, held, piece.length - held, null);
      const end = held + read;
      const last = piece.subarray(0, end).lastIndexOf(0x0a) + 1;
      const ready = read === 0 || (last === 0 && end === piece.length) ? end : last;
      write(piece.subarray(0, ready));
      piece.copyWithin(0, ready, end);
      held = end - ready;
    }
  } finally {
    closeSync(from);
    closeSync(to);
  }
  if (isChanged) renameSync(draft, path);
  else rmSync(draft);
}

function* linesIn(path: string): Generator<readonly string[]> {
  const descriptor = openSync(path, 'r');
  const piece = Buffer.allocUnsafe(PIECE);
  const lines = new Lines();
  try {
    for (let read = -1; read !== 0; ) {
      read = readSync(descriptor, piece, 0, piece.length, null);
      yield read === 0 ? lines.end() : lines.read(piece.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes that come in pieces, as lines. */
class Lines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  read(piece: Buffer): readonly string[] {
    const lines = (this.#rest + this.#decoder.write(piece)).split(LINE_END);
    this.#rest = (lines.pop() ?? '').slice(-PIECE);
    return lines;
  }

  end(): readonly string[] {
    const lines = (this.#rest + this.#decoder.end()).split(LINE_END);
    this.#rest = '';
    return lines;
  }
}

/** Finds the values of a metric in what a command prints, while it does. */
export class MetricReader {
  readonly #lines = new Lines();

  constructor(
    private readonly metric: RegExp,
    private readonly found: (value: number) => void,
  ) {}

  read(piece: Buffer): void {
    this.#take(this.#lines.read(piece));
  }

  end(): void {
    this.#take(this.#lines.end());
  }

  #take(lines: readonly string[]): void {
    for (const line of lines) for (const value of valuesIn(line, this.metric)) this.found(value);
  }
}

function shortened(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

/** Of each match the first group that took part, or all of it. */
function valuesIn(line: string, metric: RegExp): readonly number[] {
  return [...line.matchAll(metric)]
    .map(([whole, ...groups]) => Number(groups.find((group) => group !== undefined) ?? whole))
    .filter((value) => !Number.isNaN(value));
}
