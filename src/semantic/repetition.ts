import type { PyNode } from '../syntax/node.js';
import { ancestryOf } from './definitions.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { decoratorsOf, enclosingClass, enclosingFunction, enclosingLoops, isCallee } from './statements.js';

/** How often a statement runs, as far as the file shows. */
export type Repetition =
  | { readonly kind: 'once' }
  | { readonly kind: 'loop' }
  /** A loop of this file calls the function around it. */
  | { readonly kind: 'called'; readonly name: string }
  /** A framework calls the function around it, step after step. */
  | { readonly kind: 'hook'; readonly name: string }
  /** The function around it is called from elsewhere; `handed` to other code, or registered there, it may be often. The names lead there from the innermost function. */
  | { readonly kind: 'unseen'; readonly names: readonly string[]; readonly handed?: string };

const HOOK =
  /^on_|_hook$|_callback$|_closure$|^(?:training|validation|test|prediction)_step|^compute_loss$|^forward$|^__call__$/;
/** What runs the function that it is given once per process. */
const STARTERS = /^(?:spawn|Fire|cli|run|main|start_processes|Process|\w*launch\w*)$/;
const REGISTERS = /(?:^|\.)(?:on|get|post|put|route|register|subscribe|listens?_for|add_\w+|handler|task)$/;
const MAX_CALLERS = 4;

export function repetitionOf(module: PyModule, node: PyNode, hops = 0): Repetition {
  if (enclosingLoops(node).length > 0) return { kind: 'loop' };
  const around = enclosingFunction(node);
  const name = around?.name?.text;
  if (around === undefined || name === undefined) return { kind: 'once' };
  if (HOOK.test(name)) return { kind: 'hook', name };
  if (enclosingLoops(around).length > 0) return { kind: 'called', name };
  const registered = decoratorsOf(around).some((decorator) =>
    REGISTERS.test((decorator.function ?? decorator).text),
  );
  if (registered) return { kind: 'unseen', names: [name], handed: name };
  const uses = usesOf(module, around, name).filter((use) => !around.contains(use));
  if (uses.length === 0) {
    return { kind: 'unseen', names: [name], ...(isOverride(module, around) ? { handed: name } : {}) };
  }
  let repetition: Repetition = { kind: 'once' };
  for (const use of uses) {
    if (enclosingLoops(use).length > 0) return { kind: 'called', name };
    if (!isCalled(use)) return { kind: 'unseen', names: [name], ...(isStarted(use) ? {} : { handed: name }) };
    if (hops >= MAX_CALLERS) continue;
    const outer = repetitionOf(module, use, hops + 1);
    if (outer.kind === 'called' || outer.kind === 'hook') return outer;
    if (outer.kind === 'unseen') repetition = { ...outer, names: [name, ...outer.names] };
  }
  return repetition;
}

/** Reads of a function's name; for a method, of that attribute of anything but an imported module. */
function usesOf(module: PyModule, functionNode: PyNode, name: string): readonly PyNode[] {
  if (enclosingClass(functionNode) === undefined) return module.reads(module.scopeAt(functionNode), name);
  return module
    .words(`.${name}`)
    .flatMap((node) =>
      node.text === name && node.parent?.type === 'attribute' && node.parent.attribute === node
        ? [node.parent]
        : [],
    )
    .filter((attribute) => qualifiedName(module, attribute) === undefined);
}

/** A method of a class whose base is elsewhere: the base may call it. */
function isOverride(module: PyModule, functionNode: PyNode): boolean {
  const classNode = enclosingClass(functionNode);
  if (classNode === undefined) return false;
  const { imported, unknown } = ancestryOf(module, classNode);
  return unknown || imported.length > 0;
}

/** `fire.Fire(main)`, `mp.spawn(main, …)`, `Process(target=main)`. */
function isStarted(use: PyNode): boolean {
  const callee = use.closest('call')?.function;
  return STARTERS.test((callee?.type === 'attribute' ? callee.attribute : callee)?.text ?? '');
}

function isCalled(use: PyNode): boolean {
  return isCallee(use);
}
