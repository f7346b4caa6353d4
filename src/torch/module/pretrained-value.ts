import { givesModule } from '../../library/library.js';
import { isKbitPreparation, isPeftModelMaker } from '../../library/paths.js';
import { type Answer, all } from '../../semantic/answer.js';
import { initialValue } from '../../semantic/attribute-uses.js';
import { classBehind } from '../../semantic/definitions.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { modelLoad } from '../huggingface/pretrained.js';
import { moduleKind } from './modules.js';

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
    const name = target.attribute?.text;
    const value = name === undefined ? undefined : initialValue(module, target, name);
    return value === undefined ? 'unknown' : isTransformersModel(module, value, asking);
  }
  if (target.type !== 'identifier') return 'unknown';
  const own = classBehind(module, target);
  if (own !== undefined) return moduleKind(module, own).isPretrained ? 'yes' : 'unknown';
  const made = waysGiven(module, target).map((definition) =>
    definition.kind === 'value' ? isTransformersModel(module, definition.value, asking) : 'unknown',
  );
  return made.length === 0 ? 'unknown' : all(made);
}

function makesModel(module: PyModule, call: PyNode, asked: readonly string[]): Answer {
  if (modelLoad(module, call) !== undefined) return 'yes';
  const path = calledPath(module, call);
  const [first] = argumentsOf(call);
  if (path !== undefined && (isKbitPreparation(path) || isPeftModelMaker(path)))
    return first === undefined ? 'unknown' : isTransformersModel(module, first, asked);
  const receiver = receiverOf(call);
  return receiver !== undefined && givesModule(methodName(call) ?? '')
    ? isTransformersModel(module, receiver, asked)
    : 'unknown';
}
