import { attributeUses, plainAttributes } from '../../semantic/attribute-uses.js';
import { classBehind } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import type { PyModule } from '../../semantic/module.js';
import { isCallee } from '../../semantic/statements.js';
import { attributeUsesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { registrationOf } from '../../torch/module/modules.js';
import { reflectionGates } from '../../torch/module/reflection.js';

export interface AttributeReads {
  /** There may be other reads than these. */
  readonly isOpen: boolean;
  readonly reads: readonly Elsewhere[];
}

/** How many uses are followed. */
const MAX_USES = 60;
const OPEN: AttributeReads = { isOpen: true, reads: [] };

/** Every read of an attribute that `self.name = …` sets, in this file and in the others of the project: one object per class and name. */
export function readsOfAttribute(module: PyModule, target: PyNode): AttributeReads {
  const object = target.object;
  const name = target.attribute?.text;
  const classNode = object && classBehind(module, object);
  if (classNode === undefined || name === undefined) return OPEN;
  return module.memo(findReads, classNode).get(name) ?? remember(module, classNode, name);
}

/** By name. */
function findReads(): Map<string, AttributeReads> {
  return new Map();
}

function remember(module: PyModule, classNode: PyNode, name: string): AttributeReads {
  const found = look(module, classNode, name);
  module.memo(findReads, classNode).set(name, found);
  return found;
}

function look(module: PyModule, classNode: PyNode, name: string): AttributeReads {
  const uses = attributeUses(module, classNode, name);
  if (uses.length > MAX_USES || plainAttributes(module, classNode, name).answer !== 'yes') return OPEN;
  if (!['none', 'buffer'].includes(registrationOf(module, classNode, name))) return OPEN;
  if (reflectionGates(module, classNode, name).some(({ answer }) => answer !== 'yes')) return OPEN;
  const read = new RegExp(`\\.\\s*${name}\\b`);
  const elsewhere = attributeUsesElsewhere(module, classNode, name, {
    may: (text) => read.test(text),
    byName: true,
  });
  if (elsewhere.unread !== undefined) return OPEN;
  // What is called by that name is somebody else's method: the attribute holds a value.
  const here = uses.filter(({ kind }) => kind === 'read').map(({ node }) => ({ module, node }));
  return { isOpen: false, reads: [...here, ...elsewhere.uses.filter(({ node }) => !isCallee(node))] };
}
