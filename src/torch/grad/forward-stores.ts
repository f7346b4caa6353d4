import { cutsGraph, row } from '../../library/library.js';
import { isModuleClass } from '../../library/paths.js';
import { stringValue } from '../../semantic/attribute-uses.js';
import { attributeOfSelf } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { isOnlyAsked } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { outlivingName } from '../../semantic/outliving.js';
import { argumentValue, givenTo, methodName, receiverOf, valuesAssigned } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { keepsGiven } from '../../values/value/names.js';
import { isSetBefore } from './set-before.js';

/** A value that may have a graph, put where it outlives the call: on `self`, in a global, in what those hold. */
export interface Store {
  readonly into: PyNode;
  /** The attribute or the variable that others find it by; empty where it is computed. */
  readonly name: string;
  /** It is put into what is there, and does not take its place: `self.kept[key] = value`. */
  readonly isHeld: boolean;
}

/** What a function, the ones inside it included, leaves behind. What it changes of its arguments, its caller has. */
export function* storesOf(module: PyModule, functionNode: PyNode): Generator<Store> {
  for (const node of (functionNode.body ?? functionNode).walk()) {
    // `type(self).last = value` reads like one to the parser.
    if (node.type === 'type_alias_statement') yield { into: node, name: '', isHeld: true };
    for (const { target, values, name } of putBy(module, node)) {
      const found = outlivingName(module, functionNode, target);
      if (found === undefined || recordsNoGraph(module, node)) continue;
      if (!values.some((value) => mayHaveGraph(module, value))) continue;
      yield {
        into: target,
        name: name ?? found,
        isHeld: node.type !== 'assignment' || attributeOfSelf(target) === undefined,
      };
    }
  }
}

export function mayHaveGraph(module: PyModule, given: PyNode): boolean {
  const known = valueOf(module, argumentValue(given));
  return known.kind !== 'number' && known.mayHaveGraph();
}

interface Put {
  /** What is assigned to, or what holds it afterwards. */
  readonly target: PyNode;
  readonly values: readonly PyNode[];
  /** The attribute, where it is not in the target. */
  readonly name?: string;
}

function putBy(module: PyModule, node: PyNode): readonly Put[] {
  if (/^(?:augmented_)?assignment$/.test(node.type)) return valuesAssigned(node);
  if (node.type !== 'call') return [];
  const given = givenTo(node);
  const method = methodName(node);
  if (node.function?.text === 'setattr' || method === '__setattr__') {
    const [object, key, value] = given.length === 3 ? given : [receiverOf(node), ...given];
    if (object === undefined || value === undefined) return [];
    return [{ target: object, values: [value], name: stringValue(key) ?? '' }];
  }
  const path = node.function && qualifiedName(module, node.function);
  // `heapq.heappush(heap, value)`
  if (path !== undefined && /^(?:heapq|bisect|operator)\./.test(path))
    return given[0] === undefined ? [] : [{ target: given[0], values: given.slice(1) }];
  const receiver = receiverOf(node);
  if (receiver === undefined || method === undefined || path !== undefined) return [];
  if (node.parent?.type !== 'expression_statement') return [];
  return keepsGiven(method) || isKeeper(module, receiver) ? [{ target: receiver, values: given }] : [];
}

/** A variable of the file, made by something that is neither a layer nor a log: whatever its methods are called. */
function isKeeper(module: PyModule, receiver: PyNode): boolean {
  if (receiver.type !== 'identifier' || module.resolve(receiver) !== module.scope) return false;
  const maker = makerOf(module, receiver);
  return maker !== undefined && !isModuleClass(maker) && !/^(?:logging|loguru|torch)\b/.test(maker);
}

/** Whether a file reads what goes by a name, as something whose graph may count, and after another run may have left it. */
export function readsGraphOf(alone: PyModule, name: string): boolean {
  return readsLeft(alone, name, false);
}

/** The same of what is put into it. */
export function readsGraphIn(alone: PyModule, name: string): boolean {
  return readsLeft(alone, name, true);
}

function readsLeft(alone: PyModule, name: string, isHeld: boolean): boolean {
  if (name === '') return true;
  if (new RegExp(`getattr\\([^()]*,\\s*["']${name}["']`).test(alone.code)) return true;
  return alone.words(name).some((node) => {
    if (node.type !== 'identifier' || node.text !== name) return false;
    const { parent } = node;
    if (parent === undefined || /import|dotted_name|_definition$|parameter|global|nonlocal/.test(parent.type))
      return false;
    if (parent.type === 'keyword_argument' && parent.name === node) return false;
    const isAttribute = parent.type === 'attribute' && parent.attribute === node;
    if (!isAttribute && (roleOf(node) !== 'read' || isLocal(alone, node))) return false;
    return (
      isReadForGraph(alone, isAttribute ? parent : node) &&
      !(isAttribute && isSetBefore(alone, parent, isHeld))
    );
  });
}

/** A variable of a function: another one. */
function isLocal(module: PyModule, identifier: PyNode): boolean {
  return module.resolve(identifier)?.kind === 'function';
}

/** Whether a place is read as something whose graph may count. */
export function isReadForGraph(module: PyModule, place: PyNode): boolean {
  const user = place.parent;
  if (user === undefined || isOnlyAsked(place) || recordsNoGraph(module, place)) return false;
  switch (user.type) {
    case 'assignment':
    case 'augmented_assignment':
      return user.left !== place;
    // These stand on the left only.
    case 'pattern_list':
    case 'tuple_pattern':
    case 'list_pattern':
    case 'delete_statement':
    case 'expression_statement':
    case 'comparison_operator':
      return false;
    case 'subscript':
      return user.value !== place || isReadForGraph(module, user);
    case 'attribute': {
      const name = user.attribute?.text ?? '';
      const call = user.parent?.type === 'call' && user.parent.function === user ? user.parent : undefined;
      if (cutsGraph(name) || (call !== undefined && (name === 'clear' || keepsGiven(name)))) return false;
      // `loss.backward()`: called for what it does.
      return call?.parent?.type === 'expression_statement' || isReadForGraph(module, call ?? user);
    }
    case 'argument_list': {
      const callee = user.parent?.function;
      const path = callee && qualifiedName(module, callee);
      const known = path === undefined ? undefined : row(path);
      if (known?.graph === 'cut' && known.makes === 'data') return false;
      return !(
        callee?.type === 'identifier' &&
        /^(?:len|isinstance|id|type|hasattr|float|int|bool|str)$/.test(callee.text)
      );
    }
    default:
      return true;
  }
}
