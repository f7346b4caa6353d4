import { isKeptBy } from '../../library/library.js';

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
