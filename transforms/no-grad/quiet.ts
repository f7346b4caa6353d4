import { selfName } from '../../src/semantic/definitions.js';
import { functionUses } from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { functionsNamed } from '../../src/semantic/project-names.js';
import { enclosingFunction, givenTo, ownNodes } from '../../src/semantic/statements.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';
import type { Evaluation } from '../../src/torch/grad/evaluation.js';
import { mayRunForNumbers } from '../../src/torch/grad/numeric-cues.js';
import { numericFunctions, runsWithoutSwitch } from '../../src/torch/grad/numeric-runs.js';
import { isForward, isPartInProject } from '../../src/torch/grad/runs.js';

/**
 * Whether a function may run a network for what nothing but its callers tells. Beside networks, what runs parts of its own
 * object and returns something is a part of one, and most files of a library are full of those.
 */
export function mayRunQuietly(glimpse: Glimpse): (code: string) => boolean {
  const may = glimpse.memo(mayRunForNumbers);
  if (!glimpse.text.includes('def forward(')) return may;
  return (code) =>
    may(code) && (!/\breturn[ \t(]+\S/.test(code) || may(code.replace(/\bself(?:\.\w+)+\(/g, '(')));
}

/**
 * The networks that functions run where no word says that numbers are made of the results: a plot, a score that another file
 * computes.
 */
export function* quietRuns(module: PyModule): Generator<readonly [PyNode, readonly Evaluation[]]> {
  const numeric = numericFunctions(module);
  for (const { parent } of module.atWhere('def ', module.glimpse.memo(mayRunQuietly))) {
    if (parent?.type !== 'function_definition' || numeric.has(parent) || !mayBeWorthIt(module, parent))
      continue;
    const runs = runsWithoutSwitch(module, parent);
    if (runs.some((run) => isRun(module, run))) yield [parent, runs];
  }
}

/** Neither part of a forward, nor one that tries a network on something of its own, or while it is made to know its sizes. */
function mayBeWorthIt(module: PyModule, functionNode: PyNode): boolean {
  const users = functionUses(module, functionNode).map((use) => enclosingFunction(use)?.name?.text);
  if (users.includes('forward') || (users.length > 0 && users.every((name) => name === '__init__')))
    return false;
  const self = selfName(functionNode);
  const isGiven = functionNode.parameters?.named.some(({ text }) => text !== self) === true;
  return isGiven || [...ownNodes(functionNode)].some(({ type }) => /^(?:for|while)_/.test(type));
}

/** A forward, or something else that is asked for what it computes of what it is given; `m.fuse_model()` is called like a network, and is none. */
function isRun(module: PyModule, { model, forwards }: Evaluation): boolean {
  const name = (model.attribute ?? model).text;
  if (functionsNamed(module, name)?.length !== 0 && !isPartInProject(module, name)) return false;
  return forwards.some(
    (call) =>
      isForward(call, model.text) ||
      (givenTo(call).length > 0 && call.parent?.type !== 'expression_statement'),
  );
}
