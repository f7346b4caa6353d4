import {
  changesTensor,
  isFresh,
  isKeptBy,
  isPlain,
  ofTensor,
  readsOnly,
  row,
} from '../../src/library/library.js';
import { TORCH_DISTRIBUTED } from '../../src/library/names.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { keywordArgument, positionalArguments } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';

/** What becomes of a tensor at one place where it is read. */
export type ConstantUse =
  | { readonly kind: 'read' } // an operand whose result is new memory, a number, a shape
  | { readonly kind: 'changed'; readonly by: PyNode }
  | { readonly kind: 'kept'; readonly by: PyNode } // stored, returned, yielded, captured
  | { readonly kind: 'passed'; readonly by: PyNode }; // to code that the file says nothing about

const MAX_ALIASES = 3;
const READ: ConstantUse = { kind: 'read' };

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
/** Places that take an expression's value and are done with it. */
const ENDS = new Set(
  words(`assert_statement binary_operator comparison_operator elif_clause expression_statement if_statement interpolation
    not_operator slice unary_operator while_statement`),
);
const THROUGH = new Set(words('boolean_operator conditional_expression parenthesized_expression'));
const CONTAINERS = new Set(words('list tuple expression_list set pair dictionary'));

/** Follows a tensor from where it is read through views and other names to what finally uses it; the worst of these. */
export function constantUse(module: PyModule, read: PyNode, aliases = 0): ConstantUse {
  let node = read;
  let contained = false;
  for (let parent = node.parent; parent !== undefined; parent = node.parent) {
    if (ENDS.has(parent.type)) return contained ? { kind: 'kept', by: parent } : READ;
    if (THROUGH.has(parent.type)) {
      node = parent;
      continue;
    }
    if (CONTAINERS.has(parent.type)) {
      contained = true;
      node = parent;
      continue;
    }
    switch (parent.type) {
      case 'attribute': {
        const name = parent.attribute?.text ?? '';
        const call = parent.parent?.type === 'call' && parent.parent.function === parent;
        if (contained) return { kind: 'kept', by: parent };
        if (isTarget(parent)) return { kind: 'changed', by: parent };
        const known = ofTensor(name);
        if (!call) {
          if (known?.attribute && isPlain(known)) return READ;
          if (!known?.attribute) return { kind: 'kept', by: parent };
          node = parent;
          continue;
        }
        if (isFresh(known)) return READ;
        if (changesTensor(name)) return { kind: 'changed', by: parent };
        if (known?.storage === undefined || known.gives === 'array') return { kind: 'passed', by: parent };
        node = parent.parent ?? parent;
        continue;
      }
      case 'subscript':
        if (parent.value !== node) return READ;
        if (contained) return { kind: 'kept', by: parent };
        if (isTarget(parent)) return { kind: 'changed', by: parent };
        node = parent;
        continue;
      case 'augmented_assignment':
        if (parent.left === node) return { kind: 'changed', by: parent };
        // A list takes the rows of a tensor, which share its memory.
        return isNumeric(module, parent.left) ? READ : { kind: 'passed', by: parent };
      case 'assignment':
        return contained ? { kind: 'kept', by: parent } : aliasUse(module, parent, node, aliases);
      case 'keyword_argument':
        if (parent.name?.text === 'out') return { kind: 'changed', by: parent };
        node = parent;
        continue;
      case 'argument_list':
        return parent.parent === undefined
          ? { kind: 'passed', by: parent }
          : argumentUse(module, parent.parent, contained);
      default:
        return { kind: 'kept', by: parent };
    }
  }
  return { kind: 'kept', by: node };
}

function isNumeric(module: PyModule, node: PyNode | undefined): boolean {
  return node !== undefined && valueOf(module, node).kind !== 'unknown';
}

function isTarget(place: PyNode): boolean {
  const { parent } = place;
  if (parent?.type === 'assignment' || parent?.type === 'augmented_assignment') return parent.left === place;
  return /pattern|for_statement|for_in_clause|delete/.test(parent?.type ?? '');
}

/** `alias = tensor`: then every use of the alias is one of the tensor. */
function aliasUse(module: PyModule, assignment: PyNode, value: PyNode, aliases: number): ConstantUse {
  const target = assignment.left;
  const kept: ConstantUse = { kind: 'kept', by: assignment };
  if (target?.type !== 'identifier' || assignment.right !== value || aliases >= MAX_ALIASES) return kept;
  if (assignment.parent?.type !== 'expression_statement') return kept;
  const scope = module.resolve(target);
  if (scope === undefined || scope !== module.scopeAt(target)) return kept;
  return usesOfName(module, scope, target.text, aliases + 1);
}

/** The worst use of a variable, closures and deletions included. */
export function usesOfName(
  module: PyModule,
  scope: ReturnType<PyModule['scopeAt']>,
  name: string,
  aliases = 0,
): ConstantUse {
  let worst: ConstantUse = READ;
  for (const place of module.occurrences(scope, name)) {
    const role = roleOf(place);
    const inner = module.scopeAt(place);
    const captured = inner !== scope && inner.kind !== 'comprehension';
    if (captured || role === 'delete' || (inner !== scope && role !== 'read'))
      return { kind: 'kept', by: place };
    if (role === 'update') return { kind: 'changed', by: place };
    if (role !== 'read') continue;
    const use = constantUse(module, place, aliases);
    if (use.kind === 'changed' || use.kind === 'kept') return use;
    if (use.kind === 'passed') worst = use;
  }
  return worst;
}

function argumentUse(module: PyModule, call: PyNode, contained: boolean): ConstantUse {
  const callee = call.function;
  const path = callee && qualifiedName(module, callee);
  const passed: ConstantUse = { kind: 'passed', by: callee ?? call };
  const isAsked =
    keywordArgument(call, 'inplace') ?? positionalArguments(call).find(({ type }) => type === 'true');
  // `F.relu(w, True)` changes it, as with `inplace=True`.
  if (isAsked !== undefined || keywordArgument(call, 'out') !== undefined) return passed;
  if (path !== undefined) {
    if (path.startsWith(TORCH_DISTRIBUTED) || changesTensor(path)) return { kind: 'changed', by: call };
    // A class: `nn.Parameter`, a dataset, an optimizer.
    if (/\.[A-Z]\w*$/.test(path)) return { kind: 'kept', by: call };
    return isFresh(row(path)) ? READ : passed;
  }
  if (callee?.type === 'identifier')
    return readsOnly(callee.text) && module.resolve(callee) === undefined ? READ : passed;
  const name = callee?.attribute?.text ?? '';
  const receiver = callee?.object;
  const tensor =
    receiver !== undefined && ['tensor', 'scalar-tensor'].includes(valueOf(module, receiver).kind);
  if (tensor && !contained && isFresh(ofTensor(name.replace(/_$/, '')))) return READ;
  return isKeptBy(name) ? { kind: 'kept', by: call } : passed;
}
