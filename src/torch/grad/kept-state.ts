import { cutsGraph } from '../../library/library.js';
import { attributeUses } from '../../semantic/attribute-uses.js';
import { classAround } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsOf } from '../../semantic/reach.js';
import { enclosingClass, ownNodes } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { mayHold } from '../module/holds.js';
import { mayHaveForward, moduleKind, runsInForward } from '../module/modules.js';

/** What a network computes in its forward, and still has behind it. */
interface KeptState {
  /** The class of the network. */
  readonly owner: string;
  /** `self.hidden` */
  readonly attribute: string;
}

/**
 * A forward stores a tensor with its graph on `self`, and somebody reads it later: a recurrent state, a cache, a second
 * loss. What an evaluation leaves there, training may differentiate. In this file, or in any other
 * of the project, of a class that the network may have a part of.
 */
export function stateOfForward(module: PyModule, network: PyNode): KeptState | undefined {
  return module
    .memo(findStates, module)
    .find((state) => state === UNREAD || mayHold(module, network, state.owner));
}

function findStates(module: PyModule): readonly KeptState[] {
  const own = module.alone.memo(statesIn, module.alone);
  const others = module.around.summaries({ word: 'forward', beside: [] }, statesIn);
  return [...own, ...(others?.flat() ?? [UNREAD])];
}

const UNREAD: KeptState = { owner: 'one of the many networks of the project', attribute: 'self' };

/** One of each class. */
function statesIn(module: PyModule): readonly KeptState[] {
  if (!mayHaveForward(module.text)) return [];
  const found = new Map<string, KeptState>();
  for (const method of functionsOf(module)) {
    const classNode = ASSIGNED.test(module.codeOf(method)) ? enclosingClass(method) : undefined;
    const owner = classNode?.name?.text;
    if (classNode === undefined || owner === undefined || found.has(owner)) continue;
    if (!runsInForward(module, method)) continue;
    if (moduleKind(module, classNode).isModule === 'no') continue;
    const kept = [...ownNodes(method)].find((node) => isKept(module, classNode, node));
    const attribute = kept?.left?.text;
    if (attribute !== undefined) found.set(owner, { owner, attribute });
  }
  return [...found.values()];
}

/** An attribute with something behind it that could assign to it. */
const ASSIGNED = /\.[\s\\]*[\w\u0080-\uffff]+[\s\\]*(?::|[-+*/%@&|^<>]*=(?!=))/;

/** `self.hidden = self.cell(x, self.hidden)`, where `hidden` is read with its graph. */
function isKept(module: PyModule, classNode: PyNode, node: PyNode): boolean {
  const [target, value] = [node.left, node.right];
  if (!/^(?:augmented_)?assignment$/.test(node.type) || target?.type !== 'attribute' || value === undefined)
    return false;
  if (
    valueOf(module, value).kind === 'number' ||
    recordsNoGraph(module, node) ||
    !valueOf(module, value).mayHaveGraph()
  )
    return false;
  if (target.object?.text !== classAround(node)?.self) return false;
  const name = target.attribute?.text ?? '';
  return attributeUses(module, classNode, name).some(
    ({ kind, node: use }) => kind === 'read' && needsGraph(module, use),
  );
}

function needsGraph(module: PyModule, read: PyNode): boolean {
  const above = read.parent;
  if (above?.type === 'attribute') return !cutsGraph(above.attribute?.text ?? '');
  if (above?.type === 'comparison_operator') return false;
  return !recordsNoGraph(module, read);
}
