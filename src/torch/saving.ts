import { type Answer, all, any } from '../semantic/answer.js';
import { definitionBehind } from '../semantic/definitions.js';
import { type Definition, definitionOf } from '../semantic/flow.js';
import { importsPackage, qualifiedName } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { roleOf } from '../semantic/names.js';
import {
  argumentsOf,
  keywordArgument,
  methodName,
  receiverOf,
  unparenthesized,
} from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { SAVE } from './catalog.js';
import { isTrainerClass } from './huggingface.js';

/** A statement that writes a model's weights. */
export interface ModelSave {
  readonly statement: PyNode;
  /** What is saved, as the code writes it. */
  readonly saved: PyNode;
  /** Whether that is a torch model or its weights; never `no`. */
  readonly isModel: Answer;
}

/** The model save that a statement is, if nothing else is done with the call's result. */
export function modelSave(module: PyModule, statement: PyNode): ModelSave | undefined {
  const call = statement.named[0];
  if (statement.type !== 'expression_statement' || statement.named.length !== 1 || call?.type !== 'call')
    return undefined;
  const found = savedBy(module, call);
  if (found === undefined) return undefined;
  const isModel = all([found.isModel, isTorch(module)]);
  return isModel === 'no' ? undefined : { statement, saved: found.saved, isModel };
}

function savedBy(
  module: PyModule,
  call: PyNode,
): { readonly saved: PyNode; readonly isModel: Answer } | undefined {
  const callee = call.field('function');
  if (callee !== undefined && qualifiedName(module, callee) === SAVE) {
    const [first] = argumentsOf(call);
    const saved = first?.type === 'keyword_argument' ? keywordArgument(call, 'obj')?.field('value') : first;
    return saved && { saved, isModel: holdsWeights(module, saved) };
  }
  const receiver = receiverOf(call);
  if (receiver === undefined) return undefined;
  switch (methodName(call)) {
    case 'save_pretrained':
      // `params=` is how Flax models are saved.
      return keywordArgument(call, 'params') === undefined
        ? { saved: receiver, isModel: isModel(module, receiver) }
        : undefined;
    case 'save_model':
      return { saved: receiver, isModel: isTrainer(module, receiver) };
    default:
      return undefined;
  }
}

/** A trainer's `train()`, alone or with its result kept. */
export function trainerRun(module: PyModule, statement: PyNode): Answer {
  let call = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  if (call?.type === 'assignment') call = call.field('right');
  if (call?.type !== 'call' || methodName(call) !== 'train') return 'no';
  const receiver = receiverOf(call);
  return receiver === undefined ? 'no' : isTrainer(module, receiver);
}

/** Whether an expression is a transformers or trl trainer. */
function isTrainer(module: PyModule, expression: PyNode): Answer {
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
  'actor adapter autoencoder backbone bert classifier controlnet critic decoder discriminator encoder generator gpt llm lora model models module net network policy student teacher transformer unet vae vit'.split(
    ' ',
  ),
);
const OTHER_WORDS = new Set(
  'api args batch cache card cfg cls collator config configuration data dataset embeds embedding embeddings extractor features generation dataloader index info loader logits loss lr metrics name names onnx opt optim optimizer optimizers output outputs params path pipe pipeline processor processors rng sampler scaler sched scheduler schedulers self state super template tok tokenizer tokenizers trainer vocab'.split(
    ' ',
  ),
);

/** What a name says about its value: `model_to_save` is a model, `model_config` is not, `x` may be. */
function nameSaysModel(name: string): Answer {
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
function isModel(module: PyModule, expression: PyNode, hops = 0): Answer {
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
  const made =
    name === 'from_pretrained' || name === 'from_config' ? receiver && lastName(receiver)?.text : name;
  return made !== undefined && /^[A-Z]/.test(made) ? className(made) : 'unknown';
}

/** What the name of a class says about its instances. */
function className(name: string): Answer {
  if (/^(?:TF|Flax)[A-Z]/.test(name)) return 'no';
  if (/(?:Tokenizer\w*|Processor|Config|Scheduler|Extractor|Pipeline|Dataset)$/.test(name)) return 'no';
  return /Model|For[A-Z]|Net$|LM|Transformer|Encoder|Autoencoder/.test(name) ? 'yes' : 'unknown';
}

/** Whether what is handed to `torch.save` holds a model's weights; `no` as well where nothing speaks for it. */
function holdsWeights(module: PyModule, expression: PyNode, hops = 0): Answer {
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
function itemsOf(module: PyModule, name: PyNode): readonly PyNode[] {
  const scope = module.resolve(name);
  if (scope === undefined) return [];
  return module.reads(scope, name.text).flatMap((read) => {
    const item = read.parent;
    if (item?.type !== 'subscript' || item.field('value') !== read) return [];
    const value = item.parent?.type === 'assignment' && item.parent.field('left') === item;
    return value ? (item.parent.field('right') ?? []) : [];
  });
}

const TORCH_LIBRARIES: readonly string[] = ['torch', 'trl', 'peft', 'diffusers', 'accelerate'];
const OTHER_FRAMEWORKS: readonly string[] = [
  'tensorflow',
  'keras',
  'jax',
  'flax',
  'paddle',
  'mindspore',
  'mlx',
];

/** Whether the file's models are torch's. A file that only knows another framework is none of our business. */
function isTorch(module: PyModule): Answer {
  if (TORCH_LIBRARIES.some((name) => importsPackage(module, name))) return 'yes';
  if (!importsPackage(module, 'transformers')) return 'no';
  if (OTHER_FRAMEWORKS.some((name) => importsPackage(module, name))) return 'no';
  return /\b(?:TF|Flax)[A-Z]\w/.test(module.text) ? 'no' : 'yes';
}

const GPU_WORDS =
  /\bcuda\b|\.backward\(|Trainer\b|trainer\.|Accelerator\b|torch\.distributed|accelerator\.|device_map(?!\s*=\s*["']cpu)|\.to\(\s*(?:\w+\.)*device\b/;

/** Whether there can be a CUDA cache: the file works with a GPU, or the model is handed in by one that may. */
export function mayUseGpu(module: PyModule, { saved }: ModelSave): Answer {
  return GPU_WORDS.test(module.text) || isHandedIn(module, saved) ? 'yes' : 'unknown';
}

function isHandedIn(module: PyModule, expression: PyNode, hops = 0): boolean {
  for (const node of expression.walk()) {
    if (node.type !== 'identifier' || roleOf(node) !== 'read') continue;
    const definitions = definitionsOf(module, node);
    const isModelOrSelf = node.text === 'self' || nameSaysModel(node.text) === 'yes';
    if (isModelOrSelf && definitions.some(({ kind }) => kind === 'parameter')) return true;
    if (hops > 1) continue;
    const values = definitions.flatMap((each) => (each.kind === 'value' ? [each.value] : []));
    if ([...values, ...itemsOf(module, node)].some((value) => isHandedIn(module, value, hops + 1)))
      return true;
  }
  return false;
}

function definitionsOf(module: PyModule, identifier: PyNode): readonly Definition[] {
  const scope = module.resolve(identifier);
  return scope === undefined ? [] : module.writes(scope, identifier.text).map(definitionOf);
}

/** `b` of `a.b`, `a` of `a`. */
function lastName(expression: PyNode): PyNode | undefined {
  if (expression.type === 'identifier') return expression;
  return expression.type === 'attribute' ? expression.field('attribute') : undefined;
}
