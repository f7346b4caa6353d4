import type { PyModule } from './module.js';

/** Whether something is true of a file of the project with this word, this one first; also where too many would have to be looked into. */
export function isAnywhere(
  module: PyModule,
  word: string,
  is: (alone: PyModule, word: string) => boolean,
): boolean {
  if (is(module.alone, word)) return true;
  return module.around.summaries({ word, beside: [] }, is)?.includes(true) ?? true;
}

/** Whether the code of a file of the project has this word. */
export function isNamedAnywhere(module: PyModule, word: string): boolean {
  return isAnywhere(module, word, isNamed);
}

function isNamed(alone: PyModule, word: string): boolean {
  return alone.words(word).length > 0;
}
