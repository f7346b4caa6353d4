import { type Answer, all, any } from '../../semantic/answer.js';
import { ancestryOf, definitionBehind } from '../../semantic/definitions.js';
import { type Definition, definitionOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { PLAIN_BASES } from '../catalog.js';
import { isTrainerClass } from '../huggingface/huggingface.js';

/** Whether an expression is a transformers or trl trainer. */
export function isTrainer(module: PyModule, expression: PyNode): Answer {
  const name = lastName(expression);
  if (name === undefined || !/trainer$/i.test(name.text)) return 'no';
  if (expression.type !== 'identifier') return 'unknown';
  if (qualifiedName(module, expression) !== undefined) return 'no';
  return any(
    definitionsOf(module, expression).map((definition) => {
      if (definition.kind === 'parameter') return annotationIsTrainer(module, definition.node);
      const made =
        definition.kind === 'value' && definition.value.type === 'call' ? definition.value : undefined;
      const callee = made?.field('function');
      if (callee === undefined) return 'unknown';
      if (isTrainerClass(module, callee)) return 'yes';
      return definitionBehind(module, callee)?.type === 'class_definition' ? 'no' : 'unknown';
    }),
  );
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
  if (words.some((word) => OTHER_WORDS.has(word))) return 'no';
  return words.some((word) => MODEL_WORDS.has(word)) ? 'yes' : 'unknown';
}

/** Methods of a module that give the module back. */
const SAME_MODEL = new Set(['bfloat16', 'cpu', 'cuda', 'eval', 'float', 'half', 'to', 'train']);
/** Functions that give a model, whatever they are called on. */
const GIVES_MODEL = new Set([
  'extract_model_from_parallel',
  'get_peft_model',
  'merge_and_unload',
  'unwrap_model',
  'unwrap_model_for_generation',
]);

/** Whether an expression is a torch model: by the call that made it, else by its name. */
export function isModel(module: PyModule, expression: PyNode, hops = 0): Answer {
  const target = unparenthesized(expression);
  if (target.type === 'conditional_expression') {
    return all(
      [target.named[0], target.named[2]].map((branch) =>
        branch ? isModel(module, branch, hops) : 'unknown',
      ),
    );
  }
  if (target.type === 'call') return givesModel(module, target, hops);
  if (target.type === 'subscript') {
    const value = target.field('value');
    return value === undefined ? 'unknown' : isModel(module, value, hops);
  }
  const name = lastName(target);
  if (name === undefined) return 'unknown';
  const said = nameSaysModel(name.text);
  if (said === 'no' || target.type !== 'identifier' || hops > 3) return said;
  if (qualifiedName(module, target) !== undefined) return 'no';
  const made = definitionsOf(module, target).map((definition) =>
    definition.kind === 'value' ? isModel(module, definition.value, hops + 1) : 'unknown',
  );
  if (made.includes('no')) return 'no';
  return made.length > 0 && made.every((answer) => answer === 'yes') ? 'yes' : said;
}

function givesModel(module: PyModule, call: PyNode, hops: number): Answer {
  const callee = call.field('function');
  const name = callee && lastName(callee)?.text;
  if (callee === undefined || name === undefined) return 'unknown';
  if (GIVES_MODEL.has(name)) return 'yes';
  if (name === 'super') return 'no';
  const receiver = receiverOf(call);
  if (receiver !== undefined && SAME_MODEL.has(name)) return isModel(module, receiver, hops);
  const own = definitionBehind(module, callee);
  if (own?.type === 'class_definition' && isPlainClass(module, own)) return 'no';
  const maker = name === 'from_pretrained' || name === 'from_config' ? receiver : callee;
  const path = maker && qualifiedName(module, maker);
  const made = path?.slice(path.lastIndexOf('.') + 1) ?? (maker && lastName(maker)?.text);
  if (
    path !== undefined &&
    /^(?:tensorflow|keras|flax|jax|paddle|sklearn|xgboost|lightgbm|catboost)\./.test(path)
  )
    return 'no';
  return made !== undefined && /^[A-Z]/.test(made) ? className(made) : 'unknown';
}

/** A class of the file that inherits from nothing, or only from plain bases. */
function isPlainClass(module: PyModule, classNode: PyNode): boolean {
  const { imported, unknown } = ancestryOf(module, classNode);
  return !unknown && imported.every((base) => PLAIN_BASES.has(base));
}

/** What the name of a class says about its instances. */
function className(name: string): Answer {
  if (/^(?:TF|Flax)[A-Z]/.test(name)) return 'no';
  if (/(?:Tokenizer\w*|Processor|Config|Scheduler|Extractor|Pipeline|Dataset)$/.test(name)) return 'no';
  return /Model|For[A-Z]|Net$|LM|Transformer|Encoder|Autoencoder/.test(name) ? 'yes' : 'unknown';
}

/** Whether what is handed to `torch.save` holds a model's weights; `no` as well where nothing speaks for it. */
export function holdsWeights(module: PyModule, expression: PyNode, hops = 0): Answer {
  const target = unparenthesized(expression);
  const calls = [...target.walk((node) => node.type !== 'lambda')].filter((node) => node.type === 'call');
  const found = any(calls.map((call) => givesWeights(module, call)));
  if (found !== 'no') return found;
  if (target.type === 'attribute') return isModel(module, target) === 'yes' ? 'yes' : 'no';
  if (target.type === 'call') return givesModel(module, target, hops) === 'yes' ? 'yes' : 'no';
  if (target.type !== 'identifier' || hops > 3) return 'no';
  const flows = definitionsOf(module, target).flatMap((definition) =>
    definition.kind === 'value' ? [definition.value] : [],
  );
  const parts = [...flows, ...itemsOf(module, target)].map((value) => holdsWeights(module, value, hops + 1));
  if (any(parts) === 'yes') return 'yes';
  if (nameSaysModel(target.text) === 'yes') return isModel(module, target) === 'yes' ? 'yes' : any(parts);
  if (/state_dict|weights/.test(target.text) && !/optim|sched/.test(target.text)) return 'unknown';
  return any(parts);
}

function givesWeights(module: PyModule, call: PyNode): Answer {
  const callee = call.field('function');
  const name = callee && lastName(callee)?.text;
  if (name === undefined || !name.endsWith('state_dict') || /^(?:load|set)_|optim/.test(name)) return 'no';
  const receiver = receiverOf(call);
  if (name !== 'state_dict' || receiver === undefined) return /optim/i.test(call.text) ? 'unknown' : 'yes';
  return isModel(module, receiver);
}

/** The values of `name["key"] = value`. */
export function itemsOf(module: PyModule, name: PyNode): readonly PyNode[] {
  const scope = module.resolve(name);
  if (scope === undefined) return [];
  return module.reads(scope, name.text).flatMap((read) => {
    const item = read.parent;
    if (item?.type !== 'subscript' || item.field('value') !== read) return [];
    const value = item.parent?.type === 'assignment' && item.parent.field('left') === item;
    return value ? (item.parent.field('right') ?? []) : [];
  });
}

export function definitionsOf(module: PyModule, identifier: PyNode): readonly Definition[] {
  const scope = module.resolve(identifier);
  return scope === undefined ? [] : module.writes(scope, identifier.text).map(definitionOf);
}

/** `b` of `a.b`, `a` of `a`. */
function lastName(expression: PyNode): PyNode | undefined {
  if (expression.type === 'identifier') return expression;
  return expression.type === 'attribute' ? expression.field('attribute') : undefined;
}
