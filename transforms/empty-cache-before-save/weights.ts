import { type Answer, any } from '../../src/semantic/answer.js';
import { lastName } from '../../src/semantic/called-name.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, receiverOf, unparenthesized } from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isModel, nameSaysModel, passesForModel } from '../../src/torch/module/model-value.js';

/** Whether what is handed to `torch.save` holds a model's weights; `no` as well where nothing speaks for it. */
export function holdsWeights(module: PyModule, expression: PyNode, hops = 0): Answer {
  const target = unparenthesized(expression);
  const calls = [...target.walk((node) => node.type !== 'lambda')].filter((node) => node.type === 'call');
  const found = any(calls.map((call) => givesWeights(module, call)));
  if (found !== 'no') return found;
  if (target.type === 'attribute') return passesForModel(module, target);
  if (target.type === 'call') return isModel(module, target) === 'yes' ? 'yes' : 'no';
  if (target.type !== 'identifier' || hops > 3) return 'no';
  const flows = waysGiven(module, target).flatMap((definition) =>
    definition.kind === 'value' ? [definition.value] : [],
  );
  const parts = [...flows, ...itemsOf(module, target)].map((value) => holdsWeights(module, value, hops + 1));
  if (any(parts) === 'yes') return 'yes';
  if (nameSaysModel(target.text) === 'yes') return any([passesForModel(module, target), ...parts]);
  if (/state_dict|weights/.test(target.text) && !/optim|sched/.test(target.text)) return 'unknown';
  return any(parts);
}

function givesWeights(module: PyModule, call: PyNode): Answer {
  const callee = call.function;
  const name = callee && lastName(callee)?.text;
  if (name === undefined || !name.endsWith('state_dict') || /^(?:load|set)_|optim/.test(name)) return 'no';
  const receiver = receiverOf(call);
  if (name === 'state_dict' && receiver !== undefined) return isModel(module, receiver);
  // `get_peft_model_state_dict(model)`, `accelerator.get_state_dict(model)`.
  const [first] = argumentsOf(call);
  return first === undefined || /optim/i.test(call.text) ? 'unknown' : isModel(module, first);
}

/** The values of `name["key"] = value`. */
export function itemsOf(module: PyModule, name: PyNode): readonly PyNode[] {
  const scope = module.resolve(name);
  if (scope === undefined) return [];
  return module.reads(scope, name.text).flatMap((read) => {
    const item = read.parent;
    if (item?.type !== 'subscript' || item.value !== read) return [];
    const value = item.parent?.type === 'assignment' && item.parent.left === item;
    return value ? (item.parent.right ?? []) : [];
  });
}
