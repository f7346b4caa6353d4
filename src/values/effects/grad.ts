import { packageOf, row } from '../../library/library.js';
import { AUTOGRAD, GRADIENT_CLUES, LR_SCHEDULERS } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { attributeValues } from '../../semantic/attributes.js';
import { classBehind } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { callGiven } from '../../semantic/given-away.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import { functionsAround, methodsByName, reachedFrom, reaching } from '../../semantic/reach.js';
import {
  argumentsOf,
  argumentValue,
  enclosingClass,
  isCallee,
  wholeName,
} from '../../semantic/statements.js';
import { readsOf, waysGiven } from '../../semantic/variables.js';
import { wordAround } from '../../semantic/word-places.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';
import type { Span } from '../../text/lines.js';
import { isOfKnownPackage } from '../value/plain.js';

/** A place that needs gradients, or sets them up. `words` completes "because it …". */
export interface GradUse {
  readonly node: PyNode;
  readonly words: string;
}

/** How the words about such a use begin. */
export const SETS_MODE = 'sets the grad mode';

/** Has `grad` in it, stands in every other file, and is no use of gradients by itself. */
const OTHER = /^(?:no_grad|\w*gradient_\w+)$/;

/** All uses of gradients that the file's own text shows, in source order per clue. */
export function gradUses(module: PyModule): readonly GradUse[] {
  return module.alone.memo(findGradUses, module.alone);
}

function findGradUses(module: PyModule): readonly GradUse[] {
  const found = new Map<PyNode, GradUse>();
  for (const clue of GRADIENT_CLUES) {
    const mayBe = (offset: number): boolean =>
      clue !== 'grad' || !OTHER.test(wordAround(module.text, offset));
    for (const node of module.atPlaces(clue, mayBe)) {
      const words = node.type === 'identifier' ? wordsFor(module, node) : undefined;
      const use = words === undefined ? undefined : { node, words };
      if (use !== undefined) found.set(node, use);
      for (const read of [...readsOfAlias(module, node), ...readsOf(module, use && aliasOf(use))])
        found.set(read, { node: read, words: `uses \`${read.text}\`` });
    }
  }
  return [...found.values()];
}

/** Where `d` of `from torch.autograd import grad as d` is used. */
function readsOfAlias(module: PyModule, imported: PyNode): readonly PyNode[] {
  const alias = imported.closest('aliased_import')?.alias;
  const path = alias === undefined || alias === imported ? undefined : importedPath(alias);
  return path !== undefined && row(path)?.differentiates === true ? readsOf(module, alias) : [];
}

/** A function that differentiates, which is not called where it stands. */
export function isFunctionUse({ node, words }: GradUse): boolean {
  return /^(?:uses|takes)\b/.test(words) && !isCallee(wholeName(node));
}

/** `p.requires_grad = True`, `x.requires_grad_()`: does the same in both modes. What the gradient is for shows by itself. */
export function setsFlag({ node }: GradUse): boolean {
  return /^requires_grad_?$/.test(node.text);
}

/** What holds it from then on: `score` of `score = partial(torch.autograd.grad)`. */
export function aliasOf(use: GradUse): PyNode | undefined {
  const whole = wholeName(use.node);
  const assignment = isFunctionUse(use)
    ? whole.closest('assignment', 'lambda', 'block', 'module')
    : undefined;
  return assignment?.right?.contains(whole) === true ? assignment.left : undefined;
}

