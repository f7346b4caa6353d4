import { builtin, cutsGraph, ofTensor } from '../../src/library/library.js';
import { attributeUses, plainAttributes } from '../../src/semantic/attribute-uses.js';
import { classBehind } from '../../src/semantic/definitions.js';
import { readsReached } from '../../src/semantic/flow.js';
import { itemsOf } from '../../src/semantic/loop-items.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isRedefined } from '../../src/semantic/project-names.js';
import { argumentsOf, enclosingFunction, unparenthesized } from '../../src/semantic/statements.js';
import { attributeUsesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { leavesNothing } from '../../src/torch/record/left-behind.js';
import { Graphless } from './graphless.js';
import type { TeacherRun } from './sites.js';

/** Whether the graph of what the statement computes is cut off wherever the value is read. */
export function isOnlyReadDetached(module: PyModule, run: TeacherRun): boolean {
  if (new Graphless(module, new Set(), new Set()).doubt(run.value) === undefined) return true;
  if (run.targets.length === 0) return false;
  return readsOf(module, run).every((read) => isCutWhereRead(module, read)) || leadsNowhere(module, run);
}

/** What is computed from it is only read detached as well. */
function leadsNowhere(module: PyModule, { statement, networks }: TeacherRun): boolean {
  const owner = enclosingFunction(statement) ?? module.root;
  return leavesNothing(module, { wrapped: [statement], statements: [statement], owner, models: networks });
}

/** The places that may see what the statement gives its variables, or its function's callers. */
export function readsOf(module: PyModule, { targets }: TeacherRun): readonly PyNode[] {
  return targets.flatMap((target) => readsAt(module, target) ?? []);
}

/** The places that may see what a variable is given there, or an attribute that only objects of the file's class have. */
export function readsAt(module: PyModule, target: PyNode): readonly PyNode[] | undefined {
  if (target.type === 'subscript') {
    const buffer = target.value;
    const scope = buffer && module.resolve(buffer);
    return scope && module.reads(scope, buffer.text).filter((read) => read !== buffer);
  }
  if (target.type === 'identifier') {
    const scope = module.resolve(target);
    return scope === undefined ? [] : readsReached(module, scope, target.text, [target]);
  }
  const owner = target.type === 'attribute' ? classBehind(module, target.object ?? target) : undefined;
  const name = target.attribute?.text ?? '';
  if (owner === undefined || plainAttributes(module, owner, name).answer !== 'yes') return undefined;
  const { uses, unread } = attributeUsesElsewhere(module, owner, name, { may: () => true, byName: true });
  if (uses.length > 0 || unread !== undefined) return undefined;
  return attributeUses(module, owner, name).flatMap(({ node, kind }) => (kind === 'write' ? [] : [node]));
}

/** `x` of `for x, y in zip(a, b)`, which gets the items of `a`. */
export function targetsGiven(module: PyModule, loop: PyNode, items: PyNode): readonly PyNode[] {
  const { left, right } = loop;
  if (left === undefined || right === undefined) return [];
  return [...left.walk()].filter(
    (each) => each.type === 'identifier' && itemsOf(module, each, right) === items,
  );
}

/** `y` of `return y, loss` and of `list(zip(y, z))`: who gets them together may differentiate it alone. */
export function elementWith(module: PyModule, value: PyNode, read: PyNode): PyNode {
  const node = unparenthesized(value);
  const callee = node.type === 'call' ? node.function : undefined;
  const isFree = callee?.type === 'identifier' && module.resolve(callee) === undefined;
  const isContainer = /^(?:expression_list|tuple|list|set|dictionary|pair)$/.test(node.type);
  if (!isContainer && !(isFree && builtin(callee.text)?.gives === 'arguments')) return value;
  const element = (isContainer ? node.named : argumentsOf(node)).find((each) => each.contains(read));
  return element === undefined ? value : elementWith(module, element, read);
}

/** `y.detach()`, `y[0].mean().item()`, `y.shape`, `y == z`. */
export function isCutWhereRead(module: PyModule, read: PyNode): boolean {
  for (let at = read; at.parent !== undefined; ) {
    const { parent } = at;
    if (parent.type === 'comparison_operator' || parent.type === 'interpolation') return true;
    if (parent.type === 'attribute' && parent.object === at) {
      const name = parent.attribute?.text ?? '';
      if (ofTensor(name) === undefined || ofTensor(name)?.asksGraph || isRedefined(module, name))
        return false;
      if (cutsGraph(name)) return true;
      const call = parent.parent;
      at = call?.type === 'call' && call.function === parent ? call : parent;
    } else if (
      /^(?:binary_operator|unary_operator|parenthesized_expression)$/.test(parent.type) ||
      (parent.type === 'subscript' && parent.value === at)
    )
      at = parent;
    else return isShown(module, at);
  }
  return false;
}

/** `print(y)`, `float(y)`. */
function isShown(module: PyModule, value: PyNode): boolean {
  const callee = value.parent?.type === 'argument_list' ? value.parent.parent?.function : undefined;
  if (callee?.type !== 'identifier' || module.resolve(callee) !== undefined) return false;
  return callee.text === 'print' || /^(?:number|plain)$/.test(builtin(callee.text)?.gives ?? '');
}
