import { isMaker } from '../../library/library.js';
import { NUMPY } from '../../library/names.js';
import { familyOf } from '../../semantic/attribute-uses.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { type Gate, gate, shown } from '../../semantic/gate.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask } from '../../semantic/question.js';
import { argumentsOf, keywordArgument, methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { type TensorRead, tensorRead } from '../../values/uses/tensor-read.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import type { RunningStatistic, Update } from './running-statistic.js';

/** What must hold for `old * decay + fresh * gain` to be the same as `old.mul_(decay).add_(fresh, alpha=gain)` without gradients. */
export function updateGates(
  module: PyModule,
  { classNode, name }: RunningStatistic,
  { target, fresh, decay, gain }: Update,
): readonly Gate[] {
  const self = `\`self.${name}\``;
  const value = `\`${shown(fresh)}\``;
  const gradOff = recordsNoGraph(module, target);
  const gates = [decay, gain].flatMap((factor): Gate[] =>
    factor === undefined
      ? []
      : [
          {
            answer: valueOf(module, factor).isNumber,
            otherwise: {
              no: `\`${shown(factor)}\` is a tensor, and \`alpha=\` takes a Python number`,
              unknown: ask('python-number')`Is \`${shown(factor)}\` a Python number?`,
            },
          },
        ],
  );
  const moved = cpuSource(module, fresh);
  if (moved !== undefined)
    gates.push(refuse(`\`${shown(moved)}\` is on the CPU, and the buffer follows the module to its device`));
  if (ingredient(module, fresh, doubles) !== undefined)
    gates.push(refuse(`${value} is of double precision, which ${self} would no longer take over`));
  for (const node of fresh.walk()) {
    if (['named_expression', 'await', 'yield', 'lambda'].includes(node.type))
      gates.push(refuse(`${value} does more than compute a value`));
    if (
      node.type === 'attribute' &&
      node.text === `self.${name}` &&
      tensorRead(module, node).use !== 'number'
    )
      gates.push(refuse(`${value} reads ${self}, which would already have changed`));
    if (node.type !== 'call') continue;
    const call = methodName(node) ?? '';
    const callee = node.function;
    if (callee !== undefined && runsOtherCode(module, node)) {
      const own = familyOf(module, classNode).some((each) => module.scopeOf(each).has(call));
      if (!gradOff)
        gates.push(refuse(`\`${shown(callee)}()\` would run inside \`torch.no_grad()\` as part of ${value}`));
      else if (own) gates.push(refuse(`\`${shown(callee)}()\` may read ${self} while it changes`));
    }
  }
  return gates;
}

function refuse(no: string): Gate {
  return gate(false, no);
}

/** A layer or a function of the project; torch's own functions and the methods of tensors are not. */
function runsOtherCode(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined || qualifiedName(module, callee) !== undefined) return false;
  if (callee.type === 'identifier') return module.resolve(callee) !== undefined;
  const receiver = receiverOf(call);
  if (receiver === undefined) return true;
  if (receiver.type === 'identifier' && receiver.text === 'self') return true;
  return (
    callee.type === 'attribute' &&
    receiver.text.startsWith('self.') &&
    valueOf(module, receiver).kind === 'unknown'
  );
}

/** In-place changes reach whoever holds the tensor, and what autograd has saved of it. */
export function inPlaceReadGate(
  self: string,
  { use, detached, gradOff, logged }: TensorRead,
  carriesGraph: boolean,
): Gate {
  const unknown = ask(
    'reads-and-forgets',
  )`Does every reader of ${self} let go of it before it changes again?`;
  const because = (no: string): Gate => gate(false, no);
  switch (use) {
    case 'number':
    case 'reset':
      return { answer: 'yes', otherwise: unknown };
    case 'graph':
      return because(`${self} is asked whether it has a graph`);
    case 'copied':
      if (!carriesGraph || detached || gradOff) return { answer: 'yes', otherwise: unknown };
      return because(`${self} is copied with its graph, and the copy would lose its gradient`);
    case 'operand':
      if (gradOff) return { answer: 'yes', otherwise: unknown };
      return because(
        `${self} is read where gradients are recorded, and backward would find it modified in place`,
      );
    case 'returned':
      return because(`${self} is returned, and the caller's tensor would change with every update`);
    case 'kept':
      return because(`${self} is kept under another name, which would change with every update`);
    case 'changed':
      return because(`${self} is also changed in place elsewhere`);
    case 'passed':
      if (logged || gradOff) return { answer: 'unknown', otherwise: unknown };
      return because(`${self} is passed on where gradients are recorded, and may be saved for backward`);
  }
}

/** The call of this kind that a value comes from, in the expression or in what its names were given. */
function ingredient(
  module: PyModule,
  expression: PyNode,
  is: (module: PyModule, call: PyNode) => boolean,
  seen = new Set<PyNode>(),
): PyNode | undefined {
  for (const node of expression.walk()) {
    if (node.type === 'call' && is(module, node)) return node;
    if (node.type !== 'identifier' || node.parent?.attribute === node) continue;
    for (const found of reachingDefinitions(module, node) ?? []) {
      if (found.kind === 'with' || !('value' in found) || seen.has(found.node)) continue;
      seen.add(found.node);
      const source = ingredient(module, found.value, is, seen);
      if (source !== undefined) return source;
    }
  }
  return undefined;
}

/** Makes something of double precision. */
function doubles(_module: PyModule, call: PyNode): boolean {
  return methodName(call) === 'double' || argumentsOf(call).some(({ text }) => text.includes('float64'));
}

/** The call that puts a value on the CPU wherever its inputs are. */
export function cpuSource(module: PyModule, expression: PyNode): PyNode | undefined {
  return ingredient(module, expression, movesToCpu);
}

function movesToCpu(module: PyModule, call: PyNode): boolean {
  const name = methodName(call) ?? '';
  if (name === 'cpu' || name === 'numpy') return true;
  if (
    argumentsOf(call).some(({ text }) => /^(?:device\s*=\s*)?(?:torch\.device\()?["']cpu["']\)?$/.test(text))
  )
    return true;
  const path = calledPath(module, call);
  if (path === undefined) return false;
  return path.startsWith(NUMPY) || (isMaker(path) && keywordArgument(call, 'device') === undefined);
}
