import { initialValue } from '../../src/semantic/attribute-uses.js';
import { classAround } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type ModelLoad, modelLoad } from '../../src/torch/huggingface/pretrained.js';
import { trainedModels } from '../../src/torch/training/trained-model.js';

/** A call of a transformers model whose loss is trained on, and the call that loaded the model. */
interface TrainingForward {
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
    const callee = call?.function;
    const name = callee?.type === 'attribute' ? callee.attribute?.text : undefined;
    if (call === undefined || callee === undefined || name === undefined || keyword.text !== 'labels')
      continue;
    if (callee.object?.text !== classAround(callee)?.self) continue;
    const made = initialValue(module, callee, name);
    const load = made?.type === 'call' ? modelLoad(module, made) : undefined;
    if (load !== undefined) found.set(call, { call, load });
  }
  return [...found.values()];
}
