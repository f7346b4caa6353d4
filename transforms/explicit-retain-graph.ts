/*
 * loss.backward()                                  loss.backward(retain_graph=False)
 *
 * As a document recommends it. `False` is the default, so nothing changes. With `create_graph` the default is another one,
 * and engines such as accelerate's and DeepSpeed's have a `backward` of their own: both are left alone. What is not provably
 * a tensor may be somebody's own class, whose `backward` takes no such argument: unsafe.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  ask,
  backwards,
  classBehind,
  hasSplat,
  IS_TORCH,
  isDetachable,
  isTestCode,
  isTorchCode,
  keywordArgument,
  methodName,
  Proof,
  positionalArguments,
  reachingDefinitions,
  receiverOf,
  requireOriginal,
  shown,
  TENSOR_BACKWARD,
  unparenthesized,
  valueOf,
} from '../src/toolkit/index.js';

interface BackwardSite extends Site {
  readonly call: PyNode;
  readonly value: PyNode;
}

export const explicitRetainGraph: Transform<BackwardSite> = {
  meta: {
    id: 'explicit-retain-graph',
    summary: 'Write `backward(retain_graph=False)` instead of `backward()`; has no effect',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'documented',
    options: {},
    requires: {},
    docs: {
      why: 'A document adds `retain_graph=False` to every backward so that the graph is freed. That is what backward does by default. A graph is kept by `retain_graph=True`, which `retain-graph` looks for, or by a tensor that somebody holds.',
      does: 'Adds the argument to `backward` of a tensor, also of a scaled loss.',
      refuses: [
        '`retain_graph` or `create_graph` is given, by keyword, by position or by `**`: no finding',
        'the receiver is an engine, `self` or an object of a class of the file: no finding',
        'the receiver is not proven to be a tensor: unsafe',
        'torch is not imported by a file that trains as it does: unsafe',
      ],
      limits: ['It is noise in a review: nothing is gained.'],
    },
    evidence: {
      verdict: 'No effect: `False` is the default of torch. Use `retain-graph` to find a needless `True`',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '3. Training Loop Memory Management',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [['torch', '.zero_grad('], '.backward('],

  *detect(module) {
    if (isTorchCode(module) === 'no') return;
    for (const { call, value } of backwards(module)) {
      const receiver = receiverOf(call);
      if (receiver === undefined || receiver !== value || methodName(call) !== 'backward') continue;
      if (isTestCode(module, call) || isAskedOtherwise(call) || isOtherObject(module, receiver)) continue;
      const message = '`backward()` frees the graph without being told: `retain_graph=False` is its default';
      yield { node: call.function?.attribute ?? call, message, call, value };
    }
  },

  fix({ call, value }, edit, module) {
    const proof = new Proof()
      .require(isTorchCode(module), IS_TORCH)
      .require(
        isTensor(module, call, value) ? 'yes' : 'unknown',
        ask('tensor')`Is \`${shown(value)}\` a tensor, whose \`backward\` takes \`retain_graph\`?`,
      );
    requireOriginal(proof, module, TENSOR_BACKWARD);
    edit.appendKeyword(call, 'retain_graph', 'False');
    return edit.done('Say that the graph is not retained', proof);
  },
};

/** A second positional argument is `retain_graph`; with `create_graph` it follows that one. */
function isAskedOtherwise(call: PyNode): boolean {
  const positional = positionalArguments(call);
  return (
    hasSplat(call) ||
    positional.length > 1 ||
    ['retain_graph', 'create_graph'].some((name) => keywordArgument(call, name) !== undefined)
  );
}

/** An engine, `self`, `super()`, a class or an object of this file. */
function isOtherObject(module: PyModule, receiver: PyNode): boolean {
  const { text } = receiver;
  if (/^(?:self|cls|super\(.*\)|ctx)$/.test(text)) return true;
  if (/accelerator|fabric|engine|strategy|model|agent|trainer/i.test(text) && !/loss/i.test(text))
    return true;
  return classBehind(module, receiver) !== undefined;
}

/** `scaler.scale(loss)` is a tensor when `loss` is one. */
function isTensor(module: PyModule, call: PyNode, value: PyNode): boolean {
  const [given] = value.type === 'call' && methodName(value) === 'scale' ? argumentsOf(value) : [];
  return valueOf(module, given ?? value).isTensor || isComputedLoss(module, call, given ?? value);
}

/** A quotient, a sum: no engine is computed, and no class of the project has a `backward()` like a tensor's. */
function isComputedLoss(module: PyModule, call: PyNode, loss: PyNode): boolean {
  if (argumentsOf(call).length > 0 || isDetachable(module, loss) !== 'yes') return false;
  const given = loss.type === 'identifier' ? (reachingDefinitions(module, loss) ?? []) : [];
  const isComputed = (each: (typeof given)[number]): boolean =>
    each.kind === 'value' && unparenthesized(each.value).type === 'binary_operator';
  return given.length > 0 && given.every(isComputed);
}
