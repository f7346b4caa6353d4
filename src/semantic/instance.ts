import type { PyNode } from '../syntax/node.js';
import { within } from '../syntax/within.js';
import { ancestryOf, classAround, classBehind, methodsOf, selfName } from './definitions.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { binds, roleOf } from './names.js';
import { enclosingFunction, methodName, receiverOf } from './statements.js';

/**
 * Whether an object may be an instance of a class of the file: not where the code around it asks the same object for
 * something that the class does not have. `self.model.train()` beside `self.model.eval()` is no call of a trainer's `train`.
 */
export function mayBeInstance(module: PyModule, object: PyNode, classNode: PyNode): boolean {
  if (object.text === classAround(object)?.self) return true;
  const { imported, unknown } = ancestryOf(module, classNode);
  if (unknown || imported.length > 0) return true;
  return [...membersAsked(module, object)].every((name) => hasMember(module, classNode, name));
}

/** Whether a class of the file, or a base of it there, has a method, a variable, or an attribute set in it of this name. */
function hasMember(module: PyModule, classNode: PyNode, name: string): boolean {
  const { classes } = ancestryOf(module, classNode);
  return classes.some((each) => {
    if (methodsOf(each).some((method) => method.name?.text === name)) return true;
    return within(module.words(name), each).some(
      (node) => node.type === 'identifier' && setsMember(module, each, node),
    );
  });
}

/** `x` of `x = 1` in the body of the class, and of `self.x = 1`, `other.x = 1` in a method. */
function setsMember(module: PyModule, classNode: PyNode, node: PyNode): boolean {
  const { parent } = node;
  if (parent?.type === 'attribute' && parent.attribute === node) return isSet(parent);
  return binds(roleOf(node)) && module.resolve(node)?.node === classNode;
}

/** The attribute is the target of an assignment, or one of several. */
function isSet(attribute: PyNode): boolean {
  let target = attribute;
  while (/pattern|^tuple$/.test(target.parent?.type ?? '')) target = target.parent ?? target;
  return /assignment$/.test(target.parent?.type ?? '') && target.parent?.left === target;
}

/** The attributes that the function around asks an object for, or its class where the object is one of `self`; calling it asks for `__call__`. */
export function membersAsked(module: PyModule, object: PyNode): ReadonlySet<string> {
  const around = classAround(object);
  const isOfSelf = around !== undefined && object.text.startsWith(`${around.self}.`);
  const place = isOfSelf ? around.classNode : (enclosingFunction(object) ?? module.root);
  const rest = isOfSelf ? object.text.slice(around.self.length) : object.text;
  const known = module.memo(nothingAsked, place);
  const found = known.get(rest) ?? askedOf(module, place, rest);
  known.set(rest, found);
  return found;
}

function nothingAsked(): Map<string, ReadonlySet<string>> {
  return new Map();
}

/** Of an object by its text; of one of `self` without that, since methods may call it otherwise. */
function askedOf(module: PyModule, place: PyNode, text: string): ReadonlySet<string> {
  const asked = new Set<string>();
  const last = /[\w\u0080-\uffff]+$/.exec(text)?.[0];
  const ends = last === undefined ? [...place.walk()] : module.atWithin(last, place);
  for (const node of ends) {
    const object = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
    if (!/^(?:identifier|attribute|subscript)$/.test(object.type)) continue;
    const { parent } = object;
    const isCall = parent?.type === 'call' && parent.function === object;
    const isMember = parent?.type === 'attribute' && parent.object === object;
    const name = isCall ? '__call__' : isMember ? parent.attribute?.text : undefined;
    if (name !== undefined && textIn(place, object) === text) asked.add(name);
  }
  return asked;
}

function textIn(place: PyNode, object: PyNode): string {
  const method = place.type === 'class_definition' ? enclosingFunction(object) : undefined;
  const self = method && (selfName(method) ?? classAround(object)?.self);
  return self !== undefined && object.text.startsWith(`${self}.`)
    ? object.text.slice(self.length)
    : object.text;
}

/** `res.data` of an object whose class the file has, or which the file gives an attribute of that name. */
export function isOwnMember(module: PyModule, object: PyNode | undefined, name: string): boolean {
  const classNode = object && classBehind(module, object);
  if (classNode !== undefined && hasMember(module, classNode, name)) return true;
  return module.wordsSet(`.${name}`).some(({ text, parent }) => {
    if (text !== name || parent?.type !== 'attribute' || parent.object?.text !== object?.text) return false;
    return isSet(parent);
  });
}

/** `super().__init__()`, `super(C, self).__init__()` or `Base.__init__(self)`, as a statement above. */
export function initialisesBefore(module: PyModule, init: PyNode, statement: PyNode): boolean {
  const initialised = initialisation(module, init);
  return initialised !== undefined && initialised.start < statement.start;
}

/** The statement of `__init__` behind which the object is a module. */
export function initialisation(module: PyModule, init: PyNode): PyNode | undefined {
  return init.body?.named.find((above) => {
    const call = above.type === 'expression_statement' ? above.named[0] : undefined;
    if (call?.type !== 'call' || methodName(call) !== '__init__') return false;
    const receiver = receiverOf(call);
    return (
      receiver !== undefined &&
      (/^super\b/.test(receiver.text) || qualifiedName(module, receiver) !== undefined)
    );
  });
}
