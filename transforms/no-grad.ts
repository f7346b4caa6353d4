/**
 *   def validate(model, loader):            @torch.no_grad()
 *       model.eval()                        def validate(model, loader):
 *       … model(x) … .item()                    model.eval() …
 *
 * Functions that evaluate a network (`X.eval()`, then `X(…)`, a method or part of it, or a function of the file that runs
 * it), that run one in any mode and keep only numbers of it, or hand it to callers that do, and diagnostics that turn
 * tensor math on parameters into numbers. The decorator goes directly above `def`: above `@property`, `@classmethod` or `@staticmethod` it breaks them.
 * Refused wherever gradients are used, also in nested functions and in functions of the file that it runs, or where the
 * result is differentiated. Unsafe where a tensor leaves with its graph, or where code of the project that the function may
 * run differentiates or keeps what it is given.
 */
import {
  doubtsAbout,
  type Evaluation,
  evaluations,
  gradlessReasons,
  hasInferenceFastPath,
  hasLstm,
  importsTorch,
  isFrozen,
  isInTraining,
  isTestFile,
  keptOf,
  mayEvaluate,
  mayReadNumbers,
  mayRunForOwnNumbers,
  mayWalk,
  NO_GRAD,
  NUMBERS,
  namesHandingOn,
  numericFunctions,
  numericRunsIn,
  Proof,
  type PyNode,
  requireOriginals,
  type Site,
  SWITCHES,
  type Transform,
  type TransformMeta,
  type Walk,
  walks,
} from '../src/toolkit/index.js';
import { hasGradMode, isOnlyRunWithoutGrad, mayMeanTorch } from './no-grad/grad-mode.js';
import { looksBehindDecorator } from './no-grad/looked-at.js';
import { mayRunQuietly, quietRuns } from './no-grad/quiet.js';

const meta: TransformMeta = {
  id: 'no-grad',
  summary: 'Put `@torch.no_grad()` on functions that only evaluate a network or inspect its parameters',
  symptom: 'peak',
  moments: ['evaluation', 'forward'],
  lasts: 'call',
  safety: 'safe',
  numerics: 'bit-identical',
  group: 'default',
  options: {},
  requires: { torch: '1.0' },
  docs: {
    why:
      '`model.eval()` switches dropout and batch norm, not autograd. An evaluation without `no_grad` keeps every activation ' +
      'for a backward that never comes, and a loss or logits kept across batches keeps the graph of each batch alive.',
    does: 'Adds `@torch.no_grad()` directly above `def`, below all other decorators, with the alias the file has for torch.',
    refuses: [
      'other files call it, and all of them without gradients: nothing would be saved',
      'gradients are used or set up in the function, in a nested function, or in a function of the file that it runs',
      'a model class of the file differentiates in its `forward` (forces, PINNs)',
      'the network may be in training mode when it runs, and something leaves with its graph',
      'the result is differentiated by a caller, in the file or in another one of the project',
      '`async def`: the decorator would only wrap the creation of the coroutine and do nothing',
      'the function is compiled from source (`torch.jit.script()`), here or in another file',
    ],
    limits: [
      'A call whose code is not in the file is followed to what made it: variables, parameters and their callers, attributes, factories, imports. Where that ends, every function of the project that differentiates, and may be the one that runs, makes the fix unsafe; so does one that keeps what it is given. Functions that a forward holds, lambdas, generators, collate functions and a replaced `forward` are among them. A method of a library is taken to do neither, unless memfix knows better; a function of an unknown package that gets the network, or is called for its effect, makes the fix unsafe.',
      'Where a class of the project differentiates in its `forward`, or keeps a tensor there that is read later (a recurrent state, a cache, a second loss), asks there whether a graph is recorded, or registers a forward hook that keeps what it sees, a network of unknown class makes the fix unsafe. So do code that measures memory, and code that may train.',
      '`nn.MultiheadAttention` and the layers of `nn.Transformer` take a faster path in evaluation mode without gradients, which rounds differently, and gives zeros for padding; where the file names them, or a file of the project makes one that the network may have, the fix is unsafe. On the CPU, so do singular values; an LSTM there is rounded differently in the last digit, and the fix is labelled so (on the GPU both are the same bits).',
      'Code that asks functions for their `__code__` or `getfullargspec()`, or counts the calls between a function and its caller (`stacklevel`), finds the decorator instead; where it may get the function the fix is unsafe.',
      'Up to torch 2.9, a forward under no-grad inside a training `autocast` block leaves casts without gradients in its cache (fixed in 2.11, measured); a call there makes the fix unsafe.',
      'What is printed of a tensor no longer names its `grad_fn`.',
      'Lightning hooks (those of its training are the business of `no-grad-block`), functions that only run under no-grad, and frozen networks are passed over in silence.',
      'What a forward leaves on its module counts where somebody may read it before a later forward has set it anew: a read behind an assignment of the same run, whichever way leads there, sees no other.',
    ],
  },
  evidence: {
    verdict:
      'Real: an eval step peaks 65 % lower; `inference_mode` gives the same. On norms of parameters nothing is saved that could be measured, not the 50–100 MB that was claimed.',
    measurements: [],
  },
  origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '4', fidelity: 'same' }],
  example: 'fix-validate-loop',
};

