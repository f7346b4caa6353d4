import type { PyNode } from '../syntax/node.js';
import { type Answer, all } from './answer.js';
import { type Elsewhere, valueElsewhere } from './elsewhere.js';
import { definitionOf } from './flow.js';
import { qualifiedName } from './imports.js';
import { isLookedAt } from './mapping-use.js';
import type { PyModule } from './module.js';
import { argumentsOf, unparenthesized } from './statements.js';
import { plainString } from './strings.js';

/**
 * Whether the dicts that are spread into a call hold none of these keywords. `unknown`: a dict of a module, here or in
 * another file of the project, holds none as it is written, but other files could add some. `no`: one does, or cannot be seen.
 */
export function spreadsNone(module: PyModule, call: PyNode, names: readonly string[]): Answer {
  return all(
    argumentsOf(call).map((argument) => {
      if (argument.type === 'list_splat') return 'no';
      const [spread] = argument.type === 'dictionary_splat' ? argument.named : [];
      return spread === undefined ? 'yes' : dictLacks(module, spread, names, call);
    }),
  );
}

function dictLacks(module: PyModule, expression: PyNode, names: readonly string[], call: PyNode): Answer {
  const node = unparenthesized(expression);
  if (node.type !== 'identifier' && node.type !== 'attribute') return literalLacks({ module, node }, names);
  const path = qualifiedName(module, node);
  if (path !== undefined) {
    const found = valueElsewhere(module, path);
    const isLeft = found !== undefined && isLeftAlone(module, node, call);
    return isLeft && literalLacks(found, names) === 'yes' ? 'unknown' : 'no';
  }
  const scope = node.type === 'identifier' ? module.resolve(node) : undefined;
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, node.text);
  const definition = only === undefined || others.length > 0 ? undefined : definitionOf(only);
  if (scope === undefined || definition?.kind !== 'value') return 'no';
  const uses = module.reads(scope, node.text).filter((use) => !call.contains(use));
  const written = literalLacks({ module, node: definition.value }, names);
  if (written === 'no' || !uses.every((use) => isLookedAt(use))) return 'no';
  return scope.kind === 'function' ? written : 'unknown';
}

/** Whether this file only looks at what it imports. */
function isLeftAlone(module: PyModule, expression: PyNode, call: PyNode): boolean {
  const name = expression.attribute?.text;
  if (name !== undefined)
    return module.words(`.${name}`).every((hit) => hit.text !== name || call.contains(hit));
  const scope = module.resolve(expression);
  const uses = scope === undefined ? [] : module.reads(scope, expression.text);
  return uses.every((use) => call.contains(use) || isLookedAt(use));
}

/** Of a dict as it is written; a dict that spreads another may hold anything. */
function literalLacks({ module, node }: Elsewhere, names: readonly string[]): Answer {
  const value = unparenthesized(node);
  const callee = value.type === 'call' ? value.function : undefined;
  const isCall = callee?.text === 'dict' && module.resolve(callee) === undefined;
  if (!isCall && value.type !== 'dictionary') return 'no';
  const lacks = (isCall ? argumentsOf(value) : value.named).every((entry) => {
    if (entry.type === 'comment') return true;
    if (entry.type === 'keyword_argument') return !names.includes(entry.name?.text ?? '');
    const key = entry.type === 'pair' ? entry.key : undefined;
    const written = key && plainString(key);
    return written !== undefined && !names.includes(written);
  });
  return lacks ? 'yes' : 'no';
}
