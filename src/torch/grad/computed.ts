import type { PyModule } from '../../semantic/module.js';
import { receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { suspicionsOf } from '../../values/effects/calls.js';
import { type Escape, escapesOf } from '../../values/uses/escapes.js';
import { GradTrace } from '../../values/value/trace.js';
import type { Evaluation } from './evaluation.js';
import { walks } from './walks.js';

/** `numbers`: nothing else. `unknown`: nothing that was computed with the networks is seen to leave, and questions are left. */
export type Kept = 'numbers' | 'unknown' | 'graph';

/** What becomes of what some networks compute in a function: asked for by whoever looks for a site there, and by its fix. */
class Computed {
  readonly trace: GradTrace;
  /** What is known to be kept of it, by the runs that were asked about. */
  readonly kept = new Map<readonly Evaluation[], Kept>();
  #leaving: readonly Escape[] | undefined;
  readonly #suspected = new Map<string, ReturnType<typeof suspicionsOf>>();

  constructor(
    private readonly module: PyModule,
    private readonly functionNode: PyNode,
    readonly models: ReadonlySet<string>,
  ) {
    this.trace = new GradTrace(module, functionNode, models);
  }

  get leaving(): readonly Escape[] {
    this.#leaving ??= [...escapesOf(this.module, this.functionNode, this.trace)];
    return this.#leaving;
  }

  /** `isWalked`: also what is done with the network whose parameters the function walks. */
  suspected(isWalked = false): ReturnType<typeof suspicionsOf> {
    const networks = new Set([...this.models, ...(isWalked ? walkedBy(this.module, this.functionNode) : [])]);
    const key = [...networks].join('\0');
    const known = this.#suspected.get(key);
    const found = known ?? suspicionsOf(this.module, this.functionNode, networks, this.trace);
    this.#suspected.set(key, found);
    return found;
  }
}

export function computedBy(module: PyModule, functionNode: PyNode, runs: readonly Evaluation[]): Computed {
  const known = module.memo(nothingComputed, functionNode);
  const models = new Set(runs.map(({ model }) => model.text));
  const key = [...models].join('\0');
  const computed = known.get(key) ?? new Computed(module, functionNode, models);
  known.set(key, computed);
  return computed;
}

function nothingComputed(): Map<string, Computed> {
  return new Map();
}

/** The network whose parameters the function walks; `self` is looked at method by method. */
function walkedBy(module: PyModule, functionNode: PyNode): readonly string[] {
  const walk = walks(module).find((each) => each.functionNode === functionNode);
  const receiver = walk && receiverOf(walk.call);
  return receiver === undefined || receiver.text === 'self' ? [] : [receiver.text];
}