interface NoGradSite extends Site {
  readonly functionNode: PyNode;
  readonly evaluations: readonly Evaluation[];
}

export const noGrad: Transform<NoGradSite> = {
  meta,
  skipsTests: true,
  prefilter: [['torch', '.eval()', '.train(', 'parameters()', 'modules()', ...NUMBERS]],
  cue: (_text, _path, glimpse) =>
    glimpse.stretchesWith(...SWITCHES).some(mayEvaluate) ||
    glimpse.stretchesWith('def ').some(glimpse.memo(mayRunQuietly)) ||
    glimpse.stretchesWith(...NUMBERS).some(glimpse.memo(mayRunForOwnNumbers)) ||
    glimpse.stretchesWith(...NUMBERS).some(glimpse.memo(mayReadNumbers)) ||
    glimpse.memo(namesHandingOn).length > 0 ||
    glimpse.stretchesWith('parameters()', 'modules()').some(mayWalk),

  *detect(module) {
    if (isTestFile(module.path, module.text)) return;
    if (importsTorch(module) === 'no' && !mayMeanTorch(module)) return;
    const evaluated = byFunction(evaluations(module).filter((each) => !isFrozen(module, each)));
    // Without a switch to evaluation mode, it is a finding only where nothing is seen to leave.
    for (const functionNode of numericFunctions(module)) {
      if (evaluated.has(functionNode) || hasGradMode(module, functionNode)) continue;
      const runs = numericRunsIn(module, functionNode);
      if (runs.every((run) => isFrozen(module, run))) continue;
      const kept = keptOf(module, functionNode, runs);
      // In training, its parts are asked about; who calls an object is not known by name.
      const mayAsk = functionNode.name?.text !== '__call__' && !isInTraining(module, functionNode);
      if (kept === 'numbers' || (kept === 'unknown' && mayAsk)) evaluated.set(functionNode, runs);
    }
    for (const [functionNode, runs] of quietRuns(module)) {
      if (evaluated.has(functionNode) || hasGradMode(module, functionNode)) continue;
      if (runs.every((run) => isFrozen(module, run))) continue;
      if (keptOf(module, functionNode, runs) === 'numbers') evaluated.set(functionNode, runs);
    }
    const walked = new Map(walks(module).map((walk) => [walk.functionNode, walk]));
    for (const functionNode of new Set([...evaluated.keys(), ...walked.keys()])) {
      const node = functionNode.name;
      if (node === undefined || hasGradMode(module, functionNode)) continue;
      const runs = evaluated.get(functionNode) ?? [];
      yield {
        node,
        functionNode,
        evaluations: runs,
        message: messageFor(node.text, runs, walked.get(functionNode)),
        measuredAs: runs.length > 0 ? 'evaluation step' : 'norms of the parameters',
      };
    }
  },

  fix({ functionNode, evaluations: runs }, edit, module) {
    const proof = new Proof();
    for (const doubt of doubtsAbout(module, functionNode, runs)) {
      if (doubt.answer === 'no') return edit.refuse(doubt.otherwise);
      proof.meet(doubt);
    }
    if (isOnlyRunWithoutGrad(module, functionNode))
      return edit.refuse('whoever calls it does so without gradients: it would save nothing');
    const looked = looksBehindDecorator(module, functionNode);
    if (looked !== undefined) proof.meet({ answer: 'unknown', otherwise: looked });
    const models = runs.map(({ model }) => model);
    requireOriginals(proof, module, functionNode);
    if (proof.holds) proof.because(...gradlessReasons(module, functionNode, [functionNode], models));
    edit.addDecorator(functionNode, `${edit.name(NO_GRAD, functionNode)}()`);
    const rounding = runs.length > 0 && (hasInferenceFastPath(module) || hasLstm(module, models));
    return edit.done('Run it under `torch.no_grad()`', proof, rounding ? { numerics: 'rounding' } : {});
  },
};

function byFunction(runs: readonly Evaluation[]): Map<PyNode, readonly Evaluation[]> {
  const found = new Map<PyNode, readonly Evaluation[]>();
  for (const run of runs) found.set(run.functionNode, [...(found.get(run.functionNode) ?? []), run]);
  return found;
}

function messageFor(name: string, runs: readonly Evaluation[], walk: Walk | undefined): string {
  const models = runs.map(({ model }) => `\`${model.text}\``).join(' and ');
  if (runs.some(({ evals }) => evals.length === 0))
    return `\`${name}\` runs ${models} with gradients on, only to read numbers: each forward keeps its activations for a backward that never comes`;
  if (models !== '')
    return `\`${name}\` runs ${models} in evaluation mode with gradients on: each forward keeps its activations for a backward that never comes`;
  const math = walk?.math.text.replace(/\s+/g, ' ') ?? '';
  return `\`${name}\` records an autograd graph for \`${math.length > 40 ? `${math.slice(0, 37)}…` : math}\`, only to read numbers`;
}
