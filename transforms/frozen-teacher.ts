/**
 *   t_logits = teacher(x)                   with torch.no_grad():
 *                                               t_logits = teacher(x)
 *
 * A network that nobody trains, in a step that trains another: the teacher of a distillation, the target network of an
 * agent, the reference of a preference loss, the features of a target image. With gradients on, its activations are kept
 * until the backward, which then fills `.grad` of all its parameters. Whether it is in evaluation mode does not matter: the
 * running statistics of batch norm change without gradients too.
 * Safe where the graph can reach nothing: the parameters are in no optimizer and nobody reads their `.grad`, nothing that the
 * statement gets carries a graph, no module is shared with a network that is trained, and what is differentiated later
 * hangs on a trained network as well (or it would raise). Or where the result is only read detached. Or where the network is
 * trained, but not by this backward: what it adds to the gradients is cleared before an optimizer of the network steps.
 */
import {
  enclosingFunction,
  importsTorch,
  isTestFile,
  NO_GRAD,
  Proof,
  requireOriginals,
  runsAlikeWithoutGradients,
  type Site,
  type Transform,
} from '../src/toolkit/index.js';
import { isOnlyReadDetached } from './frozen-teacher/detached.js';
import {
  doubtsAboutRun,
  hangsOnNothingTrained,
  mayRoundOtherwise,
  reasonsFor,
} from './frozen-teacher/doubts.js';
import { type TeacherRun, teacherSites } from './frozen-teacher/sites.js';

/** A run and all that speaks against it. */
/** Of the networks that a loss of features runs, as they are mostly called: only a reason to look. */
const FEATURES = ['torchvision', 'vgg', 'VGG', 'Perceptual'];

interface Looked {
  readonly run: TeacherRun;
  readonly doubts: ReturnType<typeof doubtsAboutRun>;
}

interface Found extends Site {
  readonly site: readonly Looked[];
}

