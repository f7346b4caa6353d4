import { row } from '../library/library.js';
import { DEEPCOPY } from '../library/names.js';
import { isModelMaker, isModuleClass, OTHER_OPTIMIZERS, UNSLOTH_LOADS } from '../library/paths.js';
import { methodCallsAt } from '../semantic/called-name.js';
import { ancestryOf, calledDefinition } from '../semantic/definitions.js';
import { definedElsewhere } from '../semantic/elsewhere.js';
import { calledPath } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, keywordValue, ownNodes, receiverOf, unparenthesized } from '../semantic/statements.js';
import { isTestCode } from '../semantic/test-code.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import { modelLoad } from '../torch/huggingface/pretrained.js';

/** A call that makes a model, and the file that it is in. */
export interface Maker {
  readonly module: PyModule;
  readonly call: PyNode;
}

/** What a script trains. */
export interface Trained {
  /** As it is written: `model`, `self.model`. */
  readonly texts: ReadonlySet<string>;
  /** The calls that may have made it. */
  readonly makers: readonly Maker[];
}

/** What optimizers get the parameters of, or a trainer as its model. */
export function trainedIn(module: PyModule, trainers: readonly PyNode[]): Trained {
  const given = trainers.flatMap((call) => keywordValue(call, 'model') ?? argumentsOf(call)[0] ?? []);
  const optimized = methodCallsAt(module, '.parameters(', '.named_parameters(').flatMap((call) =>
    isOptimized(module, call) && !isTestCode(module, call) ? (receiverOf(call) ?? []) : [],
  );
  const subjects = [...given, ...optimized].filter(
    ({ type }) => type === 'identifier' || type === 'attribute',
  );
  return {
    texts: new Set(subjects.map(({ text }) => text)),
    makers: subjects.flatMap((subject) => makersOf(module, subject)),
  };
}

function isOptimized(module: PyModule, parameters: PyNode): boolean {
  return [...parameters.ancestors()].some((node) => node.type === 'call' && isOptimizer(module, node));
}

export function isOptimizer(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call) ?? '';
  return row(path)?.is === 'optimizer' || OTHER_OPTIMIZERS.test(path);
}

/** Methods of a module that give it back. */
const ITSELF = /^(?:to|cuda|half|float|double|bfloat16|train|eval|requires_grad_|apply)$/;

/** Names of names, wrappers and functions are followed this far. */
const MAX_HOPS = 8;

/** The calls that may have made a model: through variables, wrappers, and functions of the project that return it. */
export function makersOf(module: PyModule, expression: PyNode): readonly Maker[] {
  const seen = new Set<PyNode>();
  const found: Maker[] = [];
  const follow = (home: PyModule, given: PyNode | undefined, hops: number): void => {
    const node = given && unparenthesized(given);
    if (node === undefined || hops > MAX_HOPS || seen.has(node)) return;
    seen.add(node);
    const next = (inner: PyNode | undefined, there = home) => follow(there, inner, hops + 1);
    if (node.type === 'identifier')
      for (const way of waysReaching(home, node)) {
        if (way.kind === 'value') next(way.value);
        if (way.kind === 'part') part(home, way.node, way.value, next);
      }
    if (node.type === 'attribute') for (const value of assignedTo(home, node)) next(value);
    if (node.type === 'conditional_expression') for (const each of [node.named[0], node.named[2]]) next(each);
    if (node.type !== 'call') return;
    if (makesModel(home, node)) {
      found.push({ module: home, call: node });
      return;
    }
    const called = definitionOf(home, node);
    if (called?.node.type === 'function_definition') {
      for (const value of returnsOf(called.node)) next(value, called.module);
      return;
    }
    const callee = node.function;
    if (calledPath(home, node) === DEEPCOPY) return;
    if (callee?.type === 'attribute' && ITSELF.test(callee.attribute?.text ?? '')) {
      next(callee.object);
      return;
    }
    const first = argumentsOf(node)[0];
    next(first?.type === 'keyword_argument' ? first.value : first);
  };
  follow(module, expression, 0);
  return found;
}

type Next = (inner: PyNode | undefined, there?: PyModule) => void;

/** `model` of `model, tokenizer = load()` and of `model, optimizer = accelerator.prepare(model, optimizer)`. */
function part(module: PyModule, target: PyNode, value: PyNode, next: Next): void {
  const at = target.parent?.named.indexOf(target) ?? -1;
  if (value.type !== 'call' || at < 0) return;
  if (makesModel(module, value)) {
    // Of what is loaded together the first is the model.
    if (at === 0) next(value);
    return;
  }
  const called = definitionOf(module, value);
  if (called?.node.type !== 'function_definition') {
    next(argumentsOf(value)[at]);
    return;
  }
  for (const returned of returnsOf(called.node))
    if (/tuple|expression_list/.test(returned.type)) next(returned.named[at], called.module);
}

function makesModel(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call) ?? '';
  if (modelLoad(module, call) !== undefined || UNSLOTH_LOADS.test(path)) return true;
  const called = definitionOf(module, call);
  if (called === undefined) return isModelMaker(path) && !isModuleClass(path) && !path.startsWith('peft.');
  return (
    called.node.type === 'class_definition' &&
    ancestryOf(called.module, called.node).imported.some((each) => isModelMaker(each))
  );
}

/** The function or class of the project that a call runs. */
export function definitionOf(
  module: PyModule,
  call: PyNode,
): { readonly module: PyModule; readonly node: PyNode } | undefined {
  const own = calledDefinition(module, call);
  if (own !== undefined) return { module, node: own };
  const path = calledPath(module, call);
  return path === undefined ? undefined : definedElsewhere(module, path);
}

function returnsOf(functionNode: PyNode): readonly PyNode[] {
  return ownNodes(functionNode).flatMap((node) =>
    node.type === 'return_statement' ? (node.named[0] ?? []) : [],
  );
}

/** What `self.model` is given anywhere in the file. */
export function assignedTo(module: PyModule, attribute: PyNode): readonly PyNode[] {
  const name = attribute.attribute?.text ?? '';
  return module.words(name).flatMap(({ parent }) => {
    const assignment = parent?.parent;
    const isIt = assignment?.type === 'assignment' && assignment.left === parent;
    return isIt && parent?.text === attribute.text ? (assignment.right ?? []) : [];
  });
}
