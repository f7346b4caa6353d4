import { type Plan, type Runs, reportOf } from '../../report/prove/assemble.js';
import { mayBeChance } from '../../report/prove/compare.js';
import { ranOutOfMemory, succeeded, type Trial, type Variant } from '../../report/prove/record.js';
import { CopiedRuns, patienceFor } from './copied-run.js';
import type { Change } from './fixes.js';
import type { Tree } from './tree.js';
import type { Workshop } from './workshop.js';

type Kind = keyof Variant;

export interface Assignment {
  readonly plan: Plan;
  readonly tree: Tree;
  /** Where the user stands in the tree. */
  readonly cwd: string;
  /** What changes, by the name of the variant: `after` is everything, an id is that transform alone. */
  readonly changes: ReadonlyMap<string, readonly Change[]>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Seconds that one run may take. */
  readonly timeout: number | undefined;
  readonly metric: RegExp | undefined;
  readonly deterministic?: boolean;
  readonly signal: AbortSignal;
  /** Hears of each run as it starts and as it ends. */
  starting(name: string, kind: Kind): void;
  ended(name: string, kind: Kind, trial: Trial): void;
}

/**
 * Runs the command in a fresh copy each time. The counting runs come first, so that the timed ones find the disk warm.
 * Where the command fails as it is, for other reasons than memory, it is run no more.
 */
export async function runAll(assignment: Assignment, workshop: Workshop): Promise<Runs> {
  const { plan, changes } = assignment;
  const bench = new Bench(assignment, workshop);
  const fixed = [...changes.keys()];
  if (plan.counts) await bench.run('before', 'counted');
  const first = await bench.run('before', 'measured');
  if (!succeeded(first) && !ranOutOfMemory(first)) return bench.runs;
  for (const name of fixed) {
    if (plan.counts) await bench.run(name, 'counted');
    await bench.run(name, 'measured');
  }
  for (let round = 2; round <= plan.repeats; round += 1) {
    for (const name of ['before', ...fixed]) if (bench.isSound(name)) await bench.run(name, 'measured');
  }
  const { comparison, perFix } = reportOf(plan, bench.runs);
  if ([comparison, ...perFix.map((each) => each.comparison)].some(mayBeChance)) {
    await bench.run('before', plan.counts ? 'counted' : 'measured');
  }
  return bench.runs;
}

class Bench {
  readonly #variants = new Map<string, Record<Kind, Trial[]>>();
  readonly #runs: CopiedRuns;

  constructor(
    private readonly assignment: Assignment,
    workshop: Workshop,
  ) {
    this.#runs = new CopiedRuns({ ...assignment, words: assignment.plan.command }, workshop);
  }

  async run(name: string, kind: Kind): Promise<Trial> {
    const { changes, timeout } = this.assignment;
    const trials = this.#variant(name);
    const trial = await this.#runs.run({
      kind,
      name,
      record: `${name}-${kind}-${trials[kind].length + 1}`,
      changes: changes.get(name) ?? [],
      timeout: timeout ?? this.#patienceFor(name),
      starting: () => this.assignment.starting(name, kind),
    });
    trials[kind].push(trial);
    this.assignment.ended(name, kind, trial);
    return trial;
  }

  isSound(name: string): boolean {
    return this.#variant(name).measured.every(succeeded);
  }

  get runs(): Runs {
    const { before, after } = { before: this.#variant('before'), after: this.#variant('after') };
    const others = [...this.#variants].filter(([name]) => name !== 'before' && name !== 'after');
    return { before, after: isEmpty(after) ? before : after, alone: new Map(others) };
  }

  #variant(name: string): Record<Kind, Trial[]> {
    const known = this.#variants.get(name) ?? { measured: [], counted: [] };
    this.#variants.set(name, known);
    return known;
  }

  #patienceFor(name: string): number | undefined {
    if (name === 'before') return undefined;
    const slowest = Math.max(
      0,
      ...Object.values(this.#variant('before')).flatMap((trials) => trials.map(({ seconds }) => seconds)),
    );
    return patienceFor(slowest);
  }
}

function isEmpty({ measured, counted }: Variant): boolean {
  return measured.length + counted.length === 0;
}
