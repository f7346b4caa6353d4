/*
 * self.running = torch.zeros(dim)                                       # in __init__
 * self.running = self.running * 0.9 + batch_mean * 0.1                  # in forward
 *
 * self.register_buffer("running", torch.zeros(dim), persistent=False)
 * with torch.no_grad():
 *     self.running.mul_(0.9).add_(batch_mean, alpha=0.1)
 *
 * The class must be an nn.Module, the tensor start as a floating-point factory after `super().__init__()` and get no other
 * kind of value, and the average have Python numbers for factors. In place is only the same where nobody holds the tensor or
 * differentiates through it, and where the new value does not make it grow. A buffer moves, is cast, and is broadcast by
 * DDP: files that do any of this are left alone. Where in place cannot work and a graph is kept, `ema-detach` takes over.
 */
import type { PyModule, RunningStatistic, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  inPlaceGates,
  keepsGraph,
  mayHaveStatistic,
  NO_GRAD,
  onOneLine,
  Proof,
  type PyNode,
  recordsNoGraph,
  standalone,
  startOf,
  statisticsCuredBy,
  Unfixable,
  type Update,
  unparenthesized,
} from '../src/toolkit/index.js';

interface StatisticSite extends Site {
  /** Statistics updated in adjacent statements, to share one `with`. */
  readonly statistics: readonly RunningStatistic[];
}

export const registerBufferEma: Transform<StatisticSite> = {
  meta: {
    id: 'register-buffer-ema',
    summary: 'Keep a running statistic as a buffer and update it in place without gradients',
    symptom: 'leak',
    safety: 'safe',
    numerics: 'rounding',
    group: 'default',
    options: {
      persistent: {
        type: 'boolean',
        default: false,
        summary: 'Save the buffer in the state dict; checkpoints made before then fail a strict load.',
      },
    },
    requires: { torch: '1.6' },
    docs: {
      why: 'A moving average that is assigned anew in `forward` makes a new tensor at every call. With gradients on and a value that carries a graph, each one also keeps the graph of that call, and through it all earlier ones: memory grows with every step. A plain attribute is also left behind on the CPU when the module moves.',
      does: 'Registers the tensor with `register_buffer(name, …, persistent=False)`, which leaves the state dict as it is, and updates it with `mul_().add_()` inside `torch.no_grad()`. With the option `persistent = true` the buffer is saved, and the fix is unsafe because older checkpoints lack the key.',
      refuses: [
        'the class is a transformers or diffusers model, which re-creates non-persistent buffers without their values',
        'the file wraps modules in `DistributedDataParallel`, `DataParallel` or FSDP, casts to half precision, or uses TorchScript',
        'the tensor is created before `super().__init__()`, on some paths only, with `requires_grad`, or with integers or half precision',
        'the attribute gets another value somewhere: `None`, a number, another shape',
        'the attribute is returned, kept under another name, or read where gradients are recorded',
        'the tensor has one element and the new value may be larger, or is provably larger',
        'the new value is moved to the CPU, reads the statistic itself, or runs a layer or function of the project',
        'a factor is a tensor',
      ],
      limits: [
        'The new value must not be larger than the statistic. Where the code does not prove it, the fix is unsafe.',
        'In place rounds differently: up to 2.4e-7 in fp32.',
        'Where a file of the project wraps, casts or walks modules, keeps the tensor, or gets at attributes by their names, the fix is unsafe; code outside the project is not seen.',
        'Tuple assignments, subscripts and lists of statistics are not edited.',
      ],
    },
    evidence: {
      verdict:
        'A real leak where the new value carries a graph, 24 MiB per step for a range of the activations, which is their size: no_grad ends it, the buffer only makes the statistic move with the module. In place without no_grad still leaks; without a graph only a temporary is saved.',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '2. Quantization Statistics Fix',
        fidelity: 'same',
      },
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best practices 1 and 2',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-observer-range',
  },

  prefilter: ['torch', 'self.', '__init__'],
  cue: mayHaveStatistic,

  *detect(module) {
    for (const statistics of bursts(module, statisticsCuredBy(module, 'buffer'))) {
      const [first] = statistics;
      const node = first?.updates[0]?.target;
      if (node === undefined) continue;
      const names = statistics.map(({ name }) => `\`self.${name}\``);
      const leaks = statistics.some(({ updates }) =>
        updates.some(({ target, fresh }) => keepsGraph(module, target, fresh)),
      );
      yield { node, statistics, message: message(names, leaks) };
    }
  },

  fix({ statistics }, edit, module, options) {
    const proof = new Proof();
    const persistent = options['persistent'] === true;
    for (const statistic of statistics) {
      const start = startOf(module, statistic);
      if (start === undefined)
        return edit.refuse(`\`self.${statistic.name}\` does not start as a new tensor`);
      proof.meet(...inPlaceGates(module, statistic).gates);
      if (persistent)
        proof.require(
          'unknown',
          ask('new-entry')`May checkpoints have \`self.${statistic.name}\` as a new entry?`,
        );
      const kept = persistent ? '' : ', persistent=False';
      edit.replaceStatement(start.statement, [
        `self.register_buffer("${statistic.name}", ${start.factory.text}${kept})`,
      ]);
    }
    let shares = false;
    for (const update of statistics.flatMap(({ updates }) => updates)) {
      const lines = inPlace(update);
      if (recordsNoGraph(module, update.target)) edit.replaceStatement(update.statement, lines);
      else {
        const opening = shares ? [] : [`with ${edit.name(NO_GRAD, update.statement)}():`];
        edit.replaceStatement(update.statement, [...opening, ...lines.map((line) => `\t${line}`)]);
      }
      shares = statistics.length > 1;
    }
    const names = statistics.map(({ name }) => `\`${name}\``).join(' and ');
    return edit.done(
      `Register ${names} as ${statistics.length > 1 ? 'buffers' : 'a buffer'} and update in place`,
      proof,
    );
  },
};

