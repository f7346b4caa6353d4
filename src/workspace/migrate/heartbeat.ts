import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bytesOf } from '../bounded.js';
import { codeOf } from '../failure.js';

/** Milliseconds between two beats. */
const BEAT = 2000;
/** Milliseconds without a beat after which a process may be dead; then it is watched for some beats. */
const SILENCE = 60_000;
const WATCH = 3 * BEAT;
/** Milliseconds after which the file of a process that died holding nothing is removed. */
const FORGOTTEN = 24 * 3_600_000;
const PREFIX = '.alive-';

/**
 * A file that a process writes again and again as long as it holds something in its folder: for those who cannot ask
 * whether it lives, since they run on another machine or in another container. Whoever finds it dead removes the file;
 * one that was only suspended finds it gone, and knows that all it held is another's.
 */
export class Heartbeat {
  static readonly #own = new Map<string, Heartbeat>();
  /** The folders that were cleared of forgotten ones. */
  static readonly #swept = new Set<string>();

  readonly name = `${PREFIX}${randomUUID()}`;
  readonly #file: string;
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #users = 0;

  private constructor(private readonly folder: string) {
    this.#file = join(folder, this.name);
    writeFileSync(this.#file, '0\n');
    if (!Heartbeat.#swept.has(folder)) sweep(folder, statSync(this.#file).mtimeMs);
    Heartbeat.#swept.add(folder);
    this.#timer = setInterval(() => this.#beat(), BEAT).unref();
  }

  /** The one of this process in a folder; to be left again. */
  static join(folder: string): Heartbeat {
    const known = Heartbeat.#own.get(folder);
    const beat = known?.isHeard === true ? known : new Heartbeat(folder);
    Heartbeat.#own.set(folder, beat);
    beat.#users++;
    return beat;
  }

  leave(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#stop();
    rmSync(this.#file, { force: true });
  }

  /** Nobody has taken this process for dead. */
  get isHeard(): boolean {
    return existsSync(this.#file);
  }

  #beat(): void {
    this.#count++;
    try {
      // Written, not touched: the time of it is then that of the file system, whose clock all machines share.
      writeFileSync(this.#file, `${this.#count}\n`, { flag: 'r+' });
    } catch (error) {
      // A full disk may have room again at the next beat.
      if (codeOf(error) === 'ENOENT') this.#stop();
      else if (codeOf(error) === undefined) throw error;
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    if (Heartbeat.#own.get(this.folder) === this) Heartbeat.#own.delete(this.folder);
  }
}

function sweep(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((each) => each.startsWith(PREFIX)))
    if ((silenceOf(join(folder, name), now) ?? 0) > FORGOTTEN) rmSync(join(folder, name), { force: true });
}

/** Milliseconds since a beat, by the clock of the file system: `now` is the time of a file that was just written there. */
export function silenceOf(file: string, now: number): number | undefined {
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return written === undefined ? undefined : now - written;
}

/** Whether the process lives that writes a heartbeat. One that has been silent for long is watched: clocks are set, too. */
export async function beats(file: string, now: number): Promise<boolean> {
  const silence = silenceOf(file, now);
  if (silence === undefined) return false;
  if (Math.abs(silence) < SILENCE) return true;
  const before = stateOf(file);
  await pause(WATCH);
  const after = stateOf(file);
  return after !== undefined && after !== before;
}

function stateOf(file: string): string | undefined {
  try {
    return `${statSync(file).mtimeMs} ${bytesOf(file).toString('utf8')}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