function wordsFor(module: PyModule, identifier: PyNode): string | undefined {
  const name = identifier.text;
  const place = identifier.parent;
  if (place === undefined || importsOrDefines(identifier)) return undefined;
  const attribute = place.type === 'attribute' && place.attribute === identifier;
  const target = attribute ? place : identifier;
  const call = isCallee(target) ? target.parent : undefined;
  // A custom function keeps what its own backward needs, whatever the mode; a hook waits for a backward, which shows by itself.
  if (name === 'save_for_backward' || /backward_(?:pre_)?hooks?$/.test(name)) return undefined;
  if (/(?:^|_)backward(?:$|_(?!compat))/.test(name)) {
    if (attribute ? isLayer(module, target) : call === undefined && isComputed(module, identifier))
      return undefined;
    return call ? `calls \`${shown(target)}()\`` : `uses \`${name}\``;
  }
  switch (name) {
    case 'requires_grad_':
      return isFalse(argumentsOf(call ?? place)[0]) ? undefined : `calls \`${shown(target)}()\``;
    case 'requires_grad':
      return asksForGrad(identifier, target) ? 'asks for gradients with `requires_grad`' : undefined;
    case 'enable_grad':
    case 'set_grad_enabled':
      // As a statement, it holds for whoever comes after; behind `with`, off is off.
      return isFalse(argumentsOf(call ?? place)[0]) && call?.parent?.type !== 'expression_statement'
        ? undefined
        : `${SETS_MODE} with \`${name}\``;
    case 'create_graph':
    case 'retain_graph':
      return place.type === 'keyword_argument' ? `differentiates with \`${name}\`` : undefined;
    case 'step':
      return call !== undefined && attribute && isOptimizerStep(module, place, call)
        ? `calls \`${shown(place)}()\``
        : undefined;
    case 'scale':
      return call !== undefined && /scaler/i.test(target.object?.text ?? '')
        ? `calls \`${shown(target)}()\``
        : undefined;
    case 'grad_fn':
      return attribute ? `reads \`${shown(target)}\`` : undefined;
    case 'register_hook':
    case 'saved_tensors_hooks':
    case 'save_on_cpu':
    case 'clip_grad_norm_':
    case 'clip_grad_value_':
    case 'retain_grad':
    case 'unscale_':
      return call ? `calls \`${shown(target)}()\`` : undefined;
  }
  const path = qualifiedName(module, target);
  if (path !== undefined && packageOf(path)?.foreign === true) return undefined;
  if (name === 'value_and_grad' || name === 'grad_and_value')
    return call ? `calls \`${shown(target)}()\`` : undefined;
  if (path !== undefined && row(path)?.differentiates) return `uses \`${shown(target)}\``;
  // `getattr(torch.autograd, name)`
  if (path === AUTOGRAD && callGiven(target) !== undefined) return `takes something of \`${shown(target)}\``;
  if (name !== 'grad') return undefined;
  if (attribute) return `reads \`${shown(target)}\``;
  return call !== undefined && module.resolve(identifier) === undefined ? 'calls `grad()`' : undefined;
}

/** `self.backward_rnn`, the other direction of a recurrent network: a layer of torch or a class of the file, which is followed. */
function isLayer(module: PyModule, attribute: PyNode): boolean {
  const values = attributeValues(module, attribute) ?? [];
  return (
    values.length > 0 &&
    values.every((value) => {
      const path = value.type === 'call' ? calledPath(module, value) : undefined;
      return path === undefined ? classBehind(module, value) !== undefined : isModuleClass(path);
    })
  );
}

/** `forward, backward = output.chunk(2, -1)`: a variable that holds what was computed, which is given to torch at most. */
function isComputed(module: PyModule, name: PyNode): boolean {
  const ways = waysGiven(module, name);
  // `backward_edge = fit(points)`: whoever makes a function that differentiates, does so itself, where it shows.
  if (name.text !== 'backward' && ways.length > 0 && ways.every(({ kind }) => MADE.has(kind))) return true;
  // A list is no function; one that it may hold shows where it is put in.
  if (ways.length > 0 && ways.every((way) => way.kind === 'value' && isFreshContainer(module, way.value)))
    return true;
  const around = name.closest('call');
  if (around !== undefined && row(calledPath(module, around) ?? '') === undefined) return false;
  return (
    ways.length > 0 &&
    ways.every((way) => way.kind === 'part' || (way.kind === 'value' && COMPUTED.has(way.value.type)))
  );
}

/** Ways to give a variable what an expression of the file comes to. */
const MADE: ReadonlySet<string> = new Set(['value', 'part', 'loop']);

/** Expressions that give no function of somebody's, but for what is taken out of a container. */
const COMPUTED: ReadonlySet<string> = new Set(['binary_operator', 'subscript', 'unary_operator']);

function importsOrDefines(identifier: PyNode): boolean {
  const role = roleOf(identifier);
  const bare = identifier.parent?.type !== 'attribute' && identifier.parent?.type !== 'keyword_argument';
  return bare && role !== 'read';
}

/** `x.requires_grad = True`, `zeros(3, requires_grad=True)`; reading the flag or clearing it asks for nothing. */
function asksForGrad(identifier: PyNode, target: PyNode): boolean {
  const place = target.parent;
  if (place?.type === 'keyword_argument' && place.name === identifier) return !isFalse(place.value);
  return place?.type === 'assignment' && place.left === target && !isFalse(place.right);
}

