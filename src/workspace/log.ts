import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { Failure, reasonOf } from './failure.js';

/** What is longer is no line of a traceback; its end is not kept. */
const LONGEST_LINE = 64 * 1024;
/** Enough to tell the encoding of a log. */
const HEAD = 256;

/** A log of any size and encoding, a chunk at a time. */
export function openLog(path: string): Readable {
  return createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** Hands out every line with its number. A progress bar's carriage returns end a line and keep its number. */
export async function eachLine(
  input: Readable,
  name: string,
  signal: AbortSignal,
  each: (line: string, number: number) => void,
): Promise<void> {
  const lines = new LineReader(each);
  const stop = () => input.destroy(new Error('interrupted'));
  signal.addEventListener('abort', stop);
  try {
    for await (const chunk of input) lines.add(Buffer.from(chunk));
    lines.end();
  } catch (error) {
    signal.throwIfAborted();
    throw new Failure(
      'Log could not be read',
      `${name}: ${reasonOf(error)}`,
      'Give `--oom` the file that holds the output of the run, or `-` to read it from standard input.',
    );
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

class LineReader {
  #head: Buffer | undefined = Buffer.alloc(0);
  #decoder = new TextDecoder();
  #rest = '';
  #number = 1;

  constructor(private readonly each: (line: string, number: number) => void) {}

  add(bytes: Buffer): void {
    if (this.#head === undefined) this.#read(this.#decoder.decode(bytes, { stream: true }));
    else {
      this.#head = Buffer.concat([this.#head, bytes]);
      if (this.#head.length >= HEAD) this.#start(this.#head);
    }
  }

  end(): void {
    if (this.#head !== undefined) this.#start(this.#head);
    this.#read(this.#decoder.decode());
    const last = this.#rest.replace(/\r$/, '');
    if (last !== '') this.each(last, this.#number);
  }

  #start(head: Buffer): void {
    this.#head = undefined;
    this.#decoder = new TextDecoder(encodingOf(head));
    this.#read(this.#decoder.decode(head, { stream: true }));
  }

  #read(added: string): void {
    const text = this.#rest + added;
    let from = 0;
    // A carriage return at the end may be the first half of a line's end.
    for (const { 0: end, index } of text.matchAll(/\r?\n|\r(?!$)/g)) {
      this.each(text.slice(from, Math.min(index, from + LONGEST_LINE)), this.#number);
      if (end !== '\r') this.#number++;
      from = index + end.length;
    }
    const rest = text.slice(from);
    this.#rest =
      rest.length > LONGEST_LINE ? rest.slice(0, LONGEST_LINE) + (/\r$/.exec(rest)?.[0] ?? '') : rest;
  }
}

/** PowerShell writes UTF-16. Anything else is read as UTF-8, as far as it is. */
function encodingOf(head: Buffer): string {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > head.length / 4 && even < odd / 8) return 'utf-16le';
  return even > head.length / 4 && odd < even / 8 ? 'utf-16be' : 'utf-8';
}
