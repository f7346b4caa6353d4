import { type Baseline, comparable, disagreement } from '../../report/prove/agreement.js';
import { endingWords, succeeded, type Trial } from '../../report/prove/record.js';
import type { Numerics } from '../../toolkit/contract.js';
import { Failure } from '../failure.js';
import { bisect } from './bisect.js';
import { CopiedRuns, patienceFor } from './copied-run.js';
import type { Change } from './fixes.js';
import type { Tree } from './tree.js';
import type { Kind } from './trial.js';
import type { Workshop } from './workshop.js';

/** A fix that a run of the user's command is to decide. */
export interface Candidate {
  readonly id: string;
  /** The file that it changes, from the root of the tree. */
  readonly path: string;
  readonly numerics: Numerics;
  /** Lines of the unchanged file, one group for each change: of every group at least one line has to run. */
  readonly groups: readonly (readonly number[])[];
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
  readonly command: readonly string[];
  readonly tree: Tree;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly candidates: readonly Candidate[];
  /** What becomes of the files with some of the fixes. */
  changesFor(ids: readonly string[]): Promise<readonly Change[]>;
  /** What an earlier try with the same tree, command and fixes has said. */
  readonly memory: Memory;
  readonly metric: { readonly text: string; readonly pattern: RegExp } | undefined;
  /** Seconds that one run, and that all of it may take. */
  readonly timeout: number | undefined;
  readonly budget: number | undefined;
  readonly signal: AbortSignal;
  starting(what: string, number: number, seconds: number | undefined): void;
}

/** Results of tests, by what was tested: `null` where all was well. */
export interface Memory {
  get(key: string): string | null | undefined;
  set(key: string, result: string | null): void;
}

/** Fixes of one label are tried together, the strictest first: a looser one would hide what they do. */
const LABELS: readonly Numerics[] = ['bit-identical', 'rounding'];

class OutOfTime extends Error {}

/** Runs the command until it is known for each fix whether the run shows it to be right. */
export async function verify(task: VerifyTask, workshop: Workshop): Promise<Verified> {
  return new Verifier(task, workshop).decide();
}

class Verifier {
  readonly #runs: CopiedRuns;
  readonly #started = Date.now();
  readonly #seconds: number[] = [];
  readonly #verdicts = new Map<string, Verdict>();
  #last: Trial | undefined;

  constructor(
    private readonly task: VerifyTask,
    workshop: Workshop,
  ) {
    this.#runs = new CopiedRuns({ ...task, words: task.command, metric: task.metric?.pattern }, workshop);
  }

  async decide(): Promise<Verified> {
    const { candidates, metric } = this.task;
    const first = await this.#run('as it is', 'digested', []);
    if (!succeeded(first)) throw failed(first);
    const baseline = {
      first,
      second: await this.#run('as it is, once more, to tell chance from change', 'digested', []),
      metric: metric?.text,
    };
    const compared = comparable(baseline);
    if (compared.length === 0) throw nothingToCompare();
    const running = await this.#executed(candidates);
    await this.#settle(baseline, running);
    return {
      verdicts: this.#verdicts,
      before: first,
      after: this.#last,
      compared,
      runs: this.#seconds.length,
      seconds: (Date.now() - this.#started) / 1000,
    };
  }

  /** Those whose lines run; of the others it is said. */
  async #executed(candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
    const lines = [...new Set(candidates.map(({ path }) => path))];
    const trial = await this.#run('which lines run', 'traced', [], lines);
    const ran = new Map(lines.map((path) => [path, linesIn(trial, path)]));
    return candidates.filter(({ id, path, groups }) => {
      const idle = groups.find((group) => !group.some((line) => ran.get(path)?.has(line)));
      if (idle === undefined && groups.length > 0) return true;
      this.#verdicts.set(id, { kind: 'idle', line: idle?.[0] ?? 1 });
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
    const { budget } = this.task;
    const spent = (Date.now() - this.#started) / 1000;
    if (budget !== undefined && spent + (this.#expected ?? 0) > budget) throw new OutOfTime();
    const what = ids.length === 1 ? 'with one fix' : `with ${ids.length} fixes`;
    const trial = await this.#run(what, 'digested', await this.task.changesFor(ids));
    const because = disagreement(baseline, trial, numerics);
    if (because === undefined) this.#last = trial;
    this.task.memory.set(key, because ?? null);
    return because;
  }

  get #expected(): number | undefined {
    return this.#seconds.length === 0 ? undefined : Math.max(...this.#seconds);
  }

  async #run(
    what: string,
    kind: Kind,
    changes: readonly Change[],
    lines: readonly string[] = [],
  ): Promise<Trial> {
    const number = this.#seconds.length + 1;
    const expected = this.#expected;
    const trial = await this.#runs.run({
      kind,
      name: 'trial',
      record: `${number}`,
      changes,
      lines,
      timeout: this.task.timeout ?? (expected === undefined ? undefined : patienceFor(expected)),
      starting: () => this.task.starting(what, number, expected),
    });
    this.#seconds.push(trial.seconds);
    return trial;
  }
}

function linesIn({ records }: Trial, path: string): ReadonlySet<number> {
  return new Set(records.flatMap(({ lines }) => lines[path] ?? []));
}

function failed({ ending, tail }: Trial): Failure {
  return new Failure(
    'The command fails as it is',
    `Unchanged, it ends with ${endingWords(ending)}.${tail === '' ? '' : ` The last it printed:\n${tail}`}`,
    'Give a command that ends well by itself; what git ignores comes along with `--link` or `--copy`.',
  );
}

function nothingToCompare(): Failure {
  return new Failure(
    'The run shows nothing to compare',
    'It has no backward pass, no optimizer step, and prints something else each time',
    'Let it train a few steps, set its seeds, or name its numbers with `--metric`.',
  );
}
