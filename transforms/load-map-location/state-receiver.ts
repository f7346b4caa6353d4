import type { Answer } from '../../src/semantic/answer.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';
import { isModel } from '../../src/torch/module/model-value.js';
import { mayBeForeign } from './foreign-maker.js';
import { isUsedAsNetwork } from './keeper.js';
import { givesFunctionObject } from './kept-settings.js';
import { copiesLoadedState, hasCopyingParts, isCopyingClass } from './loading-class.js';
import { allLoadPlainly } from './whole-project.js';

const COPIER: Maker = { gives: copiesLoadedState, isClass: isCopyingClass, outlivesOthers: false };

/**
 * Whether `receiver.load_state_dict(state)` copies into tensors that are already where they belong, as torch's modules and
 * optimizers do: by the class that made it and by what that is made of, or because nobody in the whole project does otherwise. Networks of
 * packages of which the library knows nothing do as torch's; what else they make (averages, statistics) is a question. `no` is never proven.
 */
export const copiesState = remembered((module: PyModule, receiver: PyNode): Answer => {
  const made = madeBy(module, receiver, COPIER);
  const holdsObjects = givesFunctionObject(module.alone) && isModel(module, receiver) !== 'yes';
  const found = made === 'yes' && !holdsObjects ? hasCopyingParts(module, receiver) : 'unknown';
  if (found !== 'unknown' || (mayBeForeign(module, receiver) && !isUsedAsNetwork(module, receiver)))
    return found;
  return allLoadPlainly(module, receiver);
});