function message(names: readonly string[], leaks: boolean): string {
  const which = names.join(' and ');
  const [keeps, is] = names.length > 1 ? ['keep', 'are'] : ['keeps', 'is'];
  return leaks
    ? `${which} ${keeps} the graph of every call alive, and through it all earlier ones: memory grows with each step`
    : `${which} ${is} made anew at every call and ${is === 'is' ? 'stays' : 'stay'} behind when the module moves to another device`;
}

/** Statistics of the same standing whose updates follow one another, in source order. */
function bursts(
  module: PyModule,
  all: readonly RunningStatistic[],
): readonly (readonly RunningStatistic[])[] {
  const found: RunningStatistic[][] = [];
  for (const statistic of all) {
    const last = found.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && follows(module, before, statistic))
      last.push(statistic);
    else found.push([statistic]);
  }
  return found;
}

function follows(module: PyModule, before: RunningStatistic, next: RunningStatistic): boolean {
  const [above, ...others] = before.updates;
  const [below, ...more] = next.updates;
  if (above === undefined || below === undefined || others.length + more.length > 0) return false;
  const block = above.statement.parent?.named ?? [];
  return (
    block.includes(below.statement) &&
    block.indexOf(below.statement) === block.indexOf(above.statement) + 1 &&
    !recordsNoGraph(module, above.target) &&
    standing(module, before) !== 'no' &&
    standing(module, before) === standing(module, next)
  );
}

function standing(module: PyModule, statistic: RunningStatistic): string {
  const answers = inPlaceGates(module, statistic).gates.map(({ answer }) => answer);
  return answers.includes('no') ? 'no' : answers.includes('unknown') ? 'unknown' : 'yes';
}

/** The update in place; comments that stood between its operands go above it. */
function inPlace({ statement, target, decay, fresh, gain }: Update): readonly string[] {
  if (decay === undefined || gain === undefined)
    throw new Unfixable('it is no weighted sum of the old and the new value');
  const [kept, added, weight] = [decay, fresh, gain].map(unparenthesized);
  const comments = [...statement.walk()].filter(
    (node) => node.type === 'comment' && ![kept, added, weight].some((part) => part?.contains(node)),
  );
  return [
    ...comments.map(({ text }) => text.trimEnd()),
    `${standalone(target)}.mul_(${inLine(kept)}).add_(${added?.text}, alpha=${inLine(weight)})`,
  ];
}

function inLine(factor: PyNode | undefined): string {
  return factor === undefined ? '' : (onOneLine(factor) ?? factor.text);
}
