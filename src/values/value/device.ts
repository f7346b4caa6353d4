import { isMaker } from '../../library/library.js';
import { NUMPY } from '../../library/names.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, keywordArgument, methodName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

const MAX_DEPTH = 10;

/** The call that puts a value on the CPU wherever its inputs are, in the expression or in what its names were given. */
export function cpuSource(module: PyModule, expression: PyNode, depth = 0): PyNode | undefined {
  if (depth > MAX_DEPTH) return undefined;
  for (const node of expression.walk()) {
    if (node.type === 'call' && movesToCpu(module, node)) return node;
    if (node.type !== 'identifier' || node.parent?.attribute === node) continue;
    for (const found of reachingDefinitions(module, node) ?? []) {
      const given =
        found.kind === 'value' || found.kind === 'update' || found.kind === 'part' ? found.value : undefined;
      const source = given && !given.contains(node) ? cpuSource(module, given, depth + 1) : undefined;
      if (source !== undefined) return source;
    }
  }
  return undefined;
}

function movesToCpu(module: PyModule, call: PyNode): boolean {
  const name = methodName(call) ?? '';
  if (name === 'cpu' || name === 'numpy') return true;
  if (
    argumentsOf(call).some(({ text }) => /^(?:device\s*=\s*)?(?:torch\.device\()?["']cpu["']\)?$/.test(text))
  )
    return true;
  const path = calledPath(module, call);
  if (path === undefined) return false;
  return path.startsWith(NUMPY) || (isMaker(path) && keywordArgument(call, 'device') === undefined);
}
