import { CONTAINERS } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { attributeValues } from '../../semantic/attributes.js';
import { definedElsewhere, leadsInside } from '../../semantic/elsewhere.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, argumentValue, hasSplat } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../value/plain.js';
import { isPlainData } from '../value/plain-data.js';
import { placesNamed } from './handed-on.js';

/** Made of torch's or the project's own classes, which are looked into. */
export function isOwnLayer(module: PyModule, layer: PyNode): boolean {
  const values = layer.type === 'attribute' ? attributeValues(module, layer) : undefined;
  return (values ?? []).every((each) => isOwnMaker(module, each));
}

function isOwnMaker(module: PyModule, value: PyNode): boolean {
  if (/^(?:list|tuple)$/.test(value.type)) return value.named.every((each) => isOwnMaker(module, each));
  if (value.type === 'list_comprehension') return value.body === undefined || isOwnMaker(module, value.body);
  const path = value.type === 'call' ? calledPath(module, value) : undefined;
  if (path === undefined) return true;
  if (CONTAINERS.has(path))
    return argumentsOf(value).every((each) => isOwnMaker(module, argumentValue(each)));
  return isModuleClass(path) || isOfKnownPackage(path) || definedElsewhere(module, path) !== undefined;
}

/** `ChebConv(n, m, K=2)` of another package: it runs nothing of this project, which gives it nothing that could be run. */
export function isForeignLayer(module: PyModule, call: PyNode, path: string): boolean {
  return (
    !leadsInside(module, path) &&
    !hasSplat(call) &&
    argumentsOf(call).every((each) => isPlainData(module, argumentValue(each))) &&
    !isAnywhere(module, path.slice(path.lastIndexOf('.') + 1), changesClass)
  );
}

/** `ChebConv.message = …`, `setattr(ChebConv, …)`, a class below it, which may be what is made. */
function changesClass(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const whole = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
    // By another name, it would not be seen.
    if (whole.closest('import_statement', 'import_from_statement') !== undefined)
      return whole.closest('aliased_import') !== undefined;
    const user = whole.parent;
    return user?.type !== 'call' || user.function !== whole;
  });
}

/** `part.fn = learn`, `setattr(part, "fn", learn)`: a function is put on some object, which may be a part of a network. */
export function putsOnObject(alone: PyModule, name: string): boolean {
  return placesNamed(alone, name).some((value) => {
    const user = value.parent;
    const isCalled = user?.type === 'call' && user.function === value;
    if (isCalled && value.closest('lambda') === undefined) return false;
    const holder = value.closest('call', 'assignment', 'function_definition');
    if (holder?.type === 'call' && /(?:^|\.)_*setattr_*$/.test(holder.function?.text ?? '')) return true;
    const assignment = value.closest('assignment', 'function_definition');
    const target = assignment?.type === 'assignment' ? assignment.left : undefined;
    if (target === undefined || target.contains(value)) return false;
    return target.type !== 'identifier' && !/^self\.\w+$/.test(target.text);
  });
}

/** `trainer.penalty = Penalty()`: what is called may be an object that was made, but for those of libraries. */
export function setsMade(alone: PyModule, name: string): boolean {
  return alone.words(name).some(({ parent: target }) => {
    const value =
      target?.parent?.type === 'assignment' && target.parent.left === target ? target.parent : undefined;
    const made = target?.type === 'attribute' && value?.right?.type === 'call' ? value.right : undefined;
    return made !== undefined && !isOfKnownPackage(calledPath(alone, made) ?? '');
  });
}

/** Nobody puts anything into what is found by a name, or hands it to others who may. */
export function staysWhole(module: PyModule, name: string): boolean {
  return !isAnywhere(module, name, changesPart);
}

function changesPart(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const place = node.parent;
    if (place?.type !== 'attribute' || place.attribute !== node) return false;
    let inside: PyNode = place;
    while (inside.parent?.type === 'attribute' || inside.parent?.type === 'subscript') inside = inside.parent;
    const user = inside.parent;
    if (user?.type === 'call' && user.function === inside)
      return inside !== place && !argumentsOf(user).every((each) => isPlainData(alone, argumentValue(each)));
    if (user?.type !== 'assignment' || user.left !== inside) return true;
    return inside !== place && !(user.right !== undefined && isPlainData(alone, user.right));
  });
}

/** Whether a file may put more into what is found by a name: `self.layers.append(layer)`, `layers = self.layers`. */
export function growsPart(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const place = node.parent;
    if (place?.type !== 'attribute' || place.attribute !== node) return false;
    const user = place.parent;
    if (user?.type === 'attribute') return GROWS.test(user.attribute?.text ?? '');
    return user?.type === 'assignment' ? user.right === place : user?.type === 'argument_list';
  });
}

const GROWS = /^(?:add_module|append|extend|insert|register_module|update|__\w+__|_modules)$/;
