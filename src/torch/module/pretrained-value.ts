import { givesModule } from '../../library/library.js';
import { type Answer, all } from '../../semantic/answer.js';
import { classBehind } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isKbitPreparation, isPeftModelMaker } from '../catalog.js';
import { modelLoad } from '../huggingface/pretrained.js';
import { definitionsOf } from './model-value.js';
import { initialValue, moduleKind } from './modules.js';

/** Whether an expression is a model of transformers, perhaps with adapters of peft: by the calls that made it. */
export function isTransformersModel(
  module: PyModule,
  expression: PyNode,
  asked: readonly string[] = [],
): Answer {
  const target = unparenthesized(expression);
  if (target.type === 'call') return makesModel(module, target, asked);
  // `model = wrap(model)` is what `model` was before.
  if (asked.includes(target.text)) return 'yes';
  const asking = [...asked, target.text];
  if (target.type === 'attribute') {
    const name = target.field('attribute')?.text;
    const value = name === undefined ? undefined : initialValue(module, target, name);
    return value === undefined ? 'unknown' : isTransformersModel(module, value, asking);
  }
  if (target.type !== 'identifier') return 'unknown';
  const own = classBehind(module, target);
  if (own !== undefined) return moduleKind(module, own).isPretrained ? 'yes' : 'unknown';
  const made = definitionsOf(module, target).map((definition) =>
    definition.kind === 'value' ? isTransformersModel(module, definition.value, asking) : 'unknown',
  );
  return made.length === 0 ? 'unknown' : all(made);
}

function makesModel(module: PyModule, call: PyNode, asked: readonly string[]): Answer {
  if (modelLoad(module, call) !== undefined) return 'yes';
  const callee = call.field('function');
  const path = callee && qualifiedName(module, callee);
  const [first] = argumentsOf(call);
  if (path !== undefined && (isKbitPreparation(path) || isPeftModelMaker(path)))
    return first === undefined ? 'unknown' : isTransformersModel(module, first, asked);
  const receiver = receiverOf(call);
  return receiver !== undefined && givesModule(methodName(call) ?? '')
    ? isTransformersModel(module, receiver, asked)
    : 'unknown';
}

/**
 * Whether a model has adapters of peft here, and nobody has made its inputs require gradients: peft does so itself where
 * checkpointing is on before the adapters come, and when it prepares a quantized model.
 */
export function hasAdapters(module: PyModule, expression: PyNode): boolean {
  if (expression.type !== 'identifier') return false;
  const before = reachingDefinitions(module, expression) ?? definitionsOf(module, expression);
  return before.some((definition) => {
    const maker = definition.kind === 'value' ? definition.value : undefined;
    const callee = maker?.field('function');
    const path = callee && qualifiedName(module, callee);
    const [base] = maker?.type === 'call' ? argumentsOf(maker) : [];
    return path !== undefined && isPeftModelMaker(path) && !(base && isPrepared(module, base));
  });
}

function isPrepared(module: PyModule, base: PyNode): boolean {
  const calls =
    base.type === 'identifier'
      ? (reachingDefinitions(module, base) ?? definitionsOf(module, base)).map((each) =>
          each.kind === 'value' ? each.value : undefined,
        )
      : [base];
  return calls.some((call) => {
    const callee = call?.field('function');
    const path = callee && qualifiedName(module, callee);
    return path !== undefined && isKbitPreparation(path);
  });
}
