import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import type { PyNode } from '../../syntax/node.js';
import type { Suspect } from '../../values/effects/differentiators.js';
import { escapesOf } from '../../values/uses/escapes.js';
import { keptWhenTaken, premisesOfTaken } from '../../values/uses/taken.js';
import { GradTrace } from '../../values/value/trace.js';

/**
 * What a function takes out of an object that computes it only then, with a graph, and hands on or leaves in that object.
 * `asked`: whom a question is about already.
 */
export function* questionsOfTaken(
  module: PyModule,
  functionNode: PyNode,
  models: ReadonlySet<string>,
  asked: Suspect | undefined,
): Generator<Question> {
  yield* questionsOfKept(module, functionNode, [functionNode], `\`${functionNode.name?.text}\``, asked);
  const premises = premisesOfTaken(module, functionNode, [functionNode]);
  if (premises === undefined) return;
  const trace = new GradTrace(module, functionNode, models, new Map(), 0, premises);
  for (const { question, isDerived } of escapesOf(module, functionNode, trace))
    if (!isDerived) yield question;
}

/** What the objects keep that some code goes through, of what they compute meanwhile. */
export function* questionsOfKept(
  module: PyModule,
  owner: PyNode,
  part: readonly PyNode[],
  name: string,
  asked?: Suspect,
): Generator<Question> {
  const kept = keptWhenTaken(module, owner, part);
  if (kept === undefined || kept.suspect.place === asked?.place) return;
  const { name: suspect, place, clause, isUnread } = kept.suspect;
  const where = kept.isHere ? '' : ` (${place})`;
  const what = isUnread ? `what computes with a network (${clause})` : `\`${suspect}\`${where}, ${clause}`;
  yield ask('another-iterable')`Does ${name} never iterate over ${what}?`;
}
