import type { Trial } from '../../report/prove/record.js';
import { type Command, CopiedRuns, patienceFor } from './copied-run.js';
import type { NeededRun, Runner } from './verify.js';
import type { Workshop } from './workshop.js';

export interface Limits {
  /** Seconds that one run, and that all of it may take. */
  readonly timeout: number | undefined;
  readonly budget: number | undefined;
  starting(what: string, number: number, seconds: number | undefined): void;
}

/** Runs of a verification that are made here and now, each in a fresh copy of the tree. */
export class OwnRuns implements Runner {
  readonly #runs: CopiedRuns;
  readonly #started = Date.now();
  readonly #seconds: number[] = [];

  constructor(
    command: Command,
    private readonly limits: Limits,
    workshop: Workshop,
  ) {
    this.#runs = new CopiedRuns(command, workshop);
  }

  get runs(): number {
    return this.#seconds.length;
  }

  get seconds(): number {
    return (Date.now() - this.#started) / 1000;
  }

  hasTime(): boolean {
    const { budget } = this.limits;
    return budget === undefined || this.seconds + (this.#expected ?? 0) <= budget;
  }

  async run({ what, kind, changes, lines }: NeededRun): Promise<Trial> {
    const number = this.runs + 1;
    const expected = this.#expected;
    const trial = await this.#runs.run({
      kind,
      name: 'trial',
      record: `${number}`,
      changes,
      lines,
      timeout: this.limits.timeout ?? (expected === undefined ? undefined : patienceFor(expected)),
      starting: () => this.limits.starting(what, number, expected),
    });
    this.#seconds.push(trial.seconds);
    return trial;
  }

  get #expected(): number | undefined {
    return this.#seconds.length === 0 ? undefined : Math.max(...this.#seconds);
  }
}
