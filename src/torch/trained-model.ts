import { qualifiedName } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, receiverOf, statementOf } from '../semantic/statements.js';
import { ownsItsLines } from '../syntax/layout.js';
import type { PyNode } from '../syntax/node.js';
import { isPeftModelMaker } from './catalog.js';
import { type ModelLoad, modelLoad } from './pretrained.js';
import { trainingLoops } from './training-loop.js';

/** A transformers model that this file loads into a variable and trains in a loop of its own. */
export interface TrainedModel {
  readonly load: ModelLoad;
  /** `model = AutoModel.from_pretrained(…).to(device)`, on lines of its own. */
  readonly statement: PyNode;
  readonly model: PyNode;
  /** What the variable is given there. */
  readonly value: PyNode;
  /** Its calls in loops that train, which come after the statement. */
  readonly forwards: readonly PyNode[];
}

export function trainedModels(module: PyModule): readonly TrainedModel[] {
  return module.memo(findTrainedModels, module);
}

function findTrainedModels(module: PyModule): readonly TrainedModel[] {
  const loops = trainingLoops(module);
  if (loops.length === 0) return [];
  const loads = ['.from_pretrained(', '.from_config('].flatMap((literal) => module.at(literal));
  return loads.flatMap((node) => {
    const call = node.parent?.parent;
    const load = call?.type === 'call' ? modelLoad(module, call) : undefined;
    if (load === undefined) return [];
    const statement = statementOf(load.call);
    const assignment = statement.named[0];
    const model = assignment?.type === 'assignment' ? assignment.field('left') : undefined;
    const value = assignment?.field('right');
    if (model?.type !== 'identifier' || value === undefined || !ownsItsLines(module, statement)) return [];
    const scope = module.resolve(model);
    const reads = scope === undefined ? [] : module.reads(scope, model.text);
    const forwards = reads.flatMap((read) => {
      const forward = read.parent;
      const inLoop = loops.some(({ loop, body }) => loop.start > statement.end && body.contains(read));
      return inLoop && forward?.type === 'call' && forward.field('function') === read ? [forward] : [];
    });
    const isFrozen = reads.some((read) => methodOn(read) === 'requires_grad_');
    const isGiven = reads.some((read) => isTrained(module, read));
    return forwards.length > 0 && isGiven && !isFrozen ? [{ load, statement, model, value, forwards }] : [];
  });
}

function methodOn(read: PyNode): string | undefined {
  const call = read.parent?.parent;
  return call?.type === 'call' && receiverOf(call) === read
    ? read.parent?.field('attribute')?.text
    : undefined;
}

/** `model.parameters()`, `model.train()`, `get_peft_model(model, …)`. */
function isTrained(module: PyModule, read: PyNode): boolean {
  if (/^(?:(?:named_)?parameters|train)$/.test(methodOn(read) ?? '')) return true;
  const call = read.closest('call');
  const callee = call?.field('function');
  if (call === undefined || callee === undefined || argumentsOf(call)[0] !== read) return false;
  return isPeftModelMaker(qualifiedName(module, callee) ?? '');
}
