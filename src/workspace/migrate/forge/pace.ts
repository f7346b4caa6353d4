import { appendFileSync, mkdirSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { textOf } from '../../bounded.js';
import { Failure } from '../../failure.js';
import { type Hold, hold } from '../hold.js';

/** What tells how long ago something was: wall clocks are set, so the time since the machine started counts where it can. */
export interface Clock {
  /** Tells this start of the machine from others; empty where the system does not. */
  readonly boot: string;
  /** Seconds since then. */
  up(): number;
  /** Milliseconds. */
  now(): number;
}

export const MACHINE_CLOCK: Clock = {
  boot: textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
  up: uptime,
  now: Date.now,
};

const HOUR = 3600;
/** Milliseconds between two tries to be the one who looks, and how many of them: longer than a dead one counts as living. */
const RETRY = { every: 50, times: 1800 };
/** In place of a repository: the clock was set back. */
const CLOCK_SET = '-';

/** At most so many in any hour, whoever opens them and however often runs end: each is written down before it is opened. */
export class Pace {
  constructor(
    private readonly file: string,
    private readonly perHour: number,
    private readonly clock: Clock = MACHINE_CLOCK,
  ) {}

  /** Comes back when one more may be opened. */
  async turn(id: string, signal: AbortSignal, waits: (seconds: number) => void): Promise<void> {
    for (;;) {
      const seconds = await this.#seconds(id, signal);
      if (seconds <= 0) return;
      waits(seconds);
      await pause(Math.ceil(seconds * 1000), undefined, { signal });
    }
  }

  /** How long to wait; nothing when it is written down that the turn was taken. */
  async #seconds(id: string, signal: AbortSignal): Promise<number> {
    mkdirSync(dirname(this.file), { recursive: true });
    const held = await patientHold(`${this.file}.lock`, signal);
    try {
      const seconds = this.#left();
      if (seconds <= 0) this.#write(id);
      return seconds;
    } finally {
      held.release();
    }
  }

  #left(): number {
    const lines = this.#read();
    if (lines.some(({ at }) => at > this.clock.now())) this.#write(CLOCK_SET);
    const recent = this.#ages(lines)
      .filter((age) => age < HOUR)
      .sort((a, b) => b - a);
    const oldest = recent[recent.length - this.perHour];
    return oldest === undefined ? 0 : HOUR - oldest;
  }

  /** What stands above a line was written before it, whatever the clock said. */
  #ages(lines: readonly Opened[]): readonly number[] {
    const { boot, up, now } = this.clock;
    let latest = now();
    return lines
      .toReversed()
      .map((line) => {
        latest = Math.min(latest, line.at);
        const isSameStart = boot !== '' && line.boot === boot;
        const age = isSameStart ? up() - line.up : (now() - latest) / 1000;
        return { age, id: line.id };
      })
      .filter(({ id }) => id !== CLOCK_SET)
      .map(({ age }) => age);
  }

  #read(): readonly Opened[] {
    return (textOf(this.file) ?? '')
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => {
        const [time = '', boot = '', up = '', id = ''] = line.split('\t');
        const at = Date.parse(time);
        return Number.isNaN(at) || id === '' ? [] : [{ at, boot, up: Number(up), id }];
      });
  }

  #write(id: string): void {
    const { boot, up, now } = this.clock;
    const isWhole = /(?:^|\n)$/.test(textOf(this.file) ?? '');
    const line = `${new Date(now()).toISOString()}\t${boot}\t${up().toFixed(1)}\t${id}\n`;
    appendFileSync(this.file, isWhole ? line : `\n${line}`);
  }
}

interface Opened {
  readonly at: number;
  readonly boot: string;
  readonly up: number;
  readonly id: string;
}

/** Others hold it for an instant. */
async function patientHold(file: string, signal: AbortSignal): Promise<Hold> {
  for (let tries = 1; ; tries++) {
    try {
      return await hold(file);
    } catch (error) {
      if (!(error instanceof Failure) || tries === RETRY.times) throw error;
      await pause(RETRY.every, undefined, { signal });
    }
  }
}
