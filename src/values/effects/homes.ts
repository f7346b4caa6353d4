import { isNamedAnywhere } from '../../semantic/anywhere.js';
import { classAround, heirsOf } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { subclassesElsewhere } from '../../semantic/project-names.js';
import { remembered } from '../../semantic/remembered.js';
import type { PyNode } from '../../syntax/node.js';
import { findsByName } from './found-by-name.js';
import { type Homes, Search, variableKey } from './home-search.js';

/**
 * All places that objects of a class of the project, or of a class below it, come to: by following each from where it is
 * made. Undefined where one gets out of sight, as in a container or a file, or where the class may be found by no name.
 */
export const homesOf = remembered((module: PyModule, owner: string): Homes | undefined => {
  // What is made at the top of a file is of no class.
  if (owner === '' || COLLECTED.some((word) => isNamedAnywhere(module, word))) return undefined;
  const search = new Search(module);
  return search.ofClass(owner) ? search : undefined;
});

/** By these, classes are found that nobody names. */
const COLLECTED = ['__init_subclass__', '__subclasses__', 'metaclass'];

/** The same for a function or a method of this name, as a value. */
const homesOfFunction = remembered((module: PyModule, name: string): Homes | undefined => {
  const search = new Search(module);
  return /^\w+$/.test(name) && search.ofFunction(name) ? search : undefined;
});

/** Whether a function of this name may be what a call runs, by where it comes as a value. */
export function mayBeCalled(module: PyModule, { function: callee }: PyNode, name: string): boolean {
  const homes = module.memo(findsByName, module) ? undefined : homesOfFunction(module, name);
  return homes === undefined || callee === undefined || mayLiveIn(module, callee, homes);
}

/** Whether a network may be what lives there. */
export function mayLiveIn(module: PyModule, network: PyNode, homes: Homes): boolean {
  const may = (each: PyNode | undefined): boolean => each === undefined || mayLiveIn(module, each, homes);
  switch (network.type) {
    case 'identifier': {
      const around = classAround(network);
      if (around?.self === network.text) return mayBeSelf(module, around.classNode, homes);
      const name = qualifiedName(module, network)?.split('.').at(-1) ?? network.text;
      return homes.names.has(name) || homes.variables.has(variableKey(module, network));
    }
    case 'attribute':
      return homes.names.has(network.attribute?.text ?? '') || may(network.object);
    case 'parenthesized_expression':
      return network.named.some(may);
    case 'call':
      return may(network.function);
    default:
      return true;
  }
}

/** `self` of a class may be of any class below it. */
function mayBeSelf(module: PyModule, classNode: PyNode, { names }: Homes): boolean {
  const elsewhere = subclassesElsewhere(module, classNode.name?.text ?? '');
  const heirs = heirsOf(module, classNode).map(({ name }) => name?.text ?? '');
  return (
    elsewhere === undefined ||
    [...heirs, ...elsewhere.map(({ name }) => name)].some((each) => names.has(each))
  );
}
