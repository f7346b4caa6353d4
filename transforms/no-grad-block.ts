/**
 *   model.eval()                            model.eval()
 *   for x, y in val_loader:                 with torch.no_grad():
 *       correct += …model(x)….item()            for x, y in val_loader:
 *                                                   correct += …model(x)….item()
 *
 *   for x, y in loader:                     with torch.set_grad_enabled(train):
 *       loss = …model(x)…                       for x, y in loader:
 *       if train: loss.backward()                   loss = …model(x)… …
 *
 * The evaluation part of a function or script that also trains, where a decorator would switch the training off too.
 * The `for` statements and forwards in the block of `model.eval()`, with nothing inside that needs gradients. What they leave
 * behind must not be differentiated: refused where it is, unsafe where the file does not show it. Strings keep their bytes.
 * Without `eval()`, assignments in code that trains whose results are only read, as numbers, indices or detached; and what is
 * detached inside an expression, `judge(net(z).detach())`, which gets a line of its own.
 */
import {
  type GradlessPart,
  gradlessReasons,
  hasInferenceFastPath,
  hasLstm,
  importsTorch,
  isTestFile,
  linesBeforeForward,
  NO_GRAD,
  NUMBERS,
  Proof,
  requireOriginals,
  runsAlikeWithoutGradients,
  SET_GRAD_ENABLED,
  type Site,
  SWITCHES,
  shown,
  type Transform,
} from '../src/toolkit/index.js';
import { doubtsAboutBlock, evaluationBlocks } from './no-grad-block/block.js';
import { type FlaggedPart, flaggedParts, mayChooseMode } from './no-grad-block/flag.js';
import { type InnerRun, innerRuns } from './no-grad-block/inner-run.js';
import { mayKeepOutput } from './no-grad-block/kept-output.js';
import { numericBlocks, provenParts } from './no-grad-block/numbers.js';
import { isTryout } from './no-grad-block/tryout.js';

interface BlockSite extends Site {
  readonly run: GradlessPart | FlaggedPart | InnerRun;
}

