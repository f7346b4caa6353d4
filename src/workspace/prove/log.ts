import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { MetricReader } from './output.js';

/** Bytes of each end of what a command prints that are kept. */
const KEPT = 256 * 1024;
const NEWLINE = 0x0a;

/**
 * What a command prints, on disk: its beginning as it comes, its end when all has come. What is between is only counted,
 * so that a command that prints for hours fills no disk.
 */
export class BoundedLog {
  readonly #file: number;
  readonly #readers: MetricReader[] = [];
  readonly #logged: number[] = [];
  #room: number;
  /** Where the last whole line of the beginning ends. */
  #lines = 0;
  #last: Buffer[] = [];
  #lastLength = 0;
  #leftOut = 0;
  #written = 0;
  #problem: unknown;

  constructor(
    path: string,
    private readonly metric?: RegExp,
    private readonly kept = KEPT,
  ) {
    this.#file = openSync(path, 'w');
    this.#room = kept;
  }

  /** Takes in what comes from a stream. */
  follow(stream: Readable): void {
    const { metric } = this;
    const reader = metric && new MetricReader(metric, (value) => this.#logged.push(value));
    if (reader !== undefined) this.#readers.push(reader);
    stream.on('data', (chunk: Buffer) => {
      this.write(chunk);
      reader?.read(chunk);
    });
  }

  write(chunk: Buffer): void {
    const first = chunk.subarray(0, this.#room);
    const newline = first.lastIndexOf(NEWLINE);
    if (newline !== -1) this.#lines = this.kept - this.#room + newline + 1;
    this.#room -= first.length;
    this.#append(first);
    const rest = chunk.subarray(first.length);
    if (rest.length > 0) this.#keepLast(rest);
  }

  #keepLast(chunk: Buffer): void {
    this.#last.push(chunk);
    this.#lastLength += chunk.length;
    // Two of the size that is kept, so that bytes are copied only now and then.
    if (this.#lastLength > 2 * this.kept) this.#shorten();
  }

  #shorten(): void {
    const all = Buffer.concat(this.#last);
    const over = Math.max(0, all.length - this.kept);
    // A copy: a part would keep the whole in memory.
    this.#last = [Buffer.from(all.subarray(over))];
    this.#lastLength = all.length - over;
    this.#leftOut += over;
  }

  /** When nothing more comes. Answers with what the metric found. */
  close(): readonly number[] {
    this.#shorten();
    if (this.#leftOut > 0) this.#leaveOut();
    for (const chunk of this.#last) this.#append(chunk);
    closeSync(this.#file);
    for (const reader of this.#readers) reader.end();
    if (this.#problem !== undefined) throw this.#problem;
    return this.#logged;
  }

  /** Between whole lines where there are some: half a line may mislead, and half a secret is not known as one. */
  #leaveOut(): void {
    const all = Buffer.concat(this.#last);
    const from = all.indexOf(NEWLINE) + 1;
    const end = this.#lines > 0 ? this.#lines : this.kept;
    const leftOut = this.#leftOut + from + this.kept - end;
    this.#last = [all.subarray(from)];
    ftruncateSync(this.#file, end);
    const words = `[memfix: ${leftOut} bytes are left out here]\n`;
    this.#append(Buffer.from(this.#lines > 0 ? words : `\n${words}`), end);
  }

  /** A full disk is told at the end: the command is not to hang meanwhile. */
  #append(bytes: Buffer, at = this.#written): void {
    this.#written = at + bytes.length;
    if (this.#problem !== undefined) return;
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#file, bytes, done, bytes.length - done, at + done);
    } catch (error) {
      this.#problem = error;
    }
  }
}
