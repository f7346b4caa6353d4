import { functionUses } from '../semantic/function-uses.js';
import { spotOf } from '../semantic/gate.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, enclosingClass, enclosingFunction, receiverOf } from '../semantic/statements.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import { parameterGiven } from './passes.js';
import { definitionOf, makersOf, type Trained } from './trained.js';

/** Where a file, or a function that gets the model, freezes parameters of the model that is trained. */
export function frozenIn(
  module: PyModule,
  trained: Trained,
  isAfter: (node: PyNode) => boolean,
): string | undefined {
  const own = freezesIn(module).find(
    ({ owners, node }) =>
      !isAfter(node) && owners.some((owner) => isTrained(module, owner, trained) || isPartOf(node, trained)),
  );
  if (own !== undefined) return spotOf(module, own.node);
  for (const name of trained.texts)
    for (const call of givenTo(module, name)) {
      const there = parameterGiven(module, call, name);
      const found =
        there &&
        freezesIn(there.module).find(
          ({ node, owners }) =>
            there.body.contains(node) && owners.some((owner) => rootOf(owner).text === there.parameter),
        );
      if (there !== undefined && found !== undefined) return spotOf(there.module, found.node);
    }
  return undefined;
}

function givenTo(module: PyModule, name: string): readonly PyNode[] {
  return module.words(name).flatMap(({ parent }) => {
    const call = parent?.closest('call');
    return call !== undefined && argumentsOf(call).some((each) => each.text === name) ? [call] : [];
  });
}

interface Freeze {
  readonly node: PyNode;
  readonly owners: readonly PyNode[];
}

/** `p.requires_grad = False`, `net.requires_grad_(False)`. */
function freezesIn(module: PyModule): readonly Freeze[] {
  return module.at('requires_grad').flatMap((node): readonly Freeze[] => {
    const { parent } = node;
    const whole = parent?.parent;
    if (parent?.type !== 'attribute' || parent.object === undefined) return [];
    const isOff =
      whole?.type === 'assignment'
        ? whole.left === parent && whole.right?.type === 'false'
        : whole?.type === 'call' && argumentsOf(whole)[0]?.type === 'false';
    return isOff ? [{ node, owners: ownersOf(module, parent.object) }] : [];
  });
}

/** In the class of the model. */
function isPartOf(node: PyNode, { makers }: Trained): boolean {
  const classNode = enclosingClass(node);
  return makers.some(
    (each) => classNode !== undefined && definitionOf(each.module, each.call)?.node === classNode,
  );
}

/** Whose parameters these are: `model` of `for p in model.parameters(): p.requires_grad = False`; none of a plain tensor. */
function ownersOf(module: PyModule, frozen: PyNode): readonly PyNode[] {
  if (frozen.type !== 'identifier') return [frozen];
  return waysReaching(module, frozen).flatMap((way) => {
    if (way.kind === 'value') return [frozen];
    const over = way.kind === 'loop' ? [...way.iterable.walk()] : [];
    return over.flatMap((each) =>
      each.type === 'call' && /^(?:named_)?parameters$/.test(each.function?.attribute?.text ?? '')
        ? (receiverOf(each) ?? [])
        : [],
    );
  });
}

/** By its name, by the calls that made it, or by what a function is given that freezes its parameter. */
function isTrained(module: PyModule, owner: PyNode, trained: Trained): boolean {
  if ([...trained.texts].some((text) => owner.text === text || owner.text.startsWith(`${text}.`)))
    return true;
  const isMade = (node: PyNode) =>
    makersOf(module, node).some(({ call }) => trained.makers.some((each) => each.call === call));
  const root = rootOf(owner);
  if (root.type !== 'identifier' || root.text === 'self') return false;
  const isParameter = waysReaching(module, root).some(({ kind }) => kind === 'parameter');
  const helper = isParameter ? enclosingFunction(root) : undefined;
  if (helper === undefined) return isMade(root);
  return functionUses(module, helper).some((use) => {
    const call = use.parent;
    return call?.type === 'call' && argumentsOf(call).some((each) => trained.texts.has(each.text));
  });
}

function rootOf(node: PyNode): PyNode {
  return node.type === 'attribute' && node.object !== undefined ? rootOf(node.object) : node;
}
