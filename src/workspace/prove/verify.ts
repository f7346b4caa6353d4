import { type Baseline, comparable, disagreement, noise } from '../../report/prove/agreement.js';
import { endingWords, succeeded, type Trial } from '../../report/prove/record.js';
import type { Numerics } from '../../toolkit/contract.js';
import { Failure } from '../failure.js';
import { bisect } from './bisect.js';
import { isRun, type Place } from './changed-lines.js';
import { linesIn } from './executed.js';
import type { Change } from './fixes.js';
import type { Kind } from './trial.js';

/** A fix that a run of the user's command is to decide. */
export interface Candidate {
  readonly id: string;
  /** The file that it changes, from the root of the tree. */
  readonly path: string;
  readonly numerics: Numerics;
  /** What of the unchanged file has to run, all of it. */
  readonly places: readonly Place[];
}

export type Verdict =
  | { readonly kind: 'verified' }
  | { readonly kind: 'rejected'; readonly because: string }
  /** None of the lines of one of its changes ran. */
  | { readonly kind: 'idle'; readonly line: number }
  | { readonly kind: 'undecided'; readonly because: string };

export interface Verified {
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** The unchanged command, and the command with all that was verified. */
  readonly before: Trial;
  readonly after: Trial | undefined;
  readonly compared: readonly string[];
  readonly runs: number;
  readonly seconds: number;
}

export interface VerifyTask {
  readonly candidates: readonly Candidate[];
  /** What becomes of the files with some of the fixes. */
  changesFor(ids: readonly string[]): Promise<readonly Change[]>;
  /** What an earlier try with the same tree, command and fixes has said. */
  readonly memory: Memory;
  readonly metric: string | undefined;
}

/** A run of the command that is needed to decide. */
export interface NeededRun {
  /** For a person. */
  readonly what: string;
  readonly kind: Kind;
  readonly changes: readonly Change[];
  /** The files whose lines a traced run looks at. */
  readonly lines: readonly string[];
}

/** Where runs come from: they are made here and now, or were made elsewhere. */
export interface Runner {
  run(needed: NeededRun): Promise<Trial>;
  /** Whether one more may be made. */
  hasTime(): boolean;
  readonly runs: number;
  readonly seconds: number;
}

/** Results of tests, by what was tested: `null` where all was well. */
export interface Memory {
  get(key: string): string | null | undefined;
  set(key: string, result: string | null): void;
}

/** Fixes of one label are tried together, the strictest first: a looser one would hide what they do. */
const LABELS: readonly Numerics[] = ['bit-identical', 'rounding'];

class OutOfTime extends Error {}

/** The command says nothing about any fix. */
export class Undecidable extends Failure {}

/** Asks for runs until it is known for each fix whether they show it to be right. */
export async function verify(task: VerifyTask, runner: Runner): Promise<Verified> {
  return new Verifier(task, runner).decide();
}

class Verifier {
  readonly #verdicts = new Map<string, Verdict>();
  #last: Trial | undefined;

  constructor(
    private readonly task: VerifyTask,
    private readonly runner: Runner,
  ) {}

  async decide(): Promise<Verified> {
    const { candidates, metric } = this.task;
    const first = await this.#run('as it is', 'digested', []);
    if (!succeeded(first)) throw failed(first);
    const baseline = {
      first,
      second: await this.#run('as it is, once more, to tell chance from change', 'digested', []),
      metric,
    };
    const compared = comparable(baseline);
    if (compared.length === 0) throw nothingToCompare();
    const running = await this.#executed(candidates);
    const because = noise(baseline);
    if (because === undefined) await this.#settle(baseline, running);
    else for (const { id } of running) this.#verdicts.set(id, { kind: 'undecided', because });
    const { runs, seconds } = this.runner;
    return { verdicts: this.#verdicts, before: first, after: this.#last, compared, runs, seconds };
  }

  /** Those whose lines run; of the others it is said. */
  async #executed(candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
    const lines = [...new Set(candidates.map(({ path }) => path))];
    const trial = await this.#run('which lines run', 'traced', [], lines);
    const ran = new Map(lines.map((path) => [path, linesIn(trial, path)]));
    return candidates.filter(({ id, path, places }) => {
      const idle = places.find((place) => !isRun(place, ran.get(path)));
      if (idle === undefined && places.length > 0) return true;
      this.#verdicts.set(id, { kind: 'idle', line: idle?.lines[0] ?? 1 });
      return false;
    });
  }

  async #settle(baseline: Baseline, running: readonly Candidate[]): Promise<void> {
    let accepted: readonly Candidate[] = [];
    for (const numerics of LABELS) {
      const alike = running.filter((candidate) => candidate.numerics === numerics);
      if (alike.length === 0) continue;
      try {
        const settled = await bisect(alike, (some) => this.#test(baseline, some, numerics), accepted);
        for (const { item, because } of settled.rejected)
          this.#verdicts.set(item.id, { kind: 'rejected', because });
        for (const { id } of settled.accepted) this.#verdicts.set(id, { kind: 'verified' });
        ({ accepted } = settled);
      } catch (error) {
        if (!(error instanceof OutOfTime)) throw error;
        break;
      }
    }
    for (const { id, numerics } of running) {
      if (this.#verdicts.has(id)) continue;
      const because =
        numerics === 'changes-training'
          ? 'it changes training by intent, which a run cannot show to be right'
          : 'the time was up; the same command goes on from here';
      this.#verdicts.set(id, { kind: 'undecided', because });
    }
  }

  async #test(
    baseline: Baseline,
    some: readonly Candidate[],
    numerics: Numerics,
  ): Promise<string | undefined> {
    const ids = some.map(({ id }) => id);
    const key = JSON.stringify([...ids].sort());
    const known = this.task.memory.get(key);
    if (known !== undefined) return known ?? undefined;
    if (!this.runner.hasTime()) throw new OutOfTime();
    const what = ids.length === 1 ? 'with one fix' : `with ${ids.length} fixes`;
    const trial = await this.#run(what, 'digested', await this.task.changesFor(ids));
    const because = disagreement(baseline, trial, numerics);
    if (because === undefined) this.#last = trial;
    this.task.memory.set(key, because ?? null);
    return because;
  }

  #run(what: string, kind: Kind, changes: readonly Change[], lines: readonly string[] = []): Promise<Trial> {
    return this.runner.run({ what, kind, changes, lines });
  }
}

function failed({ ending, tail }: Trial): Failure {
  return new Undecidable(
    'The command fails as it is',
    `Unchanged, it ends with ${endingWords(ending)}.${tail === '' ? '' : ` The last it printed:\n${tail}`}`,
    'Give a command that ends well by itself; what git ignores comes along with `--link` or `--copy`.',
  );
}

function nothingToCompare(): Failure {
  return new Undecidable(
    'The run shows nothing to compare',
    'It has no backward pass, no optimizer step, and prints something else each time',
    'Let it train a few steps, set its seeds, or name its numbers with `--metric`.',
  );
}
