import { builtin, ofTensor, row } from '../../src/library/library.js';
import { isAnywhere, isNamedAnywhere } from '../../src/semantic/anywhere.js';
import { definitionNamed } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingClass,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { livesIn } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

/** Whether a class of the project has a backward, as functions of autograd do, that may do more than to compute gradients. */
export function hasTellingBackward(module: PyModule): boolean {
  return isAnywhere(module, 'backward', tells) || isNamedAnywhere(module, 'vjp');
}

function tells(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => {
    const { parent } = node;
    const isMethod = parent?.type === 'function_definition' && parent.name === node;
    if (!isMethod) return parent?.type === 'assignment' && parent.left === node;
    return enclosingClass(parent) !== undefined && !onlyComputes(alone, parent, new Set());
  });
}

/** It changes nothing but what it makes, prints nothing and draws nothing; so do the functions of the file that it calls. */
function onlyComputes(alone: PyModule, method: PyNode, seen: Set<PyNode>): boolean {
  if (seen.has(method)) return true;
  seen.add(method);
  if (!decoratorsOf(method).every((each) => isStill(alone, each))) return false;
  const isOwn = (value: PyNode): boolean => isMadeIn(alone, value, method);
  return [...(method.body ?? method).walk()].every((node) => {
    if (OTHERWISE.test(node.type)) return false;
    if (/assignment$/.test(node.type)) return node.left !== undefined && isChangeOf(node.left, isOwn);
    if (node.type !== 'call') return true;
    if (argumentsOf(node).some((each) => each.name?.text === 'out')) return false;
    const callee = node.function;
    // `kernel[blocks, threads](…)` of numba.
    const target = callee?.type === 'subscript' ? callee.value : callee;
    const own = target?.type === 'identifier' ? definitionNamed(alone, target) : undefined;
    if (own !== undefined) return own.type === 'function_definition' && onlyComputes(alone, own, seen);
    const path = target && qualifiedName(alone, target);
    if (path !== undefined) return /^(?:math|numba)\./.test(path) || isCalm(row(path));
    if (target?.type === 'identifier')
      return alone.resolve(target) === undefined && isCalm(builtin(target.text));
    const receiver = receiverOf(node);
    const known = ofTensor(target?.attribute?.text ?? '');
    return receiver !== undefined && isCalm(known) && known?.asksGraph !== true;
  });
}

const OTHERWISE =
  /^(?:global_statement|nonlocal_statement|yield|await|lambda|function_definition|class_definition|named_expression|delete_statement|with_statement)$/;

function isCalm(known: ReturnType<typeof row>): boolean {
  return (
    known !== undefined &&
    !(
      known.random ||
      known.reports ||
      known.keeps ||
      known.runs ||
      known.changes ||
      known.gives === 'nothing'
    )
  );
}

/** `@staticmethod`, `@jit(nopython=True)` of numba. */
function isStill(alone: PyModule, decorator: PyNode): boolean {
  const name = decorator.type === 'call' ? (decorator.function ?? decorator) : decorator;
  return name.text === 'staticmethod' || qualifiedName(alone, name)?.startsWith('numba.') === true;
}

/** A name of the function, or a part of what it has made itself: `x`, `a, b`, `rows[0]`. */
function isChangeOf(target: PyNode, isOwn: (value: PyNode) => boolean): boolean {
  if (/^(?:pattern_list|tuple_pattern|list_pattern)$/.test(target.type))
    return target.named.every((each) => isChangeOf(each, isOwn));
  return target.type === 'identifier' || (target.type === 'subscript' && isOwn(target.value ?? target));
}

/** A variable that only gets what a library makes, or an array that a function of numba is given. */
function isMadeIn(alone: PyModule, value: PyNode, method: PyNode): boolean {
  const node = unparenthesized(value);
  if (node.type !== 'identifier' || !livesIn(alone, node, method)) return false;
  const scope = alone.resolve(node);
  const writes = scope === undefined ? [] : alone.writes(scope, node.text);
  return writes.every((write) => {
    const definition = definitionOf(write);
    if (definition.kind === 'parameter')
      return (
        write.parent?.type === 'parameters' &&
        decoratorsOf(method).some(({ text }) => text !== 'staticmethod')
      );
    const made = definition.kind === 'value' ? unparenthesized(definition.value) : undefined;
    const parts = made?.type === 'binary_operator' ? [made.left, made.right] : [made];
    return parts.some((each) => {
      const path = each?.type === 'call' ? (qualifiedName(alone, each.function ?? each) ?? '') : '';
      return row(path)?.makes !== undefined;
    });
  });
}
