import { methodCallsAt } from '../../semantic/called-name.js';
import { calledPath, importsPackage } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import {
  hasSplat,
  keywordValue,
  methodName,
  positionalArguments,
  receiverOf,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import type { Span } from '../../text/lines.js';

/** `value.backward()`, `scaler.scale(value).backward()`, `accelerator.backward(value)`. */
export interface Backward {
  readonly call: PyNode;
  /** What is differentiated. */
  readonly value: PyNode;
  /** The graph, or what does not lead to the `inputs`, stays usable after it. */
  readonly retains: boolean;
}

/** Objects that differentiate what they are given; with DeepSpeed the model does. */
const ENGINE = /accelerator|fabric|engine|strategy/i;

export const backwards = remembered((module: PyModule): readonly Backward[] =>
  methodCallsAt(module, 'backward(').flatMap((call) => {
    const name = methodName(call) ?? '';
    if (!/^(?:manual_)?backward$/.test(name)) return [];
    const receiver = receiverOf(call);
    const [first, ...others] = positionalArguments(call);
    const engine =
      name !== 'backward' ||
      calledPath(module, call) !== undefined ||
      ENGINE.test(receiver?.text ?? '') ||
      (importsPackage(module, 'deepspeed') && /model/i.test(receiver?.text ?? ''));
    const value = first !== undefined && engine ? first : receiver;
    if (value === undefined) return [];
    const retains = ['retain_graph', 'create_graph', 'inputs'].some((name) => {
      const given = keywordValue(call, name);
      return given !== undefined && given.type !== 'false';
    });
    return [{ call, value, retains: retains || hasSplat(call) || others.length > 0 }];
  }),
);

/** Those in a node. */
export const backwardsIn = remembered((module: PyModule, node: PyNode): readonly Backward[] =>
  within(module.memo(placesOfBackwards, module), node).map(({ backward }) => backward),
);

function placesOfBackwards(module: PyModule): readonly (Span & { readonly backward: Backward })[] {
  return backwards(module)
    .map((backward) => ({ start: backward.call.start, end: backward.call.end, backward }))
    .sort((a, b) => a.start - b.start);
}
