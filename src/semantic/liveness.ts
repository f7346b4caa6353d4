import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { scopeKind } from './scope.js';
import { argumentsOf, enclosingFunction, isOwnNode, swallowsErrors } from './statements.js';

const REFLECTION: ReadonlySet<string> = new Set(['eval', 'exec', 'globals', 'locals']);
const COMPREHENSION = /^(?:list|set|dictionary)_comprehension$/;

/**
 * Why a variable that a loop sets in each pass is, or may be, needed behind the end of the loop's body; undefined where it
 * is proven to be bound there and never read again before it is set anew, so that `del` is possible.
 * The words complete "because …". What other files read of a module is not seen.
 */
export function neededBehind(module: PyModule, body: PyNode, name: string): string | undefined {
  const scope = module.scopeAt(body);
  const owner = enclosingFunction(body) ?? module.root;
  if (scope.node !== owner) return `\`${name}\` is a member of a class`;
  if (module.lookup(name, scope) !== scope) return `\`${name}\` belongs to code outside the function`;
  const reflection = module.alone.memo(reflectionIn, owner);
  if (reflection !== undefined) return `\`${reflection.text}\` looks at all variables`;
  const uses = module.occurrences(scope, name);
  const set = uses.find((use) => roleOf(use) === 'write' && alwaysRuns(use, body));
  if (set === undefined) return `\`${name}\` is not set in every pass`;
  const statement = set.closest('expression_statement') ?? set;
  for (const use of uses) {
    const role = roleOf(use);
    if (isDeferred(use, owner)) return `code that may run later uses \`${name}\``;
    if (!body.contains(use)) {
      if (role !== 'write') return `\`${name}\` is used outside the loop`;
    } else if (role === 'delete') return `\`${name}\` is deleted already`;
    else if (!['read', 'write', 'update', 'loop'].includes(role) || isHandlerName(use))
      return `\`${name}\` is bound in a way that may unbind it`;
    else if (use !== set && use.start < statement.end && role !== 'write')
      return `\`${name}\` is read before it is set, in the next pass`;
  }
  return undefined;
}

/** `except E as name`: Python unbinds it at the end of the handler. */
function isHandlerName(use: PyNode): boolean {
  return (
    use.parent?.type === 'as_pattern_target' &&
    use.closest('with_item', 'except_clause')?.type === 'except_clause'
  );
}

/** The assignment stands in the body itself, or in `with` blocks of it after which an error does not go unseen. */
function alwaysRuns(write: PyNode, body: PyNode): boolean {
  const statement = write.closest('expression_statement');
  const assignment = statement?.named[0];
  if (statement === undefined || assignment?.type !== 'assignment' || !assignment.contains(write))
    return false;
  if (write.closest('named_expression', 'expression_statement') !== statement) return false;
  let block = statement.parent;
  while (block !== undefined && block !== body) {
    const owner = block.parent;
    if (owner?.type !== 'with_statement' || swallowsErrors(owner)) return false;
    block = owner.parent;
  }
  return block === body;
}

/** In a function, lambda or generator, which may run later; a comprehension has run when its statement has. */
function isDeferred(use: PyNode, owner: PyNode): boolean {
  for (const around of use.ancestors()) {
    if (around === owner) return false;
    if (scopeKind(around) !== undefined && !COMPREHENSION.test(around.type)) return !isConsumed(around);
  }
  return true;
}

const CONSUMERS: ReadonlySet<string> = new Set([
  'all',
  'any',
  'dict',
  'list',
  'max',
  'min',
  'set',
  'sorted',
  'sum',
  'tuple',
]);

/** `sum(x for x in y)`: nothing is left of the generator behind the call. */
function isConsumed(generator: PyNode): boolean {
  const call = generator.parent;
  const callee =
    call?.type === 'call' && call.field('arguments') === generator ? call.field('function') : undefined;
  return generator.type === 'generator_expression' && CONSUMERS.has(callee?.text ?? '');
}

const MAY_REFLECT = /(?<![\w.\u0080-\uffff])(?:dir|eval|exec|globals|locals|vars)(?![\w\u0080-\uffff])/g;

/** Found by its word: a function may be long. */
function reflectionIn(module: PyModule, owner: PyNode): PyNode | undefined {
  for (const { index } of owner.text.matchAll(MAY_REFLECT)) {
    const call = module.root.descendantAt(owner.start + index).parent;
    if (call !== undefined && isOwnNode(owner, call) && isReflection(module, call)) return call;
  }
  return undefined;
}

/** `locals()`, `eval(…)`; `vars(x)` and `dir(x)` look at `x` alone. */
function isReflection(module: PyModule, node: PyNode): boolean {
  const callee = node.type === 'call' ? node.field('function') : undefined;
  if (callee?.type !== 'identifier') return false;
  const looks =
    REFLECTION.has(callee.text) || (/^(?:vars|dir)$/.test(callee.text) && argumentsOf(node).length === 0);
  return looks && module.resolve(callee) === undefined;
}
