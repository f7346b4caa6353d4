import { DIFFERENTIATION_WORDS, PLAIN_BASES, TORCH_DATA } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { summariesTogether } from '../../semantic/companions.js';
import { ancestryOf, attributeOfSelf } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { Gathered } from '../../semantic/gathered.js';
import { isOnlyAsked } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import { isOwnMember } from '../../semantic/instance.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import { remembered } from '../../semantic/remembered.js';
import { questionFor } from '../../semantic/surroundings.js';
import { readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isMethodOfLibraries, isOfKnownPackage } from '../value/plain.js';
import {
  type Differentiator,
  differentiatorsIn,
  functionsWith,
  LAMBDA,
  valuesWith,
} from './differentiators-in-file.js';
import type { GradUse } from './grad.js';
import { TAKING_WORDS } from './taken-by-text.js';

/** Code of the project that a call may run and that differentiates. */
export interface Suspect {
  readonly name: string;
  readonly place: string;
  /** A clause about it: `which calls …`, `whose forward calls …`. */
  readonly clause: string;
  /** A forward may hold it, and is none itself. */
  readonly isHeld?: true;
  /** It stands for files that were too many to look into. */
  readonly isUnread?: true;
}

/** What runs when an object is called. */
export const CALLED: ReadonlySet<string> = new Set(['forward', '__call__']);

/**
 * The functions of other files of the project that differentiate, themselves or by what they call in other files, found as
 * they are gone through: who has found the one it looks for asks no further. Ends with undefined where too many files would have to be looked into.
 */
export const differentiators = remembered(
  (module: PyModule): Iterable<Differentiator | undefined> => new Gathered(findDifferentiators(module)),
);

/** Functions whose callers are looked for. */
const MOST_CALLED = 1024;

function* findDifferentiators(module: PyModule): Generator<Differentiator | undefined> {
  const own = differentiatorsIn(module.alone);
  const isOwn = new Set(own.map(keyOf));
  const found = new Set<string>();
  const asked = new Set<string>();
  const pending = [...own];
  function* add(files: readonly (readonly Differentiator[])[]): Generator<Differentiator> {
    for (const each of files.flat()) {
      const key = keyOf(each);
      if (found.has(key)) continue;
      found.add(key);
      pending.push(each);
      if (!isOwn.has(key)) yield each;
    }
  }
  for (const word of [...DIFFERENTIATION_WORDS, ...TAKING_WORDS]) {
    const files = summariesTogether(module, { word, beside: [] }, differentiatorsIn);
    if (files === undefined) return yield undefined;
    yield* add(files);
  }
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const mention = { word: at.name, beside: besideCallsOf(at) };
    const question = `${questionFor(mention)} ${at.isRead}`;
    if (asked.has(question) || !isCalledByName(at)) continue;
    asked.add(question);
    const look = at.isRead ? readersIn : callersIn;
    const files = asked.size > MOST_CALLED ? undefined : summariesTogether(module, mention, look);
    if (files === undefined) return yield undefined;
    yield* add([...files, look(module.alone, at.name)].map((all) => all.map((each) => because(each, at))));
  }
}

/** With what is at the end of it: `runs \`fit\`, which calls \`loss.backward()\``. */
function because(caller: Differentiator, { words }: Differentiator): Differentiator {
  const [own = '', last] = words.split(', which ');
  const clause =
    last === undefined
      ? `which ${own}`
      : `which leads to code that ${last.replace('leads to code that ', '')}`;
  return { ...caller, words: `${caller.words}, ${clause}` };
}

function keyOf({ place, name }: Differentiator): string {
  return `${place} ${name}`;
}

/** One of these a file must have that gets the function: its module or a package around it, or the class where others have such methods. */
function besideCallsOf({ name, owner, place }: Differentiator): readonly string[] {
  if (owner !== undefined) return isMethodOfLibraries(name) ? [owner] : [];
  return place
    .replace(/(?:\/__init__)?\.py:\d+$/, '')
    .split('/')
    .filter((part) => /^\w+$/.test(part));
}

/** What Python or torch calls has no callers that say its name. */
function isCalledByName({ name, owner }: Differentiator): boolean {
  return name !== LAMBDA && !(owner !== undefined && (CALLED.has(name) || /^__\w+__$/.test(name)));
}

/** The functions of a file that use what another one imports or has by this name. `if args.test:` runs nothing. */
function callersIn(alone: PyModule, name: string): readonly Differentiator[] {
  return usersIn(alone, name, (attribute) => isOfImport(alone, attribute) && !isOnlyAsked(attribute));
}

/** The same of a property, which runs where it is read. */
function readersIn(alone: PyModule, name: string): readonly Differentiator[] {
  return usersIn(alone, name, (attribute) => isOfImport(alone, attribute));
}

function usersIn(
  alone: PyModule,
  name: string,
  runs: (attribute: PyNode) => boolean,
): readonly Differentiator[] {
  const uses = alone.words(name).flatMap((node): readonly GradUse[] => {
    const words = `runs \`${name}\``;
    const { parent } = node;
    if (parent?.type === 'attribute' && parent.attribute === node)
      return runs(parent) ? [{ node, words }] : [];
    const bound = node.closest('aliased_import', 'block', 'module')?.alias ?? node;
    if (node.type !== 'identifier' || importedPath(bound) === undefined) return [];
    return readsOf(alone, bound).map((read) => ({ node: read, words }));
  });
  if (uses.length === 0) return [];
  return [...functionsWith(alone, uses), ...valuesWith(alone, uses)];
}

/** `helpers.f`, or `f` of an object that a class of the project may have made. */
function isOfImport(module: PyModule, attribute: PyNode): boolean {
  const object = attribute.object;
  const path = qualifiedName(module, attribute) ?? (object && makerOf(module, object));
  if (path !== undefined) return !isOfKnownPackage(path);
  const name = attribute.attribute?.text ?? '';
  if (isModeOfModule(module, attribute)) return false;
  // What the class around it has is not elsewhere.
  if (object === undefined || isOwnMember(module, object, name)) return false;
  return !isMethodOfLibraries(name) || inheritsOfProject(module, attribute);
}

/** `self.train` of a class whose base, in another file, may have it. */
function inheritsOfProject(module: PyModule, attribute: PyNode): boolean {
  const own = attributeOfSelf(attribute);
  const isOther = (path: string) =>
    !isModuleClass(path) && !PLAIN_BASES.has(path) && !path.startsWith(TORCH_DATA) && !isOfKnownPackage(path);
  return own !== undefined && ancestryOf(module, own.classNode).imported.some(isOther);
}

/** `self.training` of a module: torch sets it on each object, so that no method of that name is behind it. */
function isModeOfModule(module: PyModule, attribute: PyNode): boolean {
  const own = attribute.attribute?.text === 'training' ? attributeOfSelf(attribute) : undefined;
  return own !== undefined && ancestryOf(module, own.classNode).imported.some(isModuleClass);
}
