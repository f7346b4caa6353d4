import { familyOf } from '../../semantic/attribute-uses.js';
import { type Gate, placeOf, shown } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { reflectionIn } from '../../semantic/reflection.js';
import { argumentsOf } from '../../semantic/statements.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { deepCopyTried } from './graph-asked.js';

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
  const unnamed = reflectedAnywhere(module, name);
  if (unnamed !== undefined) return [doubt(unreached`Is \`self.${name}\` out of reach of ${unnamed}?`)];
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

const REFLECTS = /\b(?:[gs]etattr|delattr|attrgetter|getmembers|__dict__|vars|dir|case)\b|\bcopy\b/;

/** Where a file that may not even name the class takes attributes of the name by a text, or all of some object. */
function reflectedAnywhere({ around }: PyModule, name: string): string | undefined {
  const quoted = around.summaries({ word: name, beside: TAKERS }, takesByText);
  const walked = around.summaries({ word: 'vars', beside: [] }, walksAttributes);
  if (quoted === undefined || walked === undefined) return 'one of the many files that may take it by a text';
  return [...quoted, ...walked].find((place) => place !== undefined);
}

/** What gives an attribute by its name. */
const TAKERS: readonly string[] = ['getattr', 'attrgetter', '__getattribute__'];

function takesByText(alone: PyModule, name: string): string | undefined {
  const isQuoted = new RegExp(`["'](?:\\w+\\.)*${name}["']`).test(alone.code);
  const [taker] = isQuoted ? TAKERS.flatMap((word) => alone.words(word)) : [];
  return taker && placeOf(alone, taker);
}

/** `for part in net.modules(): vars(part)`: of objects that come one after the other, or are given. */
function walksAttributes(alone: PyModule): string | undefined {
  const found = alone.words('vars').find(({ parent: call }) => {
    const [object] = call?.type === 'call' ? argumentsOf(call) : [];
    return waysGiven(alone, object).some(({ kind }) => kind === 'loop');
  });
  return found && placeOf(alone, found);
}
