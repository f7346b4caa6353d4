import { selfName } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { methodElsewhere, methodsByName } from '../../semantic/reach.js';
import type { PyNode } from '../../syntax/node.js';
import { escapesOf } from '../uses/escapes.js';
import { GradTrace } from '../value/trace.js';

/**
 * The method of this name that leaves something with a graph where others find it: where, in brackets, unless in this file.
 * `isGiven`: so may what it is given.
 */
export function keepingMethod(module: PyModule, name: string, isGiven: boolean): string | undefined {
  const is = (there: PyModule, method: PyNode): boolean =>
    keepsOwn(there, method) || (isGiven && keeps(there, method));
  if (methodsByName(module, name).some((method) => is(module, method))) return '';
  const place = methodElsewhere(module, name, is);
  return place && ` (${place})`;
}

/** Of what a method of a network computes with it. */
function keepsOwn(module: PyModule, method: PyNode): boolean {
  return keepsOf(module, method, new GradTrace(module, method, new Set([selfName(method) ?? 'self'])));
}

/** All that it is given may have a graph. */
export function keeps(module: PyModule, functionNode: PyNode): boolean {
  return keepsOf(module, functionNode, new GradTrace(module, functionNode, new Set(), 'graph'));
}

function keepsOf(module: PyModule, functionNode: PyNode, trace: GradTrace): boolean {
  return [...escapesOf(module, functionNode, trace)].some(
    ({ into, isDerived }) => into !== undefined && !isDerived,
  );
}
