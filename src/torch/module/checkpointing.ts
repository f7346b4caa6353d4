import { type Answer, not } from '../../semantic/answer.js';
import { type Gate, gate } from '../../semantic/gate.js';
import { importsPackage } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask } from '../../semantic/question.js';
import { spreadsNone } from '../../semantic/spread.js';
import { isInExpressionScope, keywordArgument, statementOf } from '../../semantic/statements.js';
import { isTestCode } from '../../semantic/test-code.js';
import { ownsItsLines } from '../../syntax/layout.js';
import type { PyNode } from '../../syntax/node.js';
import { isSwitchedOff } from '../huggingface/huggingface.js';
import { zero3 } from '../huggingface/zero-stage.js';

export const CHECKPOINTING = 'gradient_checkpointing';
export const CHECKPOINTING_KWARGS = 'gradient_checkpointing_kwargs';
export const CHECKPOINTING_ENABLE = 'gradient_checkpointing_enable';
/** The value of `gradient_checkpointing_kwargs` that chooses the non-re-entrant form. */
export const NOT_REENTRANT = '{"use_reentrant": False}';

export const ZERO_3 = 'ZeRO-3 with PEFT needs the re-entrant form';

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

/** Whether transformers knows the keyword, as far as the file itself speaks of versions. */
function knowsKwargs(module: PyModule): Answer {
  return OLD_PIN.test(module.text) ? 'no' : module.mentions(ASKS_VERSION) ? 'unknown' : 'yes';
}
