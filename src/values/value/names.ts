import { isKeptBy, row } from '../../library/library.js';
import { definedElsewhere } from '../../semantic/elsewhere.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { methodName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from './plain.js';

/** What names promise, where the code behind them is not in the file. */

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** A call of this name trains, attacks or differentiates. */
export const TRAINS = anyOf(
  /^_?(?:backprop|minimi[sz]e)(?:$|_)|^_?(?:run|start|do|begin|launch|continue|resume)_(?:pre)?(?:train|fit|fine_?tun)/,
  /^_?(?:train|fit|finetune|fine_tune|pretrain|meta_train|attack|perturb|fgsm|pgd|adversar|optimi[sz]e|adapt|learn|saliency|hessian|jacobian|fisher|grad|gradient|gradcam|integrated_?gradients|make_dot|attribute)(?:$|_(?!load|data|transform|set|split|iter|time|sampler|log|acc|loss|metric|path|dir))/,
  /^_?(?:update|step|tune|refine)_(?:model|net|network|weights?|param\w*|policy|critic|actor|generator|discriminator|g|d)$/,
  /_(?:grads?|gradients?|gradient_penalty|attack|finetune)$|scaler$/,
);

/** A call of this name brings values of all processes together and does nothing else with them. */
export const COLLECTS =
  /^(?:gather\w*|all_gather\w*|all_reduce|reduce|reduce_\w+|pad_across_processes|nested_\w+)$/;

/**
 * Methods that train in frameworks whose classes memfix does not follow: `Engine.run` of ignite, the `update()` of agents
 * that hold their own data.
 */
export function trainsInLibraries(method: string, given: number): boolean {
  return method === 'run' || (method === 'update' && given === 0);
}

/** A method that keeps what it is given: of a container of Python, or by its name. */
export function keepsGiven(method: string): boolean {
  return isKeptBy(method) || /^(?:enqueue|push|send|store)$/.test(method);
}

/** `kept.append(x)`, where `kept` may also be imported; `np.append(kept, x)` is a function, which makes something new. */
export function keepsInReceiver(module: PyModule, call: PyNode): boolean {
  return keepsGiven(methodName(call) ?? '') && !isFunction(module, call);
}

/** By a path to a function, of the project or of a package: no method of an object, as `collections.deque.append` is. */
export function isFunction(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  if (path === undefined) return false;
  return (
    definedElsewhere(module, path) !== undefined || (isOfKnownPackage(path) && row(path)?.keeps !== true)
  );
}
