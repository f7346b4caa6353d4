import { calledDefinition, classAround } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { givenTo, isPlainPath, ownNodes } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { switchesToEvaluation } from '../../src/torch/grad/evaluation.js';
import { isCalledLikeNetworks } from '../../src/torch/grad/numeric-cues.js';
import { isNetwork, lastName, mayBeNetwork, networkRunBy } from '../../src/torch/grad/numeric-runs.js';
import { IN_FILE, isPartInFile, runsNetwork } from '../../src/torch/grad/runs.js';
import { reachesGradUse } from '../../src/values/effects/grad.js';
import { isGradOff } from '../../src/values/effects/mode.js';

/** How many functions are followed to where a network runs. */
const MAX_CALLS = 3;

/**
 * The network that a function of the file runs for whoever calls it: one that it is given (`render(rays, model)`), or one of
 * the object that it is a method of (`self.sample(z)`, which runs `self.generator`).
 */
export function networkRunThrough(module: PyModule, call: PyNode, depth = 0): PyNode | undefined {
  const callee = call.function;
  const definition = depth < MAX_CALLS ? calledDefinition(module, call) : undefined;
  if (callee === undefined || definition?.type !== 'function_definition' || isGradOff(module, definition))
    return undefined;
  // What evaluates or differentiates is looked at itself.
  const calls = ownNodes(definition).filter(({ type }) => type === 'call');
  if (calls.some(switchesToEvaluation) || reachesGradUse(module, definition)) return undefined;
  const given = givenTo(call).find(
    (value) =>
      isPlainPath(value) &&
      mayBeNetwork(module, value) &&
      isNetwork(module, value, false) &&
      runsNetwork(module, call, value.text, IN_FILE),
  );
  const self = classAround(call)?.self;
  if (given !== undefined || self === undefined || callee.object?.text !== self) return given;
  for (const inner of calls) {
    if (isGradOff(module, inner)) continue;
    const model = networkRunBy(module, inner) ?? networkRunThrough(module, inner, depth + 1);
    if (model?.text.startsWith(`${self}.`)) return model;
  }
  return undefined;
}

/** Whether a call may run a network itself, or by a function that it calls, going by names alone. */
export function mayRunNetwork(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (mayBeNetwork(module, callee) || lastName(callee) === 'forward') return true;
  if (callee.type === 'subscript')
    return callee.value !== undefined && isCalledLikeNetworks(lastName(callee.value));
  const owner = callee.object ?? callee;
  if (owner.text === classAround(callee)?.self || (owner !== callee && mayBeNetwork(module, owner)))
    return true;
  if (owner !== callee && owner.type === 'identifier' && isPartInFile(module, lastName(callee))) return true;
  return givenTo(call).some((value) => isPlainPath(value) && mayBeNetwork(module, value));
}
