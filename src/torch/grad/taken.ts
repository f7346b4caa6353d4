import { UNSEEN_METHODS } from '../../library/python.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { calledDefinition, classAround } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { shown } from '../../semantic/gate.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { methodsByName } from '../../semantic/reach.js';
import { enclosingClass, isCallee, isTarget, methodName, receiverOf } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import type { Suspect } from '../../values/effects/differentiators.js';
import { escapesOf } from '../../values/uses/escapes.js';
import { keptWhenTaken, premisesOfTaken } from '../../values/uses/taken.js';
import { isHandle } from '../../values/value/parts.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { GradTrace } from '../../values/value/trace.js';
import { isProperty, moduleKind } from '../module/modules.js';
import { ONLY_READ } from '../questions.js';
import { ownKeeper, ownKeepers } from './own-keepers.js';

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
  yield* questionsOfOwnKeepers(module, [functionNode.body ?? functionNode], models);
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

/** What other objects keep of what they compute with networks or parameters of their own, where some code runs them. */
export function* questionsOfOwnKeepers(
  module: PyModule,
  part: readonly PyNode[],
  models: ReadonlySet<string>,
): Generator<Question> {
  yield* questionsOfUnseen(module, part);
  for (const node of part.flatMap((each) => [...each.walk()])) {
    const name = runBy(module, node, models);
    const keeper = name === undefined ? undefined : ownKeeper(module, name);
    if (keeper !== undefined)
      yield ask(
        'kept-only-read',
      )`Is what \`${shown(node.function?.type === 'attribute' ? node.function : node)}\` keeps${keeper} ${ONLY_READ}?`;
  }
}

/** What else objects keep of what they compute by themselves, where Python runs a method of theirs that no name calls. */
function* questionsOfUnseen(module: PyModule, part: readonly PyNode[]): Generator<Question> {
  for (const name of UNSEEN_METHODS.filter((each) => !ASKED.has(each) && mayRunUnseen(part, each))) {
    const keeper = ownKeepers(module, name).keepers.find(({ home, node }) => !isOfNetwork(home, node));
    if (keeper === undefined) continue;
    const where = keeper.home.path === module.path ? '' : ` (\`${keeper.home.path}\`)`;
    const owner = enclosingClass(keeper.node)?.name?.text;
    yield ask(
      'kept-only-read',
    )`Is what \`${owner === undefined ? name : `${owner}.${name}`}\` keeps${where} ${ONLY_READ}?`;
  }
}

/** About what is called and gone through there are questions of their own. */
const ASKED = new Set(['__call__', '__getitem__', '__getitems__', '__missing__', '__iter__', '__next__']);

function mayRunUnseen(part: readonly PyNode[], name: string): boolean {
  const needed = /^__(?:enter|exit)__$/.test(name) ? 'with_statement' : undefined;
  return needed === undefined || part.some((each) => [...each.walk()].some(({ type }) => type === needed));
}

/** Of what networks run of their own, their forwards are asked. */
function isOfNetwork(home: PyModule, method: PyNode): boolean {
  const classNode = enclosingClass(method);
  return classNode !== undefined && moduleKind(home, classNode).isModule === 'yes';
}

/** `step` of `schedule.step(x)`, and `weights` of `mixture.weights`, which may be a property. */
function runBy(module: PyModule, node: PyNode, models: ReadonlySet<string>): string | undefined {
  if (node.type === 'call') {
    const receiver = receiverOf(node);
    if (receiver === undefined || models.has(receiver.text) || calledDefinition(module, node))
      return undefined;
    return calledPath(module, node) === undefined && isOfOthers(module, receiver)
      ? methodName(node)
      : undefined;
  }
  const name =
    node.type === 'attribute' && !isCallee(node) && !isTarget(node) ? node.attribute?.text : undefined;
  if (name === undefined || !isOfOthers(module, node.object ?? node)) return undefined;
  return isAnywhere(module, name, hasProperty) ? name : undefined;
}

function hasProperty(alone: PyModule, name: string): boolean {
  return methodsByName(alone, name).some(isProperty);
}

/** An object that is handed in or lives elsewhere, and none that a known package made. */
function isOfOthers(module: PyModule, object: PyNode): boolean {
  const maker = makerOf(module, object);
  if (maker !== undefined && isOfKnownPackage(maker)) return false;
  return isHandle(module, object, classAround(object)?.self);
}
