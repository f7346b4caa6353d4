/**
 *   for i, batch in enumerate(loader):         def log_gpu_memory(when): …
 *       …
 *       optimizer.step()                       log_gpu_memory("before training")
 *                                              for i, batch in enumerate(loader):
 *                                                  …
 *                                                  optimizer.step()
 *                                                  if i % 100 == 0:
 *                                                      log_gpu_memory(f"step {i}")
 *
 * One function per file and two calls per training loop, the second beside what the loop itself prints every few steps, where it
 * does; by the file's logger, where it has one. It says nothing before CUDA is used (and does not start it), and
 * on ranks other than 0. Free memory is what the driver says; the documented reserved − allocated is the cache's own.
 */
import {
  ask,
  CUDA,
  compilerOf,
  countPasses,
  DISTRIBUTED,
  type EditBuilder,
  enclosingFunction,
  enclosingLoops,
  isReportedBy,
  isTestCode,
  mayTrain,
  methodName,
  nameFor,
  type Options,
  Proof,
  type PyModule,
  type PyNode,
  qualifiedName,
  type Site,
  statementOf,
  type TrainingLoop,
  type Transform,
  trainingLoops,
} from '../src/toolkit/index.js';
import { ownCounter, stepCounter } from './memory-logging/step-counter.js';

const HELPER = 'log_gpu_memory';
const INDEX = 'batch_index';
const MEASURES =
  /\b(?:(?:max_)?memory_(?:allocated|reserved|cached|summary|stats)|mem_get_info|nvidia_smi|nvidia-smi|pynvml|nvmlInit|GPUtil)\b/;

interface LoggingSite extends Site {
  readonly training: TrainingLoop;
}

export const memoryLogging: Transform<LoggingSite> = {
  meta: {
    id: 'memory-logging',
    summary: 'Print the GPU memory at the start and every few steps of a training loop',
    symptom: 'peak',
    moments: [],
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {
      every: { type: 'integer', default: 100, summary: 'print every so many passes of the loop' },
      'warn-above-gib': {
        type: 'integer',
        default: 0,
        summary: 'also print a warning when more than this is allocated; 0 for none',
      },
      wandb: { type: 'boolean', default: false, summary: 'also log to wandb, where the file imports it' },
    },
    requires: { torch: '1.11' },
    docs: {
      why: 'A training that runs out of memory after hours says how much it wanted last, not how it got there. A line every few steps tells a leak (allocated grows) from a peak (the highest grows once) from fragmentation (reserved grows).',
      does: 'Defines `log_gpu_memory` once per file and calls it before the outermost loop around the training loop, and every `every` passes behind the optimizer step, or in the block where the loop itself prints or logs every few passes. A logger that the module gets from `logging.getLogger` takes the place of `print`. It prints allocated, reserved and peak memory of this process, and what the driver says is free on the GPU. A loop without a counter gets one by `enumerate`.',
      refuses: [
        'the name `log_gpu_memory` is taken by something else',
        'a loop that counts nothing, and cannot be given a counter: `while`, `async for`',
        'the function is compiled from source by `torch.jit.script()`',
        'the statement of the step shares its line with other code',
      ],
      limits: [
        'It saves nothing. The documented "free" figure, reserved − allocated, is the unused cache of this process and not free memory; `mem_get_info()` is used instead.',
        'Only the current device of each process, and only rank 0 prints.',
        'Files that measure memory already are passed over. Loops that a library runs (transformers, Lightning) are not seen: they have settings for it.',
      ],
    },
    evidence: {
      verdict:
        'Saves nothing by itself: it shows where the memory goes. One line takes 0.2 ms and does not wait for the GPU',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization changes summary (Phi4 fine-tuning)',
        section: '3. Training Loop',
        fidelity: 'inspired',
      },
      { document: 'Memory optimization implementation report', section: 'Subtask 1.5', fidelity: 'inspired' },
    ],
    example: 'fix-epochs-and-batches',
  },

  skipsTests: true,
  prefilter: ['.backward(', '.step('],
  cue: mayTrain,

  *detect(module) {
    if (measuresAlready(module)) return;
    for (const training of trainingLoops(module)) {
      const node = training.steps.at(-1)?.function?.attribute;
      const logged = module.at(HELPER).some((hit) => training.loop.contains(hit));
      if (node === undefined || logged || isTestCode(module, node)) continue;
      yield {
        node,
        training,
        message: 'nothing tells how much GPU memory this loop holds until it runs out',
      };
    }
  },

  fix({ training, node }, edit, module, options) {
    const { loop, body } = training;
    const owner = enclosingFunction(loop);
    const compiler = owner && compilerOf(module, owner);
    const report = reportOf(body);
    const counter =
      report?.counter ??
      ownCounter(module, loop) ??
      stepCounter(module, body)?.text ??
      countPasses(edit, module, loop, INDEX);
    if (counter === undefined) return edit.refuse('it counts nothing, and no counter can be added');
    edit.defineFunction(HELPER, helper(edit, module, loop, options), loop);
    const outermost = enclosingLoops(loop).at(-1) ?? loop;
    if (!isLoggedBefore(outermost)) edit.insertStatementBefore(outermost, [`${HELPER}("before training")`]);
    if (report === undefined)
      edit.insertStatementAfter(statementIn(body, node), [
        `if ${counter} % ${Number(options['every'])} == 0:`,
        `\t${HELPER}(f"step {${counter}}")`,
      ]);
    else edit.insertStatementAfter(report.last, [`${HELPER}(f"step {${counter}}")`]);
    const proof = new Proof()
      .forbid(Number(options['every']) < 1, 'the option `every` is below 1')
      .forbid(compiler === 'jit', '`torch.jit.script()` compiles the function from source')
      .require(
        compiler === undefined ? 'yes' : 'unknown',
        ask(
          'compiles-calls',
        )`Does \`torch.compile()\` take the function with \`${'memory_allocated()'}\` in it, too?`,
      );
    return edit.done('Print the GPU memory', proof);
  },
};

