import type { PyNode } from '../syntax/node.js';
import { basesOf } from './definitions.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { remembered } from './remembered.js';

/** Whether a class of this name inherits from what its file does not name: `class Keeping(parent):` in a function that is given one. */
export const hasOpenBase = remembered((module: PyModule, name: string): boolean => {
  const mention = { word: name, beside: [], needs: [`class ${name}`] };
  if (definesOpenClass(module.alone, name)) return true;
  return module.around.summaries(mention, definesOpenClass)?.includes(true) ?? true;
});

function definesOpenClass(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const classNode = node.parent;
    if (classNode?.type !== 'class_definition' || classNode.name !== node) return false;
    return basesOf(classNode).some((base) => isOpenBase(alone, base));
  });
}

/** A parameter, a part of some object, what a call gives: not a class of the file or an import, by whichever of its names. */
function isOpenBase(alone: PyModule, base: PyNode): boolean {
  if (base.type === 'subscript') return base.value !== undefined && isOpenBase(alone, base.value);
  const callee = base.type === 'call' ? base.function : undefined;
  if (callee !== undefined) return !/^(?:collections|typing)\./.test(qualifiedName(alone, callee) ?? '');
  if (qualifiedName(alone, base) !== undefined) return false;
  const scope = base.type === 'identifier' ? alone.resolve(base) : undefined;
  if (scope === undefined) return base.type !== 'identifier';
  return alone.writes(scope, base.text).some((write) => {
    const value = write.parent?.left === write ? write.parent.right : undefined;
    return !/^(?:class|import)$/.test(roleOf(write)) && !/^(?:identifier|attribute)$/.test(value?.type ?? '');
  });
}
