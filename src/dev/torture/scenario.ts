import type { Random } from './random.js';

/** One way to make things hard for memfix, and what must hold all the same. */
export interface Scenario {
  readonly name: string;
  /** What is done to it, in a few words. */
  readonly summary: string;
  /** How many tries there are in a minute or so, and how many in a long run. */
  readonly tries: { readonly short: number; readonly long: number };
  /** Why this machine cannot run it, if it cannot. */
  unavailable?(): string | undefined;
  run(trial: Trial): Promise<void>;
}

/** One run of a scenario: what it was asked for, and where it counts what happened. */
export interface Trial {
  readonly seed: number;
  /** The tries are numbered; a failed one is repeated with the same seed, `from` its number and a `count` of 1. */
  readonly from: number;
  readonly count: number;
  /** An empty folder, removed after the run. */
  readonly folder: string;
  random(attempt: number): Random;
  counted(what: string, times?: number): void;
  /** How often something was counted so far. */
  times(what: string): number;
  failed(failure: Broken): void;
}

/** A promise that was not kept. */
export interface Broken {
  readonly attempt: number;
  readonly law: string;
  readonly detail: string;
  /** The smallest input that is known to show it. */
  readonly input?: string;
}
