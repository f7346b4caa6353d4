import { canonical, row } from '../../library/library.js';
import { SEQUENTIAL } from '../../library/names.js';
import { isLibraryModel } from '../../library/paths.js';
import type { Answer } from '../../semantic/answer.js';
import { methodsOf, selfName } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import { ingredientsOf } from '../../semantic/ingredients.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, ownNodes } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { type Maker, madeBy } from './made-by.js';
import { nameSaysModel } from './model-value.js';
import { moduleKind } from './modules.js';

/** Whether a call runs a loss, or a network of the project, torch or a library, which keeps what its backward needs. */
export function runsLayers(module: PyModule, call: PyNode): boolean {
  const { gives, ...network } = networkIn(module);
  return isCalled(module, call, {
    ...network,
    gives: (path, made) => row(path)?.is === 'loss' || gives(path, made),
  });
}

/** Whether a value is a loss of torch, by what made it. */
export function isLoss(module: PyModule, value: PyNode): boolean {
  return madeBy(module, value, LOSS) === 'yes';
}

const LOSS: Maker = {
  gives: (path) => row(path)?.is === 'loss',
  isClass: () => 'unknown',
  outlivesOthers: true,
};

/**
 * Whether a value is a network with layers that have weights, by what made it, or a module whose forward runs networks that
 * it was given: a loss or a metric has none.
 */
export function hasLayers(module: PyModule, value: PyNode): boolean {
  const isClass: Maker['isClass'] = (there, classNode) =>
    there.memo(runsNetworks, classNode) ? 'yes' : there.memo(classHasLayers, classNode);
  return madeBy(module, value, { ...networkIn(module), isClass }) === 'yes';
}

/** `self.encoder(x)` in the forward of a module, going by the name of the part. */
function runsNetworks(module: PyModule, classNode: PyNode): boolean {
  const forward = methodsOf(classNode).find(({ name }) => name?.text === 'forward');
  const self = forward && selfName(forward);
  if (forward === undefined || moduleKind(module, classNode).isModule !== 'yes') return false;
  return ownNodes(forward).some((node) => {
    const callee = node.type === 'call' ? node.function : undefined;
    const isPart = callee?.type === 'attribute' && callee.object?.text === self;
    return isPart && nameSaysModel(callee.attribute?.text ?? '') === 'yes';
  });
}

function networkIn(module: PyModule): Maker {
  return {
    gives: (path, made) => isLibraryModel(path) || hasWeights(path) || weightsIn(module, path, made) > 0,
    isClass: (there, classNode) => there.memo(classHasLayers, classNode),
    outlivesOthers: true,
  };
}

function classHasLayers(module: PyModule, classNode: PyNode): Answer {
  const isModule = moduleKind(module, classNode).isModule === 'yes';
  const made = isModule ? ingredientsOf(module, classNode, hasWeights) : undefined;
  return made?.strangers.some(hasWeights) ? 'yes' : 'unknown';
}

/** Whether it runs layers in a chain: then its backward needs the weights of all but the first. */
export function runsChain(module: PyModule, call: PyNode): boolean {
  return isCalled(module, call, {
    gives: (path, made) => isLibraryModel(path) || weightsIn(module, path, made) > 1,
    isClass: () => 'unknown',
    outlivesOthers: true,
  });
}

/** A layer of torch that multiplies what it is given by weights. */
function hasWeights(path: string): boolean {
  return row(path)?.weights === true;
}

function isCalled(module: PyModule, call: PyNode, maker: Maker): boolean {
  const callee = call.function;
  return callee !== undefined && callee.type !== 'call' && madeBy(module, callee, maker) === 'yes';
}

/** The layers with weights among the arguments of a chain. */
function weightsIn(module: PyModule, path: string, made: PyNode | undefined): number {
  if (made === undefined || canonical(path) !== SEQUENTIAL) return 0;
  return argumentsOf(made).filter((each) => {
    const layer = each.type === 'call' ? each.function : undefined;
    return layer !== undefined && hasWeights(qualifiedName(module, layer) ?? '');
  }).length;
}