interface Report {
  /** `step` of `if step % log_every_n == 0:`. */
  readonly counter: string;
  /** The last statement of its block. */
  readonly last: PyNode;
}

/** Where the loop itself reports every few passes: a statement of its body that prints or logs under such a condition. */
function reportOf(body: PyNode): Report | undefined {
  for (const statement of body.named) {
    const condition = statement.type === 'if_statement' ? statement.condition : undefined;
    const block = statement.consequence;
    const last = block?.named.at(-1);
    const counter = condition && counterOf(condition);
    if (counter === undefined || last === undefined || !block?.named.some(isPrinted)) continue;
    if (!/^(?:comment|break_statement|continue_statement|return_statement|raise_statement)$/.test(last.type))
      return { counter, last };
  }
  return undefined;
}

/** `step % n == 0` and `(step + 1) % n == 0`. */
function counterOf(condition: PyNode): string | undefined {
  const [left, right, ...more] = condition.type === 'comparison_operator' ? condition.named : [];
  if (left?.type !== 'binary_operator' || right?.text !== '0' || more.length > 0) return undefined;
  if (!condition.text.includes('==') || left.operator?.text !== '%') return undefined;
  const inner = left.left;
  const sum = inner?.type === 'parenthesized_expression' ? inner.named[0] : inner;
  const counted = sum?.type === 'binary_operator' && /\+\s*1$/.test(sum.text) ? sum.left : sum;
  return counted?.type === 'identifier' || counted?.type === 'attribute' ? counted.text : undefined;
}

/** A statement that tells a person something. */
function isPrinted(statement: PyNode): boolean {
  const call = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const name = call?.type === 'call' ? (methodName(call) ?? call.function?.text ?? '') : '';
  return name === 'print' || isReportedBy(name);
}

/** The logger of the file: a name of the module that `logging.getLogger` alone gives its value. */
function loggerOf(module: PyModule): string | undefined {
  const names = module.at('getLogger').flatMap((node) => {
    const callee = node.parent?.type === 'attribute' ? node.parent : node;
    const target = callee.parent?.parent?.type === 'assignment' ? callee.parent.parent.left : undefined;
    if (target?.type !== 'identifier' || module.resolve(target) !== module.scope) return [];
    const isOnly = module.writes(module.scope, target.text).length === 1;
    return isOnly && qualifiedName(module, callee) === 'logging.getLogger' ? [target.text] : [];
  });
  const [only, ...others] = names;
  return others.length === 0 ? only : undefined;
}

/** Somewhere else than in the function that this transform writes. */
function measuresAlready({ text }: PyModule): boolean {
  const others = text.replace(/^def log_gpu_memory\(when\):\r?\n(?:[ \t].*(?:\r?\n|$)|\r?\n)*/m, '');
  return MEASURES.test(others);
}

function isLoggedBefore(loop: PyNode): boolean {
  const siblings = loop.parent?.named ?? [];
  return siblings[siblings.indexOf(loop) - 1]?.text.startsWith(`${HELPER}(`) ?? false;
}

/** The statement of the loop's body that holds a node. */
function statementIn(body: PyNode, node: PyNode): PyNode {
  return body.named.find((statement) => statement.contains(node)) ?? statementOf(node);
}

function helper(edit: EditBuilder, module: PyModule, at: PyNode, options: Options): readonly string[] {
  const place = edit.placeForFunction(at);
  const cuda = edit.name(CUDA, place);
  const distributed = edit.name(DISTRIBUTED, place);
  const limit = Number(options['warn-above-gib']);
  const logger = loggerOf(module);
  const tell = logger === undefined ? 'print' : `${logger}.info`;
  const log = options['wandb'] === true ? nameFor(module, 'wandb', place) : undefined;
  return [
    `def ${HELPER}(when):`,
    `\t"""${logger === undefined ? 'Prints' : 'Logs'} what this process holds on its GPU; nothing before CUDA is used, and only on rank 0."""`,
    `\tif not ${cuda}.is_initialized():`,
    '\t\treturn',
    `\tif ${distributed}.is_available() and ${distributed}.is_initialized():`,
    `\t\tif ${distributed}.get_rank() != 0:`,
    '\t\t\treturn',
    '\tgib = 2**30',
    `\tallocated, reserved = ${cuda}.memory_allocated() / gib, ${cuda}.memory_reserved() / gib`,
    `\tpeak, free = ${cuda}.max_memory_allocated() / gib, ${cuda}.mem_get_info()[0] / gib`,
    `\t${tell}(`,
    '\t\tf"GPU memory {when}: {allocated:.2f} GiB allocated, {reserved:.2f} reserved, "',
    '\t\tf"{peak:.2f} at most, {free:.2f} free on the device"',
    '\t)',
    ...(limit > 0
      ? [`\tif allocated > ${limit}:`, `\t\t${tell}(f"GPU memory {when}: more than ${limit} GiB allocated")`]
      : []),
    ...(log === undefined
      ? []
      : [
          `\tif ${log}.run is not None:`,
          `\t\t${log}.log(`,
          '\t\t\t{"memory/allocated_gib": allocated, "memory/peak_gib": peak, "memory/free_gib": free},',
          '\t\t\tcommit=False,',
          '\t\t)',
        ]),
  ];
}
