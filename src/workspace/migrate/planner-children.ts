import { Failure } from '../failure.js';
import { choiceOf, type PlanLimits } from './campaign.js';
import type { Decisions } from './decisions.js';
import type { Findings } from './plan.js';
import type { Planner, PlanWish } from './planner.js';
import { type ChildSetting, type PlanAnswer, PlanningChild } from './planning-child.js';

/** A repository that ends the process which plans it. Trying again elsewhere would end that one, too. */
export class PlanningLost extends Failure {}

/** Milliseconds after which a repository that waits for a child gets another one. Most are planned in a few of them. */
const PATIENCE = 1000;
/** How often a repository may end a child. */
const TRIES = 2;

/**
 * Plans in child processes, which serve one repository after the other: a fresh process takes longer to start than most
 * repositories take. What ends a child costs its repository a second try, and nothing else.
 */
export class PlannerInChildren implements Planner {
  readonly #all = new Set<PlanningChild>();
  readonly #idle: PlanningChild[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly setting: ChildSetting,
    private readonly signal: AbortSignal,
  ) {}

  async plan(tree: string, wish: PlanWish, decisions: Decisions): Promise<Findings> {
    const { limits } = wish;
    const order = { tree, choice: choiceOf(wish), decided: decisions.all };
    let reason = '';
    for (let tries = 1; tries <= TRIES; tries++) {
      // What is left of others must not be what ends it.
      const child = tries === 1 ? await this.#child(limits) : this.#start(limits);
      const answer = await this.#asked(child, order, limits);
      if (answer.kind !== 'lost') return findingsIn(answer);
      reason = answer.reason;
    }
    throw new PlanningLost(
      'The repository cannot be planned',
      `the process that looks through this repository was lost ${TRIES} times; the last time ${reason}`,
      'Raise `plan-memory` or `plan-timeout` under `[limits]` in campaign.toml; `memfix migrate run --failed` tries it again.',
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((child) => child.end()));
  }

  async #asked(
    child: PlanningChild,
    order: Parameters<PlanningChild['plan']>[0],
    limits: PlanLimits,
  ): ReturnType<PlanningChild['plan']> {
    let isFit = false;
    try {
      const answer = await child.plan(order, limits, this.signal);
      isFit = answer.kind !== 'lost' && !child.isGrown;
      return answer;
    } finally {
      if (isFit) this.#idle.push(child);
      else {
        this.#all.delete(child);
        void child.end();
      }
      this.#waiting.shift()?.();
    }
  }

  async #child(limits: PlanLimits): Promise<PlanningChild> {
    if (this.#idle.length === 0 && this.#all.size > 0) await this.#patience();
    const child = this.#idle.pop();
    if (child === undefined) return this.#start(limits);
    if (child.limits.planMemory === limits.planMemory) return child;
    this.#all.delete(child);
    void child.end();
    return this.#start(limits);
  }

  #start(limits: PlanLimits): PlanningChild {
    const child = new PlanningChild(this.setting, limits);
    this.#all.add(child);
    return child;
  }

  /** Until a child is free, but not for long. */
  #patience(): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        const at = this.#waiting.indexOf(go);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve();
      };
      const timer = setTimeout(go, PATIENCE);
      this.#waiting.push(go);
    });
  }
}

function findingsIn(answer: PlanAnswer): Findings {
  if (answer.kind === 'planned') return answer.findings;
  if (answer.kind === 'failure') throw new Failure(answer.title, answer.detail, answer.next);
  const { kind: _, message, ...rest } = answer;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  throw Object.assign(new Error(message), Object.fromEntries(given));
}
