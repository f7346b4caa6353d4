import { classAround } from '../semantic/definitions.js';
import { qualifiedName } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, receiverOf, statementOf } from '../semantic/statements.js';
import { ownsItsLines } from '../syntax/layout.js';
import type { PyNode } from '../syntax/node.js';
import { isPeftModelMaker } from './catalog.js';
import { initialValue } from './modules.js';
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

/** A call of a transformers model whose loss is trained on, and the call that loaded the model. */
export interface TrainingForward {
  readonly call: PyNode;
  readonly load: ModelLoad;
}

/** `model(**batch)` in a training loop, and `self.model(…, labels=…)` in a class that loads its model. */
export function trainingForwards(module: PyModule): readonly TrainingForward[] {
  const found = new Map<PyNode, TrainingForward>();
  for (const { forwards, load } of trainedModels(module))
    for (const call of forwards) found.set(call, { call, load });
  for (const keyword of module.at('labels')) {
    const call = keyword.parent?.type === 'keyword_argument' ? keyword.parent.parent?.parent : undefined;
    const callee = call?.field('function');
    const name = callee?.type === 'attribute' ? callee.field('attribute')?.text : undefined;
    if (call === undefined || callee === undefined || name === undefined || keyword.text !== 'labels')
      continue;
    if (callee.field('object')?.text !== classAround(callee)?.self) continue;
    const made = initialValue(module, callee, name);
    const load = made?.type === 'call' ? modelLoad(module, made) : undefined;
    if (load !== undefined) found.set(call, { call, load });
  }
  return [...found.values()];
}
