import { caughtHere } from '../../src/semantic/catching.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { isTarget, rootOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** Whether nobody around a load goes on after its error: also a handler that loads the same again ends with that. */
export function isErrorFinal(load: PyNode, errors: RegExp): boolean {
  const handler = caughtHere(load, errors);
  if (handler === undefined) return true;
  const tried = handler.type === 'except_clause' ? handler.parent : undefined;
  return tried !== undefined && loadsAgain(handler, load) && isErrorFinal(tried, errors);
}

/** `except: net = average(net); net.load_state_dict(torch.load(path))` */
function loadsAgain(handler: PyNode, load: PyNode): boolean {
  const names = new Set([...load.walk()].flatMap(({ type, text }) => (type === 'identifier' ? [text] : [])));
  for (const statement of handler.childOfType('block')?.named ?? []) {
    const nodes = [...statement.walk()];
    if (statement.type === 'expression_statement' && nodes.some((node) => isSurely(node, load, statement)))
      return true;
    if (nodes.some((node) => LEAVES.test(node.type) || (names.has(rootOf(node).text) && isSet(node))))
      return false;
  }
  return false;
}

function isSet(node: PyNode): boolean {
  return isTarget(node, true) || (node.type === 'identifier' && binds(roleOf(node)));
}

const LEAVES = /^(?:return|continue|break|raise)_statement$/;
const PERHAPS = /^(?:lambda|conditional_expression|boolean_operator|\w+_comprehension|generator_expression)$/;

/** The same call, which runs whenever the statement does. */
function isSurely(node: PyNode, load: PyNode, statement: PyNode): boolean {
  if (node.type !== 'call' || node.text !== load.text) return false;
  for (let at = node; at !== statement && at.parent !== undefined; at = at.parent)
    if (PERHAPS.test(at.type)) return false;
  return true;
}
