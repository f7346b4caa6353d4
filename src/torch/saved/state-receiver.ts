import { type Answer, all } from '../../semantic/answer.js';
import { attributeValues } from '../../semantic/attributes.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../semantic/elsewhere.js';
import { definitionOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isProgram } from '../../semantic/program.js';
import { starredDefinition } from '../../semantic/star-imports.js';
import {
  argumentsOf,
  decoratorsOf,
  isAsync,
  methodName,
  ownNodes,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { copiesLoadedState, GIVES_ITSELF, WRAPS_MODULE } from '../catalog-loading.js';
import { hasCopyingParts, isCopyingClass } from './loading-class.js';

const MAX_HOPS = 5;
/**
 * Whether `receiver.load_state_dict(state)` copies into tensors that are already where they belong, as torch's modules and
 * optimizers do: by the class that made it and by what that is made of. `no` is never proven.
 */
export function copiesState(module: PyModule, receiver: PyNode): Answer {
  return module.memo(findCopying, receiver);
}

function findCopying(module: PyModule, receiver: PyNode): Answer {
  const made = makesCopier(module, receiver, 0);
  return made === 'yes' ? hasCopyingParts(module, receiver) : made;
}

function makesCopier(module: PyModule, value: PyNode | undefined, hops: number): Answer {
  const target = value && unparenthesized(value);
  if (target === undefined || hops > MAX_HOPS) return 'unknown';
  switch (target.type) {
    case 'none':
      // Loads nothing.
      return 'yes';
    case 'call':
      return callMakesCopier(module, target, hops);
    case 'conditional_expression':
      return all([target.named[0], target.named[2]].map((each) => makesCopier(module, each, hops + 1)));
    case 'attribute':
      if (target.field('attribute')?.text === 'module')
        return makesCopier(module, target.field('object'), hops + 1);
      return isOpen(module, target)
        ? 'unknown'
        : all(
            attributeValues(module, target)?.map((each) => makesCopier(module, each, hops + 1)) ?? [
              'unknown',
            ],
          );
    case 'identifier':
      return nameIsCopier(module, target, hops);
    default:
      return 'unknown';
  }
}

function nameIsCopier(module: PyModule, name: PyNode, hops: number): Answer {
  const around = classAround(name);
  if (around?.self === name.text)
    return isOpen(module, name) ? 'unknown' : isCopyingClass(module, around.classNode);
  const scope = module.resolve(name);
  const writes = scope === undefined ? [] : module.writes(scope, name.text);
  if (writes.length === 0) return 'unknown';
  return all(
    writes.map((write) => {
      const definition = definitionOf(write);
      if (definition.kind !== 'value') return 'unknown';
      return definition.value.contains(name) ? 'yes' : makesCopier(module, definition.value, hops + 1);
    }),
  );
}

/** Classes of other files may inherit the method that a node stands in: they may load in their own way, and hold other parts. */
function isOpen(module: PyModule, node: PyNode): boolean {
  const name = classAround(node)?.classNode.field('name')?.text;
  return name !== undefined && !name.startsWith('_') && !isProgram(module);
}

function callMakesCopier(module: PyModule, call: PyNode, hops: number): Answer {
  const callee = call.field('function');
  const path = callee && qualifiedName(module, callee);
  if (path !== undefined) {
    if (WRAPS_MODULE.has(path)) return makesCopier(module, argumentsOf(call)[0], hops + 1);
    if (copiesLoadedState(path)) return 'yes';
    return definitionMakesCopier(definedElsewhere(module, path), hops);
  }
  const own = calledDefinition(module, call);
  if (own !== undefined) return definitionMakesCopier({ module, node: own }, hops);
  if (callee?.type === 'identifier' && module.resolve(callee) === undefined)
    return definitionMakesCopier(starredDefinition(module, callee.text), hops);
  return GIVES_ITSELF.has(methodName(call) ?? '')
    ? makesCopier(module, receiverOf(call), hops + 1)
    : 'unknown';
}

/** A class that copies, or a function that gives nothing else. */
function definitionMakesCopier(definition: Elsewhere | undefined, hops: number): Answer {
  if (definition === undefined) return 'unknown';
  const { module, node } = definition;
  if (node.type === 'class_definition') return isCopyingClass(module, node);
  const own = [...ownNodes(node)];
  const returned = own.filter(({ type }) => type === 'return_statement');
  const isPlain =
    decoratorsOf(node).length === 0 && !isAsync(node) && !own.some(({ type }) => type === 'yield');
  if (!isPlain || returned.length === 0) return 'unknown';
  return all(returned.map((each) => makesCopier(module, each.named[0], hops + 1)));
}
