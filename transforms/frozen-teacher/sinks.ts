import { cutsGraph, ofTensor, row } from '../../src/library/library.js';
import { classAround } from '../../src/semantic/definitions.js';
import { reachingDefinitions } from '../../src/semantic/flow.js';
import { functionUses } from '../../src/semantic/function-uses.js';
import { shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { itemsOf } from '../../src/semantic/loop-items.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isRedefined } from '../../src/semantic/project-names.js';
import { ask } from '../../src/semantic/question.js';
import { remembered } from '../../src/semantic/remembered.js';
import {
  argumentsOf,
  enclosingFunction,
  isCallee,
  keywordValue,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { within } from '../../src/syntax/within.js';
import { backwards } from '../../src/torch/grad/backward-calls.js';
import { type GradDoubt, no, unknown } from '../../src/torch/grad/doubts.js';
import { traceGraph } from '../../src/torch/module/networks.js';
import { ONLY_READ } from '../../src/torch/questions.js';
import { gradUseElsewhere } from '../../src/values/effects/elsewhere.js';
import { reachesGradUse } from '../../src/values/effects/grad.js';
import { valueOf } from '../../src/values/index.js';
import { endsGraph } from '../../src/values/value/ends-graph.js';
import { recordsNoGraph } from '../../src/values/value/gradient.js';
import { definitionCalled } from './called.js';
import { elementWith, isCutWhereRead, readsAt, readsOf, targetsGiven } from './detached.js';
import { fateOf } from './fate.js';
import { isLoss } from './inputs.js';
import type { TeacherRun } from './sites.js';
import { givenByTrainer } from './trainer.js';

/** `net(x).detach()` */
function isCut(module: PyModule, value: PyNode): boolean {
  const node = unparenthesized(value);
  const name = node.type === 'call' ? (methodName(node) ?? '') : '';
  return cutsGraph(name) && receiverOf(node) !== undefined && !isRedefined(module, name);
}

const MAX_HOPS = 16;

/**
 * Where a value is differentiated that hangs on nothing but the network: without its graph, that would raise. A value that
 * a network which is trained has a part in may be differentiated as before.
 */
export function* differentiatedAlone(
  module: PyModule,
  run: TeacherRun,
  networks: ReadonlySet<string>,
): Generator<GradDoubt> {
  const seen = new Set<PyNode>();
  const pending: { readonly read: PyNode; readonly hops: number }[] =
    run.targets.length > 0
      ? readsOf(module, run).map((read) => ({ read, hops: 0 }))
      : [{ read: run.value, hops: 0 }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { read, hops } = at;
    if (seen.has(read) || isCutWhereRead(module, read)) continue;
    seen.add(read);
    const doubt = aloneAt(module, read, networks, run.beside, (more) => {
      for (const each of more) pending.push({ read: each, hops: hops + 1 });
      return hops < MAX_HOPS;
    });
    if (doubt !== undefined) yield doubt;
  }
}

function aloneAt(
  module: PyModule,
  read: PyNode,
  networks: ReadonlySet<string>,
  beside: readonly PyNode[],
  follow: (reads: readonly PyNode[]) => boolean,
): GradDoubt | undefined {
  const statement = statementOf(read);
  const name = shown(read);
  const only = ask('only-read');
  if (asksForGraph(module, read))
    return unknown(only`Is \`${name}\` ${ONLY_READ}, and its graph asked for by nobody?`);
  const backward = within(
    backwards(module).map(({ call, value }) => ({ start: call.start, end: call.end, value })),
    statement,
  ).find(({ value }) => value.contains(read));
  const inner = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const isAssignment = /^(?:augmented_)?assignment$/.test(inner?.type ?? '');
  const whole = isAssignment ? inner?.right : (backward?.value ?? inner ?? statement.named[0]);
  const value = whole && elementWith(module, whole, read);
  // `y[done] = 0.0` writes into it, with or without a graph.
  if (inner?.left?.type === 'subscript' && inner.left?.contains(read))
    return inner.right !== undefined && valueOf(module, inner.right).kind === 'number'
      ? undefined
      : unknown(only`Is \`${name}\` by itself ${ONLY_READ}?`);
  const given = statement.type === 'for_statement' ? targetsGiven(module, statement, read) : [];
  if (given.length > 0 && follow(given.flatMap((each) => readsAt(module, each) ?? []))) return undefined;
  if (value === undefined || !value.contains(read)) {
    return /^(?:if|while|assert|delete)_statement$|^elif_clause$/.test(statement.type)
      ? undefined
      : unknown(only`Is \`${name}\` by itself ${ONLY_READ}?`);
  }
  const caller = callsAround(value, read).find((each) => differentiatesInside(module, each));
  if (caller !== undefined)
    return unknown(only`Is \`${name}\` by itself ${ONLY_READ} in \`${shown(caller)}\`?`);
  if (mixes(module, value, networks, beside)) return reentrant(module, value, read);
  if (backward !== undefined)
    return isTrainedSomehow(module, value, networks)
      ? unknown(ask('more-to-differentiate')`Does \`${shown(value)}\` also depend on what is trained?`)
      : no(`\`${shown(value)}\`, which is differentiated, may hang on nothing else`);
  if (isAssignment) {
    const reads = readsOfTarget(module, inner?.left);
    if (reads !== undefined && follow(reads)) return undefined;
  }
  if (statement.type === 'return_statement') {
    const reads = readsOfReturned(module, enclosingFunction(statement));
    if (reads !== undefined && follow(reads)) return undefined;
  }
  return unknown(only`Is \`${name}\` by itself ${ONLY_READ}?`);
}

/** `torch.autograd.grad(loss, y)`, `y.requires_grad`, `y.retain_grad()`, `y.register_hook(f)`. */
function asksForGraph(module: PyModule, read: PyNode): boolean {
  const name = read.parent?.type === 'attribute' ? (read.parent.attribute?.text ?? '') : '';
  if (/^(?:requires_grad_?|grad|grad_fn|is_leaf|retain_grad|register_hook|retains_grad)$/.test(name))
    return true;
  for (const around of read.ancestors()) {
    if (around.type === 'block' || around.type === 'module') return false;
    const callee = around.type === 'call' ? around.function : undefined;
    const path = callee && qualifiedName(module, callee);
    if (path !== undefined && row(path)?.differentiates === true) return true;
    if (around.type === 'keyword_argument' && around.name?.text === 'inputs') return true;
  }
  return false;
}

/** A function of the project that uses gradients itself. */
function differentiatesInside(module: PyModule, call: PyNode): boolean {
  const found = definitionCalled(module, call);
  if (found === undefined) return gradUseElsewhere(module, call.function ?? call) !== undefined;
  return reachesGradUse(found.module, found.node);
}

/** A reentrant checkpoint records nothing where none of its inputs has a graph: a network that gets the value may have one. */
function reentrant(module: PyModule, value: PyNode, read: PyNode): GradDoubt | undefined {
  const [callee] = callsAround(value, read)
    .map((call) => call.function ?? call)
    .filter((each) => qualifiedName(module, each) === undefined && !isLoss(module, each));
  return callee !== undefined && namesCheckpoint(module)
    ? unknown(
        ask(
          'checkpoints-without-graph',
        )`Do the checkpoints in \`${shown(callee)}\` work without the graph of \`${shown(read)}\`?`,
      )
    : undefined;
}

/** Some file of the project runs parts of a forward again in the backward. */
export const namesCheckpoint = remembered((module: PyModule): boolean => {
  const elsewhere = module.around.summaries({ word: 'checkpoint', beside: [] }, importsCheckpoint);
  return importsCheckpoint(module) || elsewhere === undefined || elsewhere.includes(true);
});

/** `torch.utils.checkpoint(net)` calls what cannot be called: it checkpoints nothing. */
const CHECKPOINT =
  /utils\.checkpoint(?![ \t]*\()|torch\.utils\s+import[\s\w,(\\]*?\bcheckpoint\b|gradient_checkpointing/;

function importsCheckpoint(module: PyModule): boolean {
  return module.mentions(CHECKPOINT);
}

/** The calls among whose arguments a read is, the innermost first. */
function callsAround(value: PyNode, read: PyNode): readonly PyNode[] {
  return [...read.ancestors()].filter(
    (around) => value.contains(around) && around.type === 'call' && around.arguments?.contains(read) === true,
  );
}

function readsOfTarget(module: PyModule, target: PyNode | undefined): readonly PyNode[] | undefined {
  const names = target === undefined ? [] : /pattern|tuple|list/.test(target.type) ? target.named : [target];
  const reads = names.map((each) => readsAt(module, each));
  return reads.length === 0 || reads.includes(undefined) ? undefined : reads.flatMap((each) => each ?? []);
}

/** The calls of a function, where all of them are in the file. */
function readsOfReturned(module: PyModule, functionNode: PyNode | undefined): readonly PyNode[] | undefined {
  const name = functionNode?.name;
  if (functionNode === undefined || name === undefined) return undefined;
  const calls = functionUses(module, functionNode).map((use) => {
    const callee = use.parent?.attribute === use ? use.parent : use;
    return isCallee(callee) ? callee.parent : undefined;
  });
  if (calls.length === 0 || calls.includes(undefined)) return undefined;
  const { uses, unread } = usesElsewhere(module, name, { may: () => true, byName: true });
  return uses.length > 0 || unread !== undefined ? undefined : calls.flatMap((call) => call ?? []);
}

/**
 * A network that an optimizer trains, a tensor that needs a gradient, or a run of the same network that keeps its graph,
 * certainly has a part in the value, with its graph.
 */
function mixes(
  module: PyModule,
  value: PyNode,
  networks: ReadonlySet<string>,
  beside: readonly PyNode[],
  open: readonly PyNode[] = [],
): boolean {
  const node = unparenthesized(value);
  if (open.includes(node) || open.length > MAX_DEPTH) return false;
  const inside = (inner: PyNode | undefined): boolean =>
    inner !== undefined && mixes(module, inner, networks, beside, [...open, node]);
  switch (node.type) {
    case 'identifier':
      return isMixed(module, node, inside);
    case 'attribute':
      return inside(node.object);
    case 'subscript':
    case 'keyword_argument':
    case 'pair':
      return inside(node.value);
    case 'conditional_expression':
      return inside(node.named[0]) && inside(node.named[2]);
    case 'list_comprehension':
    case 'set_comprehension':
    case 'generator_expression':
      return inside(node.body);
    case 'dictionary_comprehension':
    case 'comparison_operator':
    case 'not_operator':
    case 'boolean_operator':
    case 'lambda':
      return false;
    case 'call': {
      if (isCut(module, node) || recordsNoGraph(module, node)) return false;
      const callee = node.function;
      const path = callee && qualifiedName(module, callee);
      if (path !== undefined && row(path)?.graph === 'cut') return false;
      if (asksForGradient(node) || beside.includes(node)) return true;
      // `sum(loss(p) for p in found)`
      const given = node.arguments?.type === 'argument_list' ? argumentsOf(node) : [node.arguments];
      return isTrained(module, callee, networks) || [...given, receiverOf(node)].some(inside);
    }
    default:
      return node.named.some(inside);
  }
}

/** `torch.zeros(3, requires_grad=True)`, `x.requires_grad_()` */
function asksForGradient(call: PyNode): boolean {
  if (methodName(call) === 'requires_grad_') return argumentsOf(call).length === 0;
  return keywordValue(call, 'requires_grad')?.type === 'true';
}

const MAX_DEPTH = 16;

/** Whichever way a variable got its value. What is added to it leaves it in the sum. */
function isMixed(module: PyModule, name: PyNode, inside: (inner: PyNode | undefined) => boolean): boolean {
  const definitions = reachingDefinitions(module, name) ?? [];
  return (
    definitions.length > 0 &&
    definitions.every((found) => {
      if (recordsNoGraph(module, found.node)) return false;
      if (found.kind === 'update') return inside(found.value) || inside(found.node);
      if (found.kind === 'loop') return inside(itemsOf(module, found.node, found.iterable));
      return (found.kind === 'value' || found.kind === 'part') && inside(found.value);
    })
  );
}

/** `net` of `net(x)`, `net.encode(x)`: an optimizer of torch has its parameters. */
function isTrained(module: PyModule, callee: PyNode | undefined, networks: ReadonlySet<string>): boolean {
  const owner = callee?.type === 'attribute' ? callee.object : undefined;
  return [callee, owner].some((each) => {
    if (each === undefined || networks.has(each.text) || each.text === classAround(each)?.self) return false;
    if (qualifiedName(module, each) !== undefined) return false;
    const isName = each.type === 'identifier' && module.resolve(each) !== undefined;
    if (!isName && each.type !== 'attribute') return false;
    if (isName && isTrainers(module, each)) return true;
    const fate = fateOf(module, each);
    return fate.isTrained && !fate.isFrozen;
  });
}

/** The network that a trainer gives the loss which it differentiates. */
function isTrainers(module: PyModule, name: PyNode): boolean {
  const scope = module.resolve(name);
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, name.text);
  return only !== undefined && others.length === 0 && givenByTrainer(module, only) === 'network';
}

/** Another network may have: it is called, and nothing shows that it is not trained. */
function isTrainedSomehow(module: PyModule, value: PyNode, networks: ReadonlySet<string>): boolean {
  return networksIn(module, value, networks).length > 0;
}

/** What is called on the way to a value and may be a network, other than those in question; with its object, where it has one. */
export function networksIn(
  module: PyModule,
  value: PyNode,
  networks: ReadonlySet<string>,
): readonly PyNode[] {
  const found: PyNode[] = [];
  traceGraph(module, value, {
    call: (call) => {
      const callee = call.function;
      if (callee === undefined || qualifiedName(module, callee) !== undefined) return;
      if (recordsNoGraph(module, call) || isCutAbove(module, call)) return;
      // A method of a tensor.
      if (ofTensor(methodName(call) ?? '') !== undefined) return;
      const owner = callee.type === 'attribute' ? callee.object : undefined;
      for (const each of [callee, owner]) {
        if (each === undefined || networks.has(each.text) || each.text === classAround(call)?.self) continue;
        const isName = each.type === 'identifier' && module.resolve(each) !== undefined;
        if (isName || each.type === 'attribute') found.push(each);
      }
    },
  });
  return found;
}

/** `torch.argmax(net(x))`, `net(x) > 0`: what comes of it in the same statement has no graph. */
function isCutAbove(module: PyModule, call: PyNode): boolean {
  const statement = statementOf(call);
  for (const around of call.ancestors()) {
    if (around === statement) return false;
    if (around.type === 'comparison_operator') return true;
    const callee = around.type === 'call' ? around.function : undefined;
    const path = callee && qualifiedName(module, callee);
    if (path !== undefined && row(path)?.graph === 'cut') return true;
    if (
      callee !== undefined &&
      endsGraph(module, methodName(around) ?? '') &&
      !argumentsOf(around).some((each) => each.contains(call))
    )
      return true;
  }
  return false;
}
