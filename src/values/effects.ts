import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import { trainingCallReached } from './effects/calls.js';
import { differentiatingModuleAround } from './effects/elsewhere.js';
import { gradUseReached } from './effects/grad.js';
import { differentiatingCaller, isGradOff, onlyRunsGradOff } from './effects/mode.js';
import { recordsNoGraph } from './value/gradient.js';

/** What running a function, or a part of one, does to graphs and gradients. Each answer is computed when it is asked for. */
export class Effects {
  constructor(
    private readonly module: PyModule,
    readonly node: PyNode,
  ) {}

  /** It differentiates, or what it runs in its file does: completes "because it …". */
  get differentiates(): string | undefined {
    const reached = gradUseReached(this.module, this.node);
    if (reached === undefined) return undefined;
    const { via, use } = reached;
    return via === undefined ? use.words : `may run \`${via.name?.text}\`, which ${use.words}`;
  }

  /** A network of the project, which it may run, differentiates in its forward: completes "because it …". */
  get differentiatesInForward(): string | undefined {
    const inner = differentiatingModuleAround(this.module);
    return inner && `may run \`${inner.name}\`, whose forward ${inner.use.words}`;
  }

  /** It runs something that trains, by its name or by what it is handed. */
  get trains(): string | undefined {
    return trainingCallReached(this.module, this.node)?.words;
  }

  /** The function of the file that differentiates what it hands back. */
  get differentiatedBy(): PyNode | undefined {
    return differentiatingCaller(this.module, this.node);
  }

  /** `off`: surely. `perhaps-off`: by a condition, by its callers, or going by names. */
  get gradMode(): 'off' | 'perhaps-off' | 'on' {
    if (recordsNoGraph(this.module, this.node.body ?? this.node)) return 'off';
    const isOff = isGradOff(this.module, this.node) || onlyRunsGradOff(this.module, this.node);
    return isOff ? 'perhaps-off' : 'on';
  }
}

export function effectsOf(module: PyModule, node: PyNode): Effects {
  return new Effects(module, node);
}
