import { type Answer, all } from '../../src/semantic/answer.js';
import { callsNamed } from '../../src/semantic/called-name.js';
import { definedElsewhere } from '../../src/semantic/elsewhere.js';
import { type Gate, placeOf, shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { mayLead } from '../../src/semantic/paths.js';
import { ask } from '../../src/semantic/question.js';
import { remembered } from '../../src/semantic/remembered.js';
import { isAtLeast } from '../../src/semantic/standing.js';
import {
  allNodes,
  argumentsOf,
  enclosingFunction,
  hasSplat,
  keywordArgument,
  keywordValue,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import {
  argumentsCall,
  isDefault,
  isTrainerClass,
  setsField,
} from '../../src/torch/huggingface/huggingface.js';
import {
  CHECKPOINTING,
  CHECKPOINTING_ENABLE,
  CHECKPOINTING_KWARGS,
  NOT_REENTRANT,
} from '../../src/torch/module/checkpointing.js';

/**
 * Whether checkpointing, chosen at `call` in the non-re-entrant form, stays in it: nobody enables it again in the form that
 * transformers 4 takes by itself. `no` where somebody does and transformers is known to be 4.
 */
export function staysNotReentrant(module: PyModule, call: PyNode): Answer {
  const five = isAtLeast(module, 'transformers', '5.0');
  if (five === 'yes') return 'yes';
  // With this hook the re-entrant form works as well.
  if (module.at('.enable_input_require_grads(').some((hook) => isSetBeside(hook, call))) return 'yes';
  const again = all([
    ...enabledAgain(module, call),
    ...module.memo(trainerForms, module),
    trainsHere(module, call),
    module.mentions(HIDDEN) ? 'unknown' : 'yes',
  ]);
  return again === 'no' && five !== 'no' ? 'unknown' : again;
}

/** `model.enable_input_require_grads()` for the same model, wherever the call runs; a test whether there is one may guard it. */
function isSetBeside(hook: PyNode, call: PyNode): boolean {
  const enabling = hook.closest('call');
  const receiver = enabling?.function?.object?.text;
  if (enabling === undefined || receiver === undefined) return false;
  const target = call.closest('assignment', 'block')?.left?.text;
  if (receiver !== target && receiver !== argumentsOf(call)[0]?.text) return false;
  let statement = statementOf(enabling);
  const guard = statement.parent?.parent;
  if (guard?.type === 'if_statement' && /^hasattr\(/.test(guard.condition?.text ?? '')) statement = guard;
  return statement.parent !== undefined && statement.parent === statementOf(call).parent;
}

/** What else may need the hook of the embeddings that only the re-entrant form sets. */
export function hookGates(module: PyModule, call: PyNode): readonly Gate[] {
  const enabler = module.memo(enablerElsewhere, module);
  return [
    {
      answer: module.mentions(/\btorch\.utils(?:\.checkpoint|\s+import\s[^\n]*\bcheckpoint)\b/)
        ? 'unknown'
        : 'yes',
      otherwise: ask(
        'own-checkpoints',
      )`Does what this file checkpoints with \`${'torch.utils.checkpoint'}\` work without inputs that require a gradient?`,
    },
    {
      answer: module.mentions(/get_input_embeddings|\bretain_grad\b|\bautograd\.grad\b/) ? 'unknown' : 'yes',
      otherwise: ask(
        'embeddings-without-gradient',
      )`Does this file work without a gradient at the output of \`${'get_input_embeddings()'}\`, which only the hook gives?`,
    },
    {
      answer: comesFromElsewhere(module, call) ? 'unknown' : 'yes',
      otherwise: ask(
        'model-takes-form',
      )`Does the class of \`${shown(argumentsOf(call)[0] ?? call)}\`, which is of no library known here, take the form?`,
    },
    {
      answer: enabler === undefined ? 'yes' : 'unknown',
      otherwise: ask(
        'enabled-alike',
      )`Does ${enabler} leave checkpointing as it is, or enable it in the same form?`,
    },
  ];
}

/** A model made by a class of the project, or of a library that is none of those with known models. */
function comesFromElsewhere(module: PyModule, call: PyNode): boolean {
  const [first] = argumentsOf(call);
  const model = first?.type === 'keyword_argument' ? first.value : first;
  if (model?.type === 'call') return isMadeElsewhere(module, model);
  if (model?.type !== 'identifier') return false;
  return waysGiven(module, model).some(
    (definition) => definition.kind === 'value' && isMadeElsewhere(module, definition.value),
  );
}

function isMadeElsewhere(module: PyModule, made: PyNode): boolean {
  const callee = made.type === 'call' ? made.function : undefined;
  const path = callee && qualifiedName(module, callee);
  return path !== undefined && !/^(?:transformers|peft|trl|accelerate|torch)\./.test(path);
}

/** A function of another file that is called here, and whose file speaks of checkpointing. */
function enablerElsewhere(module: PyModule): string | undefined {
  for (const node of allNodes(module.root)) {
    const callee = node.type === 'call' ? node.function : undefined;
    const path = callee && qualifiedName(module, callee);
    const other = path === undefined ? undefined : definedElsewhere(module, path);
    if (other?.module.mentions(/checkpointing/))
      return `\`${path?.split('.').at(-1)}\` of ${placeOf(other.module, other.node)}`;
  }
  return undefined;
}

/** Checkpointing switched on by other means: an attribute, a name in a string, a function that says it in its name. */
const HIDDEN =
  /\.gradient_checkpointing\s*=(?!=)|["']gradient_checkpointing_enable["']|\b\w*checkpointing(?!_enable\b)\w*\s*\(/;

/** Plain `gradient_checkpointing_enable()` that may run after the call. */
function enabledAgain(module: PyModule, call: PyNode): readonly Answer[] {
  return module.at(CHECKPOINTING_ENABLE).map((node) => {
    const enabling = node.parent?.parent;
    if (enabling?.type !== 'call' || node.text !== CHECKPOINTING_ENABLE) return 'unknown';
    if (argumentsOf(enabling).length > 0) return choosesForm(argumentsOf(enabling)[0]);
    return mayLead(module, call, enabling) ? 'no' : 'yes';
  });
}

/** Whether a `gradient_checkpointing_kwargs` is one that chooses the non-re-entrant form. */
function choosesForm(kwargs: PyNode | undefined): Answer {
  const value = kwargs?.type === 'keyword_argument' ? kwargs.value : kwargs;
  return value !== undefined && /^\{\s*["']use_reentrant["']\s*:\s*False\s*,?\s*\}$/.test(value.text)
    ? 'yes'
    : 'unknown';
}

/** What the arguments of each trainer of the file say about checkpointing. */
function trainerForms(module: PyModule): readonly Answer[] {
  const made = trainerCalls(module).map(({ args }) => args && argumentsMade(module, args));
  const given = made.map((call) => call && keywordArgument(call, CHECKPOINTING));
  const mentions = module.text.match(/\bgradient_checkpointing\b/g)?.length ?? 0;
  // Spoken of anywhere else, it may be set there.
  const isElsewhere = mentions > new Set(given.filter((keyword) => keyword !== undefined)).size;
  return made.map((call, index) => {
    if (call === undefined || hasSplat(call) || isElsewhere) return 'unknown';
    const on = given[index]?.value;
    if (on === undefined || on.type === 'false') return 'yes';
    const kwargs = keywordArgument(call, CHECKPOINTING_KWARGS);
    if (kwargs !== undefined) return choosesForm(kwargs);
    if (isDefault({ module, call, own: undefined }, CHECKPOINTING_KWARGS, NOT_REENTRANT) === 'yes')
      return 'yes';
    return on.type === 'true' ? 'no' : 'unknown';
  });
}

interface TrainerCall {
  /** The call, or the place where the class is handed on instead. */
  readonly node: PyNode;
  readonly args: PyNode | undefined;
}

/** Where the file builds a trainer: of its libraries, or anything called one. */
const trainerCalls = remembered((module: PyModule): readonly TrainerCall[] => {
  const found: TrainerCall[] = [];
  const names = module
    .at('Trainer')
    .filter(({ type, text }) => type === 'identifier' && /Trainer$/.test(text));
  for (const word of new Set(names.map(({ text }) => text))) {
    for (const { call } of callsNamed(module, word)) {
      const callee = call.function;
      const [, second] = argumentsOf(call);
      const args = keywordValue(call, 'args') ?? (second?.type === 'keyword_argument' ? undefined : second);
      const isKnown = callee !== undefined && isTrainerClass(module, callee);
      found.push({ node: call, args: isKnown ? args : undefined });
    }
  }
  for (const node of names) if (isHandedOn(node)) found.push({ node, args: undefined });
  return found;
});

/** `partial(Trainer, …)`, `{"sft": SFTTrainer}`: called by somebody else. */
function isHandedOn(name: PyNode): boolean {
  if (roleOf(name) !== 'read') return false;
  const parent = name.parent;
  if (parent?.type === 'argument_list') return parent.parent?.type === 'call';
  return parent?.type === 'pair' || parent?.type === 'list' || parent?.type === 'return_statement';
}

/** The call that made a trainer's arguments, where the file shows it and changes nothing in them afterwards. */
function argumentsMade(module: PyModule, args: PyNode): PyNode | undefined {
  const value = unparenthesized(args);
  if (value.type === 'call') return plainArguments(module, value);
  if (value.type !== 'identifier') return undefined;
  const [only, ...others] = waysGiven(module, value);
  if (only?.kind !== 'value' || only.value.type !== 'call' || others.length > 0) return undefined;
  if (module.mentions(/\.gradient_checkpointing(?:_kwargs)?\s*=(?!=)|setattr\(|\.set_training\(/))
    return undefined;
  return plainArguments(module, only.value);
}

/** A call for trainer arguments whose class leaves the default of checkpointing alone. */
function plainArguments(module: PyModule, call: PyNode): PyNode | undefined {
  const made = argumentsCall(module, call);
  return made === undefined || setsField(made, CHECKPOINTING) ? undefined : made.call;
}

/** Whether the file itself trains what the call prepares: with a trainer, or by hand. */
function trainsHere(module: PyModule, call: PyNode): Answer {
  const places = [...trainerCalls(module).map(({ node }) => node), ...module.at('.backward(')];
  const around = enclosingFunction(call);
  if (around === undefined || places.some((place) => around.contains(place)))
    return places.length > 0 ? 'yes' : 'unknown';
  const name = around.name?.text;
  const uses = name === undefined ? [] : module.reads(module.scopeAt(around), name);
  return places.length > 0 && uses.some((use) => !around.contains(use)) ? 'yes' : 'unknown';
}
