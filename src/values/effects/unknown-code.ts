import { SPECIAL_METHODS } from '../../library/names.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { attributeValues } from '../../semantic/attributes.js';
import { SETS_NAMES } from '../../semantic/by-text.js';
import { nameOf } from '../../semantic/called-name.js';
import { calledDefinition, classAround, heirsOf } from '../../semantic/definitions.js';
import { type Elsewhere, makerOf } from '../../semantic/elsewhere.js';
import { placeOf } from '../../semantic/gate.js';
import { setsAttribute } from '../../semantic/given-away.js';
import { possibleNames, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject, mayTake, passedBy, subclassesElsewhere } from '../../semantic/project-names.js';
import { mayTakeOut } from '../../semantic/put-values.js';
import { ask, type Question } from '../../semantic/question.js';
import { reachedFrom } from '../../semantic/reach.js';
import { methodName, rootOf } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { Origins } from '../value/origins.js';
import { isMethodOfLibraries } from '../value/plain.js';
import { CALLED, differentiators, type Suspect } from './differentiators.js';
import { type Differentiator, differentiatorsIn } from './differentiators-in-file.js';
import { putsOnObject, setsMade } from './foreign-layers.js';
import { forwardFacts, ITERATED, iterationRuns, runsOnlyLayers } from './forward-index.js';
import { SETS_MODE } from './grad.js';
import { isHandedOnByName } from './handed-on-by-name.js';
import { mayBeCalled } from './homes.js';
import { bound, isMixedIn, isRunByCall, runsOfGiven } from './inherited.js';
import { isAskedAsNetwork } from './strangers.js';

/** `` `Potential` (`train.py:12`), whose forward … `` */
function suspectInWords({ name, place, clause }: Suspect): string {
  return `\`${name}\` (${place}), ${clause}`;
}

/** A question that names a suspect; where it stands for files that were not looked into, all that there is to ask, once. */
export function askAbout(suspect: Suspect, question: (words: string) => Question): Question {
  return suspect.isUnread ? unreadFiles(suspect.clause) : question(suspectInWords(suspect));
}

function unread({ around }: PyModule): Suspect {
  const clause =
    around.unread ?? 'memfix looks into at most 200 files that name one word, and here there are more';
  return { name: '', place: '', clause, isUnread: true };
}

function unreadFiles(why: string): Question {
  return ask('runs-without')`Does ${'what is called here'} run without \`backward()\` and its like (${why})?`;
}

/** The first of all differentiating functions that code of this file may get hold of, and that could be the one. */
function suspectAround(
  module: PyModule,
  may: (each: Differentiator) => boolean,
  words = suspect,
): Suspect | undefined {
  const own = differentiatorsIn(module.alone).find(may);
  return own === undefined ? suspectElsewhere(module, may, words) : words(own);
}

export function suspectElsewhere(
  module: PyModule,
  may: (each: Differentiator) => boolean,
  words = suspect,
): Suspect | undefined {
  for (const each of differentiators(module)) {
    if (each === undefined) return unread(module);
    if (may(each)) return words(each);
  }
  return undefined;
}

/**
 * The class of the project whose instances differentiate when they are called; a network has the methods of one.
 * `made`: the class that it is of, where that is known. `mayBe`: whether it may be of another one, or have it as a part.
 */
function differentiatesWhenCalled(
  module: PyModule,
  isNetwork: boolean,
  made?: Elsewhere,
  mayBe: MayBe = () => true,
): Suspect | undefined {
  const found = suspectAround(
    module,
    (each) =>
      each.owner !== undefined &&
      isRunByCall(module, each) &&
      (each.mayBeModule || !isNetwork || isMixedIn(module, each.owner)) &&
      mayBe({ owner: each.owner, file: each.file }),
    suspectClass,
  );
  const isClosed = made !== undefined && runsOnlyLayers(made) && !module.memo(putsSuspects, module);
  return found !== undefined || isClosed ? found : module.memo(heldByForward, module);
}

