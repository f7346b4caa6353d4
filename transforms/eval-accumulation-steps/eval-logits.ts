import { ancestryOf, definitionBehind } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, hasSplat, keywordValue } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { argumentsCall, isTrainerClass } from '../../src/torch/huggingface/huggingface.js';
import { modelLoad } from '../../src/torch/huggingface/pretrained.js';

/** Models that give a value per word of the vocabulary, or per class and pixel, for every position. */
const WIDE_OUTPUT =
  /For(?:CausalLM|MaskedLM|Seq2SeqLM|ConditionalGeneration|CTC|SemanticSegmentation|SpeechSeq2Seq|ImageTextToText|Vision2Seq)$|LMHeadModel$/;

/** Signs of a model that gives a few numbers per example, where the model itself is out of sight. */
const NARROW_OUTPUT =
  /num_labels|num_classes|id2label|label2id|Classification|classif|QuestionAnswering|MultipleChoice|regress|glue|imdb|sentiment|reward|\bf1\b|roc_auc|pearson|matthews/i;

/** What has the trainer keep something else than the logits, or keep them elsewhere. */
const OTHERWISE: readonly string[] = ['predict_with_generate', 'prediction_loss_only', 'batch_eval_metrics'];
const OVERRIDES: readonly string[] = [
  'prediction_step',
  'evaluation_loop',
  'prediction_loop',
  'evaluate',
  'predict',
];

/** A class of arguments that is called, or gets another name: where it only stands in a list, others make them. */
const MAKES_ARGUMENTS =
  /(?:TrainingArguments|\b[A-Z]\w*Config)\b(?:(?:[\s\\)]|#[^\n]*\n)*\(|[\s\\]+as\b)|=[\s\\]*(?:\w+[\s\\]*\.[\s\\]*)*\w*(?:TrainingArguments|Config)[ \t]*(?:\r?$|[#;\\])/m;

/** Whether the file could have such a trainer, going by its text. */
export function mayCollectLogits(text: string): boolean {
  return (
    /\bcompute_metrics\s*=/.test(text) &&
    text.includes('eval_dataset') &&
    !text.includes('eval_accumulation_steps') &&
    !OTHERWISE.some((name) => text.includes(`.${name}`)) &&
    MAKES_ARGUMENTS.test(text)
  );
}

/**
 * Trainers of transformers or trl that collect the logits of a whole evaluation on the GPU, as the file proves: metrics are
 * computed, nothing shrinks the logits first, and the model gives wide ones. Gives the keyword `compute_metrics`.
 */
export function* logitCollectors(module: PyModule): Generator<PyNode> {
  if (!mayCollectLogits(module.text)) return;
  for (const name of module.at('compute_metrics')) {
    const keyword = name.parent;
    if (keyword?.type !== 'keyword_argument' || keyword.name !== name) continue;
    const call = keyword.parent?.parent;
    const value = keyword.value;
    if (call?.type !== 'call' || value === undefined || value.type === 'none' || hasSplat(call)) continue;
    const callee = call.function;
    if (callee === undefined || !isTrainerClass(module, callee) || overrides(module, callee)) continue;
    if (!isGiven(call, 'eval_dataset') || isGiven(call, 'preprocess_logits_for_metrics')) continue;
    if (keepsLogits(module, call) && isWide(module, call, callee, value)) yield name;
  }
}

function isGiven(call: PyNode, name: string): boolean {
  const value = keywordValue(call, name);
  return value !== undefined && value.type !== 'none';
}

function overrides(module: PyModule, callee: PyNode): boolean {
  const own = definitionBehind(module, callee);
  if (own?.type !== 'class_definition') return false;
  const { classes } = ancestryOf(module, own);
  return classes.some((each) => [...OVERRIDES, '__init__'].some((name) => module.scopeOf(each).has(name)));
}

function argumentAt(call: PyNode, name: string, position: number): PyNode | undefined {
  const at = argumentsOf(call)[position];
  return keywordValue(call, name) ?? (at?.type === 'keyword_argument' ? undefined : at);
}

/** The arguments are made in this file, in one place, and say nothing that changes what is kept. */
function keepsLogits(module: PyModule, call: PyNode): boolean {
  const args = argumentAt(call, 'args', 1);
  const made = args && valuesOf(module, args);
  const [only] = made ?? [];
  if (only === undefined || made?.length !== 1 || only.type !== 'call' || hasSplat(only)) return false;
  if (argumentsCall(module, only)?.own !== undefined || argumentsCall(module, only) === undefined)
    return false;
  return OTHERWISE.every((name) => {
    const value = keywordValue(only, name);
    return value === undefined || value.type === 'false';
  });
}

function isWide(module: PyModule, call: PyNode, callee: PyNode, metrics: PyNode): boolean {
  const path = qualifiedName(module, callee) ?? '';
  if (path.startsWith('trl.') && path.endsWith('.SFTTrainer')) return true;
  const model = argumentAt(call, 'model', 0);
  const loads = (model === undefined ? [] : valuesOf(module, model)).flatMap((value) => {
    const load = value.type === 'call' ? modelLoad(module, value) : undefined;
    return load === undefined ? [] : [load.className];
  });
  if (loads.length > 0) return loads.every((name) => WIDE_OUTPUT.test(name));
  const computed = definitionBehind(module, metrics);
  if (computed !== undefined && /\.(?:batch_)?decode\(/.test(computed.text)) return true;
  return !module.mentions(NARROW_OUTPUT);
}

/** The values that an expression, or the variable that it is, is given anywhere in the file; none where one is not written out. */
function valuesOf(module: PyModule, expression: PyNode): readonly PyNode[] {
  if (expression.type !== 'identifier') return [expression];
  const scope = module.resolve(expression);
  const writes = scope === undefined ? [] : module.writes(scope, expression.text);
  const definitions = writes.map(definitionOf);
  const values = definitions.flatMap((each) => (each.kind === 'value' ? [each.value] : []));
  return values.length === definitions.length ? values : [];
}
