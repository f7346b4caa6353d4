import { FX } from '../../src/library/names.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import { isNamed } from '../../src/torch/training/wrapping.js';

/** Another file of the project that traces modules with torch.fx, any of which may have this one in it. */
export const tracedElsewhere = remembered((module: PyModule): string | undefined => {
  for (const word of FX) {
    const { modules, unread } = module.around.naming({ word, beside: [] }, (text) => FX_WORDS.test(text));
    const there = modules.find((each) => isNamed(each, word));
    const where = there === undefined ? unread : `\`${there.path}\``;
    if (where !== undefined) return where;
  }
  return undefined;
});

const FX_WORDS = new RegExp(`\\b(?:${FX.join('|')})\\b`);
