import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { enclosingFunction, methodName, ownNodes, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isModel, nameSaysModel } from '../module/model-value.js';
import { type Evaluation, isPlainPath, switchesToEvaluation } from './evaluation.js';
import { isGradOff } from './mode.js';

/** What ends as a number, a list, an array or an index has no graph. */
export const NUMBERS: readonly string[] = ['.item()', '.tolist()', '.numpy()', 'argmax('];

/** A capital letter begins a class: calling that makes a network, and runs none. */
const CALLED = /(?<![\w\u0080-\uffff])((?![A-Z])[\w\u0080-\uffff]+)[\s\\]*\(/g;
const DECIDES = /backward|autograd|no_?grad|inference_?mode|grad_enabled|requires_grad|optim/i;
/** What runs inside a network gives its result to whoever runs that. */
const INSIDE = /^(?:@.*\s*)*(?:async[ \t]+)?def[ \t]+(?:forward|__call__)\b/;

/**
 * Whether a function may run a network for numbers alone, going by its code: it calls something by the name of a network, and
 * neither differentiates nor switches gradients off.
 */
export function mayRunForNumbers(code: string): boolean {
  if (INSIDE.test(code) || DECIDES.test(code)) return false;
  for (const [, name = ''] of code.matchAll(CALLED)) if (isCalledLikeNetwork(name)) return true;
  return false;
}

/** `load_model(…)` is called like something that is done, `model(…)` like what does it. */
const DONE =
  /^_*(?:add|build|check|compile|convert|copy|create|evaluate|export|fit|freeze|from|get|has|init|is|load|log|make|prepare|print|register|remove|reset|run|save|select|set|setup|switch|test|to|train|update|validate|wrap)_/;

function isCalledLikeNetwork(name: string): boolean {
  return !DONE.test(name) && nameSaysModel(name) === 'yes';
}

/**
 * The networks that functions run without a word about their mode, where what becomes of the results is a question of its
 * own: an agent that chooses an action, a score of a dataset.
 */
export function numericRuns(module: PyModule): readonly Evaluation[] {
  return module.memo(findRuns, module);
}

function findRuns(module: PyModule): readonly Evaluation[] {
  const functions = new Set<PyNode>();
  for (const literal of NUMBERS)
    for (const node of module.atWhere(literal, mayRunForNumbers)) {
      const functionNode = enclosingFunction(node);
      if (functionNode !== undefined) functions.add(functionNode);
    }
  return [...functions].flatMap((functionNode) => runsOf(module, functionNode));
}

function runsOf(module: PyModule, functionNode: PyNode): readonly Evaluation[] {
  const calls = [...ownNodes(functionNode)].filter(({ type }) => type === 'call');
  // Those with a switch are found by it.
  if (calls.some(switchesToEvaluation)) return [];
  const byNetwork = new Map<string, Evaluation & { forwards: PyNode[] }>();
  for (const call of calls) {
    const model = call.field('function');
    if (model === undefined || isGradOff(module, call) || !isNetwork(module, model)) continue;
    const trains = calls.filter(
      (each) => methodName(each) === 'train' && receiverOf(each)?.text === model.text,
    );
    const run = byNetwork.get(model.text) ?? {
      ...{ functionNode, model, evals: [], trains, forwards: [], gradless: [] },
    };
    run.forwards.push(call);
    byNetwork.set(model.text, run);
  }
  return [...byNetwork.values()];
}

/** The name lets one ask; where it is known what made it, that decides. */
function isNetwork(module: PyModule, callee: PyNode): boolean {
  const name = (callee.field('attribute') ?? callee).text;
  return (
    isPlainPath(callee) &&
    !/^[A-Z]/.test(name) &&
    qualifiedName(module, callee) === undefined &&
    isCalledLikeNetwork(name) &&
    isModel(module, callee) !== 'no'
  );
}
