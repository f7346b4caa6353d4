import { builtin, ofTensor, row } from '../../library/library.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isRedefined } from '../../semantic/project-names.js';
import { enclosingFunction, isCallee, methodName, receiverOf } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { gradUseIn } from '../../values/effects/grad.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { leavesNothing } from './left-behind.js';

/**
 * Whether a statement between two that run without gradients could do so too: it prints, or gives names what libraries make
 * of other values, and none of these is differentiated, changed in place or handed on later.
 */
export function runsAlikeWithoutGradients(
  module: PyModule,
  statement: PyNode,
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
  const targets = namesBound(only);
  if (targets === undefined || !targets.every((target) => isOnlyRead(module, target))) return false;
  if (gradUseIn(module, statement) !== undefined) return false;
  if (only.right !== undefined && isGraphless(only.right)) return true;
  const owner = enclosingFunction(statement) ?? module.root;
  return leavesNothing(module, { wrapped: [statement], statements: [statement], owner, models: [] });
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
    return call.function !== undefined && isUnbound(module, call.function) && isBuiltin(call.function.text);
  return ofTensor(name) !== undefined && !name.endsWith('_') && !isRedefined(module, name);
}

function isBuiltin(name: string): boolean {
  return name === 'print' || builtin(name) !== undefined;
}

/** `print(…)`, `plt.cla()`. */
function isReport(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  return path === undefined ? call.function?.text === 'print' : !/^torch(?:\.|$)/.test(path);
}

/** A view that is made without gradients cannot be changed in place with them: nor may another name get it, or a part of it. */
function isOnlyRead(module: PyModule, target: PyNode): boolean {
  const scope = module.resolve(target);
  const isUpdate = ({ parent }: PyNode) => parent?.type === 'augmented_assignment';
  if (scope === undefined || module.writes(scope, target.text).some(isUpdate)) return false;
  return module.reads(scope, target.text).every((read) => {
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
