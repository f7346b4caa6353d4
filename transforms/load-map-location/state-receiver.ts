import type { Answer } from '../../src/semantic/answer.js';
import { definedElsewhere, lineageOf, mayBeOfProject } from '../../src/semantic/elsewhere.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';
import { isModel } from '../../src/torch/module/model-value.js';
import { givesFunctionObject } from './kept-settings.js';
import { copiesLoadedState, hasCopyingParts, isCopyingClass, isOfKnownLoading } from './loading-class.js';
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
  const holdsObjects = givesFunctionObject(module.alone) && isModel(module, receiver) !== 'yes';
  const found = made === 'yes' && !holdsObjects ? hasCopyingParts(module, receiver) : 'unknown';
  if (found !== 'unknown' || isOfUnknownPackage(module, receiver)) return found;
  return allLoadPlainly(module, receiver);
}

/** What made it, or a base of that, is of a package that the library has no row of: nothing says how that loads. */
function isOfUnknownPackage(module: PyModule, receiver: PyNode): boolean {
  let found = false;
  const look = (there: PyModule, path: string): void => {
    const isOfProject = mayBeOfProject(there, path) || definedElsewhere(there, path) !== undefined;
    found ||= !isOfProject && !isOfKnownLoading(path);
  };
  madeBy(module, receiver, {
    gives: (path) => {
      look(module, path);
      return false;
    },
    isClass: (there, classNode) => {
      for (const path of lineageOf(there, classNode).imported) look(there, path);
      return 'unknown';
    },
    outlivesOthers: false,
  });
  return found;
}
