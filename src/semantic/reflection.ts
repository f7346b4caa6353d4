import type { PyNode } from '../syntax/node.js';
import { stringValue } from './attribute-uses.js';
import { classBehind } from './definitions.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { argumentsOf, isCallee } from './statements.js';

/** By text: reading, setting, deleting. */
const BY_TEXT: readonly string[] = ['getattr', 'setattr', 'delattr'];

/** The place in a file that may get at the attribute without naming it as one. */
export function reflectionIn(
  module: PyModule,
  name: string,
  family: readonly PyNode[],
  /** Whether a shallow copy counts, which has the same attributes. */
  copies = true,
): PyNode | undefined {
  const dynamic = BY_TEXT.flatMap((word) => module.at(word)).find((hit) => {
    const call = hit.parent;
    if (!BY_TEXT.includes(hit.text) || call?.type !== 'call' || call.function !== hit) return false;
    const [object, asked] = argumentsOf(call);
    const known = stringValue(asked);
    return known === undefined ? mayBeOf(module, object, family) : known === name;
  });
  const raw = module.at('__dict__').find(({ parent, text }) => {
    return text === '__dict__' && mayBeOf(module, parent?.object, family);
  });
  // What walks over all attributes meets one less.
  const walked = ['vars', 'dir', 'getmembers'].flatMap((word) =>
    module.words(word).filter((hit) => {
      const callee = hit.parent?.attribute === hit ? hit.parent : hit;
      const call = callee.parent;
      const [object] = call?.type === 'call' && call.function === callee ? argumentsOf(call) : [];
      return object !== undefined && mayBeOf(module, object, family);
    }),
  )[0];
  const copying = copies ? [...module.at('copy'), ...module.at('.copy')] : [];
  const copied = copying.find((hit) => {
    const callee = hit.parent?.attribute === hit ? hit.parent : hit;
    const isCalled = isCallee(callee);
    return isCalled && qualifiedName(module, callee) === SHALLOW_COPY;
  });
  const getter = module.at('attrgetter').find(({ text, parent }) => {
    return text === 'attrgetter' && parent?.type !== 'dotted_name';
  });
  const matched = (module.memo(hasPatterns, module) ? module.at(name) : []).find(
    ({ parent, text }) => text === name && parent?.type === 'keyword_pattern',
  );
  return dynamic?.parent ?? raw?.parent ?? walked?.parent ?? copied ?? getter ?? matched?.parent;
}

function hasPatterns({ text }: PyModule): boolean {
  return /\bcase\b/.test(text);
}

/** A copy that shares the dictionaries of a module. */
const SHALLOW_COPY = 'copy.copy';

/** An object of another class of the file, or something imported, is no instance. */
function mayBeOf(module: PyModule, object: PyNode | undefined, family: readonly PyNode[]): boolean {
  if (object === undefined) return true;
  if (qualifiedName(module, object) !== undefined) return false;
  const owner = classBehind(module, object);
  return owner === undefined || family.includes(owner);
}
