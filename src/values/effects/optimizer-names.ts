import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';

/** Called as optimizers are. */
export function soundsLikeOptimizer(module: PyModule, given: PyNode): boolean {
  if (!/^(?:self\.)?_?(?:optim\w*|opt|optimizers?|grad_scaler)$/i.test(given.text)) return false;
  return given.text !== 'opt' || !areOptions(module, given);
}

const OF_OPTIMIZERS =
  /^(?:_\w*|add_param_group|backward|clip\w*|defaults|eval|load_state_dict|lr|minimize|optim\w*|param_groups|register_\w+|scale|state|state_dict|step|train|unscale_|update\w*|zero_grad)$/;

/** What the command line says, called `opt`: it has attributes, and none that an optimizer has. */
function areOptions(module: PyModule, identifier: PyNode): boolean {
  const scope = module.resolve(identifier);
  const uses = scope === undefined ? [] : module.occurrences(scope, identifier.text);
  const asked = uses.flatMap((use) => {
    const name = use.parent?.object === use ? use.parent.attribute?.text : undefined;
    return name ?? [];
  });
  return asked.length > 0 && !asked.some((name) => OF_OPTIMIZERS.test(name));
}
