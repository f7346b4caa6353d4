import { walksModule } from '../../library/library.js';
import { DEEPCOPY } from '../../library/names.js';
import { methodCallsAt, targetGiven } from '../../semantic/called-name.js';
import { classAround } from '../../semantic/definitions.js';
import { functionUses } from '../../semantic/function-uses.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  isPlainPath,
  methodName,
  receiverOf,
} from '../../semantic/statements.js';
import { twinsOf } from '../../semantic/twins.js';
import type { PyNode } from '../../syntax/node.js';
import { isGradOff, onlyRunsGradOff } from '../../values/effects/mode.js';
import { backwards } from './backward-calls.js';
import { networkOf, SWITCHES, switchesToEvaluation } from './evaluation.js';
import { walkedFor } from './walked-parameters.js';

/** Networks of the file by their text: those that may be somebody's teacher, and those that are trained here. */
export interface Networks {
  readonly teachers: ReadonlySet<string>;
  readonly trained: ReadonlySet<string>;
  /** Those whose gradients are switched off. */
  readonly frozen: ReadonlySet<string>;
}

export const networksIn = remembered((module: PyModule): Networks => {
  const trained = new Set<string>();
  const frozen = new Set<string>();
  for (const call of methodCallsAt(module, 'parameters()', 'children()', 'modules()')) {
    const network = receiverOf(call);
    if (network === undefined || !walksModule(methodName(call) ?? '')) continue;
    const walked = walkedFor(module, call);
    if (walked === 'frozen') frozen.add(network.text);
    else if (walked !== 'plain') trained.add(network.text);
  }
  // `self.critic.optimizer.step()`: it has an optimizer of its own.
  for (const call of methodCallsAt(module, '.step()')) {
    const network = receiverOf(call)?.object;
    if (network !== undefined && isPlainPath(network) && network.text !== classAround(call)?.self)
      trained.add(network.text);
  }
  const teachers = new Set<string>();
  for (const call of methodCallsAt(module, ...SWITCHES)) {
    const network = switchesToEvaluation(call) ? networkOf(call) : undefined;
    if (network !== undefined) teachers.add(network.text);
    else if (methodName(call) === 'train') trained.add(receiverOf(call)?.text ?? '');
  }
  for (const text of [...copies(module), ...twinsOf(module, trained)]) teachers.add(text);
  for (const call of methodCallsAt(module, 'requires_grad_(')) {
    const [mode] = argumentsOf(call).map(argumentValue);
    if (mode?.type === 'false') frozen.add(networkOf(call)?.text ?? '');
  }
  for (const text of [...trained, ...frozen, 'self', '']) teachers.delete(text);
  return { teachers, trained, frozen };
});

/** `target.load_state_dict(net.state_dict())`, `target = copy.deepcopy(net)`. */
function* copies(module: PyModule): Generator<string> {
  for (const call of methodCallsAt(module, '.load_state_dict(')) {
    const [given] = argumentsOf(call);
    const receiver = receiverOf(call);
    const isCopy = given?.type === 'call' && methodName(given) === 'state_dict';
    if (isCopy && receiver !== undefined && isPlainPath(receiver)) yield receiver.text;
  }
  for (const node of module.at('deepcopy(')) {
    const call = node.closest('call');
    if (call === undefined || calledPath(module, call) !== DEEPCOPY) continue;
    const target = targetGiven(call);
    if (target !== undefined && isPlainPath(target)) yield target.text;
  }
}

/** The code around differentiates, or a function of the file that runs it does. */
export function isInTraining(module: PyModule, node: PyNode): boolean {
  const owner = node.type === 'function_definition' ? node : enclosingFunction(node);
  const differentiating = module.memo(functionsWithBackward, module);
  if (differentiating.has(owner)) return true;
  if (owner === undefined || onlyRunsGradOff(module, owner)) return false;
  return functionUses(module, owner).some(
    (use) => differentiating.has(enclosingFunction(use)) && !isGradOff(module, use),
  );
}

/** How many functions may be between a run and the code that differentiates. */
const MAX_CALLERS = 3;

/** The same, or one that runs that; `isAsked`: whether code outside the project differentiates what a function returns. */
export function isDifferentiatedAround(
  module: PyModule,
  node: PyNode,
  isAsked: (module: PyModule, functionNode: PyNode) => boolean = () => false,
  depth = 0,
): boolean {
  const owner = node.type === 'function_definition' ? node : enclosingFunction(node);
  if (isInTraining(module, node)) return true;
  if (owner === undefined || depth >= MAX_CALLERS) return false;
  if (isAsked(module, owner)) return true;
  return functionUses(module, owner).some((use) => {
    const caller = enclosingFunction(use);
    if (caller === undefined || caller === owner || isGradOff(module, use)) return false;
    return isDifferentiatedAround(module, caller, isAsked, depth + 1);
  });
}

function functionsWithBackward(module: PyModule): ReadonlySet<PyNode | undefined> {
  return new Set(backwards(module).map(({ call }) => enclosingFunction(call)));
}
