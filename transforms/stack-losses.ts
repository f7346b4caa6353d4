/*
 * total = 0.0; n = 0
 * for layer in layers: total += F.mse_loss(layer.scale, one); n += 1
 * return total / n
 *
 * terms = []
 * for layer in layers: terms.append(F.mse_loss(layer.scale, one))
 * return torch.stack(terms).mean()
 *
 * Only a counter that is raised by one beside the addition, or `len()` of exactly the sequence that is run over, makes the
 * quotient a mean. `torch.stack` takes neither Python floats nor terms of different shapes, and `.mean()` no integers, so
 * each term must be a floating-point 0-dim tensor. Sums of `.item()`s are the common look-alike and are not even sites;
 * nor is what runs without gradients, where `no-grad` and `detach-accumulated-loss` have their say.
 */
import type {
  Accumulation,
  Assigned,
  EditBuilder,
  PyModule,
  PyNode,
  Site,
  Transform,
} from '../src/toolkit/index.js';
import {
  accumulatedDivisions,
  accumulationOf,
  all,
  ask,
  assignedBy,
  enclosingLoops,
  freeName,
  importsPackage,
  isEvaluation,
  isReport,
  isTestCode,
  looseComments,
  lossRecord,
  lossTerm,
  mayAccumulate,
  Proof,
  placeOf,
  requireUncaught,
  STACK,
  statementOf,
} from '../src/toolkit/index.js';
import { changedInPlace, handedOn, keptFromElsewhere, strayDevice } from './stack-losses/kept-term.js';
import { isPromoted } from './stack-losses/one-dtype.js';

interface SumSite extends Site {
  readonly sum: Accumulation;
}

export const stackLosses: Transform<SumSite> = {
  meta: {
    id: 'stack-losses',
    summary: 'Collect loss terms and take their mean once, instead of adding them one by one',
    symptom: 'sync',
    safety: 'safe',
    numerics: 'rounding',
    group: 'documented',
    options: {},
    requires: { torch: '1.0' },
    docs: {
      why: '`total += loss` in a loop launches one small kernel and adds one node to the autograd graph per term, forwards and backwards, and rounds after each addition, which is visible in bfloat16. It does **not** synchronise with the GPU and keeps no more memory than the list does, whatever is often said about it.',
      does: 'Starts a list, appends each term as it was written (a `.to(device)` stays inside `append`), and replaces `total / n` by `torch.stack(terms).mean()`. Tests of the counter become tests of the list, with the same value or the same failure when nothing was added. The counter goes when nothing else reads it.',
      refuses: [
        'a term is not proven to be a 0-dim floating-point tensor (unsafe when it is likely, left alone when it is not one)',
        'the denominator is not the number of additions: the counter is raised elsewhere or under another condition, or `len()` is taken of something the loop skips parts of',
        'the total is read in the loop, in a nested function, or for anything but its mean',
        'the total is set to anything but a literal zero, or more than once',
        'a term is changed in place after it was added: the list would see the change; unsafe where other code gets hold of it, as in `dist.all_reduce(loss.detach())`',
        'unsafe where `total += x` adds terms that may differ in dtype, as those of a model whose layers do: the total has the dtype of the first term, a stack the widest',
        'the loop calls `backward()` itself, or the mean is only printed, logged or made a number: that is `detach-accumulated-loss`',
        'the code runs under `no_grad`, or its function calls `.eval()`: that is `no-grad`',
        'the division stands in a `try`, or a statement shares its line with other code',
      ],
      limits: [
        '`torch.stack` wants all terms on one device. `+=` accepted CPU terms among CUDA ones; such code raises after the change and needs a `.to(device)` on each term.',
        'The mean differs from the running sum in the last place (fp32), visibly in bf16, where it is the more accurate one.',
        'Without a test for the empty case a ZeroDivisionError becomes a RuntimeError of `torch.stack`; unsafe where another file catches the former.',
      ],
    },
    evidence: {
      verdict:
        'Nil on memory and synchronisation, and on time within the noise (6 % at 128 terms): the popular claim that `+=` of a GPU tensor syncs is false. Use `detach-accumulated-loss` for totals that are only read',
      measurements: [],
    },
    origin: [{ document: 'GPU memory audit report (Fourier LS-LoRA)', section: '1', fidelity: 'same' }],
    example: 'fix-counted-layers',
  },

  skipsTests: true,
  prefilter: ['torch', ['for', 'while']],
  cue: (_text, _path, glimpse) => mayAccumulate(glimpse),

  *detect(module) {
    if (!importsPackage(module, 'torch')) return;
    const seen = new Set<PyNode>();
    for (const division of accumulatedDivisions(module)) {
      const sum = accumulationOf(module, division);
      const [first] = sum?.additions ?? [];
      if (sum === undefined || first === undefined || seen.has(sum.zeroed)) continue;
      if (sum.additions.some(({ value }) => lossTerm(module, value) === undefined)) continue;
      if (isEvaluation(module, first.statement) || isTestCode(module, first.statement)) continue;
      seen.add(sum.zeroed);
      const message = `\`${sum.name}\` adds its terms one by one: a kernel launch, a graph node and a rounding for each`;
      yield { node: first.target, message, sum };
    }
  },

  fix({ sum }, edit, module) {
    const terms = listName(module, sum);
    if (sum.problem !== undefined) return edit.refuse(sum.problem);
    if (terms === undefined) return edit.refuse('no name is free for the list of terms');
    const mean = `${edit.name(STACK, sum.division)}(${terms}).mean()`;
    const dropped = sum.counter?.otherReads.length === 0 ? sum.counter : undefined;

    for (const statement of new Set([sum.zeroed, ...(dropped ? [dropped.zeroed] : [])].map(statementOf))) {
      startWithList(edit, statement, sum, terms, dropped?.name);
    }
    for (const addition of sum.additions) {
      const { statement, value } = addition;
      const argument = value.type === 'parenthesized_expression' ? value.text : `(${value.text})`;
      edit.replaceStatement(statement, [...looseComments(addition), `${terms}.append${argument}`]);
    }
    // Totals that share a counter go one per pass: the last one finds it unread and takes it away.
    if (
      sum.counter !== undefined &&
      dropped === undefined &&
      !shareStatement(sum.counter.zeroed, sum.zeroed)
    ) {
      edit.replace(sum.counter.zeroed, sum.counter.name);
    }
    for (const bump of dropped?.bumps ?? []) edit.removeStatement(bump);
    for (const { node, whenEmpty } of dropped?.tests ?? [])
      edit.replace(node, whenEmpty ? `not ${terms}` : terms);
    for (const read of sum.emptyReads) edit.replace(read, sum.zero.text);
    takeMean(edit, sum, sum.clamped ? `${mean} if ${terms} else 0.0` : mean);
    return edit.done('Stack the terms and take their mean once', gates(module, sum));
  },
};

