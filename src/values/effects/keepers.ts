import { selfName } from '../../semantic/definitions.js';
import { placeOf } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsOf } from '../../semantic/reach.js';
import { enclosingClass } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { escapesOf } from '../uses/escapes.js';
import { GradTrace } from '../value/trace.js';

/** The method of this name that leaves something with a graph where others find it: where, in brackets, unless in this file. */
export function keepingMethod(module: PyModule, name: string): string | undefined {
  if (methodsNamed(module, name).some((method) => keepsOwn(module, method))) return '';
  const place = methodElsewhere(module, name, keepsOwn);
  return place && ` (${place})`;
}

function methodsNamed(module: PyModule, name: string): readonly PyNode[] {
  return functionsOf(module).filter(
    (method) => method.name?.text === name && enclosingClass(method) !== undefined,
  );
}

export function methodElsewhere(
  module: PyModule,
  name: string,
  is: (there: PyModule, method: PyNode) => boolean,
): string | undefined {
  const { modules, unread } = module.around.naming({ word: name, beside: ['class'] }, (text) =>
    new RegExp(`\\bdef[\\s\\\\]+${name}\\b`).test(text),
  );
  for (const there of modules) {
    const found = methodsNamed(there, name).find((method) => is(there, method));
    if (found !== undefined) return placeOf(there, found);
  }
  return unread;
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
