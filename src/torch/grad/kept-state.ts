import { classAround } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { enclosingClass, ownNodes } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { attributeUses, mayHaveForward, moduleKind, runsInForward } from '../module/modules.js';
import { kindOf } from '../tensor/tensor.js';
import { modulesAround } from './elsewhere.js';
import { functionsOf } from './grad.js';
import { mayCarryGradient, recordsNoGraph } from './gradient.js';

/** What a network computes in its forward, and still has behind it. */
interface KeptState {
  /** The class of the network. */
  readonly owner: string;
  /** `self.hidden` */
  readonly attribute: string;
}

/** What is asked of a tensor and needs no graph. */
const GRAPHLESS = /^(?:data|detach|device|dim|dtype|item|ndim|numel|shape|size|tolist)$/;

/**
 * A forward stores a tensor with its graph on `self`, and somebody reads it later: a recurrent state, a cache, a second
 * loss. What an evaluation leaves there, training may differentiate. In the file, or where it has its classes from.
 */
export function stateOfForward(module: PyModule): KeptState | undefined {
  return module.memo(findState, module);
}

function findState(module: PyModule): KeptState | undefined {
  for (const around of modulesAround(module)) {
    if (!mayHaveForward(around.text)) continue;
    for (const method of functionsOf(around)) {
      const classNode = ASSIGNED.test(method.text) ? enclosingClass(method) : undefined;
      const owner = classNode?.field('name')?.text;
      if (classNode === undefined || owner === undefined || !runsInForward(around, method)) continue;
      if (moduleKind(around, classNode).isModule === 'no') continue;
      const kept = [...ownNodes(method)].find((node) => isKept(around, classNode, node));
      const attribute = kept?.field('left')?.text;
      if (attribute !== undefined) return { owner, attribute };
    }
  }
  return undefined;
}

/** An attribute with something behind it that could assign to it. */
const ASSIGNED = /\.[\s\\]*[\w\u0080-\uffff]+[\s\\]*(?::|[-+*/%@&|^<>]*=(?!=))/;

/** `self.hidden = self.cell(x, self.hidden)`, where `hidden` is read with its graph. */
function isKept(module: PyModule, classNode: PyNode, node: PyNode): boolean {
  const [target, value] = [node.field('left'), node.field('right')];
  if (!/^(?:augmented_)?assignment$/.test(node.type) || target?.type !== 'attribute' || value === undefined)
    return false;
  if (kindOf(module, value) === 'number' || recordsNoGraph(module, node) || !mayCarryGradient(module, value))
    return false;
  if (target.field('object')?.text !== classAround(node)?.self) return false;
  const name = target.field('attribute')?.text ?? '';
  return attributeUses(module, classNode, name).some(
    ({ kind, node: use }) => kind === 'read' && needsGraph(module, use),
  );
}

function needsGraph(module: PyModule, read: PyNode): boolean {
  const above = read.parent;
  if (above?.type === 'attribute') return !GRAPHLESS.test(above.field('attribute')?.text ?? '');
  if (above?.type === 'comparison_operator') return false;
  return !recordsNoGraph(module, read);
}