function gates(module: PyModule, sum: Accumulation): Proof {
  const proof = new Proof();
  for (const { value, statement } of sum.additions) {
    const term = lossTerm(module, value);
    const text = shown(value);
    proof.forbid(term?.scalar === 'no', `\`${text}\` is not always a 0-dim tensor`);
    proof.forbid(term?.floating === 'no', `\`${text}\` holds integers, which have no \`.mean()\``);
    proof.require(all([term?.scalar ?? 'no', term?.floating ?? 'no']), {
      no: `\`${text}\` is no 0-dim floating-point tensor`,
      unknown: ask('scalar-tensor')`Is \`${text}\` a 0-dim floating-point tensor?`,
    });
    const loops = enclosingLoops(statement).filter((loop) => !loop.contains(sum.zeroed));
    const changed = loops
      .map((loop) => changedInPlace(module, value, loop, sum.division))
      .find((name) => name !== undefined);
    if (changed !== undefined) proof.forbid(true, `\`${changed}\` is changed in place after it was added`);
    proof.forbid(
      loops.some((loop) => module.atWithin('.backward(', loop).length > 0),
      `the loop already calls \`backward()\`, so \`${sum.name}\` is a record of losses and not a loss`,
    );
  }
  const values = sum.additions.map(({ value }) => value);
  const kept = values.map((value) => keptFromElsewhere(module, value)).find((node) => node !== undefined);
  if (kept !== undefined)
    proof.require(
      'unknown',
      ask('left-as-it-is')`Is \`${shown(kept)}\` left as it is until the sum is made?`,
    );
  const holder = values
    .map((value) => handedOn(module, value, sum.division))
    .find((place) => place !== undefined);
  if (holder !== undefined) {
    const where = holder.module === module ? '' : ` in ${placeOf(holder.module, holder.node)}`;
    proof.require(
      'unknown',
      ask('left-as-it-is')`Is the term that \`${shown(holder.node)}\`${where} hands on left as it is?`,
    );
  }
  proof.require(isPromoted(module, sum), {
    no: `its terms have several dtypes: \`${sum.name} +=\` keeps that of the first, a stack takes the widest`,
    unknown: ask(
      'one-dtype',
    )`Do all terms of \`${sum.name}\` have one dtype (\`+=\` keeps that of the first, a stack takes the widest)?`,
  });
  const stray = strayDevice(module, values);
  if (stray !== undefined)
    proof.require('unknown', ask('same-device')`Is \`${shown(stray)}\` on the device of the other terms?`);
  proof.forbid(
    (sum.meanUses.length > 0 && sum.meanUses.every((use) => isReport(module, use))) ||
      lossRecord(module, sum.zeroed, values) !== undefined,
    `the mean of \`${sum.name}\` is only reported as a number`,
  );
  if (sum.sequence !== undefined && /loader|_dl$|dataset|iter/i.test(sum.sequence.text)) {
    proof.require(
      'unknown',
      ask('exact-length')`Does \`${sum.sequence.text}\` yield exactly \`len(${sum.sequence.text})\` items?`,
    );
  }
  requireUncaught(proof, module, sum.division, /\b(?:ZeroDivisionError|ArithmeticError)\b/);
  return proof;
}

