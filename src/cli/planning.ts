import type { Catalogue } from '../workspace/catalogue.js';
import type { PlanMeans } from '../workspace/migrate/plan.js';
import { type Planner, PlannerHere } from '../workspace/migrate/planner.js';
import { PlannerInChildren } from '../workspace/migrate/planner-children.js';
import { servePlans } from '../workspace/migrate/planning-server.js';
import { ParserStock } from '../workspace/parser-choice.js';
import { PLANNING } from './child-words.js';
import type { Io } from './io.js';
import { threadsFor } from './looking.js';

/** Plans in children of this program; in this process where it is a guest in another one, or runs from its sources. */
export function plannerFor(io: Pick<Io, 'self' | 'env'>, catalogue: Catalogue, signal: AbortSignal): Planner {
  const entry = io.self?.entry;
  if (entry === undefined) return new PlannerHere(meansOf(io, catalogue, signal));
  return new PlannerInChildren({ entry, words: [PLANNING, String(process.pid)], env: io.env }, signal);
}

/** The program as such a child. */
export function planFor(parent: number, io: Pick<Io, 'self' | 'env'>, catalogue: Catalogue): void {
  servePlans(parent, meansOf(io, catalogue, new AbortController().signal));
}

function meansOf(io: Pick<Io, 'self' | 'env'>, catalogue: Catalogue, signal: AbortSignal): PlanMeans {
  return {
    catalogue,
    parsers: new ParserStock(io.env['MEMFIX_PARSER']),
    signal,
    threads: (request) =>
      threadsFor(io, request, { areThere: false }, { takesFixes: true, remembers: false }),
  };
}
