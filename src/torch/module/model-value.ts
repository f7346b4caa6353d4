import { givesModule, row } from '../../library/library.js';
import { PLAIN_BASES } from '../../library/names.js';
import { isModelMaker } from '../../library/paths.js';
import type { Answer } from '../../semantic/answer.js';
import { lastName } from '../../semantic/called-name.js';
import { ancestryOf, definitionBehind } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { receiverOf, unparenthesized } from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { loadsModel } from '../huggingface/pretrained.js';
import { type Maker, madeBy } from './made-by.js';
import { moduleKind } from './modules.js';

/** Whether an expression is a transformers or trl trainer: `yes` only by what made it, and `no` also by its name. */
export function isTrainer(module: PyModule, expression: PyNode): Answer {
  const name = lastName(expression)?.text ?? '';
  if (!/trainer$/i.test(name) || qualifiedName(module, expression) !== undefined) return 'no';
  return madeBy(module, expression, TRAINER);
}

const TRAINER: Maker = {
  gives: (path) => row(path)?.is === 'trainer',
  isClass: (module, classNode) =>
    ancestryOf(module, classNode).imported.some((base) => row(base)?.is === 'trainer') ? 'yes' : 'no',
  outlivesOthers: true,
};

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
export function isTransformersModel(module: PyModule, expression: PyNode): Answer {
  return madeBy(module, expression, TRANSFORMERS_MODEL);
}

const TRANSFORMERS_MODEL: Maker = {
  gives: loadsModel,
  isClass: (module, classNode) => (moduleKind(module, classNode).isPretrained ? 'yes' : 'unknown'),
  outlivesOthers: true,
};
