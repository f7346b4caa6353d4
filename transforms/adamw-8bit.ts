/*
 * optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=wd)
 *
 * optimizer = adamw_8bit()(model.parameters(), lr=lr, weight_decay=wd)
 *
 * `adamw_8bit` is defined once per file: bitsandbytes' AdamW8bit where it can be imported, else torch's AdamW, said in the
 * output. The arguments stay as they are, so only those that both classes take are allowed; the fallback uses no name but
 * torch's own. Never safe: the state is rounded to 8 bits.
 */
import type {
  AdamCall,
  EditBuilder,
  Fix,
  Given,
  PyModule,
  Refusal,
  Site,
  Transform,
} from '../src/toolkit/index.js';
import {
  ADAMW,
  adamCalls,
  argumentsCalls,
  ask,
  filesOf,
  givenAcross,
  hasSplat,
  isInExpressionScope,
  isInstalled,
  isMadeOnGpu,
  isTestCode,
  keywordNames,
  optimizerDoes,
  otherEngine,
  ownsItsLines,
  Proof,
  plainString,
  positionalArguments,
  requireArrival,
  statementOf,
} from '../src/toolkit/index.js';

interface OptimizerSite extends Site {
  readonly made: AdamCall | undefined;
  /** The setting of trainer arguments that names the optimizer. */
  readonly named: Given | undefined;
}

const HELPER = 'adamw_8bit';
const MESSAGE = '`AdamW` keeps 8 bytes of state for every parameter that is trained; in 8 bits they are 2';
const TRAINS_AS_WELL = ask(
  'trains-as-well',
)`Does the model train as well with the state of \`${'AdamW'}\` in 8 bits?`;
/** What both classes take, with the same meaning and the same defaults. */
const SHARED: readonly string[] = ['params', 'lr', 'betas', 'eps', 'weight_decay'];

