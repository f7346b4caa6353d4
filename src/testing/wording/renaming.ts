import type { FixtureCase } from '../fixtures.js';
import { aboutOf, filesOf, type Means, tiersOf } from './tiers.js';
import { type Files, type FreeWord, foreignAttributes, freeWords, renamed } from './words.js';

/** A finding that a change of names has made safe: the names were the proof. */
export interface Violation {
  /** `no-grad/keep-attack:15` */
  readonly at: string;
  readonly before: string;
  readonly names: string;
}

/** Names that say nothing. */
export function neutral(word: FreeWord, index: number): string {
  return `${/^[A-Z]/.test(word.name) ? 'Zq' : 'zq'}${index + 1}`;
}

/** Names that sound as if nothing could go wrong, and names of what torch and Python have. */
export function suggestive(seed: number): (word: FreeWord, index: number) => string {
  return ({ isCalled }, index) => {
    const list = isCalled ? CALLED : NAMED;
    return list[(index * 7 + seed * 13) % list.length] ?? '';
  };
}

const CALLED =
  'log_metrics save_image save_checkpoint evaluate validate count_parameters print_summary summary load_weights log_scalars info write set_eval unwrap_model get_num_params freeze_layers debug warning log add_scalar profile export copy_model accuracy metric_update eval_step env_step log_step get_batch to_device view_batch init_seed parse close_all set_seed item detach tolist size keys no_grad get copy suppress_errors'.split(
    ' ',
  );
const NAMED =
  'batch criterion meter device metrics logger writer pbar scheduler env timer tracker sampler eval_loader val_loader test_loader log_dict counter images labels logits predictions accuracy avg_loss val_loss evaluator history plateau wandb_run server args cfg opts names path sim world game session thread process ema clock app outputs inputs targets total correct results data shape dtype training'.split(
    ' ',
  );

/** Fixtures as projects whose names can be changed. */
export class Renaming {
  readonly #foreign = new Set<string>();

  constructor(
    private readonly means: Means,
    private readonly fixtures: readonly FixtureCase[],
  ) {
    for (const fixture of fixtures)
      for (const name of foreignAttributes(filesOf(fixture) ?? new Map(), means.parser))
        this.#foreign.add(name);
  }

  /** What changing all names at once makes safe, and how many names that were. */
  all(choose: (word: FreeWord, index: number) => string): { violations: Violation[]; words: number } {
    const violations: Violation[] = [];
    let words = 0;
    for (const fixture of this.fixtures) {
      const [files, names] = this.#chosen(fixture, choose);
      words += names.size;
      if (names.size > 0) violations.push(...this.#madeSafe(fixture, files, names));
    }
    return { violations, words };
  }

  /** The same with one name at a time, for every so many of them. */
  each(
    choose: (word: FreeWord, index: number) => string,
    every: number,
  ): { violations: Violation[]; words: number } {
    const violations: Violation[] = [];
    let seen = 0;
    let words = 0;
    for (const fixture of this.fixtures) {
      const [files, names] = this.#chosen(fixture, choose);
      for (const [word, next] of names) {
        if (seen++ % every !== 0) continue;
        words++;
        violations.push(...this.#madeSafe(fixture, files, new Map([[word, next]])));
      }
    }
    return { violations, words };
  }

  /** No two get the same name, and none one that the project has. */
  #chosen(
    fixture: FixtureCase,
    choose: (word: FreeWord, index: number) => string,
  ): readonly [Files, ReadonlyMap<FreeWord, string>] {
    const files = filesOf(fixture) ?? new Map<string, string>();
    const used = new Set([...files.values()].join('\n').match(/\w+/g));
    const names = new Map<FreeWord, string>();
    for (const [index, word] of freeWords(files, this.means.parser, this.#foreign).entries()) {
      let next = choose(word, index);
      for (let at = 2; used.has(next); at++) next = `${choose(word, index + at)}${at > 99 ? at : ''}`;
      used.add(next);
      names.set(word, next);
    }
    return [files, names];
  }

  #madeSafe(fixture: FixtureCase, files: Files, names: ReadonlyMap<FreeWord, string>): Violation[] {
    // Names have no line breaks, so findings keep their lines.
    const before = new Map(tiersOf(this.means, fixture, files).map(({ line, tier }) => [line, tier]));
    const after = new Map(
      tiersOf(this.means, fixture, renamed(files, names)).map(({ line, tier }) => [line, tier]),
    );
    return [...after].flatMap(([line, tier]) => {
      const was = before.get(line) ?? 'silent';
      if (tier !== 'safe' || was === 'safe') return [];
      const changed = [...names].map(([{ name }, next]) => `${name} → ${next}`).join(', ');
      return [{ at: `${aboutOf(fixture)}/${fixture.name}:${line}`, before: was, names: changed }];
    });
  }
}
