import { reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  enclosingLoops,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { MADE_ON_CPU, PARAMETER, TORCH } from '../catalog.js';

const MAX_DEPTH = 8;
/** Methods that may hand back the tensor they are called on. */
const SAME: ReadonlySet<string> = new Set(
  'contiguous cpu cuda double float half requires_grad_ squeeze to type type_as view'.split(' '),
);
/** What makes a tensor more than its value: a gradient that is read from the object itself. */
const MARKS: ReadonlySet<string> = new Set(['grad', 'register_hook', 'requires_grad_', 'retain_grad']);

/**
 * The value is the result of an operation in this very round of the loop, and nobody looks at the object for a gradient: a
 * parameter, a leaf or a tensor of somebody else is more than its numbers.
 */
export function isComputedHere(module: PyModule, value: PyNode, depth = 0): boolean {
  const node = unparenthesized(value);
  if (depth > MAX_DEPTH) return false;
  const of = (inner: PyNode | undefined): boolean =>
    inner !== undefined && isComputedHere(module, inner, depth + 1);
  switch (node.type) {
    case 'binary_operator':
    case 'unary_operator':
      return true;
    case 'conditional_expression':
      return of(node.named[0]) && of(node.named[2]);
    case 'attribute':
      return /loss|logits$/.test(node.field('attribute')?.text ?? '') && of(node.field('object'));
    case 'subscript':
      return of(node.field('value'));
    case 'call': {
      const callee = node.field('function');
      const path = callee && qualifiedName(module, callee);
      if (path !== undefined) return path.startsWith(TORCH) && path !== PARAMETER && !MADE_ON_CPU.has(path);
      return SAME.has(methodName(node) ?? '')
        ? of(receiverOf(node))
        : argumentsOf(node).length > 0 || of(receiverOf(node));
    }
    case 'identifier': {
      const [loop] = enclosingLoops(node);
      const definitions = reachingDefinitions(module, node) ?? [];
      return (
        definitions.length > 0 &&
        !isMarked(module, node) &&
        definitions.every(
          (found) =>
            (loop?.contains(found.node) ?? true) &&
            (found.kind === 'value' || found.kind === 'update' || found.kind === 'part') &&
            of(found.value),
        )
      );
    }
    default:
      return false;
  }
}

function isMarked(module: PyModule, identifier: PyNode): boolean {
  const scope = module.resolve(identifier);
  return (
    scope === undefined ||
    module
      .reads(scope, identifier.text)
      .some(({ parent }) => parent?.type === 'attribute' && MARKS.has(parent.field('attribute')?.text ?? ''))
  );
}
