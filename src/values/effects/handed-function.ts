import { nameOf } from '../../semantic/called-name.js';
import { shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { argumentValue, givenTo, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import type { GradTrace } from '../value/trace.js';
import { gradUseElsewhere } from './elsewhere.js';
import { askAbout, calledValue } from './unknown-code.js';

/** A function that differentiates and that a call is handed, to run it: `model.apply(f)`, `map(f, batches)`. */
export function handedFunction(module: PyModule, call: PyNode): Question | undefined {
  const without = (given: PyNode, words: string): Question =>
    ask(
      'call-without-gradients',
    )`Does \`${shown(given)}\`, which \`${shown(call.function ?? call)}\` may run and which ${words}, work without gradients?`;
  for (const given of givenTo(call).map(bare)) {
    if (given.type !== 'identifier' && given.type !== 'attribute') continue;
    const found = gradUseElsewhere(module, given);
    if (found !== undefined) return without(given, `${found.use.words} in ${found.path}`);
  }
  const [only, ...more] = givenTo(call).map(bare);
  if (only === undefined || more.length > 0 || nameOf(call.function ?? call) !== 'apply') return undefined;
  if (receiverOf(call) === undefined || qualifiedName(module, call.function ?? call) !== undefined)
    return undefined;
  const { suspect } = calledValue(module, only, call);
  return suspect && askAbout(suspect, (words) => without(only, `may be ${words}`));
}

/** What an argument gives, without its name and its parentheses. */
export function bare(given: PyNode): PyNode {
  return unparenthesized(argumentValue(given));
}

/** `getattr(loss, name)`, where nothing says which of its methods that is. */
export function mayTakeBackward(call: PyNode, trace: GradTrace): boolean {
  const [object, name] = call.function?.text === 'getattr' ? givenTo(call).map(bare) : [];
  if (object === undefined || trace.of(object) !== 'graph') return false;
  const taken = name && plainString(name);
  return taken === undefined || taken === 'backward';
}