export const adamw8bit: Transform<OptimizerSite> = {
  meta: {
    id: 'adamw-8bit',
    summary: 'Keep the state of AdamW in 8 bits where bitsandbytes is installed',
    symptom: 'peak',
    moments: ['state', 'optimizer'],
    freesPerParameter: 6,
    notOn: ['MPS'],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'AdamW keeps two 32-bit numbers for every parameter that is trained: 8 bytes, where the parameter itself has 2 or 4. bitsandbytes keeps them in 8 bits each, block by block.',
      does: 'Defines `adamw_8bit()` above the code that needs it, which gives `bitsandbytes.optim.AdamW8bit`, or `torch.optim.AdamW` with a printed note where bitsandbytes cannot be imported, and makes the optimizer with that class. The arguments are not touched. In the arguments of a transformers trainer, `optim="adamw_torch"` becomes `optim="adamw_8bit"`, also in a dict that another file spreads into them.',
      refuses: [
        'the call has an argument that bitsandbytes does not take (`fused`, `foreach`, `maximize`, `capturable`, …) or refuses (`amsgrad`), or spreads its arguments',
        'the file calls `load_state_dict` of the optimizer: a 32-bit state does not fit',
        'the file uses DeepSpeed, FSDP, XLA or another engine that splits or moves the state, or no GPU at all',
        'the file asks for the class of the optimizer',
        'the file already chooses between the two where the optimizer is made',
        'the statement shares its line with other code, or the call stands in a lambda or a comprehension',
      ],
      limits: [
        'Training changes: the state is rounded. bitsandbytes advises 32-bit state for embeddings (`StableEmbedding`, or an override), which this fix does not set up.',
        'Tensors of fewer than 4096 elements keep 32-bit state.',
        'With LoRA little is trained, and little is saved.',
        'A checkpoint of the optimizer cannot be read by the other class.',
      ],
    },
    evidence: {
      verdict:
        'State of 2 instead of 8 bytes per trained parameter (105 → 26 GB for 13.14B parameters, by its layout): 2643 → 1369 MiB at the peak of a GPT with a small batch, 9273 → 8515 with a large one; the step takes 8 to 66 % longer; training changes',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization implementation report', section: 'Subtask 1.2', fidelity: 'inspired' },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: ['optim', ['AdamW', 'adamw_torch', 'adamw_hf']],
  cue: (text) => /\bAdamW\s*\(|["']adamw_(?:torch|hf)/.test(text),

  *detect(module) {
    for (const made of adamCalls(module, ['AdamW'])) {
      if (isTestCode(module, made.call) || isAlternative(module, made)) continue;
      const callee = made.call.function;
      yield {
        node: callee?.attribute ?? callee ?? made.call,
        made,
        named: undefined,
        message: MESSAGE,
      };
    }
    for (const given of givenAcross(module, 'optim')) {
      if (!/^adamw_(?:torch|torch_fused|hf)$/.test(plainString(given.value) ?? '')) continue;
      if (argumentsCalls(module, given).length === 0 || isTestCode(module, given.value)) continue;
      yield { node: given.value, made: undefined, named: given, message: MESSAGE };
    }
  },

  fix({ made, named }, edit, module) {
    if (named !== undefined) return renamed(named, edit, module);
    if (made === undefined) return edit.refuse('nothing is made here');
    const { call } = made;
    const keywords = keywordNames(call);
    const positional = positionalArguments(call).length;
    const foreign = keywords.find((name) => !SHARED.includes(name));
    const engine = otherEngine(module);
    const callee = call.function;
    const proof = new Proof()
      .forbid(hasSplat(call), 'its arguments are spread, and bitsandbytes may not take them')
      .forbid(foreign !== undefined, `bitsandbytes does not take \`${foreign}\` as torch does`)
      .forbid(positional > SHARED.length, 'bitsandbytes does not take `amsgrad` as torch does')
      .forbid(!ownsItsLines(module, statementOf(call)), 'its statement shares its line with other code')
      .forbid(isInExpressionScope(call), 'it stands in a lambda or a comprehension')
      .forbid(optimizerDoes(module, made, 'load_state_dict'), 'a saved 32-bit state is loaded into it')
      .forbid(engine !== undefined, `\`${engine}\` of this file splits or moves the state`)
      .forbid(module.mentions(/\bisinstance\([^\n]*AdamW/), 'this file asks for the class of the optimizer')
      .require(isMadeOnGpu(module, made), {
        no: 'this file does not use a GPU, and bitsandbytes needs one',
        unknown: ask('on-gpu')`Are the parameters that \`${callee?.text}\` gets on a GPU?`,
      })
      .require('unknown', TRAINS_AS_WELL);
    if (proof.refuted !== undefined || callee === undefined) return edit.done('', proof);
    const place = edit.placeForFunction(call);
    edit.defineFunction(
      HELPER,
      [
        `def ${HELPER}():`,
        '\ttry:',
        '\t\timport bitsandbytes as bnb',
        '\texcept ImportError:',
        '\t\tprint("bitsandbytes is not installed: AdamW keeps 32-bit state")',
        `\t\treturn ${edit.name(ADAMW, place)}`,
        '\treturn bnb.optim.AdamW8bit',
      ],
      call,
    );
    edit.replace(callee, `${HELPER}()`);
    return edit.done('Keep the state of AdamW in 8 bits', proof);
  },
};

/** The trainer has the 8-bit optimizer under a name of its own, and raises where bitsandbytes is missing. */
function renamed(given: Given, edit: EditBuilder, module: PyModule): Fix | Refusal {
  const proof = new Proof().forbid(
    argumentsCalls(module, given).length < given.calls.length,
    'the dict is also spread into a call that is not a trainer of transformers or trl',
  );
  for (const each of filesOf(module, given)) {
    const file = each === module ? 'this file' : `\`${each.path}\``;
    const engine = otherEngine(each);
    proof
      .forbid(
        engine !== undefined || /\bfsdp["']?\s*[=:]/.test(each.text),
        `\`${engine ?? 'fsdp'}\` of ${file} splits or moves the state`,
      )
      .forbid(
        /resume_from_checkpoint["']?\s*[=:]\s*(?!None|False)/.test(each.text),
        'a saved 32-bit state may be loaded into it',
      );
  }
  requireArrival(proof, given)
    .require(isInstalled(module, 'bitsandbytes'), {
      no: 'bitsandbytes is not installed',
      unknown: ask('installed')`Is ${'bitsandbytes'} installed (the trainer raises without it)?`,
    })
    .require('unknown', TRAINS_AS_WELL);
  edit.replace(given.value, given.value.text.replace(/adamw_\w+/, HELPER));
  return edit.done('Keep the state of AdamW in 8 bits', proof);
}

/** The function, or the choice around it, has the 8-bit class already. */
function isAlternative(module: PyModule, { call }: AdamCall): boolean {
  for (const ancestor of call.ancestors()) {
    const isChoice = ['if_statement', 'try_statement', 'conditional_expression', 'function_definition'];
    const code = isChoice.includes(ancestor.type) ? module.codeOf(ancestor) : '';
    if (/8bit|\bbnb\b|bitsandbytes/i.test(code.replaceAll(`${HELPER}()(`, ''))) return true;
    if (ancestor.type === 'function_definition') return false;
  }
  return false;
}
