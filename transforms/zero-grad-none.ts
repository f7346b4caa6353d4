/**
 *   optimizer.zero_grad(set_to_none=False)     optimizer.zero_grad()
 *
 * Since torch 2.0 `zero_grad()` drops the gradients; `set_to_none=False` keeps a full copy of the parameters alive, filled
 * with zeros, through the next forward. It is deliberate in nearly every case: code that takes `p.grad` to be a tensor,
 * captured CUDA graphs. Such files are refused. Never adds `set_to_none=True`: the plain call is right.
 */
import {
  type Answer,
  argumentsOf,
  ask,
  calledDefinition,
  hasSplat,
  isModel,
  isOptimizer,
  isTestCode,
  methodName,
  Proof,
  type PyModule,
  type PyNode,
  receiverOf,
  type Site,
  type Transform,
} from '../src/toolkit/index.js';
import { takesGradAsTensor } from './zero-grad-none/none.js';

const METHOD = 'zero_grad';
/** Gradients at fixed addresses, or views of one flat tensor. */
const FIXED_PLACES = /CUDAGraph|cuda\.graph\b|make_graphed_callables|reduce-overhead|max-autotune/;
const FLAT = /deepspeed|FullyShardedDataParallel|\bFSDP\b|fully_shard|\bapex\b|horovod|megatron/i;

interface ZeroGradSite extends Site {
  readonly call: PyNode;
  readonly argument: PyNode;
}

export const zeroGradNone: Transform<ZeroGradSite> = {
  meta: {
    id: 'zero-grad-none',
    summary: 'Let `zero_grad()` drop the gradients instead of filling them with zeros',
    symptom: 'peak',
    moments: ['forward'],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {},
    requires: { torch: '2.0' },
    docs: {
      why: '`zero_grad(set_to_none=False)` writes zeros into every gradient and keeps it. Through the next forward, one full copy of the parameters holds nothing but zeros.',
      does: 'Takes `set_to_none=False` out of the call. The default since torch 2.0 is to drop the gradients. Nothing is ever added: a plain `zero_grad()` is already right.',
      refuses: [
        'the file takes a `.grad` to be a tensor without asking whether it is `None`',
        'the file captures CUDA graphs, whose gradients must stay where they are',
        'the class of the receiver is in the file and has a `zero_grad` of its own',
      ],
      limits: [
        'Always unsafe: a parameter that gets no gradient in a step is passed over by the optimizer where the gradient is `None`; with zeros, momentum and weight decay still move it.',
        'Other files may read `.grad`; only this one is looked at. Before torch 2.0 the default was `False`, and the change does nothing.',
      ],
    },
    evidence: {
      verdict:
        'Real, and small: the peak falls by one copy of the parameters (5 % in a small GPT), and the step is no slower',
      measurements: [],
    },
    origin: [],
    example: 'fix-training-step',
  },

  skipsTests: true,
  prefilter: [METHOD, ['set_to_none', 'zero_grad(False']],
  cue: (text) => /zero_grad\(\s*(?:set_to_none\s*=\s*)?False/.test(text),

  *detect(module) {
    for (const node of module.at(METHOD)) {
      const call = node.parent?.parent;
      if (call?.type !== 'call' || methodName(call) !== METHOD || node.text !== METHOD) continue;
      const [argument, ...more] = argumentsOf(call);
      const value = argument?.type === 'keyword_argument' ? argument.value : argument;
      if (argument === undefined || value?.type !== 'false' || more.length > 0 || hasSplat(call)) continue;
      if (argument.type === 'keyword_argument' && argument.name?.text !== 'set_to_none') continue;
      if (receiverOf(call)?.text.startsWith('super()') || isTestCode(module, call)) continue;
      yield {
        node,
        call,
        argument,
        message:
          '`set_to_none=False` keeps a zero for every parameter alive through the next forward: one full copy of them',
      };
    }
  },

  fix({ call, argument }, edit, module) {
    const taken = takesGradAsTensor(module);
    const proof = new Proof()
      .forbid(calledDefinition(module, call) !== undefined, 'this file has a `zero_grad` of its own')
      .forbid(
        taken !== undefined,
        `this file takes \`${taken?.text}\` to be a tensor, which it would no longer be`,
      )
      .forbid(
        module.mentions(/getattr\([^)]*["']grad["']/),
        'this file reads gradients by name, which may then be None',
      )
      .forbid(module.mentions(FIXED_PLACES), 'captured CUDA graphs need gradients that stay where they are')
      .require(
        module.mentions(FLAT) ? 'unknown' : 'yes',
        ask(
          'own-gradients',
        )`Are the gradients of \`${receiverOf(call)?.text ?? ''}\` tensors of their own (sharding and fused optimizers make them views of a flat one)?`,
      )
      .require(owner(module, receiverOf(call)), {
        no: 'its receiver is neither an optimizer nor a model of torch',
        unknown: ask(
          'torch-object',
        )`Is \`${receiverOf(call)?.text ?? ''}\` an optimizer or a model of torch?`,
      });
    proof.require(
      'unknown',
      ask(
        'gradient-may-be-none',
      )`Does all code that reads gradients of \`${receiverOf(call)?.text ?? ''}\` take \`None\` for one?`,
    );
    const list = call.arguments;
    if (list === undefined || list.childOfType('comment') !== undefined) edit.removeArgument(argument);
    else edit.replace(list, '()');
    return edit.done('Drop the gradients', proof);
  },
};

function owner(module: PyModule, receiver: PyNode | undefined): Answer {
  if (receiver === undefined) return 'no';
  const made = isOptimizer(module, receiver);
  return made === 'no' ? (isModel(module, receiver) === 'yes' ? 'yes' : 'unknown') : made;
}
