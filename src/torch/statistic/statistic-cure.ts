import { isMaker } from '../../library/library.js';
import { type AttributeUse, plainAttributes } from '../../semantic/attribute-uses.js';
import { flagAt } from '../../semantic/flag-branch.js';
import { type Gate, gate, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { areAlternatives } from '../../semantic/paths.js';
import { ask } from '../../semantic/question.js';
import { enclosingFunction, isTarget } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { usesOf, valueOf } from '../../values/index.js';
import { readGatesElsewhere, tensorRead } from '../../values/uses/tensor-read.js';
import { recordsNoGraph, runsWithoutGrad } from '../../values/value/gradient.js';
import { runsInForward } from '../module/modules.js';
import { reflectionGates } from '../module/reflection.js';
import { hasDetach, ONLY_READ } from '../questions.js';
import { inPlaceGates, startOf } from './in-place-statistic.js';
import { type RunningStatistic, runningStatistics } from './running-statistic.js';

export type Cure = 'buffer' | 'detach';

/**
 * What mends a running statistic: a buffer that is updated in place where that can work, `.detach()` where its updates keep
 * graphs and no such buffer is proven. Both may do: of them the one that is proven is safe.
 */
export function curesFor(module: PyModule, statistic: RunningStatistic): readonly Cure[] {
  if (statistic.registration === 'parameter') return [];
  const leaks = statistic.updates.some(({ target, fresh }) => keepsGraph(module, target, fresh));
  const holds = leaks && mayHoldTensor(module, statistic);
  // Dictionaries mostly hold averages of Python numbers.
  const isOfElements = statistic.updates.some(({ target }) => target.type === 'subscript');
  if (isOfElements && !holdsTensors(module, statistic)) return [];
  const averages = statistic.updates.every(({ isAverage }) => isAverage);
  if (statistic.registration !== 'buffer' && averages && startOf(module, statistic) !== undefined) {
    const { gates, likely } = inPlaceGates(module, statistic);
    const possible = gates.every(({ answer }) => answer !== 'no') && likely;
    if (!holds) return ['buffer'];
    if (!possible) return ['detach'];
    return isProven(gates) || !isProven(detachGates(module, statistic)) ? ['buffer'] : ['buffer', 'detach'];
  }
  return holds ? ['detach'] : [];
}

export function statisticsCuredBy(module: PyModule, cure: Cure): readonly RunningStatistic[] {
  return runningStatistics(module).filter((statistic) => curesFor(module, statistic).includes(cure));
}

function isProven(gates: readonly Gate[]): boolean {
  return gates.every(({ answer }) => answer === 'yes');
}

/** Storing this value in `target` keeps the graph that computed it alive until the next call, which keeps it in turn. */
export function keepsGraph(module: PyModule, target: PyNode, value: PyNode): boolean {
  const known = module.memo(nothingKept, target);
  const answer = known.get(value) ?? isGraphKept(module, target, value);
  known.set(value, answer);
  return answer;
}

/** By value. Classes of one family ask about the same ones. */
function nothingKept(): Map<PyNode, boolean> {
  return new Map();
}

function isGraphKept(module: PyModule, target: PyNode, value: PyNode): boolean {
  const owner = enclosingFunction(target);
  return (
    owner !== undefined &&
    !recordsNoGraph(module, target) &&
    runsInForward(module, owner) &&
    !runsWithoutGrad(module, owner) &&
    valueOf(module, value).mayHaveGraph(target.text)
  );
}

/** An average that starts as a Python number is one, unless what is folded in is provably a tensor. */
function mayHoldTensor(module: PyModule, { updates, otherWrites }: RunningStatistic): boolean {
  const kinds = updates.map(({ fresh }) =>
    valueOf(module, fresh).isTensor ? 'tensor' : valueOf(module, fresh).kind,
  );
  if (kinds.includes('tensor') || kinds.includes('scalar-tensor')) return true;
  if (kinds.includes('number')) return false;
  return !otherWrites.some(({ node }) => {
    const value = node.parent?.right;
    return value !== undefined && valueOf(module, value).isNumber === 'yes';
  });
}

/** What is averaged in a list or dictionary is a tensor, or what it starts with is made by torch. */
function holdsTensors(module: PyModule, { updates, otherWrites }: RunningStatistic): boolean {
  if (updates.every(({ fresh }) => valueOf(module, fresh).isTensor)) return true;
  return otherWrites.some(({ node }) =>
    [...(node.parent?.right?.walk() ?? [])].some((inner) => {
      const callee = inner.type === 'call' ? inner.function : undefined;
      return callee !== undefined && isMaker(qualifiedName(module, callee) ?? '');
    }),
  );
}

/** The stored values that must lose their graph, in source order. */
export function valuesToDetach(
  module: PyModule,
  { updates, otherWrites }: RunningStatistic,
): readonly PyNode[] {
  const folded = updates.flatMap(({ target, fresh, first }) =>
    [fresh, ...(first === undefined ? [] : [first])].filter((value) => keepsGraph(module, target, value)),
  );
  const stored = otherWrites.flatMap(({ node }) => {
    const assignment = node.parent;
    let value = assignment?.left === node ? assignment.right : undefined;
    // Of `self.a = self.b = value`, both keep the value.
    while (value?.type === 'assignment') value = value.right;
    return value !== undefined && keepsGraph(module, node, value) ? [value] : [];
  });
  return [...new Set([...folded, ...stored])].sort((a, b) => a.start - b.start);
}

export function detachGates(module: PyModule, statistic: RunningStatistic): readonly Gate[] {
  const { classNode, name, updates, otherWrites, reads } = statistic;
  const self = `\`self.${name}\``;
  const plain = plainAttributes(module, classNode, name);
  const plainWrite = otherWrites.every(
    ({ node, kind }) => kind === 'write' && (isTarget(node) || isUnpackedAtStart(node)),
  );
  const taken = new Set(updates.flatMap(({ fresh, takesTensor }) => (takesTensor ? [fresh] : [])));
  const targets = updates.map(({ target }) => target);
  return [
    gate(
      !backwardsTwice(module),
      'the file differentiates a graph more than once, which may rely on the kept one',
    ),
    gate(plainWrite, `${self} is also changed in a way that is not a plain assignment`),
    plain,
    gate(!otherWrites.some(asksForGradient), `${self} is created to collect a gradient`),
    ...updates.flatMap(({ decay }) => (decay === undefined ? [] : [decayGate(module, decay)])),
    ...reads.map(({ node }) =>
      isEvaluationWithout(module, node, targets)
        ? evaluationGate(module, node, self)
        : readGate(module, node, self),
    ),
    ...readGatesElsewhere(
      module,
      classNode,
      name,
      { harm: 'need its graph', asked: 'work without its graph' },
      (there, node) => readGate(there, node, self),
      false,
    ),
    ...reflectionGates(module, classNode, name),
    ...valuesToDetach(module, statistic).map(
      (value): Gate => ({
        answer: valueOf(module, value).isTensor || taken.has(value) ? 'yes' : 'unknown',
        otherwise: hasDetach(shown(value)),
      }),
    ),
  ];
}

/** `torch.zeros(1, requires_grad=True)` and the like. */
function asksForGradient({ node }: AttributeUse): boolean {
  return /requires_grad(?!\s*=\s*False)/.test(node.parent?.right?.text ?? '');
}

function decayGate(module: PyModule, decay: PyNode): Gate {
  const number = valueOf(module, decay).isNumber;
  const learnt = number === 'no' && valueOf(module, decay).mayHaveGraph();
  return {
    answer: learnt ? 'no' : number === 'unknown' ? 'unknown' : 'yes',
    otherwise: {
      no: `\`${shown(decay)}\` is a tensor that may be learnt, and the statistic carries its gradient`,
      unknown: ask('python-number')`Is \`${shown(decay)}\` a Python number, and no learnt tensor?`,
    },
  };
}

/** `self.mean, self.var = zeros(n), ones(n)`: what the constructor sets has no graph of a call. */
function isUnpackedAtStart(node: PyNode): boolean {
  const isUnpacked = /^(?:pattern_list|tuple_pattern)$/.test(node.parent?.type ?? '');
  return isUnpacked && enclosingFunction(node)?.name?.text === '__init__';
}

/**
 * Evaluation reads what an earlier call has left. A backward through that call has used its graph up, so that a second one
 * raises: only one backward through both calls could need it.
 */
function evaluationGate(module: PyModule, node: PyNode, self: string): Gate {
  const read = readGate(module, node, self);
  const { use } = tensorRead(module, node);
  if (read.answer === 'yes' || use === 'changed' || use === 'graph') return read;
  return {
    answer: 'unknown',
    otherwise: ask(
      'separate-backward',
    )`Does a call that updates ${self} have a backward of its own, apart from later ones in evaluation mode?`,
  };
}

/** Whoever reads the statistic must not need the gradient that `.detach()` takes away. */
function readGate(module: PyModule, node: PyNode, self: string): Gate {
  const { use, detached, gradOff, logged } = tensorRead(module, node);
  const unknown = ask('only-read')`Is ${self} ${ONLY_READ} by all its readers?`;
  const because = (words: string): Gate => gate(false, words);
  if (use === 'graph' && !detached) return because(`${self} is asked whether it has a graph`);
  if (detached || use === 'number' || use === 'reset') return { answer: 'yes', otherwise: unknown };
  if (gradOff)
    return { answer: use === 'operand' || use === 'copied' ? 'yes' : 'unknown', otherwise: unknown };
  switch (use) {
    case 'returned':
      return because(`${self} is returned and may be differentiated by the caller`);
    case 'passed':
      if (logged) return { answer: 'unknown', otherwise: unknown };
      return because(`${self} is passed on and may carry a gradient, as a recurrent state does`);
    case 'changed':
      return because(`${self} is changed in place where gradients are recorded`);
    default:
      return resultGate(module, node, self);
  }
}

/** What is computed from the statistic with gradients on: an output needs its graph. */
function resultGate(module: PyModule, node: PyNode, self: string): Gate {
  const fates = usesOf(module, node);
  const needed = fates.some(
    ({ kind, node: end }) => kind === 'differentiated' || end.closest('return_statement') !== undefined,
  );
  const [end] = fates;
  return {
    answer: end === undefined ? 'yes' : needed ? 'no' : 'unknown',
    otherwise: {
      no: `${self} is read where gradients are recorded, so the output may need its graph`,
      unknown: ask(
        'computed-only-read',
      )`Is what is computed from ${self}${end && `, as \`${shown(end.node)}\`,`} ${ONLY_READ}?`,
    },
  };
}

/** `retain_graph=True` or `create_graph=True` somewhere in the file. */
function backwardsTwice(module: PyModule): boolean {
  return ['retain_graph', 'create_graph'].some((name) =>
    module.at(name).some((hit) => {
      const keyword = hit.parent;
      return keyword?.type === 'keyword_argument' && keyword.value?.type !== 'false';
    }),
  );
}

/** A place is only reached in evaluation mode, and never in a call that comes by any of the others. */
function isEvaluationWithout(module: PyModule, place: PyNode, others: readonly PyNode[]): boolean {
  return (
    flagAt(module, place, 'training') === false &&
    others.every((other) => flagAt(module, other, 'training') === true || areAlternatives(other, place))
  );
}
