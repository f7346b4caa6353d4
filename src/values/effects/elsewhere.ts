import { foundAnywhere } from '../../semantic/anywhere.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { modulesAround } from '../../semantic/imported-modules.js';
import type { PyModule } from '../../semantic/module.js';
import { reachedFrom } from '../../semantic/reach.js';
import { functionElsewhere } from '../../semantic/star-imports.js';

import type { PyNode } from '../../syntax/node.js';
import { classAskingForMode, classAskingInAnyMode } from './forward.js';
import { type DifferentiatingModule, differentiatingModule, type GradUse, gradUseReached } from './grad.js';

interface UseElsewhere {
  readonly use: GradUse;
  readonly path: string;
}

/** From one file to the next, this far. */
const MAX_HOPS = 3;

/** What a function of another file of the project does with gradients, if this is what a call runs; also through others. */
export function gradUseElsewhere(module: PyModule, callee: PyNode, hops = 0): UseElsewhere | undefined {
  const found = functionElsewhere(module, callee);
  if (found === undefined || hops > MAX_HOPS) return undefined;
  const known = found.module.memo(nobodyYet, found.module);
  if (!known.has(found.node)) {
    // One that runs itself on the way adds nothing.
    known.set(found.node, undefined);
    known.set(found.node, gradUseBehind(found, hops));
  }
  return known.get(found.node);
}

function nobodyYet(): Map<PyNode, UseElsewhere | undefined> {
  return new Map();
}

/** What a function, of whichever file, does with gradients, also through others. */
export function gradUseBehind({ module, node }: Elsewhere, hops = 0): UseElsewhere | undefined {
  const reached = gradUseReached(module, node);
  if (reached !== undefined) return { use: reached.use, path: module.path };
  for (const each of [node, ...reachedFrom(module, node)]) {
    for (const call of (each.body ?? each).walk()) {
      const callee = call.type === 'call' ? call.function : undefined;
      const use = callee && gradUseElsewhere(module, callee, hops + 1);
      if (use !== undefined) return use;
    }
  }
  return undefined;
}

/** The same as `differentiatingModule`, also for the files of the project that this one imports classes from. */
export function differentiatingModuleAround(module: PyModule): DifferentiatingModule | undefined {
  return module.memo(findDifferentiating, module);
}

function findDifferentiating(module: PyModule): DifferentiatingModule | undefined {
  for (const around of modulesAround(module)) {
    const found = differentiatingModule(around);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A class of the project that computes otherwise without gradients, it seems. `mayTrain`: it may be in training mode. */
export function classAskingForModeAround(module: PyModule, mayTrain: boolean): string | undefined {
  return module.memo(mayTrain ? findAskingInAnyMode : findAsking, module);
}

function findAsking(module: PyModule): string | undefined {
  return askingAround(module, classAskingForMode);
}

function findAskingInAnyMode(module: PyModule): string | undefined {
  return askingAround(module, classAskingInAnyMode);
}

function askingAround(module: PyModule, asking: typeof classAskingForMode): string | undefined {
  for (const around of modulesAround(module)) {
    const found = around.alone.memo(asking, around.alone);
    if (found !== undefined) return found;
  }
  for (const word of ['is_grad_enabled', 'requires_grad', 'grad_fn', 'is_leaf', 'needs_input_grad']) {
    const files = module.around.summaries({ word, beside: ['forward', '__call__'] }, asking);
    if (files === undefined) return 'one of the many networks of the project';
    const found = files.find((each) => each !== undefined);
    if (found !== undefined) return found;
  }
  for (const word of OVERLOADS) {
    const found = foundAnywhere(module, word, overloadAsking, 'one of the many classes of the project');
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What torch calls for every function that gets such a tensor, or runs in such a mode. */
const OVERLOADS: readonly string[] = ['__torch_function__', '__torch_dispatch__'];

/** The class whose own version of all functions asks whether a graph is recorded. */
function overloadAsking(alone: PyModule, word: string): string | undefined {
  for (const { parent } of alone.words(word)) {
    if (parent?.type !== 'function_definition') continue;
    if (/\b(?:requires_grad|grad_fn|is_leaf|is_grad_enabled)\b/.test(alone.codeOf(parent)))
      return parent.closest('class_definition')?.name?.text;
  }
  return undefined;
}