/** Whether a function that differentiates is put on some object, where a layer may find it. */
function putsSuspects(module: PyModule): boolean {
  const isPut = ({ name }: Differentiator) => !CALLED.has(name) && isAnywhere(module, name, putsOnObject);
  return suspectAround(module, isPut) !== undefined;
}

/** A function that differentiates, and that a forward of the project may hold and run, or that may be one itself. */
function heldByForward(module: PyModule): Suspect | undefined {
  const isFunction = ({ name }: Differentiator) => !CALLED.has(name);
  const some = suspectAround(module, isFunction);
  if (some === undefined) return undefined;
  const facts = forwardFacts(module);
  if (facts === undefined) return unread(module);
  const { isReplaced, takes } = facts;
  const runs = runsOfGiven(module, facts.runs);
  const found = suspectAround(
    module,
    (each) =>
      isFunction(each) &&
      (mayTakeOut(takes, each.name, each.mayBeModule) ||
        ((isReplaced || runs.some((given) => mayTake(each.arity, given))) && isHandedOn(module, each))),
  );
  return found && { ...found, isHeld: true };
}

function isHandedOn(module: PyModule, { isValue, name }: Differentiator): boolean {
  return isValue || module.memo(isHandedOnByName, name);
}

function instanceCalled(module: PyModule, made?: Elsewhere): Suspect | undefined {
  return differentiatesWhenCalled(module, false, made);
}

/** The same for those that are iterated over. */
export function differentiatesWhenIterated(module: PyModule): Suspect | undefined {
  const direct = suspectAround(
    module,
    ({ name, owner, isIterated }) => isIterated || (owner !== undefined && ITERATED.has(name)),
  );
  return direct ?? module.memo(heldByIterated, module);
}

/** Methods that are run by who names them or their class, and those that are asked about by themselves. */
const SEEN: ReadonlySet<string> = new Set([
  ...[...CALLED, ...ITERATED],
  ...['__init__', '__new__', '__post_init__'],
]);

/** What differentiates and no call shows: an operator of a class of the project, a handler of a log. */
export function differentiatesUnseen(module: PyModule): Suspect | undefined {
  const named = module.around.summaries({ word: 'methodcaller', beside: [] }, backwardNamed);
  const place = [backwardNamed(module.alone), ...(named ?? [])].find((each) => each !== undefined);
  if (place !== undefined) return { name: 'methodcaller', place, clause: 'which may call `backward`' };
  return suspectAround(
    module,
    ({ name, owner, bases }) =>
      owner !== undefined &&
      ((SPECIAL_METHODS.test(name) && !SEEN.has(name)) || bases.some((base) => LOGGING_BASE.test(base))),
  );
}

