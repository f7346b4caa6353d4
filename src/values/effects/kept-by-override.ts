import { everywhere } from '../../semantic/companions.js';
import { shown } from '../../semantic/gate.js';
import { classesSetting } from '../../semantic/given-away.js';
import type { PyModule } from '../../semantic/module.js';
import { mayBeSubclass } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import { methodElsewhere, methodsByName } from '../../semantic/reach.js';
import { enclosingClass, givenTo, positionalArguments, receiverOf } from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { keeps } from '../uses/escapes.js';
import { GradTrace } from '../value/trace.js';
import { isMixedIn } from './inherited.js';

/** What may run in the place of a method, on an object or by a class below, keeps what it is given, or what the networks give it. */
export function keptByOverride(
  module: PyModule,
  call: PyNode,
  method: PyNode,
  models: ReadonlySet<string>,
  trace: GradTrace,
  isHarmless: (there: PyModule, method: PyNode) => boolean,
): Question | undefined {
  // `super().on_loss(loss)`
  if (receiverOf(call)?.function?.text === 'super') return undefined;
  const graph = givenTo(call).find((each) => trace.mayCarryGraph(each));
  if (graph !== undefined && isReplacedOnObject(module, method))
    return ask(
      'kept-only-read',
    )`Is \`${shown(graph)}\`, which what is set as \`${shown(call.function ?? call)}\` may keep, ${ONLY_READ}?`;
  const keeper = overrideThat(
    module,
    method,
    (there, each) =>
      (graph !== undefined && !isHarmless(there, each)) ||
      keeps(there, each, new GradTrace(there, each, models)),
  );
  return keeper === undefined
    ? undefined
    : ask(
        'kept-only-read',
      )`Is what \`${shown(call.function ?? call)}\` of a class below keeps${keeper} ${ONLY_READ}?`;
}

/**
 * The method of a class below this one, or of one that may be mixed in, of which something is true, and that may run in its place:
 * where, in brackets, unless in this file.
 */
function overrideThat(
  module: PyModule,
  method: PyNode,
  is: (there: PyModule, method: PyNode) => boolean,
): string | undefined {
  const owner = enclosingClass(method)?.name?.text;
  const name = method.name?.text;
  if (owner === undefined || name === undefined) return undefined;
  const may = (there: PyModule, each: PyNode): boolean =>
    each !== method && mayTakePlace(module, owner, enclosingClass(each)) && is(there, each);
  if (methodsByName(module, name).some((each) => may(module, each))) return '';
  const place = methodElsewhere(module, name, may);
  return place && ` (${place})`;
}

function mayTakePlace(module: PyModule, owner: string, heir: PyNode | undefined): boolean {
  const name = heir?.name?.text;
  if (name === undefined) return false;
  // `class Trainer(base.Trainer)`: not another one of the name.
  const isBelow =
    name === owner ? heir?.superclasses?.text.includes(owner) === true : mayBeSubclass(module, name, owner);
  return isBelow || isMixedIn(module, name);
}

/** Whether something else may be put in the place of a method, on an object: `trainer.on_loss = losses.append`. */
function isReplacedOnObject(module: PyModule, method: PyNode): boolean {
  const owner = enclosingClass(method)?.name?.text;
  const name = method.name?.text;
  if (owner === undefined || name === undefined) return false;
  const files = everywhere(module, name, replacersIn);
  return (
    files === undefined || files.flat().some((each) => each === '' || mayBeSubclass(module, each, owner))
  );
}

function replacersIn(alone: PyModule, name: string): readonly string[] {
  const byText = alone.words('setattr').some((node) => {
    const key = node.parent && positionalArguments(node.parent)[1];
    return key !== undefined && plainString(key) === name;
  });
  return byText ? [''] : classesSetting(alone, name);
}
