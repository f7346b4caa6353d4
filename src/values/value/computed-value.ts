import { isMaker, mayShare, ofTensor } from '../../library/library.js';
import { PARAMETER, TORCH } from '../../library/names.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { once } from '../../semantic/once.js';
import {
  aliasGiven,
  argumentsOf,
  enclosingLoops,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

const MAX_DEPTH = 8;
/** Calls that tell one object from another of the same value, or write on it. */
const TELLING: ReadonlySet<string> = new Set('count discard hash id index ref remove setattr'.split(' '));

/**
 * The value is the result of an operation in this very round of the loop, and nobody looks at the object for a gradient or
 * tells it from another one of the same numbers: a parameter, a leaf or a tensor of somebody else is more than its numbers.
 */
export const isComputedHere = once(computedHere);

function computedHere(module: PyModule, value: PyNode, depth: number): boolean {
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
      return /loss|logits$/.test(node.attribute?.text ?? '') && of(node.object);
    case 'subscript':
      return of(node.value);
    case 'call': {
      const path = calledPath(module, node);
      if (path !== undefined) return path.startsWith(TORCH) && path !== PARAMETER && !isMaker(path);
      const known = ofTensor(methodName(node) ?? '');
      return mayShare(known) || known?.gives === 'self'
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
  const [first] = readsOf(module, identifier);
  return first === undefined ? isUnbound(module, identifier) : module.memo(hasMark, first);
}

/** Of a variable, by the first place that reads it. */
function hasMark(module: PyModule, identifier: PyNode): boolean {
  return isMarkedBeyond(module, identifier, new Set());
}

function isMarkedBeyond(module: PyModule, identifier: PyNode, seen: ReadonlySet<string>): boolean {
  if (isUnbound(module, identifier)) return true;
  const known = new Set([...seen, identifier.text]);
  return readsOf(module, identifier).some((place) => {
    const alias = aliasGiven(place);
    return (
      isMark(place) || (alias !== undefined && !known.has(alias.text) && isMarkedBeyond(module, alias, known))
    );
  });
}

/** A gradient that is read from the object itself. */
function asksForGradient(name: string): boolean {
  return name !== 'backward' && ofTensor(name)?.asksGraph === true;
}

/** `x.grad`, `x.step = 3`, `x is y`, `x in seen`, `names[x]`, `{x: 1}`, `id(x)`. */
function isMark(place: PyNode): boolean {
  const { parent } = place;
  switch (parent?.type) {
    case 'attribute':
      return asksForGradient(parent.attribute?.text ?? '') || parent.parent?.left === parent;
    case 'comparison_operator':
      return /(?<!\w)(?:is|in)(?!\w)/.test(parent.text) && !/\bis(?: not)? None$/.test(parent.text);
    case 'subscript':
      return parent.value !== place;
    case 'pair':
      return parent.key === place;
    case 'set':
      return true;
    case 'argument_list': {
      const callee = parent.parent?.function;
      return TELLING.has((callee?.attribute ?? callee)?.text ?? '');
    }
    default:
      return false;
  }
}
