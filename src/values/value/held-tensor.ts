import { MODULE_CONTAINERS, PARAMETER, PARAMETER_CONTAINERS } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { attributeUses, plainAttributes } from '../../semantic/attribute-uses.js';
import { attributeOfSelf, classBehind } from '../../semantic/definitions.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { assignedValue, isTarget, unparenthesized } from '../../semantic/statements.js';
import { onlyValue } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { registrationOf } from '../../torch/module/modules.js';
import { kindOf } from './tensor.js';

/** How a module holds a tensor: in a way that moves with it, as a plain attribute, or not provably as a tensor at all. */
export type Held = 'parameter' | 'buffer' | 'plain' | 'likely' | 'unknown';

/** What `self.scale`, `self.layer.weight` or `params.weight` is, where `params` comes from a container of modules. */
export function heldTensor(module: PyModule, expression: PyNode): Held {
  const node = unparenthesized(expression);
  if (node.type === 'subscript') {
    const container = node.value;
    return container !== undefined && madeBy(module, container, PARAMETER_CONTAINERS)
      ? 'parameter'
      : 'unknown';
  }
  const object = node.type === 'attribute' ? node.object : undefined;
  const name = node.attribute?.text;
  if (object === undefined || name === undefined) return 'unknown';
  const own = attributeOfSelf(node);
  if (own !== undefined) return attributeHeld(module, own.classNode, name);
  const owner = ownerOf(module, object);
  if (owner === undefined) return 'unknown';
  const path = owner === 'element' ? undefined : calledPath(module, owner);
  if (path !== undefined)
    return isModuleClass(path) && /^(?:weight|bias)$/.test(name) ? 'parameter' : 'unknown';
  const classNode = owner === 'element' ? undefined : classBehind(module, owner);
  if (classNode !== undefined) return attributeHeld(module, classNode, name);
  return owner === 'element' ? elementHeld(module, name) : 'unknown';
}

/** The call that made the object, or `element` for one out of a container of modules. */
function ownerOf(module: PyModule, expression: PyNode): PyNode | 'element' | undefined {
  const node = unparenthesized(expression);
  if (node.type === 'subscript') {
    const container = node.value;
    if (container === undefined) return undefined;
    return madeBy(module, container, MODULE_CONTAINERS) || isMadeElsewhere(module, container)
      ? 'element'
      : undefined;
  }
  if (node.type === 'identifier') {
    const value = onlyValue(module, node);
    return value && ownerOf(module, value);
  }
  const own = attributeOfSelf(node);
  const [only, ...others] = own === undefined ? [] : valuesOf(module, own.classNode, own.name);
  return others.length === 0 && only?.type === 'call' ? only : undefined;
}

function attributeHeld(module: PyModule, classNode: PyNode, name: string): Held {
  const registration = registrationOf(module, classNode, name);
  if (registration === 'unknown' || plainAttributes(module, classNode, name).answer !== 'yes')
    return 'unknown';
  const kinds = valuesOf(module, classNode, name).map((value) => kindOfValue(module, value));
  if (registration !== 'none') return kinds.length === 0 ? registration : 'unknown';
  const [first] = kinds;
  if (first === undefined) return 'likely';
  return kinds.every((kind) => kind === first) ? first : 'unknown';
}

/** All that is assigned to the attribute; an assignment that cannot be read makes it unknown. */
function valuesOf(module: PyModule, classNode: PyNode, name: string): readonly (PyNode | undefined)[] {
  return attributeUses(module, classNode, name)
    .filter(({ kind }) => kind !== 'read')
    .map(({ node, certain }) => (certain ? assignedValue(node) : undefined));
}

function kindOfValue(module: PyModule, value: PyNode | undefined): Held {
  if (value === undefined) return 'unknown';
  if (calledPath(module, value) === PARAMETER) return 'parameter';
  return ['tensor', 'scalar-tensor'].includes(kindOf(module, value)) ? 'plain' : 'unknown';
}

/** An attribute of this object that its class leaves to others: to a base, or to whoever wraps the layer. */
function isMadeElsewhere(module: PyModule, container: PyNode): boolean {
  const own = attributeOfSelf(container);
  return own !== undefined && valuesOf(module, own.classNode, own.name).length === 0;
}

/** An attribute of some module of a container: the file's classes that have it tell what it is. */
function elementHeld(module: PyModule, name: string): Held {
  const values = module
    .wordsSet(`.${name}`)
    .flatMap(({ text, parent }) =>
      text === name && parent && isTarget(parent) ? [assignedValue(parent)] : [],
    );
  if (values.length > 0)
    return values.every((value) => kindOfValue(module, value) === 'parameter') ? 'parameter' : 'unknown';
  return 'likely';
}

function madeBy(module: PyModule, expression: PyNode, classes: ReadonlySet<string>): boolean {
  const owner = ownerOf(module, expression);
  const path = owner === undefined || owner === 'element' ? undefined : calledPath(module, owner);
  return path !== undefined && classes.has(path);
}
