import { calledDefinition, methodNamed, selfName } from '../../semantic/definitions.js';
import { definitionOf } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { methodName, ownNodes, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

/** The object whose method a call runs, and its name in there. */
interface Meter {
  readonly object: PyNode;
  readonly self: string;
}

/** `losses` of `losses.update(x)`, where the function has made it and it holds only numbers before it is given something. */
export function meterMadeIn(
  module: PyModule,
  functionNode: PyNode,
  method: PyNode,
  call: PyNode,
): Meter | undefined {
  const object = receiverOf(call);
  const self = selfName(method);
  const scope = object?.type === 'identifier' ? module.resolve(object) : undefined;
  if (object === undefined || self === undefined || scope?.node !== functionNode) return undefined;
  const made = module.writes(scope, object.text).map(definitionOf);
  const isMeter = made.every((each) => each.kind === 'value' && startsWithNumbers(module, each.value));
  return isMeter && made.length > 0 ? { object, self } : undefined;
}

/** `AverageMeter()` of a class of the file without bases, whose constructor sets what is written there. */
function startsWithNumbers(module: PyModule, making: PyNode): boolean {
  const classNode = making.type === 'call' ? calledDefinition(module, making) : undefined;
  if (classNode?.type !== 'class_definition') return false;
  const bases = classNode.field('superclasses')?.named ?? [];
  return bases.every(({ text }) => text === 'object') && setsNumbers(module, classNode, '__init__', []);
}

function setsNumbers(module: PyModule, classNode: PyNode, name: string, running: readonly PyNode[]): boolean {
  const method = methodNamed(module, classNode, name);
  if (method === undefined || running.includes(method)) return false;
  return [...ownNodes(method)].every((node) => {
    if (node.type === 'assignment') return isNumbers(module, method, node.field('right'));
    if (node.type !== 'call') return true;
    const isOwn = receiverOf(node)?.text === selfName(method);
    return isOwn && setsNumbers(module, classNode, methodName(node) ?? '', [...running, method]);
  });
}

/** A number, a text, nothing, an empty or filled container of such, or a parameter as it is. */
function isNumbers(module: PyModule, method: PyNode, value: PyNode | undefined): boolean {
  if (value === undefined) return true;
  if (/^(?:integer|float|string|true|false|none|assignment)$/.test(value.type)) return true;
  if (value.type === 'identifier') return module.resolve(value)?.node === method;
  if (!/^(?:list|tuple|dictionary|pair|expression_list|unary_operator)$/.test(value.type)) return false;
  return value.named.every((each) => isNumbers(module, method, each));
}
