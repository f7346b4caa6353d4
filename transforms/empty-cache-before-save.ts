/*
 * trainer.train()
 * trainer.model.save_pretrained(out)
 * tokenizer.save_pretrained(out)
 *
 * trainer.train()
 * torch.cuda.empty_cache()
 * trainer.model.save_pretrained(out)
 * tokenizer.save_pretrained(out)
 *
 * Once per run of saves and outside loops: in a loop the next step would have to ask the driver for its memory again.
 * The receiver must be a model, its weights or a transformers trainer: tokenizers, processors, optimizers and data have
 * nothing on the GPU worth the call. Frameworks that save by themselves (accelerate, Lightning) are left to it.
 */
import {
  ask,
  contextManagers,
  EMPTY_CACHE,
  enclosingWiths,
  type Gate,
  isTestCode,
  nameFor,
  type Options,
  Proof,
  type PyModule,
  type PyNode,
  repetitionOf,
  requireOriginal,
  type Site,
  statementOf,
  type Transform,
} from '../src/toolkit/index.js';
import {
  continuesSaves,
  isEmptiedAfter,
  isEmptiedBefore,
  isShortlyAfter,
} from './empty-cache-before-save/cuda-cache.js';
import {
  hasTrained,
  mayUseGpu,
  modelSave,
  passedAbove,
  runsOnTpu,
  trainerRun,
} from './empty-cache-before-save/saving.js';
import { isWorthACommit } from './empty-cache-before-save/worth.js';

/** Functions and classes of such names are called once per epoch, step or fold, though the file does not show by whom. */
const REPEATED_NAME =
  /save|check_?point|ckpt|snapshot|dump|early|best|epoch|step|iter|batch|update|valid|eval|check|monitor|callback|handler|hook|fold|trial|objective/i;

interface CacheSite extends Site {
  readonly statement: PyNode;
  readonly place: 'before' | 'after';
  readonly title: string;
  readonly gates: readonly Gate[];
}

