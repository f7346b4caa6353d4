import { row } from '../../src/library/library.js';
import { ancestryOf } from '../../src/semantic/definitions.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { isMethodOfProject } from '../../src/semantic/project-names.js';
import { remembered } from '../../src/semantic/remembered.js';
import { decoratorsOf, enclosingClass, enclosingFunction } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** `compute_loss(self, model, inputs, …)` of a trainer of transformers, which differentiates what it returns. */
const LOSS = 'compute_loss';
/** The attributes by which such a trainer has the network that it trains. */
const TRAINED: ReadonlySet<string> = new Set(['model', 'model_wrapped', 'deepspeed']);
/** Methods of it that decide what the loss is given, and what becomes of it. */
const STEPS: readonly string[] = [
  'training_step',
  '_prepare_inputs',
  '_prepare_input',
  '_inner_training_loop',
  'get_batch_samples',
];

/** The losses of the file that a trainer of transformers asks for and differentiates. */
export const lossesOfTrainers = remembered((module: PyModule): readonly PyNode[] =>
  module.words(LOSS).flatMap((node) => {
    const method = node.parent?.type === 'function_definition' && node.parent.name === node && node.parent;
    const owner = method && enclosingClass(method);
    if (!method || !owner || decoratorsOf(method).length > 0) return [];
    return isTrainer(module, owner) ? [method] : [];
  }),
);

/** A class that derives from a trainer of transformers and from nothing else that the file does not show. */
function isTrainer(module: PyModule, classNode: PyNode): boolean {
  const { imported, unknown } = ancestryOf(module, classNode);
  return (
    !unknown &&
    imported.length > 0 &&
    imported.every((path) => path.startsWith('transformers.') && row(path)?.is === 'trainer')
  );
}

/** The attribute of a trainer that holds what it trains. */
export function isTrainedBy(module: PyModule, classNode: PyNode, attribute: string): boolean {
  return TRAINED.has(attribute) && isTrainer(module, classNode);
}

/** What a parameter of such a loss is given by the trainer: the network that it trains, or a batch of its loader. */
export function givenByTrainer(module: PyModule, parameter: PyNode): 'network' | 'batch' | undefined {
  const owner = enclosingFunction(parameter);
  if (owner === undefined || !lossesOfTrainers(module).includes(owner)) return undefined;
  const names = (owner.parameters?.named ?? []).map(nameOf);
  const index = names.indexOf(parameter.text);
  if (index !== 1 && index !== 2) return undefined;
  // The project asks for the loss itself, or decides what the trainer gives it.
  const isOnlyAsked = valuesGiven(module, owner, parameter)?.length === 0;
  if (!isOnlyAsked || STEPS.some((name) => isMethodOfProject(module, name))) return undefined;
  return index === 1 ? 'network' : 'batch';
}

/** `model` of `model`, `model: Module`, `model=None`. */
function nameOf(parameter: PyNode): string | undefined {
  if (parameter.type === 'identifier') return parameter.text;
  return parameter.name?.text ?? parameter.named.find((each) => roleOf(each) === 'parameter')?.text;
}
