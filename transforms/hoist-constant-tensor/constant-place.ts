import { isOfModule } from '../../src/library/library.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { classAround, kinOf, methodNamed } from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { initialisation } from '../../src/semantic/instance.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { isAlwaysBeforeLoop } from '../../src/semantic/paths.js';
import {
  argumentsOf,
  enclosingClass,
  enclosingFunction,
  enclosingLoops,
  methodName,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { moduleKind, registrationOf } from '../../src/torch/module/modules.js';
import { type Constant, isInvariant, keywordValue } from './loop-constant.js';

/** Above this loop the assignment means the same, and no other use of the name comes before it. */
export function canLeave(
  module: PyModule,
  { name, statement, maker, value, made, device, copied }: Constant,
  loop: PyNode,
): boolean {
  if (name === undefined) return false;
  const scope = module.scopeAt(statement);
  const dtype = keywordValue(maker, 'dtype');
  if (dtype !== undefined && !isInvariant(module, dtype, loop)) return false;
  if (module.occurrences(scope, name.text).some((place) => place !== name && !loop.contains(place)))
    return false;
  if (module.occurrences(scope, name.text)[0] !== name) return false;
  if (device === undefined || isInvariant(module, device, loop)) return true;
  // It is moved last, or made there by a call whose other arguments can be written anew.
  return copied && !value.text.includes('\n') && (made !== value || value === maker);
}

/** The constant as it is made on the host. */
export function withoutDevice({ made, value, maker }: Constant): string {
  if (made !== value) return made.text;
  const kept = argumentsOf(maker).filter((argument) => argument.name?.text !== 'device');
  return `${maker.function?.text}(${kept.map(({ text }) => text).join(', ')})`;
}

/** A buffer that could hold what `forward` builds at every call. */
export interface BufferPlace {
  readonly classNode: PyNode;
  /** `self.weight` */
  readonly attribute: string;
  /** The call that registers it goes behind this statement of `__init__`, on what is called this there. */
  readonly behind: PyNode;
  readonly owner: string;
}

/** Attributes that every module has, which cannot be registered. */
function isTaken(name: string): boolean {
  return /^_|^training$/.test(name) || isOfModule(name);
}

/** Where `weight = torch.tensor(…).to(x.device)` of `forward`, outside loops, could be kept. */
export function bufferPlace(
  module: PyModule,
  { name, statement, value, made, maker, fromHost, copied }: Constant,
): BufferPlace | undefined {
  const around = classAround(statement);
  if (!fromHost || !copied || name === undefined || around === undefined) return undefined;
  if (value.text.includes('\n') || (value === made && value !== maker)) return undefined;
  const dtype = keywordValue(maker, 'dtype');
  if (dtype !== undefined && qualifiedName(module, dtype) === undefined) return undefined;
  if (enclosingFunction(statement)?.name?.text !== 'forward' || enclosingLoops(statement).length > 0)
    return undefined;
  const { classNode, self } = around;
  if (moduleKind(module, classNode).isModule !== 'yes' || isTaken(name.text)) return undefined;
  if (attributeUses(module, classNode, name.text).length > 0 || module.scopeOf(classNode).has(name.text))
    return undefined;
  if (registrationOf(module, classNode, name.text) !== 'none') return undefined;
  const word = new RegExp(`\\b${name.text}\\b`);
  if (kinOf(module, classNode).some((each) => each !== classNode && word.test(each.text))) return undefined;
  const init = methodNamed(module, classNode, '__init__');
  const behind = init && enclosingClass(init) === classNode ? initialisation(module, init) : undefined;
  const owner = behind && classAround(behind)?.self;
  if (behind === undefined || owner === undefined) return undefined;
  return { classNode, attribute: `${self}.${name.text}`, behind, owner };
}

/**
 * What could keep the constant from being made at all, and would not any more above the loop: a GPU that is asked for after
 * the round may have been left, or in a loop over GPUs, and a variable that is set under a condition.
 */
export function mayBeMissing(
  module: PyModule,
  { statement, device, maker, copied }: Constant,
  loop: PyNode,
): boolean {
  const head = module.code.slice(loop.start, loop.body?.start);
  const before = module.code.slice(loop.start, statement.start);
  const leaves = /\b(?:break|continue|return|raise)\b/.test(before);
  const gpus = /cuda|gpu|device/i.test(head);
  const gpu = copied && (device === undefined || device.type === 'string' || device.type === 'call');
  if (gpu) return leaves || gpus;
  const ends = /\b(?:break|return|raise)\b/.test(before);
  if (copied && ends && device?.type === 'identifier' && !isMovedToBefore(module, device, loop)) return true;
  const given = [device, keywordValue(maker, 'dtype')].flatMap((each) => [...(each?.walk() ?? [])]);
  return (
    leaves && given.some((node) => node.type === 'identifier' && isSetUnderCondition(module, node, loop))
  );
}

/** No write of the variable certainly runs before the loop. */
function isSetUnderCondition(module: PyModule, identifier: PyNode, loop: PyNode): boolean {
  const scope = module.resolve(identifier);
  if (scope === undefined || scope !== module.scopeAt(loop)) return false;
  const writes = module.writes(scope, identifier.text);
  return !writes.some((write) => roleOf(write) === 'parameter') && !isAlwaysBeforeLoop(module, loop, writes);
}

/** Something else is certainly moved to the device before the loop: it is there. */
function isMovedToBefore(module: PyModule, device: PyNode, loop: PyNode): boolean {
  const scope = module.resolve(device);
  const moves = (scope === undefined ? [] : module.reads(scope, device.text)).filter(({ parent }) =>
    parent?.type === 'keyword_argument'
      ? parent.name?.text === 'device'
      : parent?.parent?.type === 'call' && methodName(parent.parent) === 'to',
  );
  return isAlwaysBeforeLoop(module, loop, moves);
}
