import type { Answer } from '../../src/semantic/answer.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { copiesLoadedState } from '../../src/torch/catalog-modules.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';
import { hasCopyingParts, isCopyingClass } from './loading-class.js';
import { allLoadPlainly } from './whole-project.js';

const COPIER: Maker = { gives: copiesLoadedState, isClass: isCopyingClass, outlivesOthers: false };

/**
 * Whether `receiver.load_state_dict(state)` copies into tensors that are already where they belong, as torch's modules and
 * optimizers do: by the class that made it and by what that is made of, or because nobody in the whole project does otherwise. `no` is never
 * proven.
 */
export function copiesState(module: PyModule, receiver: PyNode): Answer {
  return module.memo(findCopying, receiver);
}

function findCopying(module: PyModule, receiver: PyNode): Answer {
  const made = madeBy(module, receiver, COPIER);
  const found = made === 'yes' ? hasCopyingParts(module, receiver) : made;
  return found === 'unknown' ? allLoadPlainly(module, receiver) : found;
}
