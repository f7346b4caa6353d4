import type { Catalogue } from '../catalogue.js';
import type { PlanChoice, PlanLimits } from './campaign.js';
import type { Decisions } from './decisions.js';
import { type Findings, lookInto, type PlanMeans } from './plan.js';

/** What is to be planned, and what that may cost. */
export interface PlanWish extends PlanChoice {
  readonly limits: PlanLimits;
}

/** Plans the fixes of work trees. */
export interface Planner {
  plan(tree: string, wish: PlanWish, decisions: Decisions): Promise<Findings>;
  /** Ends what it started. */
  close(): Promise<void>;
}

/** What the stages of all repositories share. */
export interface Eyes {
  readonly catalogue: Catalogue;
  readonly planner: Planner;
  readonly signal: AbortSignal;
}

/** Plans in this process, without limits: a repository can end it. */
export class PlannerHere implements Planner {
  constructor(private readonly means: PlanMeans) {}

  plan(tree: string, wish: PlanWish, decisions: Decisions): Promise<Findings> {
    return lookInto(tree, wish, decisions, this.means);
  }

  async close(): Promise<void> {}
}
