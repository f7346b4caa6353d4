import { builtin, ofTensor, row } from '../../library/library.js';
import { isModuleClass } from '../../library/paths.js';
import { classAround } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isRedefined } from '../../semantic/project-names.js';
import {
  enclosingFunction,
  givenTo,
  isCallee,
  methodName,
  receiverOf,
  rootOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { gradUseIn } from '../../values/effects/grad.js';
import { valueOf } from '../../values/index.js';
import { endsGraph } from '../../values/value/ends-graph.js';
import { recordsNoGraph } from '../../values/value/gradient.js';
import { isOfKnownPackage, isPlainAttribute } from '../../values/value/plain.js';
import { leavesNothing } from './left-behind.js';

/**
 * Whether a statement between two that run without gradients could do so too: it prints, or gives names what libraries make
 * of other values, and none of these is differentiated, changed in place or handed on later.
 */
export function runsAlikeWithoutGradients(
  module: PyModule,
  statement: PyNode,
  /** What else goes under the same `with`. */
  wrapped: readonly PyNode[],
  /** Another proof that a value has no graph. */
  isGraphless: (value: PyNode) => boolean = () => false,
): boolean {
  const [only, ...others] = statement.type === 'expression_statement' ? statement.named : [];
  if (only === undefined || others.length > 0) return false;
  if (only.type === 'string') return true;
  const nodes = [...only.walk()];
  if (nodes.some(({ type }) => /^(?:yield|await|lambda|named_expression)$/.test(type))) return false;
  if (!callsOnlyLibraries(module, only)) return false;
  if (only.type === 'call') return isReport(module, only);
  if (only.right === undefined || !isNoViewForOthers(module, only, wrapped)) return false;
  if (gradUseIn(module, statement) !== undefined) return false;
  if (isGraphless(only.right)) return true;
  if (mayAskForGradients(module) || !isOfKnown(module, only.right, wrapped, new Set())) return false;
  const owner = enclosingFunction(statement) ?? module.root;
  return leavesNothing(module, { wrapped: [statement], statements: [statement], owner, models: [] });
}

/** `torch.ones(1, requires_grad=True)`, `nn.Parameter(…)`: not every graph of the file begins at a network. */
export function mayAskForGradients(module: PyModule): boolean {
  return module.mentions(/requires_grad(?!_?\(False| ?= ?False)|Parameter\(/);
}

/** A view that is made without gradients cannot be changed in place with them: only libraries may get it, outside of the block. */
function isNoViewForOthers(module: PyModule, assignment: PyNode, wrapped: readonly PyNode[]): boolean {
  const targets = namesBound(assignment);
  return targets?.every((target) => isOnlyRead(module, target, wrapped)) ?? false;
}

/** A value goes back to arguments, batches, numbers and what libraries make of them: to no network, and to no weight of one. */
function isOfKnown(
  module: PyModule,
  expression: PyNode,
  wrapped: readonly PyNode[],
  seen: Set<PyNode>,
): boolean {
  const node = unparenthesized(expression);
  if (seen.has(node)) return true;
  seen.add(node);
  const all = (nodes: readonly PyNode[]): boolean =>
    nodes.every((each) => isOfKnown(module, each, wrapped, seen));
  if (valueOf(module, node).kind === 'number') return true;
  switch (node.type) {
    case 'identifier':
      return isKnownName(module, node, wrapped, seen);
    case 'attribute': {
      const root = rootOf(node);
      if (isPlainAttribute(node.attribute?.text ?? '')) return true;
      return root.type === 'identifier' && root.text === classAround(node)?.self;
    }
    case 'call': {
      const name = methodName(node) ?? '';
      const path = calledPath(module, node);
      if (!isOfLibrary(module, node) || isModuleClass(path ?? '')) return false;
      if (path === undefined && endsGraph(module, name)) return true;
      const receiver = path === undefined ? receiverOf(node) : undefined;
      return all(receiver === undefined ? givenTo(node) : [receiver, ...givenTo(node)]);
    }
    case 'subscript':
    case 'pair':
    case 'keyword_argument':
      return node.value !== undefined && all([node.value]);
    case 'lambda':
    case 'named_expression':
    case 'await':
    case 'yield':
      return false;
    default:
      return /_(?:comprehension|expression)$/.test(node.type) && node.type !== 'conditional_expression'
        ? false
        : all(node.named);
  }
}

function isKnownName(module: PyModule, name: PyNode, wrapped: readonly PyNode[], seen: Set<PyNode>): boolean {
  const definitions = reachingDefinitions(module, name) ?? [];
  return (
    definitions.length > 0 &&
    definitions.every((each) => {
      if (each.kind === 'parameter' || each.kind === 'loop') return true;
      if (recordsNoGraph(module, each.node) || wrapped.some((one) => one.contains(each.node))) return true;
      return (
        (each.kind === 'value' || each.kind === 'part' || each.kind === 'update') &&
        isOfKnown(module, each.value, wrapped, seen)
      );
    })
  );
}

export function callsOnlyLibraries(module: PyModule, expression: PyNode): boolean {
  return [...expression.walk()].every((node) => node.type !== 'call' || isOfLibrary(module, node));
}

/** `y` of `y = …`, `a` and `b` of `a, b = …`. */
function namesBound(assignment: PyNode): readonly PyNode[] | undefined {
  const target = assignment.type === 'assignment' ? assignment.left : undefined;
  if (target === undefined || assignment.right === undefined || assignment.right.type === 'assignment')
    return undefined;
  const targets = /pattern|tuple/.test(target.type) ? target.named : [target];
  return targets.every(({ type }) => type === 'identifier') ? targets : undefined;
}

/** `torch.cat(xs)`, `x.view(-1)`, `len(x)`, `criterion(x, y)` of torch: what it runs is known. */
function isOfLibrary(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  if (path !== undefined) return isOfKnownPackage(path);
  if (call.function !== undefined && row(makerOf(module, call.function) ?? '')?.is === 'loss') return true;
  const name = methodName(call);
  if (name === undefined || receiverOf(call) === undefined)
    return (
      call.function !== undefined &&
      isUnbound(module, call.function) &&
      builtin(call.function.text) !== undefined
    );
  return ofTensor(name) !== undefined && !name.endsWith('_') && !isRedefined(module, name);
}

/** `print(…)`, `plt.cla()`. */
function isReport(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  return path === undefined ? call.function?.text === 'print' : !/^torch(?:\.|$)/.test(path);
}

function isOnlyRead(module: PyModule, target: PyNode, wrapped: readonly PyNode[]): boolean {
  const scope = module.resolve(target);
  const isUpdate = ({ parent }: PyNode) => parent?.type === 'augmented_assignment';
  if (scope === undefined || module.writes(scope, target.text).some(isUpdate)) return false;
  return module.reads(scope, target.text).every((read) => {
    if (wrapped.some((each) => each.contains(read)) || recordsNoGraph(module, read)) return true;
    const calls = [...read.ancestors()].filter(
      (each) => each.type === 'call' && each.arguments?.contains(read) === true,
    );
    if (!calls.every((call) => isOfLibrary(module, call))) return false;
    let at = read;
    for (let { parent } = at; parent !== undefined; { parent } = at) {
      if (parent.type === 'attribute' && parent.object === at) {
        const name = parent.attribute?.text ?? '';
        if (isCallee(parent) && name.endsWith('_')) return false;
        if (isCallee(parent) && givesOther(name)) return true;
      } else if (
        !(parent.type === 'subscript' && parent.value === at) &&
        !(parent.type === 'call' && parent.function === at)
      )
        break;
      at = parent;
    }
    return !/^(?:augmented_)?assignment$/.test(at.parent?.type ?? '');
  });
}

/** `x.clamp(0)`, `x.size(0)`: no view of it. */
function givesOther(name: string): boolean {
  const known = ofTensor(name);
  return known !== undefined && (known.storage === 'new' || (known.gives ?? 'tensor') !== 'tensor');
}
