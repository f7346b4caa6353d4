import { builtin } from '../../library/library.js';
import type { Definition } from '../../semantic/flow.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  enclosingFunction,
  isPlainPath,
  methodName,
  receiverOf,
  rootOf,
} from '../../semantic/statements.js';
import { isCount, isUnbound, livesIn, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import type { Suspect } from '../effects/differentiators.js';
import { type LazyCode, lazyCode } from '../effects/lazy-code.js';
import { contentsOf, isLive } from '../effects/live-value.js';
import type { Premises } from '../value/trace-kinds.js';

/**
 * That the elements which a part of a function takes out of an object are computed as it takes them, and have a graph: of a
 * dataset that runs a network, a generator, the rows of a tensor. Undefined where nothing in the project shows any.
 */
export function premisesOfTaken(
  module: PyModule,
  owner: PyNode,
  part: readonly PyNode[],
): Premises | undefined {
  if (!takesComputed(module, owner, part)) return undefined;
  // What a function of the file takes, it takes while this code runs it.
  const isInside = (node: PyNode): boolean =>
    enclosingFunction(node) !== owner || part.some((each) => each.contains(node));
  const isComputed = (there: PyModule, objects: readonly PyNode[]): boolean =>
    objects.some((object) => mayCompute(there, object, owner));
  return {
    definition: (there, found) =>
      isInside(found.node) && isComputed(there, takenFor(there, found)) ? 'graph' : undefined,
    expression: (there, node) =>
      isInside(node) && isComputed(there, takenBy(there, node)) ? 'graph' : undefined,
  };
}

/** What keeps something that it computes, where a part of a function takes elements of an object. */
export function keptWhenTaken(module: PyModule, owner: PyNode, part: readonly PyNode[]): Keeper | undefined {
  if (!takesComputed(module, owner, part)) return undefined;
  const { code, unread } = lazyCode(module);
  const keeper = code.find((each) => each.isKept && !isCodeOf(module, owner, each));
  const suspect = keeper?.suspect ?? unread;
  return suspect && { suspect, isHere: keeper?.file === module.path };
}

interface Keeper {
  readonly suspect: Suspect;
  /** In the file that is looked at. */
  readonly isHere: boolean;
}

function takesComputed(module: PyModule, owner: PyNode, part: readonly PyNode[]): boolean {
  return part.some((each) => takenIn(module, each).some((object) => mayCompute(module, object, owner)));
}

/** The objects that some code goes through, or takes an element of. */
function takenIn(module: PyModule, code: PyNode): readonly PyNode[] {
  return [...code.walk()].flatMap((node) => {
    if (node.type === 'for_statement' || node.type === 'for_in_clause') return node.right ?? [];
    if (node.type === 'assignment' && node.left?.type.includes('pattern') === true)
      return node.right === undefined ? [] : unpacked(node.right);
    return takenBy(module, node);
  });
}

/** What a binding takes its value out of; not the `i` of `for i, x in enumerate(data)`. */
function takenFor(module: PyModule, found: Definition): readonly PyNode[] {
  if (found.kind === 'part') return unpacked(found.value);
  if (found.kind !== 'loop' || isCount(module, found.node, found.iterable)) return [];
  return [found.iterable];
}

/** `views` of `first, second = views` */
function unpacked(value: PyNode): readonly PyNode[] {
  return isPlainPath(value) ? [value] : [];
}

/** `batches` of `next(batches)`, `[*batches]` and `batches.send(x)`, `data` of `data[0]`, but not what was made on the spot. */
function takenBy(module: PyModule, node: PyNode): readonly PyNode[] {
  if (node.type === 'list_splat') return node.named;
  if (node.type === 'subscript') {
    const object = node.value;
    return object === undefined || !isPlainPath(object) || isMadeHere(module, object) ? [] : [object];
  }
  const callee = node.type === 'call' ? node.function : undefined;
  if (callee === undefined) return [];
  if (ADVANCES.test(methodName(node) ?? '')) return [receiverOf(node) ?? []].flat();
  if (!isUnbound(module, callee)) return [];
  return builtin(callee.text)?.gives === 'arguments' ? argumentsOf(node) : [];
}

/** Methods of generators and of what is gone through. */
const ADVANCES = /^(?:send|__(?:next|iter|getitems?)__)$/;

function isMadeHere(module: PyModule, object: PyNode): boolean {
  const ways = waysGiven(module, rootOf(object));
  return ways.length > 0 && ways.every((way) => way.kind === 'value' && isFreshContainer(module, way.value));
}

/** `owner`: what it computes itself with a graph is known without. */
function mayCompute(module: PyModule, object: PyNode, owner: PyNode): boolean {
  if (comesFromOutside(module, object) && module.memo(isLive, object)) return true;
  const home = module.around.home() ?? module;
  const { code, unread } = lazyCode(home);
  const isLazy = code.some((each) => (each.isKept || each.isGiven) && !isCodeOf(home, owner, each));
  return (isLazy || unread !== undefined) && module.memo(contentsOf, object) !== 'none';
}

/** The lazy code is what takes the elements itself. */
function isCodeOf(module: PyModule, owner: PyNode, { file, start }: LazyCode): boolean {
  return file === module.path && start === owner.start;
}

function comesFromOutside(module: PyModule, object: PyNode): boolean {
  return [...object.walk()].some((node) => {
    if (node.type !== 'identifier') return false;
    const functionNode = enclosingFunction(node);
    if (functionNode === undefined || !livesIn(module, node, functionNode)) return true;
    return waysGiven(module, node).some(({ kind }) => kind === 'parameter');
  });
}
