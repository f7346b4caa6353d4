import { type Answer, not } from '../../semantic/answer.js';
import { type Gate, gate } from '../../semantic/gate.js';
import { importsPackage } from '../../semantic/imports.js';
import { entryOf, writtenBehind } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { isNotebook } from '../../semantic/program.js';
import { ask, type Question } from '../../semantic/question.js';
import { remembered } from '../../semantic/remembered.js';
import { spreadsNone } from '../../semantic/spread.js';
import {
  isInExpressionScope,
  keywordArgument,
  keywordValue,
  positionalArguments,
  statementOf,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { isTestCode } from '../../semantic/test-code.js';
import { ownsItsLines } from '../../syntax/layout.js';
import type { PyNode } from '../../syntax/node.js';
import { isSwitchedOff, usesDeepSpeed } from '../huggingface/huggingface.js';
import { modelLoad } from '../huggingface/pretrained.js';

export const CHECKPOINTING = 'gradient_checkpointing';
export const CHECKPOINTING_KWARGS = 'gradient_checkpointing_kwargs';
export const CHECKPOINTING_ENABLE = 'gradient_checkpointing_enable';
/** What turns checkpointing off in `prepare_model_for_kbit_training`, which turns it on. */
const KBIT_SWITCH = 'use_gradient_checkpointing';
/** The value of `gradient_checkpointing_kwargs` that chooses the non-re-entrant form. */
export const NOT_REENTRANT = '{"use_reentrant": False}';

export const ZERO_3 = 'ZeRO-3 with PEFT needs the re-entrant form';

/** What `prepare_model_for_kbit_training(model, use_gradient_checkpointing, …)` is given for its switch; undefined: it is left on. */
export function kbitSwitch(call: PyNode): { readonly entry: PyNode; readonly value: PyNode } | undefined {
  const entry = keywordArgument(call, KBIT_SWITCH);
  const value = entry?.value;
  if (entry !== undefined && value !== undefined) return { entry, value };
  const placed = positionalArguments(call)[1];
  return placed && { entry: placed, value: placed };
}

/** What must hold before a call may choose the non-re-entrant form by `gradient_checkpointing_kwargs`. */
export function formGates(module: PyModule, call: PyNode): readonly Gate[] {
  return [
    gate(ownsItsLines(module, statementOf(call)), 'its statement shares its line with other code'),
    gate(!isInExpressionScope(call), 'it stands in a lambda or a comprehension'),
    {
      answer: spreadsNone(module, call, [
        CHECKPOINTING,
        CHECKPOINTING_KWARGS,
        'deepspeed',
        'fsdp',
        'fsdp_config',
      ]),
      otherwise: {
        no: 'its arguments are spread, so the keyword may already be among them',
        unknown: ask(
          'spread-without',
        )`Do other files leave \`${CHECKPOINTING_KWARGS}\` out of the dict that is spread here?`,
      },
    },
    gate(
      !isGiven(call, 'deepspeed') || zero3(module).isZero3 === 'no',
      `\`deepspeed=\` is given, and ${ZERO_3}`,
    ),
    ...surroundingGates(module, call),
  ];
}

/** What must hold in the file for that, wherever in it the form is chosen. */
export function surroundingGates(module: PyModule, at: PyNode): readonly Gate[] {
  return [
    ...module.memo(fileGates, module),
    { answer: isTestCode(module, at) ? 'unknown' : 'yes', otherwise: ABOUT_OTHER },
  ];
}

const ABOUT_OTHER = ask(
  'test-of-other',
)`Is this test about something other than the default of \`${CHECKPOINTING_KWARGS}\`?`;

function fileGates(module: PyModule): readonly Gate[] {
  return [
    gate(!usesFsdp(module), 'FSDP may checkpoint by its own settings'),
    {
      answer: not(zero3(module).isZero3),
      otherwise: {
        no: `${zero3(module).by === undefined ? 'this file uses DeepSpeed' : `${zero3(module).by} says ZeRO stage 3`}, and ${ZERO_3}`,
        unknown: ask(
          'without-deepspeed',
        )`Does this run without ${'DeepSpeed'}, of which this file speaks (${ZERO_3})?`,
      },
    },
    gate(
      !importsPackage(module, 'unsloth') && !importsPackage(module, 'unsloth_zoo'),
      'unsloth replaces gradient checkpointing by its own',
    ),
    {
      answer: knowsKwargs(module),
      otherwise: {
        no: 'this file asks for a transformers older than 4.35, which does not know the keyword',
        unknown: ask(
          'version',
        )`Is ${'transformers 4.35 or newer'} here, where this file looks at its version?`,
      },
    },
    {
      answer: module.mentions(/use_reentrant["']?\s*[=:]\s*True/) ? 'unknown' : 'yes',
      otherwise: ask(
        'form-free',
      )`May this run do without \`${'use_reentrant=True'}\`, which this file asks for elsewhere?`,
    },
  ];
}

export function isGiven(call: PyNode, name: string): boolean {
  const given = keywordArgument(call, name)?.name;
  return given !== undefined && !isSwitchedOff(given);
}

/** The code, not a comment or a string, speaks of FSDP. */
function usesFsdp(module: PyModule): boolean {
  return ['fsdp', 'FSDP', 'FullyShardedDataParallel', 'fully_shard']
    .flatMap((word) => module.at(word))
    .some((node) => node.type === 'identifier' && !isSwitchedOff(node));
}

const OLD_PIN =
  /\btransformers(?:\[[^\]]*\])?["']?\s*(?:==|~=|<=?)\s*["']?(?:[0-3]\.|4\.(?:[12]?\d|3[0-4])(?!\d))/;

const ASKS_VERSION = /\btransformers\.__version__|\bversion\(\s*["']transformers["']/;

/** Whether transformers knows the keyword, as far as the file itself speaks of versions; what a notebook installs is known. */
function knowsKwargs(module: PyModule): Answer {
  if (!isNotebook(module) && OLD_PIN.test(module.text)) return 'no';
  return module.mentions(ASKS_VERSION) ? 'unknown' : 'yes';
}

/** What the project says about how DeepSpeed shards. */
export interface Sharding {
  /** `no` where every `deepspeed=` of the file names a configuration that leaves the parameters whole. */
  readonly isZero3: Answer;
  /** The configuration that says so, as a sentence names it. */
  readonly by: string | undefined;
}

/** Whether the trainer of a file may shard parameters by DeepSpeed's ZeRO stage 3: by the JSON file or dict that it is given. */
export const zero3 = remembered((module: PyModule): Sharding => {
  const used = usesDeepSpeed(module);
  const named = ['deepspeed', 'DeepSpeed', 'zero3']
    .flatMap((word) => module.at(word))
    .filter((node) => node.closest('string') === undefined && !isSwitchedOff(node));
  const stages = named.map((node) => stageGiven(module, node));
  const three = stages.find((each) => each?.stage === 3);
  if (three !== undefined) return { isZero3: 'yes', by: three.by };
  const isKnown = stages.length > 0 && stages.every((each) => each !== undefined);
  return { isZero3: isKnown ? 'no' : used, by: undefined };
});

interface Stage {
  readonly stage: number;
  readonly by: string;
}

/** Of `deepspeed="ds.json"` and `deepspeed={"zero_optimization": {"stage": 2}}`, also by a variable of the file. */
function stageGiven(module: PyModule, name: PyNode): Stage | undefined {
  const keyword = name.parent;
  const value = keyword?.type === 'keyword_argument' ? keyword.value : undefined;
  if (value === undefined || keyword?.name !== name) return undefined;
  const { node } = writtenBehind(module, value);
  const path = plainString(node);
  if (path === undefined) {
    const stage =
      node.type === 'dictionary' ? stageOf(entryOf(entryOf(node, ZERO), 'stage')?.text) : undefined;
    return stage === undefined ? undefined : { stage, by: 'its `deepspeed` dict' };
  }
  const file = path.endsWith('.json') ? module.around.file(path) : undefined;
  const stage = file && stageIn(file.text);
  return file === undefined || stage === undefined ? undefined : { stage, by: `\`${file.path}\`` };
}

const ZERO = 'zero_optimization';

/** A file that is no JSON says nothing. */
function stageIn(text: string): number | undefined {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const zero = isRecord(config) ? config[ZERO] : undefined;
  return isRecord(zero) ? stageOf(`${zero['stage']}`) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stageOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-3]$/.test(text) ? Number(text) : undefined;
}

/** What the re-entrant form leaves without gradient begins to learn in the other one. */
function begins({ path }: PyModule): Question {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return ask(
    'block-inputs',
  )`Does some input of each block that \`${name}\` checkpoints require a gradient (where none does, as in a vision tower with adapters, what is trained there begins to learn)?`;
}

/**
 * Why the choice of the non-re-entrant form may change what is learned: parameters are frozen, so that a block may have no input
 * that requires a gradient. Undefined where nothing in the project freezes any, and where adapters are in a model of text
 * alone whose embeddings give one.
 */
export function mayLearnMore(module: PyModule, givesInputs: boolean): Question | undefined {
  if (module.mentions(FREEZES)) return begins(module);
  if (importsPackage(module, 'peft'))
    return (givesInputs || module.mentions(GIVES_INPUTS)) && loadsOnlyText(module)
      ? undefined
      : begins(module);
  const elsewhere = [
    module.around.summaries({ word: 'peft', beside: [] }, importsPeft),
    module.around.summaries({ word: 'requires_grad', beside: [] }, freezes),
    module.around.summaries({ word: 'requires_grad_', beside: [] }, freezes),
  ];
  return elsewhere.every((files) => files?.every((does) => !does)) ? undefined : begins(module);
}

const FREEZES = /\brequires_grad(?:\s*=\s*(?!=|True\b)|_\(\s*(?!\)|True\b))/;
/** What makes the embeddings require a gradient. */
const GIVES_INPUTS = /\.enable_input_require_grads\s*\(|\bprepare_model_for_kbit_training\s*\(/;

function importsPeft(module: PyModule): boolean {
  return importsPackage(module, 'peft');
}

function freezes(module: PyModule): boolean {
  return module.mentions(FREEZES);
}

const TEXT_CLASS =
  /^AutoModelFor(?:CausalLM|MaskedLM|MultipleChoice|QuestionAnswering|Seq2SeqLM|SequenceClassification|TokenClassification)$/;

/** Whether every model that the file loads is one of text, with code of the library itself. */
function loadsOnlyText(module: PyModule): boolean {
  const loads = module.at('from_pretrained').flatMap(({ parent: callee }) => {
    const call = callee?.parent;
    return (call?.type === 'call' && modelLoad(module, call)) || [];
  });
  return (
    loads.length > 0 &&
    loads.every(({ call, className }) => {
      const remote = keywordValue(call, 'trust_remote_code');
      return TEXT_CLASS.test(className) && (remote === undefined || remote.type === 'false');
    })
  );
}
