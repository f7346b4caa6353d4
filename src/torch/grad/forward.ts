import { classAround } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import { IS_GRAD_ENABLED } from '../catalog.js';
import { shown } from '../gate.js';
import type { GradTrace } from './trace.js';

const HOOKS: readonly string[] = ['register_forward_hook', 'register_forward_pre_hook'];

/** A forward hook of the file whose code is not inside the function: it may keep what the forward computes. */
export function hookElsewhere(module: PyModule, functionNode: PyNode): PyNode | undefined {
  return HOOKS.flatMap((name) => module.at(name)).find((node) => {
    const call = node.parent?.parent;
    if (call?.type !== 'call') return false;
    const [hook] = argumentsOf(call);
    if (!functionNode.contains(call)) return true;
    if (hook?.type === 'lambda') return false;
    const scope = hook?.type === 'identifier' ? module.resolve(hook) : undefined;
    return scope === undefined || !functionNode.contains(scope.node);
  });
}

/** What interatomic potentials hand back: derivatives of the energy, which their forward takes by autograd. */
const DERIVATIVES =
  /(?<!\.)\b(?:forces|virials?)\b|["'](?:forces?|stress(?:es)?|virials?)["']|\.(?:forces?|stress|virial)\b/;

/** The name in a function that says that the forward differentiates. */
export function derivativeNamed(functionNode: PyNode): string | undefined {
  return DERIVATIVES.exec(functionNode.field('body')?.text ?? '')?.[0].replace(/\W/g, '');
}

/** Where the function asks whether a graph is recorded: the answer would change. `words` completes "because it …". */
export function asksForGraph(module: PyModule, functionNode: PyNode, trace: GradTrace): string | undefined {
  const inside = (node: PyNode): boolean => functionNode.contains(node);
  for (const node of module.at('is_grad_enabled').filter(inside)) {
    const target = node.parent?.type === 'attribute' ? node.parent : node;
    if (qualifiedName(module, target) === IS_GRAD_ENABLED) return `asks \`${shown(target)}()\``;
  }
  for (const node of module.at('.requires_grad').filter(inside)) {
    const object = node.parent?.field('object');
    if (node.text === 'requires_grad' && object !== undefined && trace.of(object) === 'graph')
      return `reads \`${shown(node.parent ?? node)}\``;
  }
  return undefined;
}

/** The class of the file that asks for the grad mode, other than beside `self.training`, which evaluation turns off anyway. */
export function classAskingForMode(module: PyModule): string | undefined {
  for (const node of module.at('is_grad_enabled')) {
    const target = node.parent?.type === 'attribute' ? node.parent : node;
    if (qualifiedName(module, target) !== IS_GRAD_ENABLED) continue;
    let asked = target.parent ?? target;
    while (/^(?:boolean_operator|not_operator|parenthesized_expression)$/.test(asked.parent?.type ?? ''))
      asked = asked.parent ?? asked;
    const owner = classAround(node)?.classNode.field('name')?.text;
    if (owner !== undefined && (/\bor\b/.test(asked.text) || !/\.training\b/.test(asked.text))) return owner;
  }
  return undefined;
}

const MEMORY = ['memory_allocated', 'memory_reserved', 'memory_stats', 'memory_summary', 'mem_get_info'];

/** Where the function measures memory, which is what this changes. */
export function measuredMemory(module: PyModule, functionNode: PyNode): string | undefined {
  const [read] = MEMORY.flatMap((name) => within(module.at(name), functionNode));
  return read?.text;
}
