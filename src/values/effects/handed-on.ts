import { OPTIMIZERS } from '../../library/names.js';
import { attributeValues } from '../../semantic/attributes.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { callGiven, isOnlyAsked, isParsed, isVariable, pathsOf } from '../../semantic/given-away.js';
import type { PyModule } from '../../semantic/module.js';
import { methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

/** Whether the code of a file uses a name, or an attribute of that name, otherwise than by calling it. */
export function usedAsValue(module: PyModule, name: string): boolean {
  return module.words(name).some((node) => {
    if (node.type !== 'identifier' || node.text !== name) return false;
    const place = node.parent;
    if (
      place === undefined ||
      /import|^dotted_name$|^(?:function|class)_definition$|parameter|global/.test(place.type)
    )
      return false;
    if (place.type === 'keyword_argument' && place.name === node) return false;
    const value = place.type === 'attribute' && place.attribute === node ? place : node;
    if (value === node && isVariable(module, node)) return false;
    if (isOnlyAsked(value) || isParsed(module, value)) return false;
    const user = value.parent;
    if (user?.type === 'call' && user.function === value) return false;
    if (user?.type === 'attribute' && user.object === value) return false;
    // Python indexes no function.
    if (user?.type === 'subscript' && user.value === value) return false;
    if (user?.type === 'assignment' && user.left === value) return false;
    return !isGivenToLibrary(module, value);
  });
}

/** `mp.spawn(worker)`, `optimizer.step(closure)`: what a library runs, no other code of the project gets. */
export function isGivenToLibrary(module: PyModule, value: PyNode): boolean {
  const call = callGiven(value);
  const callee = call?.function;
  if (call === undefined || callee === undefined) return false;
  if (methodName(call) === 'step') {
    const receiver = receiverOf(call);
    return receiver !== undefined && isOptimizer(module, receiver);
  }
  const paths = pathsOf(module, callee);
  return paths.length > 0 && paths.every((path) => RUNS_IT.test(path));
}

/** Made by a class of `torch.optim`. */
function isOptimizer(module: PyModule, object: PyNode): boolean {
  const values = object.type === 'attribute' ? attributeValues(module, object) : undefined;
  const makers =
    values === undefined ? [makerOf(module, object)] : values.map((value) => makerOf(module, value));
  return makers.every((path) => path?.startsWith(OPTIMIZERS) === true);
}

const RUNS_IT =
  /^(?:torch\.multiprocessing|multiprocessing|threading|concurrent|fire|click|typer|hydra|atexit|signal|torch\.distributed)\./;
