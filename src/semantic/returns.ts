import { CONTEXT_MANAGER } from '../library/names.js';
import type { PyNode } from '../syntax/node.js';
import type { Elsewhere } from './elsewhere.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { decoratorsOf, isAsync, ownNodes } from './statements.js';

/** The block cannot fall off its end. */
export function alwaysReturns(block: PyNode): boolean {
  const last = block.named.at(-1);
  switch (last?.type) {
    case 'return_statement':
    case 'raise_statement':
      return true;
    case 'with_statement':
      return blockReturns(last.body);
    case 'if_statement': {
      const branches = [last, ...last.childrenOfType('elif_clause')].map((branch) => branch.consequence);
      const otherwise = last.childOfType('else_clause')?.body;
      return [...branches, otherwise].every(blockReturns);
    }
    default:
      return false;
  }
}

function blockReturns(block: PyNode | undefined): boolean {
  return block !== undefined && alwaysReturns(block);
}

/** The values that a function hands back. */
export function returnedBy(definition: PyNode): readonly PyNode[] {
  return ownNodes(definition).flatMap((node) =>
    node.type === 'return_statement' || node.type === 'yield' ? node.named : [],
  );
}

/** What each `return` of a function gives; undefined where it gives nothing. */
export function returnsOf(definition: PyNode): readonly (PyNode | undefined)[] {
  return ownNodes(definition).flatMap(({ type, named: [value] }) =>
    type === 'return_statement' ? [value] : [],
  );
}

/** Whoever calls it gets what it returns: it has no decorator but those that hand it on, and is neither a coroutine nor a generator. */
export function givesReturned(definition: PyNode, handsOn = (_decorator: PyNode) => false): boolean {
  if (isAsync(definition) || !decoratorsOf(definition).every(handsOn)) return false;
  return !ownNodes(definition).some(({ type }) => type === 'yield');
}

/** A generator; one that is a context manager is entered instead. */
export function isGenerator(module: PyModule, functionNode: PyNode): boolean {
  if (!functionNode.text.includes('yield')) return false;
  const isManager = decoratorsOf(functionNode).some(
    (each) => qualifiedName(module, each) === CONTEXT_MANAGER,
  );
  if (isManager) return false;
  return ownNodes(functionNode).some(({ type }) => type === 'yield');
}

/** What each `return` gives at one place of what callers take apart, or as a whole; undefined for one that does not show it. */
export function returnedParts(
  { module, node }: Elsewhere,
  index: number | undefined,
): readonly (Elsewhere | undefined)[] {
  if (!givesReturned(node)) return [undefined];
  return returnsOf(node).map((given) => {
    const isSeveral = given?.type === 'expression_list' || given?.type === 'tuple';
    const part =
      index === undefined ? (isSeveral ? undefined : given) : isSeveral ? given.named[index] : undefined;
    return part && { module, node: part };
  });
}
