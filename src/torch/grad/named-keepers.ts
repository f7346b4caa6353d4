import { everywhere } from '../../semantic/companions.js';
import { ancestryOf, attributeOfSelf, classAround, methodsOf, selfName } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsByName, functionsOf, methodsByName, reachedFrom } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { returnsOf } from '../../semantic/returns.js';
import {
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  isTarget,
  positionalArguments,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import { isBaseBesideOthers } from '../../values/effects/inherited.js';
import { isOfKnownPackage } from '../../values/value/plain.js';
import { moduleKind, runsInForward } from '../module/modules.js';
import { cachesGraph, keysOfDecorators } from './caching.js';
import { calledBehind, givenByCalls, heirsNamed, putUnder } from './called-values.js';
import { changesOf, type Store, storesOf } from './forward-stores.js';
import { keysGiven } from './given-keys.js';
import { isReadInProject } from './graph-reads.js';
import type { Owner } from './holds.js';
import { outlivingNames } from './outliving.js';

/** A function of another file that a forward hands something to, that decorates a part of it, or that may take its place. */
export interface Handed extends Owner {
  /** What is looked for, and by which name: `function note`, `value on_output`, `given Net 1 on_output`. */
  readonly key: string;
}

/** Where a function or method of the project of this name keeps what it is given, if somebody reads that. */
export const keptByNamed = remembered((module: PyModule, key: string): string | undefined => {
  const asked = new Set([key]);
  let handed = 0;
  for (const each of asked) {
    const [as = '', name = '', at, keyword] = each.split(' ');
    // There are few operators, and most forwards have some.
    if (as !== 'operator') handed++;
    const look = LOOKS[as as keyof typeof LOOKS];
    const files = name === '' ? undefined : everywhere(module, name, look);
    if (files === undefined || handed > MOST_HANDED) return key.split(' ')[1];
    for (const done of files) {
      for (const { kept, hands, isAny } of [
        done,
        ...(done.given ?? []).filter((given) => isGivenAs(given, at, keyword)),
      ]) {
        if (isAny === true) return name;
        const found = kept.find((store) => isReadInProject(module, store.name, store.isHeld));
        if (found !== undefined) return found.into;
        // What a class below it is made with.
        for (const next of hands)
          asked.add(next.startsWith('heir ') ? each.replace(/^\w+ \w+/, next.replace('heir', as)) : next);
      }
    }
  }
  return undefined;
});

function isGivenAs(given: DoneByGiven, at: string | undefined, keyword: string | undefined): boolean {
  return given.keyword === undefined ? given.at === -1 || String(given.at) === at : given.keyword === keyword;
}

/** Names that are looked for. */
const MOST_HANDED = 128;

/** What something of a file does with what it is given. */
interface Done {
  readonly kept: readonly { readonly into: string; readonly name: string; readonly isHeld: boolean }[];
  /** What else gets it, as a key of its own. */
  readonly hands: readonly string[];
  /** Who knows what runs there. */
  readonly isAny?: boolean;
  /** What calls give to its parameters. */
  readonly given?: readonly DoneByGiven[];
}

interface DoneByGiven extends Omit<Done, 'given'> {
  readonly at: number;
  readonly keyword: string | undefined;
}

const NOTHING: Done = { kept: [], hands: [] };

const LOOKS = {
  /** By a function or a method. */
  function: (alone: PyModule, name: string): Done => doneBy(alone, functionsByName(alone, name)),
  /** By the method that an operator runs, or by what a class has in its place. */
  operator: (alone: PyModule, name: string): Done => {
    const done = doneBy(alone, functionsByName(alone, name));
    const other = doneByCalled(alone, putUnder(alone, name));
    return both(done, other);
  },
  /** By calling an object of a class. */
  object: (alone: PyModule, owner: string): Done =>
    doneBy(
      alone,
      methodsByName(alone, '__call__').filter((each) => enclosingClass(each)?.name?.text === owner),
    ),
  /** `self.update(x)` of `self.update = Gate()`: by a function, it could be the method of a container. */
  layer: (alone: PyModule, name: string): Done =>
    isNoClass(alone, name) ? { ...NOTHING, isAny: true } : { ...NOTHING, hands: [`object ${name}`] },
  /** By making an object of a class. */
  new: (alone: PyModule, owner: string): Done =>
    doneBy(
      alone,
      MAKING.flatMap((name) => methodsByName(alone, name)).filter(
        (each) => enclosingClass(each)?.name?.text === owner,
      ),
    ),
  made: doneByMade,
  /** By what a decorator or the class of a class puts in the place of a method. */
  dressed: (alone: PyModule, name: string): Done =>
    doneBy(
      alone,
      functionsByName(alone, name)
        .concat(methodsOfClass(alone, name))
        .flatMap((each) => putInside(alone, each)),
    ),
  value: (alone: PyModule, name: string): Done => doneByCalled(alone, putUnder(alone, name)),
  /** What takes the place of an object. */
  set: (alone: PyModule, name: string): Done =>
    doneByCalled(
      alone,
      putUnder(alone, name).filter(({ type }) => type !== 'call'),
    ),
  /** What a function puts into its parameters. */
  fills: (alone: PyModule, name: string): Done => ({
    ...NOTHING,
    given: functionsByName(alone, name).flatMap((each) => filledBy(alone, each)),
  }),
  given: (alone: PyModule, name: string): Done => ({
    kept: [],
    hands: heirsNamed(alone, name).map((each) => `heir ${each.name?.text}`),
    given: givenByCalls(alone, name).map(({ at, keyword, value }) => ({
      ...{ at, keyword },
      ...doneByCalled(alone, [value]),
    })),
  }),
  method: doneByReplacing,
  /** A class whose method takes the place of another base's: `class Both(Tap, Net)`. */
  mixed: (alone: PyModule, name: string): Done => ({ ...NOTHING, isAny: isBaseBesideOthers(alone, name) }),
  /** `measure.backward(grad)` by hand, for what it gives: of an autograd function, it has a graph as others do. */
  backward: (alone: PyModule, name: string): Done => ({ ...NOTHING, isAny: takesResult(alone, name) }),
};

function filledBy(alone: PyModule, functionNode: PyNode): readonly DoneByGiven[] {
  const names = functionNode.parameters?.named.map((each) => (each.name ?? each.named[0] ?? each).text) ?? [];
  return changesOf(alone, functionNode).flatMap(({ parameter, name = '' }) => {
    const kept = [{ into: parameter, name, isHeld: true }];
    const at = names.indexOf(parameter) - (selfName(functionNode) === undefined ? 0 : 1);
    return [undefined, parameter].map((keyword) => ({ at, keyword, kept, hands: [] }));
  });
}

/** What making an object runs, or entering it in a `with`. */
const MAKING: readonly string[] = ['__init__', '__post_init__', '__new__', '__enter__'];

function takesResult(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const place = node.parent?.attribute === node ? node.parent : undefined;
    const isCalled = place?.parent?.type === 'call' && place.parent.function === place;
    return place !== undefined && !(isCalled && place.parent?.parent?.type === 'expression_statement');
  });
}

