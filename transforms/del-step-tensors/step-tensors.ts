import { isPlain, ofTensor } from '../../src/library/library.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { passesForModel } from '../../src/torch/module/model-value.js';
import type { TrainingLoop } from '../../src/torch/training/training-loop.js';

/** The variables of a training step that hold what its forward gave, each by the first place that binds it. */
export interface StepTensors {
  /** Bound to the result of a forward. A loss that the model itself gives is not among them. */
  readonly results: readonly PyNode[];
  /** Bound to a part of a result, or to the loss that is differentiated. */
  readonly derived: readonly PyNode[];
}

export function stepTensors(module: PyModule, { body, backwards }: TrainingLoop): StepTensors {
  const losses = new Set(backwards.flatMap(differentiated));
  const results: PyNode[] = [];
  const derived: PyNode[] = [];
  const seen = new Set<string>();
  for (const binding of bindingsIn(module, body)) {
    const definition = definitionOf(binding);
    if (seen.has(binding.text) || binding.text === '_' || !('value' in definition)) continue;
    seen.add(binding.text);
    const held = [...results, ...derived].map(({ text }) => text);
    if (losses.has(binding.text)) derived.push(binding);
    else if (isForward(module, definition.value)) results.push(binding);
    else if (held.includes(rootOf(definition.value)?.text ?? '')) derived.push(binding);
  }
  return { results, derived };
}

/** `loss` of `loss.backward()`, `scaler.scale(loss).backward()` and `accelerator.backward(loss)`. */
function differentiated(backward: PyNode): readonly string[] {
  const receiver = receiverOf(backward);
  const scaled = receiver?.type === 'call' && methodName(receiver) === 'scale' ? receiver : backward;
  const [given] = argumentsOf(scaled);
  return [receiver, given].flatMap((node) => (node?.type === 'identifier' ? [node.text] : []));
}

/** `out` of `out.logits`, `out["a"][0]`. */
function rootOf(value: PyNode): PyNode | undefined {
  let node = unparenthesized(value);
  while (node.type === 'attribute' || node.type === 'subscript') {
    const inner = node.field(node.type === 'attribute' ? 'object' : 'value');
    const fact = ofTensor(node.attribute?.text ?? '');
    // Its shape, its dtype.
    if (inner === undefined || (fact?.attribute === true && isPlain(fact))) return undefined;
    node = inner;
  }
  return node.type === 'identifier' && node !== unparenthesized(value) ? node : undefined;
}

/** Identifiers that plain assignments of the body bind, in source order; nested functions are left out. */
function bindingsIn(module: PyModule, body: PyNode): readonly PyNode[] {
  const scope = module.scopeAt(body);
  const found: PyNode[] = [];
  for (const node of body.walk(({ type }) => !/_definition$|^lambda$/.test(type))) {
    if (node.type !== 'identifier' || roleOf(node) !== 'write') continue;
    if (node.closest('assignment') !== undefined && module.scopeAt(node) === scope) found.push(node);
  }
  return found;
}

/** `model(x)`, `model.forward(x)`. */
function isForward(module: PyModule, value: PyNode): boolean {
  const call = unparenthesized(value);
  if (call.type !== 'call') return false;
  const network = methodName(call) === 'forward' ? receiverOf(call) : call.function;
  if (network === undefined || !/^(?:identifier|attribute)$/.test(network.type)) return false;
  return passesForModel(module, network) !== 'no';
}
