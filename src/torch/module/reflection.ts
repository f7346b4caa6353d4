import { classBehind } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { argumentsOf } from '../../semantic/statements.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { type Gate, placeOf, shown } from '../gate.js';
import { deepCopyTried } from './graph-asked.js';
import { familyOf, stringValue } from './modules.js';

/** That nobody gets at an attribute by other means than `object.name`, or has a class of its own that knows it. */
export function reflectionGates(module: PyModule, classNode: PyNode, name: string): readonly Gate[] {
  const here = reflectionIn(module, name, familyOf(module, classNode));
  const unreached = ask('unreached-attribute');
  if (here !== undefined) return [doubt(unreached`Is \`self.${name}\` out of reach of \`${shown(here)}\`?`)];
  const named = classNode.name;
  if (named === undefined) return [];
  const word = new RegExp(`\\b${name}\\b`);
  const may = (text: string): boolean => REFLECTS.test(text) || word.test(text);
  const { uses, unread } = usesElsewhere(module, named, { may, byName: false });
  if (unread !== undefined)
    return [doubt(unreached`Is \`self.${name}\` out of reach of texts with its name in ${unread}?`)];
  for (const { module: there, node } of uses) {
    const heir = node.closest('argument_list', 'block')?.parent;
    if (heir?.type === 'class_definition' && word.test(heir.text))
      return [
        doubt(
          ask(
            'subclass-leaves',
          )`Does the class at ${placeOf(there, node)} leave \`self.${name}\` as it is in \`${named.text}\`?`,
        ),
      ];
    const found = reflectionIn(there, name, []);
    if (found !== undefined)
      return [
        doubt(
          unreached`Is \`self.${name}\` out of reach of \`${shown(found)}\` at ${placeOf(there, found)}?`,
        ),
      ];
  }
  const copying = deepCopyTried(module);
  return copying === undefined
    ? []
    : [
        doubt(
          ask(
            'error-unneeded',
          )`Does ${copying} work as well when copying \`self.${name}\` raises no error for its graph?`,
        ),
      ];
}

function doubt(otherwise: Question): Gate {
  return { answer: 'unknown', otherwise };
}

const REFLECTS = /\b(?:getattr|attrgetter|getmembers|__dict__|vars|dir|case)\b|\bcopy\b/;

/** The place in a file that may read the attribute without naming it as one. */
export function reflectionIn(
  module: PyModule,
  name: string,
  family: readonly PyNode[],
  /** Whether a shallow copy counts, which has the same attributes. */
  copies = true,
): PyNode | undefined {
  const dynamic = module.at('getattr').find((hit) => {
    const call = hit.parent;
    if (hit.text !== 'getattr' || call?.type !== 'call' || call.function !== hit) return false;
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
    const isCalled = callee.parent?.type === 'call' && callee.parent.function === callee;
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