export const noGradBlock: Transform<BlockSite> = {
  meta: {
    id: 'no-grad-block',
    summary: 'Put `with torch.no_grad():` around the evaluation part of code that also trains',
    symptom: 'peak',
    moments: ['evaluation', 'forward'],
    lasts: 'call',
    safety: 'safe',
    numerics: 'bit-identical',
    sameAs: ['frozen-teacher', 'no-grad'],
    group: 'default',
    options: {},
    requires: { torch: '0.4' },
    docs: {
      why: '`model.eval()` switches dropout and batch norm, not autograd. A validation loop written inline, between two epochs, records a graph for every batch, and a loss that it adds up keeps the graph of each batch alive until the sum is dropped.',
      does: 'Puts `with torch.no_grad():` around the `for` statement or the forward behind `model.eval()`, one step further in, with the alias the file has for torch. Lines that begin inside a string keep their bytes. A loop, or a step of a function, that trains only where a flag says so (`if train:`, `if phase == "train":`, `if optimizer is not None:`) goes under `with torch.set_grad_enabled(…):` with that flag. In code that trains, statements that run a network in any mode go under it too, where nothing is done with the results but to read them as numbers, as indices or detached: predictions after the training, actions, old probabilities, targets, a forward beside an attack; also in the `forward` of a module, where nothing is left to ask. A network that runs inside an expression, and of which only what is detached goes on (`judge(net(z).detach())`), gets a line of its own, where nothing of the statement runs before it. A function that only evaluates is the business of `no-grad`, which adds a decorator instead; statements of one get a block where more leaves the function than is proven to be only read, or where torch is older than 1.0 and has no such decorator.',
      refuses: [
        'gradients are used in the loop, or in a function of the file that it runs, or a model class of the file differentiates in its `forward`',
        'the network goes back to training mode inside the loop',
        'what the loop computes is differentiated behind it',
        'the loop yields or awaits: other code would then run without gradients',
        'its lines do not share one indentation',
        'a flag that the statements change, that is no variable of the function, or that does not guard everything that needs gradients',
      ],
      limits: [
        'Only loops, `if` and `with` statements, assignments and calls in the very block of `model.eval()`, before the next `model.train()`; those that stand one below the other share a `with`. Outside a loop, only the network itself, and parts that the file shows. Without `eval()`, only assignments to names, or of what has no graph to attributes and to items of lists and dictionaries, or appended to a list, and networks by what made them, by `.forward(…)`, by their own methods, by a function of the file that runs them, by how the file uses them (`net.parameters()`) or by their names. In hooks of Lightning, those of the training.',
        'Unsafe where a tensor may leave with its graph, code outside the file gets the network, forward hooks are registered, a forward keeps a tensor that is read later, memory is measured, a step computes a loss of the network that it trains and no backward takes it (that backward may be missing), or the loop runs inside `autocast` (torch up to 2.9 loses gradients in its cache).',
        '`nn.MultiheadAttention` and the layers of `nn.Transformer` take a faster path without gradients, which rounds differently, and gives zeros for padding; where the file names them, or a file of the project makes one that the network may have, the fix is unsafe.',
        'What is printed of a tensor no longer names its `grad_fn`.',
        'The diff is as long as the loop.',
        'Below `if __name__ == "__main__":`, a network that is given made-up numbers only, to see whether it works, is passed over in silence.',
      ],
    },
    evidence: {
      verdict:
        'Real: an evaluation loop peaks 78 % lower, because the logits of one batch keep its graph through the next. Where losses are added up as tensors, every batch keeps its own. A step of a discriminator whose generator runs inside an expression, detached at once, peaks 25 % lower at the same speed.',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '4', fidelity: 'inspired' }],
    example: 'fix-between-epochs',
  },

  skipsTests: true,
  prefilter: [['.eval()', '.train(', 'backward(', ...NUMBERS], 'torch'],
  cue: (_text, _path, glimpse) =>
    glimpse.stretchesWith(...SWITCHES).some((code) => linesBeforeForward(code).length > 0) ||
    glimpse.stretchesWith('backward(').some(mayChooseMode) ||
    glimpse.stretchesWith(...NUMBERS).some(glimpse.memo(mayKeepOutput)),

  *detect(module) {
    if (importsTorch(module) === 'no' || isTestFile(module.path, module.text)) return;
    for (const run of flaggedParts(module)) {
      const [first] = run.wrapped;
      const node = first?.left ?? first?.named[0]?.left ?? first?.named[0];
      if (first === undefined || node === undefined) continue;
      const what = first.type === 'for_statement' ? 'this loop' : 'this';
      const models = run.models.map(({ text }) => `\`${text}\``).join(' and ');
      yield {
        node,
        run,
        measuredAs: 'evaluation by a loop that trains',
        lasts: 'statement',
        message: `${what} trains ${models} only where \`${shown(run.condition)}\`, and runs with gradients on otherwise, too: each forward keeps its activations for a backward that never comes`,
      };
    }
    const parts: GradlessPart[] = [];
    for (const run of evaluationBlocks(module)) {
      if (isTryout(module, run)) continue;
      const proven = provenParts(module, run);
      parts.push(...proven);
      if (proven.length > 0) continue;
      const [first] = run.statements;
      const node = first?.left ?? first?.named[0];
      if (first === undefined || node === undefined) continue;
      const models = run.models.map(({ text }) => `\`${text}\``).join(' and ');
      const what = /^(?:for|while)_statement$/.test(first.type) ? 'this loop runs' : 'this runs';
      yield {
        node,
        run,
        ...(first.type === 'for_statement' && { measuredAs: 'evaluation loop of 4 batches' }),
        lasts: 'statement',
        message: `${what} ${models} in evaluation mode with gradients on: each forward keeps its activations for a backward that never comes`,
      };
    }
    const whole = [...parts, ...numericBlocks(module)];
    for (const run of innerRuns(module)) {
      if (whole.some(({ wrapped }) => wrapped.some((each) => each.contains(run.call)))) continue;
      const models = run.models.map(({ text }) => `\`${text}\``).join(' and ');
      yield {
        node: run.call,
        run,
        message: `this runs ${models} with gradients on, and what comes of it is detached: the activations are kept for a backward that never comes`,
      };
    }
    for (const run of whole) {
      if (isTryout(module, run)) continue;
      const [first] = run.statements[0]?.named ?? [];
      const node = first?.left ?? first;
      if (node === undefined) continue;
      const models = run.models.map(({ text }) => `\`${text}\``).join(' and ');
      yield {
        node,
        run,
        message: `this runs ${models} with gradients on, and what comes of it is only read: the activations are kept for a backward that never comes`,
      };
    }
  },

  fix({ run }, edit, module) {
    const proof = new Proof();
    for (const doubt of doubtsAboutBlock(module, run)) {
      if (doubt.answer === 'no') return edit.refuse(doubt.otherwise);
      proof.meet(doubt);
    }
    const [first, ...others] = run.wrapped;
    if (first === undefined) return edit.refuse('there is nothing to put under it');
    requireOriginals(proof, module, run.owner);
    if (proof.holds) proof.because(...gradlessReasons(module, run.owner, run.wrapped, run.models));
    const manager =
      'flag' in run ? `${edit.name(SET_GRAD_ENABLED, first)}(${run.flag})` : `${edit.name(NO_GRAD, first)}()`;
    if ('call' in run) {
      edit.insertStatementBefore(run.statement, [`with ${manager}:`, `\t${run.name} = ${run.call.text}`]);
      edit.replace(run.call, run.name);
    } else if ('flag' in run) edit.nestUnder(`with ${manager}`, first, others.at(-1));
    else
      edit.joinUnder(`with ${manager}`, first, others.at(-1) ?? first, (between) =>
        runsAlikeWithoutGradients(module, between, run.wrapped),
      );
    return edit.done(
      'flag' in run ? 'Switch gradients with the flag' : 'Evaluate under `torch.no_grad()`',
      proof,
      hasInferenceFastPath(module) || hasLstm(module, run.models) ? { numerics: 'rounding' } : {},
    );
  },
};
