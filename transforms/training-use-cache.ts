/*
 * loss = model(input_ids=ids, labels=ids).loss      model = AutoModelForCausalLM.from_pretrained(name)
 *                                                   Trainer(model=model, args=args).train()
 *
 * loss = model(input_ids=ids, labels=ids,           model = AutoModelForCausalLM.from_pretrained(name, use_cache=False)
 *              use_cache=False).loss                Trainer(model=model, args=args).train()
 *
 * The model must be one that generates, loaded in this file. Where the file calls it to train, the call is told; where a
 * trainer calls it, the load is, which also reaches the saved configuration. Never where the file generates, reads
 * `past_key_values` or speaks of `use_cache` already.
 */
import {
  argumentsOf,
  ask,
  hasSplat,
  isAtLeast,
  isInExpressionScope,
  isTestCode,
  isTrainerClass,
  keywordValue,
  type ModelLoad,
  mayLoadAnyModel,
  modelLoad,
  ownsItsLines,
  Proof,
  type PyModule,
  type PyNode,
  type Site,
  statementOf,
  type Transform,
} from '../src/toolkit/index.js';
import { trainingForwards } from './training-use-cache/training-forwards.js';

const CACHE = 'use_cache';
/** Whose forward pass takes `use_cache`; what an Auto class loads is not known. */
const TAKES_CACHE =
  /^(?:GPT2LMHeadModel|(?:Bart|MBart|MT5|Pegasus|T5)ForConditionalGeneration|(?:Bloom|Falcon|GPTJ|GPTNeoX?|Gemma[23]?|Llama|Mistral|Mixtral|OPT|Phi3?|Qwen[23])ForCausalLM)$/;
