import { isPeftModelMaker } from '../../library/paths.js';
import { methodCallsAt } from '../../semantic/called-name.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { readsAsParameter } from '../../semantic/parameters.js';
import { remembered } from '../../semantic/remembered.js';
import { argumentsOf, receiverOf, statementOf } from '../../semantic/statements.js';
import { readsOf } from '../../semantic/variables.js';
import { ownsItsLines } from '../../syntax/layout.js';
import type { PyNode } from '../../syntax/node.js';
import { type ModelLoad, modelLoad } from '../huggingface/pretrained.js';
import { trainingLoops } from './training-loop.js';

/** A transformers model that this file loads into a variable and trains in a loop. */
export interface TrainedModel {
  readonly load: ModelLoad;
  /** `model = AutoModel.from_pretrained(…).to(device)`, on lines of its own. */
  readonly statement: PyNode;
  readonly model: PyNode;
  /** What the variable is given there. */
  readonly value: PyNode;
  /** Its calls in loops that train, in the code below the statement; none where it is handed to a function that trains it. */
  readonly forwards: readonly PyNode[];
}

export const trainedModels = remembered((module: PyModule): readonly TrainedModel[] => {
  const loops = trainingLoops(module);
  if (loops.length === 0) return [];
  return methodCallsAt(module, '.from_pretrained(', '.from_config(').flatMap((call) => {
    const load = modelLoad(module, call);
    if (load === undefined) return [];
    const statement = statementOf(load.call);
    const assignment = statement.named[0];
    const model = assignment?.type === 'assignment' ? assignment.left : undefined;
    const value = assignment?.right;
    if (model?.type !== 'identifier' || value === undefined || !ownsItsLines(module, statement)) return [];
    const own = readsOf(module, model);
    const handed = own.flatMap((read) => readsAsParameter(module, read));
    const inLoops = (reads: readonly PyNode[], after: number): readonly PyNode[] => {
      const bodies = loops.flatMap(({ loop, body }) => (loop.start > after ? [body] : []));
      return reads.flatMap((read) => {
        const forward = read.parent;
        const isRun = forward?.type === 'call' && forward.function === read;
        return isRun && bodies.some((body) => body.contains(read)) ? [forward] : [];
      });
    };
    const forwards = inLoops(own, statement.end);
    const reads = [...own, ...handed];
    const isRun = forwards.length > 0 || inLoops(handed, -1).length > 0;
    const isFrozen = reads.some((read) => methodOn(read) === 'requires_grad_');
    const isGiven = reads.some((read) => isTrained(module, read));
    return isRun && isGiven && !isFrozen ? [{ load, statement, model, value, forwards }] : [];
  });
});

function methodOn(read: PyNode): string | undefined {
  const call = read.parent?.parent;
  return call?.type === 'call' && receiverOf(call) === read ? read.parent?.attribute?.text : undefined;
}

/** `model.parameters()`, `model.train()`, `get_peft_model(model, …)`. */
function isTrained(module: PyModule, read: PyNode): boolean {
  if (/^(?:(?:named_)?parameters|train)$/.test(methodOn(read) ?? '')) return true;
  const call = read.closest('call');
  const callee = call?.function;
  if (call === undefined || callee === undefined || argumentsOf(call)[0] !== read) return false;
  return isPeftModelMaker(qualifiedName(module, callee) ?? '');
}
