import { closeSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { MetricReader } from './output.js';

/** Bytes of each end of what a command prints that are kept. */
const KEPT = 256 * 1024;

/**
 * What a command prints, on disk: its beginning as it comes, its end when all has come. What is between is only counted,
 * so that a command that prints for hours fills no disk.
 */
export class BoundedLog {
  readonly #file: number;
  readonly #readers: MetricReader[] = [];
  readonly #logged: number[] = [];
  #room: number;
  #last: Buffer[] = [];
  #lastLength = 0;
  #leftOut = 0;
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
    if (this.#leftOut > 0)
      this.#append(Buffer.from(`\n[memfix: ${this.#leftOut} bytes are left out here]\n`));
    for (const chunk of this.#last) this.#append(chunk);
    closeSync(this.#file);
    for (const reader of this.#readers) reader.end();
    if (this.#problem !== undefined) throw this.#problem;
    return this.#logged;
  }

  /** A full disk is told at the end: the command is not to hang meanwhile. */
  #append(bytes: Buffer): void {
    if (this.#problem !== undefined || bytes.length === 0) return;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      this.#problem = error;
    }
  }
}
