import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Trial } from '../../report/prove/record.js';
import type { Enclose } from './child.js';
import { type Change, fixCopy } from './fixes.js';
import type { Tree } from './tree.js';
import { type Kind, placeShim, runTrial } from './trial.js';
import type { Workshop } from './workshop.js';

/** The command of all runs, and where it runs. */
export interface Command {
  readonly words: readonly string[];
  readonly tree: Tree;
  /** Where the user stands in the tree. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly metric: RegExp | undefined;
  readonly signal: AbortSignal;
  readonly deterministic?: boolean;
  /** Puts the command into a sandbox. */
  readonly enclose?: Enclose | undefined;
}

/** One run of it. */
export interface CopiedRun {
  readonly kind: Kind;
  /** The copy and the folder of records. */
  readonly name: string;
  readonly record: string;
  readonly changes: readonly Change[];
  readonly timeout: number | undefined;
  readonly lines?: readonly string[];
  /** Called when the copy is there. */
  starting(): void;
}

/** With no limit given, a command that hangs because of a fix ends all the same. */
const PATIENCE = { factor: 10, least: 60 };

/** Seconds for a run, by the slowest of the unchanged command. */
export function patienceFor(slowest: number): number {
  return Math.ceil(Math.max(PATIENCE.least, PATIENCE.factor * slowest));
}

/** Runs of one command, each in a fresh copy of the tree. */
export class CopiedRuns {
  readonly #shim: string;

  constructor(
    private readonly command: Command,
    private readonly workshop: Workshop,
  ) {
    this.#shim = placeShim(join(workshop.folder, 'shim'));
  }

  async run({ kind, name, record, changes, timeout, lines, starting }: CopiedRun): Promise<Trial> {
    const { words, tree, cwd, env, metric, signal, enclose, deterministic = false } = this.command;
    const copy = this.workshop.copy(name);
    try {
      fixCopy(tree.root, copy, changes);
      starting();
      return await runTrial({
        command: words,
        kind,
        tree: tree.root,
        copy,
        cwd: join(copy, relative(tree.root, realpathSync.native(cwd))),
        shim: this.#shim,
        folder: join(this.workshop.folder, 'runs', record),
        env,
        deterministic,
        signal,
        ...(lines && { lines }),
        ...(timeout !== undefined && { timeout }),
        ...(metric && { metric }),
        ...(enclose && { enclose }),
      });
    } finally {
      this.workshop.discard(copy);
    }
  }
}
