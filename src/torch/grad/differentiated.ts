import { isSameValue, sourcesOf } from '../../semantic/attributes.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { certainBackward, operandsOf } from './spent-graph.js';

const MAX_DEPTH = 8;

/** The value itself, perhaps scaled, is differentiated in the same round: it is a tensor. */
export function isDifferentiated(module: PyModule, value: PyNode): boolean {
  const found = certainBackward(module, value, sourcesOf(module, value), (each) =>
    comesFrom(module, each.value, value, 0),
  );
  return found !== undefined;
}

/** Whichever way an expression got its value, it is this one, perhaps scaled. */
function comesFrom(module: PyModule, expression: PyNode, value: PyNode, depth: number): boolean {
  const node = unparenthesized(expression);
  if (isSameValue(module, node, value)) return true;
  if (depth >= MAX_DEPTH) return false;
  const [only, ...others] = operandsOf(node).filter((each) => each !== undefined && mayBring(module, each));
  if (only !== undefined) return others.length === 0 && comesFrom(module, only, value, depth + 1);
  const given = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : [];
  const ways = given.filter(({ kind }) => kind !== 'update');
  const [source, ...more] = sourcesOf(module, value);
  // `if n > 1: loss = loss / n`: on one way the value itself, on the other a part of it.
  const isBinding = (binding: PyNode): boolean =>
    unparenthesized(value).type === 'identifier' && more.length === 0 && binding === source;
  return (
    ways.length > 0 &&
    ways.every(
      (each) =>
        isBinding(each.node) ||
        ((each.kind === 'value' || each.kind === 'with') && comesFrom(module, each.value, value, depth + 1)),
    )
  );
}

/** An operand that the graph of the whole may come from; a number, a count and what is detached bring none. */
function mayBring(module: PyModule, operand: PyNode): boolean {
  return valueOf(module, operand).isNumber !== 'yes' && valueOf(module, operand).mayHaveGraph();
}
