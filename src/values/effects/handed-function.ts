import { builtin } from '../../library/library.js';
import { PARTIAL } from '../../library/names.js';
import { nameOf } from '../../semantic/called-name.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import { valuesInside } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { definitionRun } from '../../semantic/star-imports.js';
import {
  argumentsOf,
  argumentValue,
  givenTo,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { keepsGiven } from '../value/names.js';
import { isMethodOfLibraries, isOfKnownPackage } from '../value/plain.js';
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

/**
 * What a call gets beside a result, to run on it, and what may keep that: `map(keep, outputs)`, `map(kept.append, outputs)`,
 * `Thread(target=keep, args=(output,))`.
 */
export function handedKeeper(
  module: PyModule,
  call: PyNode,
  trace: GradTrace,
  isHarmless: (found: Elsewhere) => boolean,
): Question | undefined {
  const given = givenTo(call).map(bare);
  const run = runBy(module, call);
  const keeper = given.find((each) => mayKeep(module, each, each === run, isHarmless));
  const others = keeper === undefined ? [] : given.flatMap((each) => [each, ...valuesInside(each)]);
  const graph = others.find((each) => each !== keeper && trace.mayCarryGraph(each));
  return (
    keeper &&
    graph &&
    ask('kept-only-read')`Is \`${shown(graph)}\`, which \`${shown(keeper)}\` may keep, ${ONLY_READ}?`
  );
}

/** `f` of `map(f, values)` and `sorted(values, key=f)`. */
function runBy(module: PyModule, call: PyNode): PyNode | undefined {
  const known = call.function && isUnbound(module, call.function) ? builtin(call.function.text) : undefined;
  const [first, second] = argumentsOf(call);
  const key = argumentsOf(call).find(({ name }) => name?.text === 'key');
  const run = known?.runs && known.gives === 'arguments' && second !== undefined ? first : known && key;
  return run && bare(run);
}

/** `isRun`: it is a callable for sure; else it may be any value, and is one only where that shows. */
function mayKeep(
  module: PyModule,
  value: PyNode,
  isRun: boolean,
  isHarmless: (found: Elsewhere) => boolean,
): boolean {
  const found = value.type === 'lambda' ? { module, node: value } : definitionRun(module, value);
  if (found !== undefined) return (isRun || found.node.type !== 'class_definition') && !isHarmless(found);
  if (value.type === 'attribute' && keepsGiven(value.attribute?.text ?? '')) return true;
  if (!isRun) return false;
  const path = qualifiedName(module, value.function ?? value);
  if (path === PARTIAL)
    return argumentsOf(value).some((each) => mayKeep(module, bare(each), true, isHarmless));
  if (path !== undefined) return !isOfKnownPackage(path);
  if (value.type === 'identifier' && isUnbound(module, value)) return builtin(value.text) === undefined;
  return value.type !== 'attribute' || !isMethodOfLibraries(value.attribute?.text ?? '');
}

/** What an argument gives, without its name and its parentheses. */
export function bare(given: PyNode): PyNode {
  return unparenthesized(argumentValue(given));
}
