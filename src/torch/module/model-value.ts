import { givesModule } from '../../library/library.js';
import { PLAIN_BASES } from '../../library/names.js';
import { isKbitPreparation, isModelMaker, isPeftModelMaker } from '../../library/paths.js';
import { type Answer, all } from '../../semantic/answer.js';
import { initialValue } from '../../semantic/attribute-uses.js';
import { lastName } from '../../semantic/called-name.js';
import { ancestryOf, classBehind, definitionBehind } from '../../semantic/definitions.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isTrainerClass } from '../huggingface/huggingface.js';
import { modelLoad } from '../huggingface/pretrained.js';
import { type Maker, madeBy } from './made-by.js';
import { moduleKind } from './modules.js';

/** Whether an expression is a transformers or trl trainer. */
export function isTrainer(module: PyModule, expression: PyNode): Answer {
  const name = lastName(expression);
  if (name === undefined || !/trainer$/i.test(name.text)) return 'no';
  if (expression.type !== 'identifier') return 'unknown';
  if (qualifiedName(module, expression) !== undefined) return 'no';
  const given = waysGiven(module, expression).map((definition): Answer => {
    if (definition.kind === 'parameter') return annotationIsTrainer(module, definition.node);
    const made =
      definition.kind === 'value' && definition.value.type === 'call' ? definition.value : undefined;
    const callee = made?.function;
    if (callee === undefined) return 'unknown';
    if (isTrainerClass(module, callee)) return 'yes';
    return definitionBehind(module, callee)?.type === 'class_definition' ? 'no' : 'unknown';
  });
  const [first = 'unknown'] = given;
  return given.every((each) => each === first) ? first : 'unknown';
}

function annotationIsTrainer(module: PyModule, parameter: PyNode): Answer {
  const type = parameter.parent?.field('type')?.named[0];
  return type !== undefined && isTrainerClass(module, type) ? 'yes' : 'unknown';
}

const MODEL_WORDS = new Set(
  'actor adapter autoencoder backbone bert classifier controlnet critic decoder discriminator encoder generator gpt llm model models module net network policy student teacher transformer unet vae vit'.split(
    ' ',
  ),
);
/** What such a word ends is one, whatever stands before it: `embedding_net`, `state_critic`. */
const NETWORK_WORDS = new Set('actor backbone critic discriminator net network unet'.split(' '));
const OTHER_WORDS = new Set(
  'alpha api args batch cache card cfg cls collator config configuration data dataloader dataset dir embedding embeddings embeds extractor features generation id index info kwargs loader logits loss lr metrics name names onnx opt optim optimizer optimizers output outputs params path pipe pipeline processor processors rank rng sampler scaler sched scheduler schedulers self size state super template tok tokenizer tokenizers trainer type vocab'.split(
    ' ',
  ),
);

/** What a name says about its value: `model_to_save` is a model, `model_config` is not, `x` may be. */
export function nameSaysModel(name: string): Answer {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_\d]+/);
  if (NETWORK_WORDS.has(words.at(-1) ?? '')) return 'yes';
  if (words.some((word) => OTHER_WORDS.has(word))) return 'no';
  return words.some((word) => MODEL_WORDS.has(word)) ? 'yes' : 'unknown';
}

const MODEL: Maker = {
  gives: isModelMaker,
  isClass: (module, classNode) => moduleKind(module, classNode).isModule,
  outlivesOthers: true,
};

/** Whether an expression is a torch model: `yes` only by what made it, `no` also by its name. */
export function isModel(module: PyModule, expression: PyNode): Answer {
  if (deniesModel(module, expression, 0)) return 'no';
  const target = unparenthesized(expression);
  const owner = target.attribute?.text === 'model' ? target.object : undefined;
  if (owner !== undefined && isTrainer(module, owner) === 'yes') return 'yes';
  return madeBy(module, expression, MODEL);
}

/** The same where nothing depends on it: then what goes by the name of a model is worth a word, and nothing else is. */
export function passesForModel(module: PyModule, target: PyNode): Answer {
  const answer = isModel(module, target);
  return answer === 'unknown' && nameSaysModel(lastName(target)?.text ?? '') !== 'yes' ? 'no' : answer;
}

/** The name of a value, or of what made it, says that it is something else. */
function deniesModel(module: PyModule, expression: PyNode, hops: number): boolean {
  const target = unparenthesized(expression);
  const denies = (inner: PyNode | undefined): boolean =>
    inner !== undefined && deniesModel(module, inner, hops);
  if (target.type === 'conditional_expression') return denies(target.named[0]) || denies(target.named[2]);
  if (target.type === 'call') return givesOther(module, target, hops);
  if (target.type === 'subscript') return denies(target.value);
  const name = lastName(target);
  if (name === undefined) return false;
  if (nameSaysModel(name.text) === 'no') return true;
  if (target.type !== 'identifier' || hops > 3) return false;
  if (qualifiedName(module, target) !== undefined) return true;
  return waysGiven(module, target).some(
    (definition) => definition.kind === 'value' && deniesModel(module, definition.value, hops + 1),
  );
}

function givesOther(module: PyModule, call: PyNode, hops: number): boolean {
  const callee = call.function;
  const name = callee && lastName(callee)?.text;
  if (callee === undefined || name === undefined) return false;
  if (name === 'super') return true;
  const receiver = receiverOf(call);
  if (receiver !== undefined && givesModule(name)) return deniesModel(module, receiver, hops);
  const own = definitionBehind(module, callee);
  if (own?.type === 'class_definition' && isPlainClass(module, own)) return true;
  const maker = name === 'from_pretrained' || name === 'from_config' ? receiver : callee;
  const path = maker && qualifiedName(module, maker);
  const made = path?.slice(path.lastIndexOf('.') + 1) ?? (maker && lastName(maker)?.text) ?? '';
  return OTHER_FRAMEWORK.test(path ?? '') || OTHER_CLASS.test(made);
}

const OTHER_FRAMEWORK = /^(?:tensorflow|keras|flax|jax|paddle|sklearn|xgboost|lightgbm|catboost)\./;
const OTHER_CLASS =
  /^(?:TF|Flax)[A-Z]|^[A-Z]\w*(?:Tokenizer\w*|Processor|Config|Scheduler|Extractor|Pipeline|Dataset)$/;

/** A class of the file that inherits from nothing, or only from plain bases. */
function isPlainClass(module: PyModule, classNode: PyNode): boolean {
  const { imported, unknown } = ancestryOf(module, classNode);
  return !unknown && imported.every((base) => PLAIN_BASES.has(base));
}

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
