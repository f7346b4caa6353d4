import { isAnywhere } from './anywhere.js';
import { SETS_BY_TEXT } from './attribute-writes.js';
import type { PyModule } from './module.js';
import { remembered } from './remembered.js';
import { argumentsOf, isCallee } from './statements.js';
import { plainString } from './strings.js';

/** Whether some file may put something else in the place of functions and methods by names that it makes. */
export const mayReplaceAny = remembered((module: PyModule): boolean =>
  REPLACING.some((word) => isAnywhere(module, word, replacesByText)),
);

const REPLACING = ['setattr', '__setattr__', '__getattribute__', '__dict__', 'vars', 'exec'];

function replacesByText(alone: PyModule, word: string): boolean {
  if (word === '__getattribute__') return alone.words(word).length > 0;
  if (word !== 'setattr') return SETS_BY_TEXT.test(alone.code.replaceAll(/\bsetattr\(/g, ''));
  return alone.words(word).some((node) => {
    const [, name] = isCallee(node) && node.parent !== undefined ? argumentsOf(node.parent) : [];
    return name === undefined || plainString(name) === undefined;
  });
}
