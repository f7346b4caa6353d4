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

/** The first that is found in a file of the project with this word, this one first; `many` where too many would have to be looked into. */
export function foundAnywhere<V, M>(
  module: PyModule,
  word: string,
  find: (alone: PyModule, word: string) => V | undefined,
  many: M,
): V | M | undefined {
  const own = find(module.alone, word);
  if (own !== undefined) return own;
  const files = module.around.summaries({ word, beside: [] }, find);
  return files === undefined ? many : files.find((found) => found !== undefined);
}
