import { cutsGraph } from '../../library/library.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  contextManagers,
  decoratorsOf,
  enclosingFunction,
  enclosingWiths,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

import { gradModeOf } from '../grad/gradient.js';

/** The code around a node evaluates: grad mode is off there, or its function puts a model into eval mode. */
export function isEvaluation(module: PyModule, node: PyNode): boolean {
  const functionNode = enclosingFunction(node);
  if (functionNode === undefined) return false;
  const managers = [...decoratorsOf(functionNode), ...enclosingWiths(node).flatMap(contextManagers)];
  if (managers.some((manager) => turnsGradOff(module, manager))) return true;
  return module.atWithin('.eval(', functionNode).length > 0;
}

function turnsGradOff(module: PyModule, manager: PyNode): boolean {
  const callee = manager.type === 'call' ? (manager.field('function') ?? manager) : manager;
  return qualifiedName(module, callee) === undefined
    ? /no_grad|inference_mode/.test(callee.text)
    : gradModeOf(module, manager) === 'off';
}

/** The loop differentiates as it goes, so what it adds up is a record and no loss. */
export function backwardIn(module: PyModule, loop: PyNode): PyNode | undefined {
  return module.atWithin('.backward(', loop)[0];
}

const REPORTING =
  /^(?:print|float|int|round|str|format|info|debug|warning|log|log_\w+|write|add_scalar|set_postfix|set_description)$/;
const PASSING: ReadonlySet<string> = new Set([
  'argument_list',
  'attribute',
  'binary_operator',
  'conditional_expression',
  'dictionary',
  'keyword_argument',
  'pair',
  'parenthesized_expression',
]);

/** Whether this use of a value turns it into a number, a text or a log entry. */
export function isReport(use: PyNode): boolean {
  let child = use;
  for (const holder of use.ancestors()) {
    if (holder.type === 'interpolation') return true;
    if (holder.type === 'attribute' && cutsGraph(holder.field('attribute')?.text ?? '')) return true;
    if (holder.type === 'call') {
      const callee = holder.field('function');
      const name = callee?.type === 'attribute' ? callee.field('attribute')?.text : callee?.text;
      return callee !== child && REPORTING.test(name ?? '');
    }
    if (!PASSING.has(holder.type)) return false;
    child = holder;
  }
  return false;
}