/** A save, and a training, that is called, not one that is defined. */
const SAVES = /(?<!\bdef\s+)\b(?:save_pretrained|save_model|save)\s*\(/;
const TRAINS = /(?<!\bdef\s+)\btrain\s*\(/;

export const emptyCacheBeforeSave: Transform<CacheSite> = {
  meta: {
    id: 'empty-cache-before-save',
    summary: 'Give the unused CUDA cache back before a model is saved',
    symptom: 'fragmentation',
    moments: ['saving'],
    notOn: ['MPS'],
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {
      everywhere: {
        type: 'boolean',
        default: false,
        whenNamed: true,
        summary:
          'also where the save copies nothing itself, no pass before it is shown, or a condition is not proven; on where the transform is named',
      },
      'after-train': {
        type: 'boolean',
        default: false,
        summary: 'also empty the cache right after `trainer.train()`',
      },
      'before-train': {
        type: 'boolean',
        default: false,
        summary: 'also empty the cache right before `trainer.train()`',
      },
    },
    requires: {},
    docs: {
      why: "After training, torch's caching allocator keeps the freed activation and gradient blocks reserved. They are of no use to the save, and no other process on the GPU can have them until this one ends.",
      does: 'By default only where it is worth a commit: a training or an evaluation ran before in the same function or script, and the save gathers, merges or copies what it writes (`save_pretrained` and `save_model` of whole models, not of adapters; a state dict that is gathered or copied to the CPU), or another program is started behind it. Elsewhere when the transform is named. Inserts `torch.cuda.empty_cache()`, by the name the file already has for it, before the first of a run of model saves that stands outside loops. Adds `import torch` where the file has none.',
      refuses: [
        'the save runs once per iteration, in a loop or in a function that a loop of the file or a framework calls',
        'the save shares its line with other code: a one-line suite, or `a; b`',
        '`torch` is imported conditionally, or the name is taken by something else',
        'the file imports or installs torch_xla: a TPU has no CUDA cache',
        'unsafe where the file does not import torch itself, or nothing shows that a training ran before the save on a GPU',
      ],
      limits: [
        'The peak does not change: what is reserved but unused is given back, nothing else. It cannot cure an out-of-memory error of this process.',
        'Saves of tokenizers, processors, configurations, optimizers, data and pipelines, saves by accelerate or Lightning, test code, conversion scripts and saves into a temporary directory are not looked at.',
        'Without CUDA the call does nothing.',
      ],
    },
    evidence: {
      verdict:
        'Reserved memory only, 10266 to 1602 MiB: the peak is unchanged, and the gain is for other processes and for what a save allocates elsewhere. In most scripts the program ends right after the save, so by default only where the save gathers, merges or copies, or another program is started',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '6', fidelity: 'same' }],
    example: 'fix-trainer-and-tokenizer',
  },

  skipsTests: true,
  prefilter: [
    ['save_pretrained', 'save_model', 'save(', 'rainer.train('],
    ['torch', 'transformers', 'trl', 'peft', 'diffusers', 'accelerate'],
  ],
  cue: (_text, path, glimpse, options) =>
    !isConverter(path) &&
    (glimpse.stretchesWith('save').some((code) => SAVES.test(code)) ||
      (asksAboutTraining(options) && glimpse.stretchesWith('train').some((code) => TRAINS.test(code)))),

  *detect(module, options) {
    const trained = (statement: PyNode): boolean =>
      options['after-train'] === true && trainerRun(module, statement) !== 'no';
    for (const statement of statementsAt(module, ['save_pretrained', 'save_model', 'save('], SAVES)) {
      const save = modelSave(module, statement);
      if (save === undefined || isOutOfScope(module, statement)) continue;
      if (isEmptiedBefore(module, statement) || continuesSaves(module, statement)) continue;
      if (isShortlyAfter(statement, trained)) continue;
      if (options['everywhere'] !== true && !isWorthACommit(module, save)) continue;
      const isTrained = hasTrained(module, save);
      const hasRun = isTrained === 'yes' || passedAbove(module, save) ? 'yes' : 'unknown';
      const pass = isTrained === 'unknown' && hasRun === 'yes' ? 'evaluation' : 'training';
      const what = save.saved.text.replace(/\s+/g, ' ');
      const shown = what.length > 40 ? 'the model' : `\`${what}\``;
      yield {
        node: calledName(statement),
        statement,
        place: 'before',
        title: 'Empty the CUDA cache before saving',
        gates: [
          {
            answer: save.isModel,
            otherwise: {
              no: `${shown} is not ${save.wanted}`,
              unknown: ask('torch-model')`Is ${shown} ${save.wanted}?`,
            },
          },
          {
            answer: mayUseGpu(module, save),
            otherwise: {
              no: 'it runs on the CPU',
              unknown: ask('on-gpu')`Does \`${module.path}\` use a GPU?`,
            },
          },
          { answer: hasRun, otherwise: ask('trained-before')`Has a training run before ${shown} is saved?` },
        ],
        message: `the allocator keeps the freed blocks of the ${pass} reserved while ${shown} is saved; no other process can use them. Reserved memory only: the peak stays as it is`,
      };
    }
    yield* trainSites(module, options);
  },

  fix({ statement, place, title, gates }, edit, module) {
    const proof = new Proof();
    if (runsOnTpu(module)) return edit.refuse('torch_xla runs it on a TPU, which has no CUDA cache');
    const repeated = repetitionOf(module, statement);
    const often = 'emptying the cache each time makes the next step allocate anew';
    if (repeated.kind === 'loop') return edit.refuse(`it runs in a loop, and ${often}`);
    if (repeated.kind === 'called' || repeated.kind === 'hook') {
      const by = repeated.kind === 'called' ? 'a loop calls' : 'a framework calls';
      return edit.refuse(`${by} \`${repeated.name}\`, and ${often}`);
    }
    if (repeated.kind === 'unseen') {
      const owner = statement.closest('class_definition')?.name?.text ?? '';
      const helper =
        repeated.handed ??
        [...repeated.names, owner].find((name) => REPEATED_NAME.test(name)) ??
        (takesCount(statement) ? repeated.names[0] : undefined);
      if (helper !== undefined)
        proof.require('unknown', ask('called-rarely')`Is \`${helper}\` called outside of loops everywhere?`);
    }
    proof.meet(...gates);
    if (nameFor(module, EMPTY_CACHE, statement) === undefined) {
      proof.require(
        'unknown',
        ask('importable')`May ${'torch'} be imported here, which this file does not do?`,
      );
    }
    requireOriginal(proof, module, EMPTY_CACHE);
    const line = `${edit.name(EMPTY_CACHE, statement)}()`;
    if (place === 'before') edit.insertStatementBefore(statement, [line]);
    else edit.insertStatementAfter(statement, [line]);
    return edit.done(title, proof);
  },
};

/** The function around it is told which epoch or step it is. */
function takesCount(statement: PyNode): boolean {
  const parameters = statement.closest('function_definition')?.parameters?.named ?? [];
  return parameters.some(({ text }) =>
    /^(?:epoch|(?:global_)?step|iter\w*|round|fold|batch_idx)\b/.test(text),
  );
}

function asksAboutTraining(options: Options): boolean {
  return options['before-train'] === true || options['after-train'] === true;
}

function* statementsAt(module: PyModule, literals: readonly string[], calls: RegExp): Generator<PyNode> {
  const seen = new Set<PyNode>();
  for (const node of literals.flatMap((literal) => module.atWhere(literal, (code) => calls.test(code)))) {
    const statement = statementOf(node);
    if (!seen.has(statement)) yield statement;
    seen.add(statement);
  }
}

/** The name a statement calls: unlike its first line, that of `(a) \\⏎ .save()` can hold an ignore comment. */
function calledName(statement: PyNode): PyNode {
  const value = statement.named[0]?.right ?? statement.named[0];
  const callee = value?.function;
  return callee?.attribute ?? callee ?? statement;
}

/** Scripts that turn one checkpoint into another do not train. */
function isConverter(path: string): boolean {
  return path.includes('convert');
}

/** Tests save to see that it works, conversions on the CPU, and what goes to a temporary folder is not a result. */
function isOutOfScope(module: PyModule, statement: PyNode): boolean {
  const contexts = enclosingWiths(statement).flatMap(contextManagers);
  if (contexts.some((context) => context.text.includes('TemporaryDirectory'))) return true;
  if (isTestCode(module, statement) || isConverter(module.path)) return true;
  const around = statement.closest('function_definition')?.name?.text ?? '';
  return /convert|conversion/.test(around);
}

function* trainSites(module: PyModule, options: Options): Generator<CacheSite> {
  const wanted = { before: options['before-train'] === true, after: options['after-train'] === true };
  if (!asksAboutTraining(options)) return;
  for (const statement of statementsAt(module, ['rainer.train('], TRAINS)) {
    const isTrainer = trainerRun(module, statement);
    if (isTrainer === 'no' || isOutOfScope(module, statement)) continue;
    const common = {
      node: calledName(statement),
      statement,
      gates: [
        {
          answer: isTrainer,
          otherwise: {
            no: 'it is no trainer of transformers',
            unknown: ask(
              'transformers-trainer',
            )`Is what \`${calledName(statement).text}\` runs a trainer of transformers?`,
          },
        },
      ],
    };
    if (wanted.before && !isEmptiedBefore(module, statement)) {
      const message = 'what was freed while loading stays reserved for this process when training starts';
      yield { ...common, place: 'before', title: 'Empty the CUDA cache before training', message };
    }
    if (wanted.after && !isEmptiedAfter(module, statement)) {
      const message = 'the freed blocks of the training stay reserved for this process after it';
      yield { ...common, place: 'after', title: 'Empty the CUDA cache after training', message };
    }
  }
}
