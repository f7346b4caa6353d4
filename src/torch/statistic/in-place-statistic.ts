import { isFresh, isMaker, row } from '../../library/library.js';
import { HALF_DTYPES } from '../../library/names.js';
import type { Answer } from '../../semantic/answer.js';
import { isNamedAnywhere } from '../../semantic/anywhere.js';
import { plainAttributes } from '../../semantic/attribute-uses.js';
import { type Gate, gate, shown } from '../../semantic/gate.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { initialisesBefore } from '../../semantic/instance.js';
import type { PyModule } from '../../semantic/module.js';
import { ask } from '../../semantic/question.js';
import {
  argumentsOf,
  enclosingFunction,
  keywordArgument,
  keywordValue,
  methodName,
  ownNodes,
  receiverOf,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { type Value, valueOf } from '../../values/index.js';
import { readGatesElsewhere, tensorRead } from '../../values/uses/tensor-read.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { isLayer } from '../../values/value/proven-tensor.js';
import { type Fit, fits, isSingle } from '../../values/value/shape.js';
import { reflectionGates } from '../module/reflection.js';
import { wrappingGates } from '../training/wrapping.js';
import { inPlaceReadGate, updateGates } from './in-place-update.js';
import type { RunningStatistic } from './running-statistic.js';

export interface Start {
  readonly statement: PyNode;
  /** The factory call that makes the tensor. */
  readonly factory: PyNode;
}

/** The one `self.name = <factory>` of an `__init__`; undefined where the statistic does not start as a plain new tensor. */
export function startOf(module: PyModule, { otherWrites }: RunningStatistic): Start | undefined {
  const initial = otherWrites.filter(
    ({ node, certain }) => certain && enclosingFunction(node)?.name?.text === '__init__',
  );
  const [only] = initial;
  const assignment = only?.node.parent;
  const factory = assignment?.right;
  if (only === undefined || initial.length !== 1 || factory === undefined || assignment === undefined)
    return undefined;
  if (assignment.type !== 'assignment' || assignment.left !== only.node) return undefined;
  const statement = assignment.parent;
  return statement?.type === 'expression_statement' && isFactory(module, factory)
    ? { statement, factory }
    : undefined;
}

/** `torch.zeros(…)`, also with `.to(…)` or the like behind it. */
function isFactory(module: PyModule, expression: PyNode): boolean {
  if (expression.type !== 'call') return false;
  const path = calledPath(module, expression);
  if (path !== undefined) return isMaker(path) && isFresh(row(path));
  const receiver = receiverOf(expression);
  const moved = ['to', 'cuda', 'cpu', 'float', 'double', 'fill_'].includes(methodName(expression) ?? '');
  return moved && receiver !== undefined && isFactory(module, receiver);
}

/** Everything that must hold for `register_buffer` and `mul_().add_()` to do what the assignments did. */
export function inPlaceGates(
  module: PyModule,
  statistic: RunningStatistic,
): { readonly gates: readonly Gate[]; readonly likely: boolean } {
  const start = startOf(module, statistic);
  if (start === undefined)
    return { gates: [gate(false, 'it does not start as a new tensor')], likely: false };
  const { classNode, name, updates, reads, registration } = statistic;
  const self = `\`self.${name}\``;
  const plain = plainAttributes(module, classNode, name);
  const shape = valueOf(module, start.factory).shape;
  const fit = worst(updates.map(({ fresh }) => fitOf(module, fresh, shape)));
  const device = deviceOf(module, start, statistic, shape);
  const carriesGraph = updates.some(
    ({ target, fresh }) =>
      !recordsNoGraph(module, target) && valueOf(module, fresh).mayHaveGraph(target.text),
  );
  const single = shape !== undefined && isSingle(shape) && fit !== 'yes';
  return {
    likely: !single && fit !== 'unknown' && device !== 'unknown',
    gates: [
      ...wrappingGates(module, classNode, name),
      {
        answer: registration === 'none' ? 'yes' : 'unknown',
        otherwise: ask('unregistered')`Is ${self} a plain attribute wherever names of buffers are computed?`,
      },
      plain,
      ...startGates(module, start, self),
      ...otherWriteGates(statistic, start, self),
      ...updates.flatMap((update) => updateGates(module, statistic, update)),
      ...reads.map(({ node }) => inPlaceReadGate(self, tensorRead(module, node), carriesGraph)),
      ...readGatesElsewhere(
        module,
        classNode,
        name,
        { harm: 'not see it change in place', asked: 'work as well when it changes in place' },
        (there, read) => inPlaceReadGate(self, tensorRead(there, read), carriesGraph),
        true,
      ),
      ...reflectionGates(module, classNode, name),
      {
        answer: device,
        otherwise: ask(
          'same-device',
        )`Is the module on the device of the new value of ${self} (it has no dimensions, and assignment changed its device)?`,
      },
      gate(!single, `${self} starts with one element and may grow by broadcasting, which raises in place`),
      {
        answer: fit === 'yes' ? 'yes' : fit === 'no' ? 'no' : 'unknown',
        otherwise: {
          no: `the new value is larger than ${self}, which raises in place`,
          unknown: ask(
            'same-shape',
          )`Does the new value have the shape of ${self} (a larger one raises in place)?`,
        },
      },
    ],
  };
}

function fitOf(module: PyModule, fresh: PyNode, shape: Value['shape']): Fit {
  const value = valueOf(module, fresh).shape;
  if (value !== undefined && value.dimensions.length === 0 && !value.open) return 'yes';
  return shape === undefined ? 'unknown' : fits(value, shape);
}

/**
 * A tensor without dimensions on the CPU may be averaged with one on the GPU, which makes the result follow; in place it
 * cannot. A layer called beside the update shows that the module is where the data are. Other shapes raise today.
 */
function deviceOf(
  module: PyModule,
  { factory }: Start,
  { updates, otherWrites }: RunningStatistic,
  shape: Value['shape'],
): 'yes' | 'unknown' {
  const flat = shape === undefined || (shape.dimensions.length === 0 && !shape.open);
  if (!flat || keywordDeep(factory, 'device') !== undefined) return 'yes';
  if (otherWrites.length > 1) return 'unknown';
  return updates.every(({ target, fresh }) => {
    if (valueOf(module, fresh).kind === 'number') return true;
    const owner = enclosingFunction(target);
    return (
      owner !== undefined && ownNodes(owner).some((node) => node.type === 'call' && isLayer(module, node))
    );
  })
    ? 'yes'
    : 'unknown';
}

function worst(found: readonly Fit[]): Fit {
  return (['no', 'unknown', 'likely'] as const).find((fit) => found.includes(fit)) ?? 'yes';
}

function startGates(module: PyModule, { statement, factory }: Start, self: string): readonly Gate[] {
  const init = enclosingFunction(statement);
  const assignment = statement.named[0];
  const asked = keywordDeep(factory, 'requires_grad');
  const dtype = floatingStart(module, factory);
  return [
    gate(statement.parent === init?.body, `${self} is created on some paths of \`__init__\` only`),
    gate(
      init !== undefined && initialisesBefore(module, init, statement),
      `\`super().__init__()\` does not run before ${self} is created`,
    ),
    gate(assignment?.field('type') === undefined, `${self} is created with a type annotation`),
    gate(asked === undefined || asked.type === 'false', `${self} is created with \`requires_grad\``),
    {
      answer: dtype,
      otherwise: {
        no: `${self} is created with a dtype that cannot hold the average in place`,
        unknown: ask('full-precision')`Does ${self} hold 32- or 64-bit floating-point numbers?`,
      },
    },
    {
      answer: isNamedAnywhere(module, 'inference_mode') ? 'unknown' : 'yes',
      otherwise: ask(
        'changeable',
      )`Is ${self} created outside of \`inference_mode()\`, after which it cannot be changed in place?`,
    },
  ];
}

function keywordDeep(call: PyNode, name: string): PyNode | undefined {
  const own = keywordValue(call, name);
  const receiver = receiverOf(call);
  return own ?? (receiver?.type === 'call' ? keywordDeep(receiver, name) : undefined);
}

/** Integers raise in place, and half precision would no longer be widened by what is added. */
function floatingStart(module: PyModule, factory: PyNode): Answer {
  for (const node of factory.walk()) {
    const path = node.type === 'attribute' ? qualifiedName(module, node) : undefined;
    if (path !== undefined && HALF_DTYPES.has(path)) return 'no';
  }
  const known = valueOf(module, factory).isFloating;
  const callee = factory.function;
  const isFull = callee !== undefined && qualifiedName(module, callee)?.endsWith('.full');
  if (!isFull || keywordArgument(factory, 'dtype') !== undefined) return known;
  const value = keywordValue(factory, 'fill_value') ?? argumentsOf(factory)[1];
  return value === undefined ? 'unknown' : valueOf(module, value).isFloating;
}

/** A buffer takes another tensor, but no number, and `None` only to be gone. */
function otherWriteGates(
  { name, otherWrites }: RunningStatistic,
  start: Start,
  self: string,
): readonly Gate[] {
  return otherWrites
    .filter(({ node }) => !start.statement.contains(node))
    .map(({ node, kind }) => {
      const assignment = node.parent;
      const value =
        assignment?.type === 'assignment' && assignment.left === node ? assignment.right : undefined;
      const same = value !== undefined && words(value) === words(start.factory) && kind === 'write';
      const like =
        value?.type === 'call' &&
        /(?:zeros|ones)_like$/.test(value.function?.text ?? '') &&
        argumentsOf(value)[0]?.text === `self.${name}`;
      const place = value === undefined ? (assignment ?? node) : value;
      return gate(same || like, `${self} is also given another value, \`${shown(place)}\``);
    });
}

function words(node: PyNode): string {
  return node.text.replace(/\s+/g, '');
}
