import { callOf, functionUses } from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { ownNodes } from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { importsOtherFramework } from '../../src/torch/framework.js';
import { isCalledByTraining } from '../../src/torch/grad/roles.js';
import { switchesGradOff } from '../../src/values/effects/mode.js';
import { effectsOf } from '../../src/values/index.js';
import { recordsNoGraph } from '../../src/values/value/gradient.js';

/** Somebody else decides about the function's grad mode, or has. */
export function hasGradMode(module: PyModule, functionNode: PyNode): boolean {
  return (
    switchesGradOff(module) ||
    isTestCode(module, functionNode) ||
    isTest(module, functionNode) ||
    isCalledByTraining(module, functionNode) ||
    effectsOf(module, functionNode).isGradOff
  );
}

/** Other files call it, none of them with gradients on, and its own does not: it would save nothing. */
export function isOnlyRunWithoutGrad(module: PyModule, functionNode: PyNode): boolean {
  const name = functionNode.name;
  if (name === undefined || functionUses(module, functionNode).length > 0) return false;
  const { uses, unread } = usesElsewhere(module, name, { may: () => true, byName: true });
  const calls = uses.filter(({ node }) => roleOf(node) !== 'import');
  return (
    unread === undefined &&
    calls.length > 0 &&
    calls.every(({ module: there, node }) => callOf(node) !== undefined && recordsNoGraph(there, node))
  );
}

/** `test_…()` without parameters is a test; with some, or where its file runs it over a loop of batches, it is an evaluation of that name. */
function isTest(module: PyModule, functionNode: PyNode): boolean {
  const name = functionNode.name?.text ?? '';
  if (!name.startsWith('test_') || functionNode.parameters?.named.length !== 0) return false;
  const loops = ownNodes(functionNode).some(({ type }) => type === 'for_statement');
  return !loops || functionUses(module, functionNode).length === 0;
}

/** Whether the file may speak of torch although it does not import it. */
export function mayMeanTorch(module: PyModule): boolean {
  return module.text.includes('torch') && !importsOtherFramework(module);
}