/** `Net.encode = other`: what runs there instead is not in the class. Or a method of a class below one of another file. */
function doneByReplacing(alone: PyModule, name: string): Done {
  if (replacesMethod(alone, name)) return { ...NOTHING, isAny: true };
  const overrides: PyNode[] = [];
  const mixed: string[] = [];
  for (const method of functionsByName(alone, name)) {
    const classNode = enclosingClass(method);
    // Of a network, it is looked at with the forward that runs it.
    const isPlain = classNode === undefined || moduleKind(alone, classNode).isModule === 'no';
    if (!isPlain && runsInForward(alone, method)) continue;
    const { imported, unknown } = classNode ? ancestryOf(alone, classNode) : { imported: [], unknown: false };
    // `{"note": note}` of a class that is made by a call.
    const isMember =
      classNode === undefined && changesOf(alone, method).some((each) => each.name !== undefined);
    if (isMember || imported.some((path) => !isOfKnownPackage(path))) overrides.push(method);
    else if (classNode !== undefined && !unknown && keepsAny(alone, method))
      mixed.push(classNode.name?.text ?? '');
  }
  const done = doneBy(alone, overrides);
  return { ...done, hands: [...done.hands, ...mixed.map((each) => `mixed ${each}`)] };
}

function keepsAny(alone: PyModule, method: PyNode): boolean {
  const { kept, hands, isAny } = doneBy(alone, [method]);
  return kept.length > 0 || hands.length > 0 || isAny === true;
}

function replacesMethod(alone: PyModule, name: string): boolean {
  const isSet = alone.words(name).some((node) => {
    const target = node.parent?.attribute === node ? node.parent : undefined;
    const value = target?.parent?.left === target ? target?.parent?.right : undefined;
    const isOwn = target && attributeOfSelf(target) !== undefined && !isOfClass(enclosingFunction(target));
    return target && value && !isOwn && !PLAIN.test(value.type);
  });
  const setter = alone.words('setattr').map((node) => positionalArguments(node.parent ?? node)[1]);
  return isSet || setter.some((given) => given !== undefined && plainString(given) === name);
}

/** What it is given is a class, whose objects others are. */
function isOfClass(method: PyNode | undefined): boolean {
  return method?.name?.text === '__init_subclass__' || method?.name?.text === '__new__';
}

const PLAIN = /^(?:string|integer|float|true|false|none|list|dictionary|tuple|(?:comparison|not)_operator)$/;

