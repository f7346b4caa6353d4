import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import { trainingCallReached } from './effects/calls.js';
import { differentiatingModuleAround } from './effects/elsewhere.js';
import { differentiatingModule, gradUseReached } from './effects/grad.js';
import { differentiatingCaller, entersGradOff, isGradOff, onlyRunsGradOff } from './effects/mode.js';

/** What running a function, or a part of one, does to graphs and gradients. Each answer is computed when it is asked for. */
class Effects {
  constructor(
    private readonly module: PyModule,
    readonly node: PyNode,
  ) {}

  /**
   * That it differentiates, or what it runs in its file does; of one that runs networks also that a network of the file does
   * so in its forward, or one that is imported. Clauses that follow "because".
   */
  *differentiation(runs: 'networks' | 'networks of its file' | 'none'): Generator<string> {
    const reached = gradUseReached(this.module, this.node);
    const via = reached?.via?.name?.text;
    if (reached !== undefined)
      yield via === undefined
        ? `it ${reached.use.words}`
        : `it may run \`${via}\`, which ${reached.use.words}`;
    if (runs === 'none') return;
    const inner = (runs === 'networks' ? differentiatingModuleAround : differentiatingModule)(this.module);
    if (inner !== undefined) yield `it may run \`${inner.name}\`, whose forward ${inner.use.words}`;
  }

  /** It runs something that trains, by its name or by what it is handed: a clause of the same kind. */
  get trains(): string | undefined {
    return trainingCallReached(this.module, this.node)?.words;
  }

  /** The function of the file that differentiates what it hands back. */
  get differentiatedBy(): PyNode | undefined {
    return differentiatingCaller(this.module, this.node);
  }

  /** Somebody has seen to it that it runs without gradients: a decorator, a block around it, its callers or an exit stack; also by a name. */
  get isGradOff(): boolean {
    const { module, node } = this;
    return isGradOff(module, node) || onlyRunsGradOff(module, node) || entersGradOff(module, node);
  }
}

export function effectsOf(module: PyModule, node: PyNode): Effects {
  return new Effects(module, node);
}
