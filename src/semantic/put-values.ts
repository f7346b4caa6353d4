import type { PyNode } from '../syntax/node.js';
import { attributeValues } from './attributes.js';
import { calledDefinition } from './definitions.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { methodName } from './statements.js';
import { plainString } from './strings.js';
import { isUnbound } from './variables.js';

/** `getattr(rules, "make_" + kind)`. */
export interface Taken {
  /** What a name that it may take begins with, or is. */
  readonly name: string;
  readonly isWhole: boolean;
  /** Out of the object whose method does it. */
  readonly isOwn: boolean;
}

/** Whether one of these may be a function of this name; only of a module can it be the own object's. */
export function mayTakeOut(takes: readonly Taken[], name: string, isOfModule: boolean): boolean {
  return takes.some(
    (each) => (isOfModule || !each.isOwn) && (each.isWhole ? each.name === name : name.startsWith(each.name)),
  );
}

/** What the names begin with that a text may be: `layer` of `f"layer{at}"` and of `"layer" + at`. */
export function beginning(name: PyNode | undefined): string {
  const first = name?.type === 'binary_operator' ? name.left : name;
  const text = first && plainString(first);
  return text ?? /^[fF](["'])((?:(?!\1)[\w])*)/.exec(first?.text ?? '')?.[2] ?? '';
}

/** A value is called that something else put there, and that may be a function. */
export function runsValue(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined || calledDefinition(module, call) !== undefined) return false;
  return qualifiedName(module, callee) === undefined && isPut(module, callee);
}

export function isPut(module: PyModule, value: PyNode): boolean {
  if (value.type === 'identifier') return module.resolve(value) !== undefined;
  if (value.type === 'call')
    return calledDefinition(module, value) === undefined && isTakenByName(module, value);
  if (value.type !== 'attribute') return true;
  // A method of another object is looked for by its name.
  return attributeValues(module, value)?.some(({ type }) => type !== 'call') ?? false;
}

/** `getattr(rules, name)`, `RULES.get(name)`. */
export function isTakenByName(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee?.type === 'identifier') return callee.text === 'getattr' && isUnbound(module, callee);
  return methodName(call) === 'get' || methodName(call) === 'pop';
}