function isNoClass(alone: PyModule, name: string): boolean {
  if (functionsByName(alone, name).length > 0) return true;
  return alone.words(name).some((node) => {
    const { parent } = node;
    if (parent?.type === 'aliased_import') return true;
    if (parent?.type !== 'class_definition') return isTarget(node);
    return decoratorsOf(parent).length > 0 || /__new__|metaclass/.test(alone.codeOf(parent));
  });
}

function methodsOfClass(alone: PyModule, name: string): readonly PyNode[] {
  return functionsOf(alone).filter((each) => enclosingClass(each)?.name?.text === name);
}

/** `cls.forward = f`, `space["forward"] = f`, `setattr(cls, "forward", f)`: the functions made inside that are put on others. */
function putInside(alone: PyModule, maker: PyNode): readonly PyNode[] {
  const inside = [...(maker.body ?? maker).walk()];
  const values = inside.flatMap((node) => {
    if (node.type === 'assignment')
      return /^(?:attribute|subscript)$/.test(node.left?.type ?? '') ? (node.right ?? []) : [];
    return node.type === 'call' && node.function?.text === 'setattr'
      ? positionalArguments(node).slice(2)
      : [];
  });
  return values.flatMap((value) => calledBehind(alone, value).functions);
}

/** What calling an object runs, or reading it as a method of a class. */
const CALLED: ReadonlySet<string> = new Set(['__call__', '__get__']);

/** By what a function or a class of this name makes: the functions inside it, its methods, what it is another name of. */
function doneByMade(alone: PyModule, name: string): Done {
  const classes = alone
    .words(name)
    .flatMap(({ parent, start }) =>
      parent?.type === 'class_definition' && parent.name?.start === start ? [parent] : [],
    );
  const makers = functionsByName(alone, name);
  const values = makers.flatMap((maker) => returnsOf(maker).flatMap((value) => value ?? []));
  const others = [...values, ...putUnder(alone, name)];
  const all = [...makers, ...others.flatMap((each) => calledBehind(alone, each).functions)];
  const inside = all.flatMap((maker) =>
    [...(maker.body ?? maker).walk()].filter(({ type }) => /^(?:function_definition|lambda)$/.test(type)),
  );
  const called = classes.flatMap(methodsOf).filter(({ name: own }) => CALLED.has(own?.text ?? ''));
  const done = doneBy(alone, [...new Set([...inside, ...called])]);
  const further = doneByCalled(alone, others);
  return both(done, further);
}

function both(one: Done, other: Done): Done {
  return {
    kept: [...one.kept, ...other.kept],
    hands: [...one.hands, ...other.hands],
    isAny: one.isAny === true || other.isAny === true,
  };
}

function doneByCalled(alone: PyModule, values: readonly PyNode[]): Done {
  const called = values.map((each) => calledBehind(alone, each));
  const done = doneBy(
    alone,
    called.flatMap(({ functions }) => functions),
  );
  const held = called.flatMap(({ containers }) =>
    containers.flatMap((into) =>
      // Nothing is made in it.
      outlivingNames(alone, into, into).map((name) => ({ into: into.text, name, isHeld: true })),
    ),
  );
  return {
    ...done,
    kept: [...done.kept, ...held],
    hands: [...done.hands, ...called.flatMap(({ keys }) => keys)],
  };
}

function doneBy(alone: PyModule, functions: readonly PyNode[]): Done {
  const stores = functions.flatMap((each) => storesRunBy(alone, each));
  const code = functions.flatMap((each) => [each, ...reachedFrom(alone, each)]);
  return {
    kept: stores.map(({ into, name, isHeld }) => ({ into: into.text, name, isHeld })),
    hands: code.flatMap((each) => [...keysGiven(alone, each), ...keysOfDecorators(alone, each)]),
    isAny: code.some((each) => cachesGraph(alone, each)),
  };
}

export function storesRunBy(module: PyModule, functionNode: PyNode): readonly Store[] {
  const code = [functionNode, ...reachedFrom(module, functionNode)];
  return code.flatMap((each) => {
    // What is inside another one is looked at with that, whose variables it sees.
    if (each !== functionNode && code.some((other) => other !== each && other.contains(each))) return [];
    const stores = [...storesOf(module, each)];
    return makesAnew(module, each) ? stores.filter(({ into }) => !isPartOfSelf(into)) : stores;
  });
}

/** What it sets is of a new object, which is looked at where that is kept: only making one runs it. */
function makesAnew(module: PyModule, functionNode: PyNode): boolean {
  if (functionNode.name?.text !== '__init__' || enclosingClass(functionNode) === undefined) return false;
  return module
    .words('__init__')
    .every((node) => node.parent?.attribute !== node || enclosingFunction(node)?.name?.text === '__init__');
}

/** `self`, `self.name`, `self.name[key]`: not what was given in. */
function isPartOfSelf(into: PyNode): boolean {
  const object = into.type === 'subscript' ? into.value : into;
  return (
    object !== undefined &&
    (attributeOfSelf(object) !== undefined || object.text === classAround(object)?.self)
  );
}
