import { attributeValues } from '../../semantic/attributes.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { definitionOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath, roleOf } from '../../semantic/names.js';
import { returnedBy } from '../../semantic/returns.js';
import { methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { OPTIMIZERS } from '../../torch/catalog.js';

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

/** `if args.train:`, `args.train is None`, `f"{args.train}"`: whether there is one, or how it is written. */
function isOnlyAsked(value: PyNode): boolean {
  let place = value;
  while (/^(?:not_operator|boolean_operator|parenthesized_expression)$/.test(place.parent?.type ?? ''))
    place = place.parent ?? place;
  const user = place.parent;
  if (user?.type === 'comparison_operator' || user?.type === 'interpolation') return true;
  return user !== undefined && /^(?:if|elif|while)_/.test(user.type) && user.condition === place;
}

/** `args.run` of `args = parser.parse_args()`; a default that is a function has its own name where it is given. */
function isParsed(module: PyModule, value: PyNode): boolean {
  return value.type === 'attribute' && value.object !== undefined && isOfParser(module, value.object, 0);
}

function isOfParser(module: PyModule, object: PyNode, hops: number): boolean {
  if (object.type === 'call') {
    const parser = receiverOf(object);
    if (parser !== undefined) return makerOf(module, parser) === 'argparse.ArgumentParser';
    const maker = hops < 2 ? calledDefinition(module, object) : undefined;
    const given = maker?.type === 'function_definition' ? returnedBy(maker) : [];
    return given.length > 0 && given.every((each) => isOfParser(module, each, hops + 1));
  }
  const scope = object.type === 'identifier' ? module.resolve(object) : undefined;
  const values = scope === undefined ? [] : module.writes(scope, object.text).map(definitionOf);
  return (
    values.length > 0 &&
    values.every(
      (each) => each.kind === 'value' && each.value.type === 'call' && isOfParser(module, each.value, hops),
    )
  );
}

/** A variable or a parameter that only has the name: what it is given is used where it is given. */
function isVariable(module: PyModule, name: PyNode): boolean {
  const scope = module.resolve(name);
  const writes = scope === undefined ? [] : module.writes(scope, name.text);
  return writes.length > 0 && !writes.some((write) => /^(?:def|class|import)$/.test(roleOf(write)));
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

/** All that a name may be that is imported more than once. */
function pathsOf(module: PyModule, callee: PyNode): readonly string[] {
  const path = qualifiedName(module, callee);
  if (path !== undefined) return [path];
  const scope = callee.type === 'identifier' ? module.resolve(callee) : undefined;
  return scope === undefined ? [] : module.writes(scope, callee.text).map((each) => importedPath(each) ?? '');
}

/** The call that a value is an argument of. */
export function callGiven(value: PyNode): PyNode | undefined {
  const holder = value.parent?.type === 'keyword_argument' ? value.parent : value;
  const call = holder.parent?.type === 'argument_list' ? holder.parent.parent : undefined;
  return call?.type === 'call' ? call : undefined;
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