function isFalse(node: PyNode | undefined): boolean {
  return node !== undefined && argumentValue(node).type === 'false';
}

/** A step without arguments, or of what is called an optimizer, unless its maker is known to be something else. */
function isOptimizerStep(module: PyModule, callee: PyNode, call: PyNode): boolean {
  const receiver = callee.object;
  if (receiver !== undefined && isKnownOtherwise(module, receiver)) return false;
  return /opt|scaler|adam|sgd|lbfgs/i.test(receiver?.text ?? '') || argumentsOf(call).length === 0;
}

/** Made by a schedule, by a package that has no optimizers, or by a class of the file, whose methods are followed. */
function isKnownOtherwise(module: PyModule, object: PyNode): boolean {
  const values = object.type === 'attribute' ? (attributeValues(module, object) ?? []) : [object];
  return (
    values.length > 0 &&
    values.every((value) => {
      const path = makerOf(module, value);
      if (path === undefined) return classBehind(module, value) !== undefined;
      return path.startsWith(LR_SCHEDULERS) || isOfKnownPackage(path);
    })
  );
}

function shown(node: PyNode): string {
  const text = node.text.replace(/\s+/g, ' ');
  return text.length <= 40 ? text : `…${text.slice(text.lastIndexOf('.'))}`;
}

/** The first use of gradients inside a node, nested functions, lambdas and a function's own decorators included. */
export function gradUseIn(module: PyModule, node: PyNode): GradUse | undefined {
  const whole = node.parent?.type === 'decorated_definition' ? node.parent : node;
  return gradUsesIn(module, whole)[0];
}

/** The uses of gradients inside a node, those of earlier clues first. */
export function gradUsesIn(module: PyModule, node: PyNode): readonly GradUse[] {
  return within(module.alone.memo(placesOfUses, module.alone), node)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ use }) => use);
}

interface PlaceOfUse extends Span {
  readonly use: GradUse;
  readonly rank: number;
}

function placesOfUses(module: PyModule): readonly PlaceOfUse[] {
  return gradUses(module)
    .map((use, rank) => ({ start: use.node.start, end: use.node.end, use, rank }))
    .sort((a, b) => a.start - b.start);
}

/** The first use of gradients that running the function can lead to, and through which function of the file. */
export function gradUseReached(
  module: PyModule,
  functionNode: PyNode,
): { readonly use: GradUse; readonly via?: PyNode } | undefined {
  const own = gradUseIn(module, functionNode);
  if (own !== undefined) return { use: own };
  const isFunction = functionNode.type === 'function_definition';
  if (isFunction && !module.alone.memo(thoseReachingUses, module.alone).has(functionNode)) return undefined;
  for (const via of reachedFrom(module, functionNode)) {
    const use = gradUseIn(module, via);
    if (use !== undefined) return { use, via };
  }
  return undefined;
}

/** Whether there is one, which takes no search for it. */
export function reachesGradUse(module: PyModule, functionNode: PyNode): boolean {
  return functionNode.type === 'function_definition'
    ? gradUseIn(module, functionNode) !== undefined ||
        module.alone.memo(thoseReachingUses, module.alone).has(functionNode)
    : gradUseReached(module, functionNode) !== undefined;
}

/** The functions that have a use of gradients, or reach one that has. */
function thoseReachingUses(module: PyModule): ReadonlySet<PyNode> {
  return reaching(
    module,
    gradUses(module).flatMap(({ node }) => [...functionsAround(node)]),
  );
}

/**
 * A class of the file whose `forward` differentiates (force fields, PINNs, penalties): without gradients it raises, and
 * which objects of the file are instances of it is not followed.
 */
export function differentiatingModule(module: PyModule): DifferentiatingModule | undefined {
  return module.alone.memo(findDifferentiatingModule, module.alone);
}

export interface DifferentiatingModule {
  readonly name: string;
  readonly use: GradUse;
}

function findDifferentiatingModule(module: PyModule): DifferentiatingModule | undefined {
  // Most files have no forward, or nothing in them that differentiates.
  if (!module.mentions(/\bdef[\s\\]+forward\b/) || gradUses(module).length === 0) return undefined;
  for (const forward of methodsByName(module, 'forward')) {
    const name = enclosingClass(forward)?.name?.text;
    const reached = gradUseReached(module, forward);
    if (reached !== undefined && name !== undefined) return { name, use: reached.use };
  }
  return undefined;
}
