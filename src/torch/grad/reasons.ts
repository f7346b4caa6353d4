import { calledDefinition } from '../../semantic/definitions.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { shown, spotOf } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import type { Reason } from '../../semantic/reason.js';
import { enclosingFunction, givenTo, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { GradTrace } from '../../values/value/trace.js';

/** Places that are named; of more, how many there are is said. */
const MOST_ENDS = 6;

/**
 * Why a part of a function can run without gradients: where the graph of what its networks compute ends, what it hands back,
 * and what was looked for in vain.
 */
export function* gradlessReasons(
  module: PyModule,
  functionNode: PyNode,
  part: readonly PyNode[],
  models: readonly PyNode[],
): Generator<Reason> {
  const trace = new GradTrace(module, functionNode, new Set(models.map(({ text }) => text)));
  const isInside = (node: PyNode): boolean => part.some((each) => each.contains(node));
  const comesFrom = (node: PyNode): boolean =>
    node.type === 'identifier' &&
    (reachingDefinitions(module, node) ?? []).some((each) => isInside(each.node));
  const nodes = [...functionNode.walk()];
  const ends = nodes.filter(
    (node) => endsGraph(node, trace) && (isInside(node) || [...node.walk()].some(comesFrom)),
  );
  for (const end of ends.slice(0, MOST_ENDS)) yield ending(module, end);
  if (ends.length > MOST_ENDS)
    yield { source: 'code', text: `${ends.length - MOST_ENDS} more places hand on no graph` };
  for (const node of nodes) {
    if (!/^(?:return_statement|yield)$/.test(node.type) || !isInside(node)) continue;
    if (enclosingFunction(node) !== functionNode || node.named.length === 0) continue;
    const what = node.named.some((value) => !/^(?:plain|network)$/.test(trace.of(value)))
      ? 'is only read by whoever gets it, or has the graph that came in'
      : 'hands out no graph';
    yield { source: 'code', text: `\`${shown(node)}\` (${spotOf(module, node)}) ${what}` };
  }
  yield {
    source: 'code',
    text: 'nothing that it may run, here or in another file of the project, differentiates, keeps a tensor that is differentiated later, or asks whether gradients are on',
  };
}

function ending(module: PyModule, node: PyNode): Reason {
  const isOwn = node.type === 'call' && calledDefinition(module, node) !== undefined;
  return {
    source: isOwn ? 'code' : 'library',
    text: `\`${shown(node)}\` (${spotOf(module, node)}) hands on no graph`,
  };
}

/** What it is made of may have a graph, and it has none. */
function endsGraph(node: PyNode, trace: GradTrace): boolean {
  return trace.of(node) === 'plain' && operandsOf(node).some((each) => trace.of(each) === 'graph');
}

function operandsOf(node: PyNode): readonly PyNode[] {
  switch (node.type) {
    case 'call':
      return [receiverOf(node) ?? [], givenTo(node)].flat();
    case 'comparison_operator':
      return node.named;
    case 'attribute':
      return [node.object ?? []].flat();
    default:
      return [];
  }
}