export const frozenTeacher: Transform<Found> = {
  meta: {
    id: 'frozen-teacher',
    summary: 'Run a network that nobody trains under `torch.no_grad()` inside a training step',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'safe',
    numerics: 'bit-identical',
    sameAs: ['no-grad'],
    group: 'default',
    options: {},
    requires: { torch: '0.4' },
    docs: {
      why: 'A teacher, a target network or a reference model records a graph like any other network. Its activations are kept until the backward of the student, and that backward computes and keeps a gradient for every parameter of it, which no optimizer ever reads: as much memory as its weights.',
      does: 'Puts `with torch.no_grad():` around the statements that run it, one step further in, with the alias the file has for torch. Calls through which a gradient flows to a trained network stay as they are: of a perceptual loss, only the features of the target image are wrapped.',
      refuses: [
        'an optimizer gets the parameters, unless it clears what this backward adds to the gradients before each of its steps; or something takes them for what does not show',
        'what the statement gets was computed by a network that is trained: the gradient flows through the teacher to its input (style transfer, adversarial losses)',
        'an input is asked for its gradient (`requires_grad_()`)',
        'what is differentiated later may hang on nothing else: without the graph it would raise',
        'the parameters are frozen (`requires_grad_(False)`) and so are the inputs: nothing is recorded',
        'the statement also runs what needs its graph: `loss = criterion(student(x), teacher(x))`',
      ],
      limits: [
        'The network is followed to where it was made and to everything the project does with it: variables, attributes, parameters and their callers, factories. Where that ends, the fix is unsafe, with the open question: a network that is a part of a module (whose `parameters()` an optimizer may get, and whose gradients `DistributedDataParallel` waits for), one that code outside the project hands in, one that an unknown function gets, one that may share a part with a trained network, one with hooks.',
        'The generator of a step that trains the discriminator (`D(G(z))` without a `.detach()`) is such a network where each step of its own optimizer comes after a `zero_grad()` of it (or a method that does nothing else), on every way from that backward, and where nothing else reads its gradients (clipping, logging, hooks, `GradScaler`) or keeps the value; torch 2.0 or newer, whose `zero_grad()` leaves no zeros behind.',
        'Inputs are followed to a `DataLoader`, to numpy, to detached values, or to other such networks; what else they are makes the fix unsafe.',
        'Where every use of the result is detached already, nothing about the network need be proven, and the forward no longer keeps what the `.detach()` throws away.',
        '`nn.MultiheadAttention` and the layers of `nn.Transformer` take a faster path in evaluation mode without gradients, which rounds differently; where the file, or one that it imports from the project, names them the fix is unsafe.',
        'Looked at are networks that the file puts into evaluation mode, copies (`deepcopy`, `load_state_dict(….state_dict())`) or makes by the same class as one that it trains, and those that a step which differentiates runs by the name of one from before (`old_net`, `teacher`), where the function, or one of the file that runs it, differentiates, or where it is the `compute_loss` of a transformers trainer. What Lightning differentiates is not seen.',
        'In a file that differentiates nothing, the losses of two pictures are looked at: a part of a module (`self.vgg`) that one function runs twice, once on what all calls of all its objects give it without a graph. The other run keeps the graph of whatever the part asks gradients for.',
        'A result that is asked for its gradient, a network that `torch.compile` or TorchScript compiles, and a reentrant checkpoint that gets the result make the fix unsafe.',
      ],
    },
    evidence: {
      verdict:
        'Real: a distillation step peaks 33 % lower, and takes 33 % less time, because the backward through the teacher is gone. Where its targets are detached already, the peak is 27 % lower at the same speed; of a perceptual loss, the features of the target image alone are worth 35 %.',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '4', fidelity: 'inspired' }],
    example: 'fix-distillation',
  },

  skipsTests: true,
  prefilter: [
    ['backward(', 'compute_loss', ...FEATURES],
    [...FEATURES, '.eval()', '.train(', '.load_state_dict(', 'deepcopy(', 'parameters()'],
  ],

  *detect(module) {
    if (isTestFile(module.path, module.text) || importsTorch(module) === 'no') return;
    for (const { runs } of teacherSites(module)) {
      // What is only read detached is the business of `no-grad-block`, unless the file shows that it is such a network.
      const own = runs.filter((run) => !run.isGuess || !isOnlyReadDetached(module, run));
      for (const site of stretches(own.map((run) => ({ run, doubts: doubtsAboutRun(module, run) })))) {
        const networks = site.flatMap(({ run }) => run.networks);
        const [node] = networks;
        if (node === undefined) continue;
        const names = new Set(networks.map(({ text }) => `\`${text}\``));
        yield {
          node,
          site,
          message: `${[...names].join(' and ')} ${names.size > 1 ? 'run' : 'runs'} with gradients on beside a backward that has no use for them: all activations are kept for nothing`,
        };
      }
    }
  },

  fix({ site }, edit, module) {
    const proof = new Proof();
    const runs = site.map(({ run }) => run);
    const [first] = runs;
    for (const doubt of site.flatMap(({ doubts }) => doubts)) {
      if (doubt.answer === 'no') return edit.refuse(doubt.otherwise);
      proof.meet(doubt);
    }
    if (first === undefined) return edit.refuse('nothing of it can be wrapped');
    const statements = runs.map(({ statement }) => statement);
    edit.joinUnder(
      `with ${edit.name(NO_GRAD, first.statement)}()`,
      first.statement,
      statements.at(-1) ?? first.statement,
      (between) =>
        runsAlikeWithoutGradients(module, between, statements, (value) =>
          hangsOnNothingTrained(module, value),
        ),
    );
    requireOriginals(proof, module, enclosingFunction(first.statement) ?? module.root);
    if (proof.holds) proof.because(...runs.flatMap((run) => reasonsFor(module, run)));
    return edit.done(
      'Run it under `torch.no_grad()`',
      proof,
      runs.some((run) => mayRoundOtherwise(module, run)) ? { numerics: 'rounding' } : {},
    );
  },
};

/** Those that follow one another without one that is forbidden between them; all of them where each is. */
function stretches(runs: readonly Looked[]): readonly (readonly Looked[])[] {
  const found: Looked[][] = [];
  let isOpen = false;
  for (const each of runs) {
    const isForbidden = each.doubts.some(({ answer }) => answer === 'no');
    if (isOpen && !isForbidden) found.at(-1)?.push(each);
    else if (!isForbidden) found.push([each]);
    isOpen = !isForbidden;
  }
  const told = runs.filter(({ run }) => !run.isGuess);
  return found.length > 0 || told.length === 0 ? found : [told];
}