/** `operator.methodcaller("backward")`: whoever has it differentiates what it is given. */
function backwardNamed(alone: PyModule): string | undefined {
  const node = alone
    .words('methodcaller')
    .find((node) => /["']backward["']/.test(node.closest('call')?.text ?? ''));
  return node && `\`${placeOf(alone, node)}\``;
}

const LOGGING_BASE = /(?:Handler|Filter|Formatter|Logger|LoggerAdapter)$/;

/** A function that differentiates and is handed around, and that a dataset may hold and run. */
function heldByIterated(module: PyModule): Suspect | undefined {
  const some = suspectAround(module, ({ name }) => !CALLED.has(name));
  if (some === undefined) return undefined;
  const facts = iterationRuns(module);
  if (facts === undefined) return unread(module);
  const runs = runsOfGiven(module, facts);
  return suspectAround(
    module,
    (each) =>
      !CALLED.has(each.name) && runs.some((given) => mayTake(each.arity, given)) && isHandedOn(module, each),
  );
}

/** A method that differentiates, of a class that an object may be of, by the name that is called. */
export function differentiatingMethod(module: PyModule, call: PyNode): Suspect | undefined {
  const name = methodName(call);
  if (name === undefined || !isMethodOfProject(module, name)) return undefined;
  return suspectAround(
    module,
    (each) => each.name === name && each.owner !== undefined && mayTake(each.arity, passedBy(call)),
  );
}

/** The same of whichever arguments. */
export function methodDifferentiating(module: PyModule, name: string): Suspect | undefined {
  if (!isMethodOfProject(module, name)) return undefined;
  return suspectAround(module, (each) => each.name === name && each.owner !== undefined);
}

/**
 * The class of a network whose own `train()` or `eval()` trains it, or sets the grad mode for whoever comes after. A trainer of
 * the project, whose base is in another file, is none, unless it is what made the object.
 */
export function switchingNetwork(module: PyModule, receiver: PyNode): Suspect | undefined {
  const maker = makerOf(module, receiver)?.split('.').at(-1);
  return suspectAround(
    module,
    ({ name, owner, isModule, mayBeModule, words }) =>
      /^(?:train|eval)$/.test(name) &&
      (isModule || (mayBeModule && (words.startsWith(SETS_MODE) || owner === maker))),
  );
}

/** A function or network that differentiates, where something of the project sets an attribute of the name that is called. */
export function differentiatingAttribute(module: PyModule, call: PyNode): Suspect | undefined {
  const name = methodName(call);
  if (name === undefined || isMethodOfLibraries(name)) return undefined;
  const taken = isAnywhere(module, name, setsAttribute) ? functionTaking(module, call) : undefined;
  return taken ?? (isAnywhere(module, name, setsMade) ? differentiatesWhenCalled(module, false) : undefined);
}

/** A function that differentiates, is handed around and takes what a call gives. */
export function functionTaking(module: PyModule, call: PyNode): Suspect | undefined {
  const given = passedBy(call);
  return suspectAround(
    module,
    (each) =>
      !CALLED.has(each.name) &&
      (mayTake(each.arity, given) || mayTake(each.arity, bound(given))) &&
      isHandedOn(module, each) &&
      (each.isValue || mayBeCalled(module, call, each.name)),
  );
}

/** A function or class that differentiates, by the name in which a path ends. */
function differentiatorNamed(module: PyModule, path: string): Suspect | undefined {
  const last = path.slice(path.lastIndexOf('.') + 1);
  return suspectAround(
    module,
    ({ name, owner }) => (owner === undefined ? name : CALLED.has(name) && owner) === last,
  );
}

/** The same for what the name of a library's function may have become, where the file runs code that may set its variables. */
export function differentiatorSet(module: PyModule, callee: PyNode): Suspect | undefined {
  if (!module.mentions(SETS_NAMES) || module.resolve(rootOf(callee)) !== module.scope) return undefined;
  return suspectAround(module, ({ name }) => name === nameOf(callee));
}

/** What is known of a value that is called. */
export interface CalledValue {
  readonly suspect: Suspect | undefined;
  /** The functions of the project that it is. */
  readonly functions: readonly Elsewhere[];
  /** What made it is known. */
  readonly isFollowed: boolean;
}

/**
 * What differentiates when this value is called: what made it tells, through variables, parameters and their callers,
 * attributes and imports; else every function of the project that is handed around and takes such arguments.
 */
export function calledValue(module: PyModule, callee: PyNode, call: PyNode): CalledValue {
  const origins = new Origins(instanceCalled, differentiatorNamed);
  const answer = origins.of(module, callee, 0);
  const { functions } = origins;
  if (answer === 'clean') return { suspect: undefined, functions, isFollowed: true };
  if (answer !== 'unknown') return { suspect: answer, functions, isFollowed: true };
  const suspect = functionTaking(module, call) ?? differentiatesWhenCalled(module, false);
  return { suspect, functions, isFollowed: false };
}

/** `self.criterion(…)`, `F.loss(…)` of two imports: an attribute that holds what is called, not a method of a class. */
export function isHeldCallable(module: PyModule, callee: PyNode): boolean {
  if (callee.type !== 'attribute') return false;
  return attributeValues(module, callee) !== undefined || possibleNames(module, callee).length > 0;
}

/** What differentiates where a function, by those that it runs in its file, calls a value: `def fire(m): hook(m)`. */
export function valueCalledOnTheWay(module: PyModule, functionNode: PyNode): CalledOnTheWay | undefined {
  for (const via of reachedFrom(module, functionNode)) {
    // What a forward runs is asked of the network.
    const found = via.name?.text === 'forward' ? undefined : module.memo(findCalledValue, via);
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface CalledOnTheWay {
  readonly callee: PyNode;
  readonly suspect: Suspect;
}

function findCalledValue(module: PyModule, functionNode: PyNode): CalledOnTheWay | undefined {
  for (const call of (functionNode.body ?? functionNode).walk()) {
    const callee = call.type === 'call' ? call.function : undefined;
    if (callee === undefined || calledDefinition(module, call) !== undefined) continue;
    const isValue = callee.type === 'attribute' ? isHeldCallable(module, callee) : !isUnbound(module, callee);
    if (!isValue || qualifiedName(module, callee) !== undefined) continue;
    const { suspect } = calledValue(module, callee, call);
    if (suspect !== undefined) return { callee, suspect };
  }
  return undefined;
}

/** The same for a network that a function runs: an object with the methods of one. */
export function differentiatingNetwork(
  module: PyModule,
  network: PyNode,
  mayBe?: MayBe,
): Suspect | undefined {
  // `self.step(x)`, which a class below this one may have from another.
  const name = network.attribute?.text ?? '';
  const method = name === '' || CALLED.has(name) ? undefined : methodDifferentiating(module, name);
  if (method !== undefined) return { ...method, isHeld: true };
  const isReplaced = forwardFacts(module)?.isReplaced !== false;
  const may = isReplaced ? undefined : mayBe;
  const whenCalled = (there: PyModule, made?: Elsewhere): Suspect | undefined =>
    differentiatesWhenCalled(there, false, made, may);
  const answer = new Origins(whenCalled, differentiatorNamed).of(module, network, 0);
  if (answer !== 'unknown') return answer === 'clean' ? undefined : answer;
  const made = ownClass(module, network);
  const isShown = made !== undefined || isAskedAsNetwork(module, network);
  const call = network.closest('call');
  // Nothing but its name says that it is one: `for net in nets: net(x)`.
  const other = isShown || call?.function !== network ? undefined : functionTaking(module, call);
  return other ?? differentiatesWhenCalled(module, isShown, made);
}

/** Whether a network may be of a class of the project, or have one of it among its parts. */
type MayBe = (other: { readonly owner: string; readonly file: string }) => boolean;

/** The class of `self`, where no other inherits from it. */
function ownClass(module: PyModule, network: PyNode): Elsewhere | undefined {
  const around = classAround(network);
  if (around === undefined || network.text !== around.self) return undefined;
  const { classNode } = around;
  const isInherited =
    heirsOf(module, classNode).length > 0 ||
    subclassesElsewhere(module, classNode.name?.text ?? '')?.length !== 0;
  return isInherited ? undefined : { module, node: classNode };
}

function suspect(each: Differentiator): Suspect {
  const { owner, name, place, words } = each;
  if (CALLED.has(name) || ITERATED.has(name)) return suspectClass(each);
  const whole = owner === undefined ? name : `${owner}.${name}`;
  return { name: whole, place: `\`${place}\``, clause: `which ${words}` };
}

function suspectClass({ owner, name, place, words }: Differentiator): Suspect {
  return { name: owner ?? name, place: `\`${place}\``, clause: `whose ${name} ${words}` };
}
