import { isHarmlessBuiltin, packageOf } from '../../library/library.js';
import { calledDefinition, selfName } from '../../semantic/definitions.js';
import { isAsked } from '../../semantic/given-away.js';
import { hasStarImport, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { receiverOf } from '../../semantic/statements.js';
import { readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

/** The object whose method a call runs, and its name in there. */
interface Made {
  readonly object: PyNode;
  readonly self: string;
  /** It knows nothing but what it is given by its methods. */
  readonly isMeter: boolean;
}

/** `losses` of `losses.update(x)`, where the function has made it. */
export function objectMadeIn(
  module: PyModule,
  functionNode: PyNode,
  method: PyNode,
  call: PyNode,
): Made | undefined {
  const object = receiverOf(call);
  const self = selfName(method);
  if (object?.type !== 'identifier' || self === undefined) return undefined;
  const made = module.resolve(object)?.node === functionNode ? waysGiven(module, object) : [];
  if (made.length === 0 || made.some(({ kind }) => kind === 'parameter')) return undefined;
  const isMeter =
    made.every((each) => each.kind === 'value' && makesMeter(module, each.value)) &&
    readsOf(module, object).every(isAsked);
  return { object, self, isMeter };
}

/** `AverageMeter()`, of a class of the file without bases. */
function makesMeter(module: PyModule, making: PyNode): boolean {
  const classNode = making.type === 'call' ? calledDefinition(module, making) : undefined;
  return classNode?.type === 'class_definition' && module.memo(knowsNothingElse, classNode);
}

/** Nothing that a class names lies outside its methods, but for what has no tensors. */
function knowsNothingElse(module: PyModule, classNode: PyNode): boolean {
  const bases = classNode.superclasses?.named ?? [];
  if (!bases.every(({ text }) => text === 'object')) return false;
  const isOpen = hasStarImport(module);
  return [...(classNode.body ?? classNode).walk()].every((node) => {
    if (node.type !== 'identifier' || roleOf(node) !== 'read') return true;
    const scope = module.resolve(node);
    if (scope === undefined) return isHarmlessBuiltin(node.text) && !isOpen;
    return (
      classNode.contains(scope.node) || packageOf(qualifiedName(module, node) ?? '')?.gives !== undefined
    );
  });
}
