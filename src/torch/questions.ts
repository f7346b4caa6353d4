import { ask, type Question } from '../semantic/question.js';

/** What "nobody differentiates it" is in a question that is answered with yes. */
export const ONLY_READ = 'only read and never differentiated';

/** `code`: what is detached. */
export function hasDetach(code: string, otherwise = 'a Python number'): Question {
  return ask('tensor')`Is \`${code}\` a tensor (${otherwise} has no \`.detach()\`)?`;
}