function shareStatement(a: PyNode, b: PyNode): boolean {
  return statementOf(a) === statementOf(b);
}

/** The statement that set the total (or the counter) to zero now starts the list. Whatever else it sets stays. */
function startWithList(
  edit: EditBuilder,
  statement: PyNode,
  sum: Accumulation,
  terms: string,
  dropped: string | undefined,
): void {
  const { unpacks, pairs } = assignedBy(statement);
  const list = pairs.some(({ target }) => target === sum.name) ? [{ target: terms, value: '[]' }] : [];
  const kept = pairs.filter(({ target }) => target !== dropped && (target !== sum.name || sum.zeroSurvives));
  if (kept.length === pairs.length && !unpacks) edit.insertStatementAfter(statement, [`${terms} = []`]);
  else if (unpacks) edit.replaceStatement(statement, [assignment(', ', [...list, ...kept])]);
  else if (list.length + kept.length === 0) edit.removeStatement(statement);
  else
    edit.replaceStatement(
      statement,
      [list, kept].filter(({ length }) => length > 0).map((set) => assignment(' = ', set)),
    );
}

function assignment(between: ', ' | ' = ', pairs: Assigned['pairs']): string {
  const values = between === ', ' ? pairs : pairs.slice(0, 1);
  return `${pairs.map(({ target }) => target).join(between)} = ${values.map(({ value }) => value).join(', ')}`;
}

function takeMean(edit: EditBuilder, sum: Accumulation, mean: string): void {
  const { division, name, clamped } = sum;
  if (division.type === 'augmented_assignment') {
    edit.replaceStatement(statementOf(division), [`${name} = ${mean}`]);
    return;
  }
  const holder = division.parent;
  if (clamped) edit.replace(division, TAKES_ANY.test(holder?.type ?? '') ? mean : `(${mean})`);
  else if (isOperandInParentheses(holder)) edit.replace(holder, mean);
  else edit.replace(division, mean);
}

/** `w * (total / n)`: a call needs no parentheses. A comment inside them would be lost. */
function isOperandInParentheses(node: PyNode | undefined): node is PyNode {
  if (node?.type !== 'parenthesized_expression' || node.text.includes('#')) return false;
  return node.parent?.type === 'binary_operator' && node.parent.right === node;
}

/** Places where a conditional expression needs no parentheses. */
const TAKES_ANY =
  /^(?:return_statement|assignment|parenthesized_expression|argument_list|keyword_argument|pair|expression_list)$/;

/** `total_loss` → `losses`, `reg` → `reg_terms`, `total` → `terms`. */
function listName(module: PyModule, { name, scope }: Accumulation): string | undefined {
  const bare = name.replace(/^(?:total|sum|acc|avg|mean|running|cum)_|_(?:total|sum|acc)$/g, '');
  const plural = /loss$/.test(bare)
    ? `${bare}es`
    : /^(?:total|sum|acc|accum)$/.test(bare)
      ? 'terms'
      : `${bare}_terms`;
  return [plural, `${name}_terms`, `${name}_term_list`].find((candidate) =>
    freeName(module, candidate, scope),
  );
}

function shown(node: PyNode): string {
  const text = node.text.replace(/\s+/g, ' ');
  return text.length <= 50 ? text : `${text.slice(0, 49)}…`;
}
