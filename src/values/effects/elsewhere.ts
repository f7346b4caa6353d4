import { everywhere, summariesTogether } from '../../semantic/companions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { modulesAround } from '../../semantic/imported-modules.js';
import type { PyModule } from '../../semantic/module.js';
import { reachedFrom } from '../../semantic/reach.js';
import { remembered, rememberedFrom } from '../../semantic/remembered.js';
import { functionElsewhere } from '../../semantic/star-imports.js';
import { enclosingFunction } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { type Callers, callersIn, TAKES_BY_TEXT, takersIn } from './callers.js';
import { type Asking, askingForMode, askingInAnyMode, REFUSED } from './forward.js';
import { type DifferentiatingModule, differentiatingModule, type GradUse, gradUseReached } from './grad.js';
import { mayBeKeptBy } from './handed-on-by-name.js';

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
  return useBehind(found.module, found.node, hops);
}

/** One that runs itself on the way adds nothing. */
const useBehind = rememberedFrom(undefined, (module, node, hops: number): UseElsewhere | undefined =>
  gradUseBehind({ module, node }, hops),
);

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
export const differentiatingModuleAround = remembered(
  (module: PyModule): DifferentiatingModule | undefined => {
    for (const around of modulesAround(module)) {
      const found = differentiatingModule(around);
      if (found !== undefined) return found;
    }
    return undefined;
  },
);

/**
 * A class or function of the project that computes otherwise without gradients, it seems, and that forwards run, or the
 * function `by`. `mayTrain`: networks may be in training mode.
 */
export function classAskingForModeAround(
  module: PyModule,
  mayTrain: boolean,
  by: PyNode,
): string | undefined {
  const asking = module.memo(mayTrain ? findAskingInAnyMode : findAsking, module);
  if (asking === undefined) return 'one of the many classes of the project';
  const around = by.type === 'function_definition' ? [by, enclosingFunction(by)] : [enclosingFunction(by)];
  const own = around.flatMap((each) => each?.name?.text ?? []);
  // At the top of a file, what it names itself is all that it runs.
  const names = around[0] === undefined ? namesIn(by) : own;
  return asking.find(({ name }) => name === undefined || mayRunByName(module, name, names))?.owner;
}

function findAsking(module: PyModule): readonly Asking[] | undefined {
  return askingAround(module, askingForMode);
}

function findAskingInAnyMode(module: PyModule): readonly Asking[] | undefined {
  return askingAround(module, askingInAnyMode);
}

const ASKED = ['is_grad_enabled', 'requires_grad', 'grad_fn', 'is_leaf', 'needs_input_grad'];

/** With these, a file goes on where torch refuses something for its graph, or for that of what a forward changes. */
const CATCHES = ['except', 'suppress'];

function askingAround(module: PyModule, look: typeof askingForMode): readonly Asking[] | undefined {
  const asking = [...modulesAround(module)].flatMap(({ alone }) => alone.memo(look, alone));
  const mentions = [
    ...ASKED.map((word) => ({ word, beside: [] })),
    ...CATCHES.map((word) => ({ word, beside: ['forward', ...REFUSED] })),
  ];
  for (const mention of mentions) {
    const files = summariesTogether(module, mention, look);
    if (files === undefined) return undefined;
    asking.push(...files.flat());
  }
  for (const word of OVERLOADS) {
    const owners = everywhere(module, word, overloadAsking);
    if (owners === undefined) return undefined;
    for (const owner of owners) if (owner !== undefined) asking.push({ owner });
  }
  return asking;
}

function namesIn(code: PyNode): readonly string[] {
  return [...code.walk()].flatMap(({ type, text }) => (type === 'identifier' ? text : []));
}

/** Whether a forward of the project, or a function of one of these names, may run what goes by a name. */
export function mayRunByName(module: PyModule, name: string, by: readonly string[]): boolean {
  const callers = module.memo(callersOf, name);
  return callers === undefined || by.some((each) => callers.has(each));
}

/** Functions that may lead to another, by their names. */
const MOST_CALLERS = 24;

/** The names of all functions of the project that lead there; undefined where a forward does, or where they are many. */
function callersOf(module: PyModule, name: string): ReadonlySet<string> | undefined {
  const found = new Set([name]);
  let isQuoted = false;
  for (const each of found) {
    if (each === '') continue;
    const files = everywhere(module, each, callersIn);
    if (files === undefined || found.size > MOST_CALLERS) return undefined;
    const isNew: boolean = !isQuoted && files.some((file) => file.isQuoted);
    const takers = isNew ? module.memo(takersOf, module) : [];
    if (takers === undefined) return undefined;
    isQuoted ||= isNew;
    for (const file of [...files, ...takers]) {
      if (file.isForward || mayBeKeptBy(module, file)) return undefined;
      for (const caller of file.names) found.add(caller);
    }
  }
  return found;
}

/** Who of the project takes something by a text; undefined where that is not known. */
function takersOf(module: PyModule): readonly Callers[] | undefined {
  const files = TAKES_BY_TEXT.map((word) => everywhere(module, word, takersIn));
  return files.includes(undefined) ? undefined : files.flatMap((each) => each ?? []);
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
