import { methodCallsAt } from '../semantic/called-name.js';
import { reachingDefinitions } from '../semantic/flow.js';
import type { PyModule } from '../semantic/module.js';
import {
  contextManagers,
  decoratorsOf,
  enclosingFunction,
  enclosingWiths,
  statementOf,
  unparenthesized,
} from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { evaluations, runsInEvalMode } from '../torch/grad/evaluation.js';
import { networksOf } from '../torch/module/networks.js';
import { usesOf } from '../values/uses.js';
import { gradModeOf, recordsNoGraph } from '../values/value/gradient.js';
import { valueOf } from '../values/value.js';

/** Whether what a line computes surely records no graph. */
export function isGradOffAt(module: PyModule, line: number): boolean {
  return recordsNoGraph(module, nodeAt(module, line));
}

/** Whether a decorator of torch is what makes it so. */
export function isDecoratedOffAt(module: PyModule, line: number): boolean {
  const node = nodeAt(module, line);
  const owner = enclosingFunction(node);
  return (
    owner !== undefined &&
    enclosingWiths(node).every((each) =>
      contextManagers(each).every((manager) => gradModeOf(module, manager) === undefined),
    ) &&
    decoratorsOf(owner).some((decorator) => gradModeOf(module, decorator) === 'off')
  );
}

function nodeAt(module: PyModule, line: number): PyNode {
  const code = module.lines.content(line);
  return module.root.descendantAt(module.lines.start(line) + code.length - code.trimStart().length);
}

export type Pass = 'training' | 'evaluation';

/** What a line computes for: `training` where it is differentiated, `evaluation` where it is only read; undefined where another place tells. */
export function passAt(module: PyModule, line: number): Pass | undefined {
  const statement = statementOf(nodeAt(module, line));
  if (statement.type !== 'expression_statement') return undefined;
  const [expression] = statement.named;
  const value =
    expression?.type === 'assignment' || expression?.type === 'augmented_assignment'
      ? expression.right
      : expression;
  if (value === undefined) return undefined;
  const fates = usesOf(module, value);
  if (fates.some(({ kind }) => kind === 'differentiated')) return 'training';
  const isEvaluated = evaluations(module).some((evaluation) => {
    const forwards = evaluation.forwards.filter((call) => statementOf(call) === statement);
    return forwards.length > 0 && runsInEvalMode(module, { ...evaluation, forwards }) === 'yes';
  });
  return isEvaluated || (fates.length === 0 && isPass(module, value)) ? 'evaluation' : undefined;
}

/** Whether a line is in the body of a loop that differentiates: what it only reads is computed for that step. */
export function isInStep(module: PyModule, line: number): boolean {
  const statement = statementOf(nodeAt(module, line));
  const body = statement.parent;
  const loop = body?.parent;
  if (body === undefined || (loop?.type !== 'for_statement' && loop?.type !== 'while_statement'))
    return false;
  return methodCallsAt(module, '.backward(').some(
    (call) =>
      body.contains(call) && call.closest('for_statement', 'while_statement', 'function_definition') === loop,
  );
}

/** What a line appends to a list, or extends it by. */
export function collectedAt(module: PyModule, line: number): PyNode | undefined {
  const found = /\.(?:append|extend)\(/.exec(module.lines.content(line));
  if (found === null) return undefined;
  const call = module.root.descendantAt(module.lines.start(line) + found.index + 1).closest('call');
  return call?.arguments?.named[0];
}

/** What is no tensor of a GPU any more, or a small one. */
const SMALL =
  /\.(?:item|tolist|numpy|cpu)\(\)|^(?:float|int|str|len|bool)\(|\.(?:argmax|mean|sum|max|min)\(|\.to\((?:"cpu"|'cpu')/;

/** A tensor on the device of the network: as torch makes it, or as a network gives it. */
export function isOutput(module: PyModule, value: PyNode): boolean {
  return isGiven(module, value, 0);
}

const MOST_HOPS = 8;

function isGiven(module: PyModule, value: PyNode, hops: number): boolean {
  if (hops > MOST_HOPS) return false;
  const node = unparenthesized(value);
  if (SMALL.test(node.text)) return false;
  if (node.type === 'identifier') {
    const definitions = reachingDefinitions(module, node) ?? [];
    return (
      definitions.length > 0 &&
      definitions.every((each) => 'value' in each && isGiven(module, each.value, hops + 1))
    );
  }
  const part = node.type === 'attribute' ? node.object : node.type === 'subscript' ? node.value : undefined;
  if (part !== undefined) return isGiven(module, part, hops + 1);
  if (valueOf(module, node).isTensor) return true;
  return isPass(module, node);
}

/** A network is called. */
function isPass(module: PyModule, node: PyNode): boolean {
  return node.type === 'call' && networksOf(module, node).has(node.function?.text ?? '');
}
