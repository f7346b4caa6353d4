import { SAVE } from '../../src/library/names.js';
import type { Answer } from '../../src/semantic/answer.js';
import { importsPackage, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { remembered } from '../../src/semantic/remembered.js';
import {
  argumentsOf,
  keywordArgument,
  keywordValue,
  methodName,
  receiverOf,
} from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isModel, isTrainer, nameSaysModel } from '../../src/torch/module/model-value.js';
import { holdsWeights, itemsOf } from './weights.js';

/** A statement that writes a model's weights. */
export interface ModelSave {
  readonly statement: PyNode;
  /** What is saved, as the code writes it. */
  readonly saved: PyNode;
  /** What it must be for that. */
  readonly wanted: 'a torch model' | 'the weights of a torch model' | 'a transformers trainer';
  /** Whether it is; never `no`. */
  readonly isModel: Answer;
}

/** The model save that a statement is, if nothing else is done with the call's result. */
export const modelSave = remembered((module: PyModule, statement: PyNode): ModelSave | undefined => {
  const call = statement.named[0];
  if (statement.type !== 'expression_statement' || statement.named.length !== 1 || call?.type !== 'call')
    return undefined;
  if (!usesTorch(module)) return undefined;
  const found = savedBy(module, call);
  return found === undefined || found.isModel === 'no' ? undefined : { ...found, statement };
});

function savedBy(module: PyModule, call: PyNode): Omit<ModelSave, 'statement'> | undefined {
  const callee = call.function;
  // Any name for it ends in "save": the text is cheaper to ask than the scopes.
  if (callee?.text.endsWith('save') && qualifiedName(module, callee) === SAVE) {
    const [first] = argumentsOf(call);
    const saved = first?.type === 'keyword_argument' ? keywordValue(call, 'obj') : first;
    return saved && { saved, wanted: 'the weights of a torch model', isModel: holdsWeights(module, saved) };
  }
  const receiver = receiverOf(call);
  if (receiver === undefined) return undefined;
  switch (methodName(call)) {
    case 'save_pretrained':
      // `params=` is how Flax models are saved.
      return keywordArgument(call, 'params') === undefined
        ? { saved: receiver, wanted: 'a torch model', isModel: isModel(module, receiver) }
        : undefined;
    case 'save_model':
      return { saved: receiver, wanted: 'a transformers trainer', isModel: isTrainer(module, receiver) };
    default:
      return undefined;
  }
}

/** A trainer's `train()`, alone or with its result kept. */
export function trainerRun(module: PyModule, statement: PyNode): Answer {
  let call = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  if (call?.type === 'assignment') call = call.right;
  if (call?.type !== 'call' || methodName(call) !== 'train') return 'no';
  const receiver = receiverOf(call);
  return receiver === undefined ? 'no' : isTrainer(module, receiver);
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
const usesTorch = remembered((module: PyModule): boolean => {
  if (TORCH_LIBRARIES.some((name) => importsPackage(module, name))) return true;
  if (!importsPackage(module, 'transformers') || module.mentions(/\b(?:TF|Flax)[A-Z]\w/)) return false;
  return !OTHER_FRAMEWORKS.some((name) => importsPackage(module, name));
});

const GPU_WORDS =
  /\bcuda\b|\.backward\(|Trainer\b|trainer\.|Accelerator\b|torch\.distributed|accelerator\.|device_map(?!\s*=\s*["']cpu)|\.to\(\s*(?:\w+\.)*device\b/;

/** Whether there can be a CUDA cache: the file works with a GPU, or the model is handed in by one that may. */
export function mayUseGpu(module: PyModule, { saved }: ModelSave): Answer {
  if (isOffGpu(module)) return 'unknown';
  return module.mentions(GPU_WORDS) || isHandedIn(module, saved) ? 'yes' : 'unknown';
}

/** The file imports or installs torch_xla: it runs on a TPU, which has no CUDA cache. */
export function runsOnTpu(module: PyModule): boolean {
  const installs = (call: PyNode | undefined): boolean =>
    call !== undefined && /\binstall\b.*\btorch[_-]xla\b/.test(call.text);
  return (
    importsPackage(module, 'torch_xla') ||
    module.words('system').some((node) => installs(node.closest('call')))
  );
}

/** The file names another device, and nothing of CUDA. */
function isOffGpu(module: PyModule): boolean {
  const isNamed =
    module.mentions(/device\(\s*["'](?:cpu|mps|xla)|(?:\.to\(|device\s*=)\s*["'](?:cpu|mps|xla)/) ||
    importsPackage(module, 'torch_xla');
  return isNamed && !/cuda|rainer\b|ccelerat|device_map/.test(module.code);
}

function isHandedIn(module: PyModule, expression: PyNode, hops = 0): boolean {
  for (const node of expression.walk()) {
    if (node.type !== 'identifier' || roleOf(node) !== 'read') continue;
    const definitions = waysGiven(module, node);
    const isModelOrSelf = node.text === 'self' || nameSaysModel(node.text) === 'yes';
    if (isModelOrSelf && definitions.some(({ kind }) => kind === 'parameter')) return true;
    if (hops > 1) continue;
    const values = definitions.flatMap((each) => (each.kind === 'value' ? [each.value] : []));
    if ([...values, ...itemsOf(module, node)].some((value) => isHandedIn(module, value, hops + 1)))
      return true;
  }
  return false;
}

const TRAINING =
  /\.backward\(|rainer\.train\(|(?:rainer|odel|learner|net|self|engine|agent)\.fit\(|(?<!\bdef )(?<![\w.])(?:(?!get|load|make|build|create|read|prepare|split)\w+_)?train(?!\w*(?:split|data|load|set|iter|file|path|dir|transform|args|config|dl)\w*\()(?:_\w+)?\(/;

/** An evaluation of a trainer, or of a model without gradients. */
const EVALUATION = /rainer\.(?:evaluate|predict)\(|\.no_grad\(|inference_mode\(|\.eval\(\)/;

/** A training or an evaluation stands above the save in its function or script. */
export function passedAbove(module: PyModule, { statement }: Pick<ModelSave, 'statement'>): boolean {
  const above = textAbove(module, statement);
  return TRAINING.test(above) || EVALUATION.test(above);
}

function textAbove(module: PyModule, statement: PyNode): string {
  const owner = statement.closest('function_definition') ?? module.root;
  const text = owner.text.slice(0, statement.start - owner.start);
  return text.replace(/("""|''')[\s\S]*?\1/g, '').replace(/#.*/g, '');
}

/** Whether a training came before the save: above it in its function or script, or where its model comes from. */
export function hasTrained(module: PyModule, { statement, saved }: ModelSave): Answer {
  return TRAINING.test(textAbove(module, statement)) || isHandedIn(module, saved) ? 'yes' : 'unknown';
}
