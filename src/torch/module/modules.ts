import { packageOf, row } from '../../library/library.js';
import { PLAIN_BASES } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import type { Answer } from '../../semantic/answer.js';
import { callsOf, familyOf, stringValue } from '../../semantic/attribute-uses.js';
import { methodCallsAt } from '../../semantic/called-name.js';
import { ancestryOf, classBehind, heirsOf, methodsOf } from '../../semantic/definitions.js';
import { type Elsewhere, lineageOf } from '../../semantic/elsewhere.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingClass,
  methodName,
  receiverOf,
} from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { within } from '../../syntax/within.js';

export interface ModuleKind {
  /** The class is an `nn.Module`. Unknown when a base comes from outside the project. */
  readonly isModule: Answer;
  /** Its Trainer decides about DDP and precision. */
  readonly isLightning: boolean;
  /** Built on the meta device and filled from a checkpoint (transformers, diffusers). */
  readonly isPretrained: boolean;
}

/** Of a package with networks and tensors of its own. */
function isForeign(path: string): boolean {
  return packageOf(path)?.foreign === true;
}

export function moduleKind(module: PyModule, classNode: PyNode): ModuleKind {
  const { imported, unknown } = lineageOf(module, classNode);
  const last = imported.map((path) => path.slice(path.lastIndexOf('.') + 1));
  const isLightning = last.includes('LightningModule');
  const isPretrained = last.some((name) => name.endsWith('PreTrainedModel') || name === 'ModelMixin');
  const known = isLightning || isPretrained || imported.some(isModuleClass);
  const open =
    unknown ||
    imported.some((path) => !PLAIN_BASES.has(path) && !isForeign(path) && row(path)?.is !== 'trainer');
  return { isModule: known ? 'yes' : open ? 'unknown' : 'no', isLightning, isPretrained };
}

/** What a base class would have to mention to meddle with how attributes, buffers and checkpoints work. */
const MEDDLING =
  /\b(?:__(?:setattr|getattr|getattribute|slots|dict)__|(?:set|get|del)attr|vars|register_buffer|_?(?:named_)?buffers|(?:load_)?state_dict|_apply|half|bfloat16|jit|(?:Distributed)?DataParallel)\b/;

/** The base class in another file that may know an attribute of this class, or handle all of them its own way. */
export function attributeElsewhere(module: PyModule, classNode: PyNode, name: string): Elsewhere | undefined {
  return lineageOf(module, classNode).elsewhere.find(
    ({ module: home, node }) =>
      MEDDLING.test(home.codeOf(node)) || new RegExp(`\\b${name}\\b`).test(home.codeOf(node)),
  );
}

/** How a family of classes registers an attribute with `nn.Module`, if it does. */
export type Registration = 'buffer' | 'parameter' | 'none' | 'unknown';

const REGISTERS: ReadonlyMap<string, Registration> = new Map([
  ['register_buffer', 'buffer'],
  ['register_parameter', 'parameter'],
  ['add_module', 'unknown'],
  ['register_module', 'unknown'],
]);

export function registrationOf(module: PyModule, classNode: PyNode, name: string): Registration {
  const family = familyOf(module, classNode);
  let dynamic = false;
  for (const [method, registration] of REGISTERS) {
    for (const call of methodCallsAt(module, method)) {
      if (methodName(call) !== method) continue;
      const receiver = receiverOf(call);
      const owner = receiver && classBehind(module, receiver);
      if (owner !== undefined && !family.includes(owner)) continue;
      const given = stringValue(argumentsOf(call)[0]);
      if (given === name) return registration;
      dynamic ||= given === undefined && owner !== undefined;
    }
  }
  return dynamic ? 'unknown' : 'none';
}

/** The functions of the class that `forward` runs: itself and, through `self.method(…)`, others of the same file. */
export function runsInForward(module: PyModule, functionNode: PyNode): boolean {
  const classNode = enclosingClass(functionNode);
  if (classNode === undefined) return false;
  return heirsOf(module, classNode).some((heir) =>
    module.alone.memo(findForwardMethods, heir).has(functionNode),
  );
}

const FORWARDS: ReadonlySet<string> = new Set(['forward', 'training_step', '__call__']);

/** Whether a file has one of them, going by its text: otherwise nothing runs in a forward there. */
export function mayHaveForward(text: string): boolean {
  return /\bdef[\s\\]+(?:forward|training_step|__call__)\b/.test(text);
}

function findForwardMethods(module: PyModule, classNode: PyNode): ReadonlySet<PyNode> {
  const methods = ancestryOf(module, classNode).classes.flatMap(methodsOf);
  const found = new Set(methods.filter((method) => FORWARDS.has(method.name?.text ?? '')));
  for (const method of found) {
    for (const called of methods) {
      const mayCall = !found.has(called) && method.text.includes(`.${called.name?.text}`);
      if (mayCall && within(callsOf(module, called), method).length > 0) found.add(called);
    }
  }
  return found;
}

/** What it gives is read as an attribute. */
export function isProperty(method: PyNode): boolean {
  return decoratorsOf(method).some(({ text }) => /property\b/.test(text));
}