const AUTO = /^AutoModelFor(?:CausalLM|Seq2SeqLM)$/;
const USED = /use_cache|past_key_value|\.generate\s*\(|\bpipeline\s*\(/;

interface CacheSite extends Site {
  readonly call: PyNode;
  readonly load: ModelLoad;
}

export const trainingUseCache: Transform<CacheSite> = {
  meta: {
    id: 'training-use-cache',
    summary: 'Switch the key-value cache off where a model is only trained',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'A model that generates returns the keys and values of every layer with its output, so that the next token need not compute them again. In training nobody asks for a next token. The tensors are part of the graph anyway, so they cost next to nothing; with checkpointing on, transformers 4 warns about them.',
      does: 'Adds `use_cache=False` to the call of the model in a training loop, or in a class whose forward pass has `labels`. Where a transformers trainer calls the model, it adds the keyword to `from_pretrained` instead.',
      refuses: [
        'the file speaks of `use_cache` or `past_key_values`, or generates: nothing is said',
        'the load has its arguments spread, so the keyword may be given twice',
        'a trainer of transformers 5.0 or newer switches the cache off by itself',
        'unsafe where the call is given a whole batch with `**`, or an Auto class does not say which model it loads',
        'unsafe in `from_pretrained`: the saved configuration has the cache off too, so that later generation is slow',
      ],
      limits: ['Results do not change. Neither does the peak, in the measurement.'],
    },
    evidence: {
      verdict:
        'Nil: the peak of a training step does not change (the popular "10 to 15 %" is false). It removes a warning of transformers 4 under checkpointing',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization changes summary (Phi4 fine-tuning)', section: '1', fidelity: 'same' },
    ],
    example: 'fix-training-loop',
  },

  skipsTests: true,
  prefilter: ['transformers', ['from_pretrained', 'from_config']],
  cue: (text, _path, glimpse) =>
    mayLoadAnyModel(glimpse) && !USED.test(text) && /\.backward\s*\(|labels\s*=|Trainer\s*\(/.test(text),

  *detect(module) {
    if (module.mentions(USED)) return;
    for (const { call, load } of trainingForwards(module)) {
      if (!isGenerator(load) || isTestCode(module, call)) continue;
      const node = call.function?.attribute ?? call.function ?? call;
      const message =
        'the keys and values of every layer are returned for a next token that training never asks for';
      yield { node, call, load, message };
    }
    for (const load of loadsForTrainers(module)) {
      if (!isGenerator(load) || isTestCode(module, load.call)) continue;
      const node = load.call.function?.attribute ?? load.call;
      const message =
        'the trainer runs the model with its cache on, for a next token that training never asks for';
      yield { node, call: load.call, load, message };
    }
  },

  fix({ call, load }, edit, module) {
    const proof = new Proof()
      .forbid(!ownsItsLines(module, statementOf(call)), 'its statement shares its line with other code')
      .forbid(isInExpressionScope(call), 'it stands in a lambda or a comprehension');
    if (call === load.call) {
      proof
        .forbid(hasSplat(call), 'its arguments are spread, so the keyword may already be among them')
        .forbid(
          isAtLeast(module, 'transformers', '5.0') === 'yes',
          'the trainer of transformers 5 switches the cache off by itself',
        )
        .require(
          'unknown',
          ask(
            'trained-only',
          )`Is the \`${load.className}\` loaded here saved only for more training (its configuration will have the cache off)?`,
        );
    } else {
      proof
        .require(
          hasSplat(call) ? 'unknown' : 'yes',
          ask('spread-without')`Is \`${CACHE}\` missing from what is spread into the call?`,
        )
        .require(
          TAKES_CACHE.test(load.className) ? 'yes' : 'unknown',
          ask('takes-cache')`Does what \`${load.className}\` loads take \`${CACHE}\`?`,
        )
        .require(
          isReadByName(module, call),
          ask(
            'read-by-name',
          )`Are the outputs of \`${load.className}\` beyond loss and logits read by their names?`,
        );
    }
    edit.appendKeyword(call, CACHE, 'False');
    return edit.done('Switch the key-value cache off', proof);
  },
};

function isGenerator({ className }: ModelLoad): boolean {
  return TAKES_CACHE.test(className) || AUTO.test(className);
}

/** Loads whose model goes straight, or by its variable, into a trainer of transformers or trl. */
function* loadsForTrainers(module: PyModule): Generator<ModelLoad> {
  const given = new Set<string>();
  for (const node of module.at('Trainer(')) {
    const callee = node.parent?.type === 'attribute' ? node.parent : node;
    const call = callee.parent;
    if (call?.type !== 'call' || !isTrainerClass(module, callee)) continue;
    const [first] = argumentsOf(call);
    const model = keywordValue(call, 'model') ?? first;
    if (model?.type === 'identifier') given.add(model.text);
  }
  if (given.size === 0) return;
  for (const node of module.at('.from_pretrained(')) {
    const call = node.parent?.parent;
    const load = call?.type === 'call' ? modelLoad(module, call) : undefined;
    const assignment = load && statementOf(load.call).named[0];
    if (load !== undefined && assignment?.type === 'assignment' && given.has(assignment.left?.text ?? ''))
      yield load;
  }
}

/** The output is read by names, or by the positions of loss and logits, which come first: a missing entry moves nothing. */
function isReadByName(module: PyModule, call: PyNode): 'yes' | 'unknown' {
  if (isByPosition(call)) return 'unknown';
  const left = call.parent?.type === 'assignment' ? call.parent.left : undefined;
  const scope = left?.type === 'identifier' ? module.resolve(left) : undefined;
  const reads = scope === undefined || left === undefined ? [] : module.reads(scope, left.text);
  return reads.some(isByPosition) ? 'unknown' : 'yes';
}

function isByPosition(output: PyNode): boolean {
  const { parent } = output;
  if (parent?.type === 'subscript' && parent.value === output)
    return !/^(?:[01]|["'].*)$/.test(parent.subscript?.text ?? '');
  return parent?.type === 'assignment' && parent.right === output && parent.left?.type !== 'identifier';
}
