import { builtin, ofTensor, row } from '../../library/library.js';
import { CONTAINERS } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { attributeValues, givesOtherwise } from '../../semantic/attributes.js';
import { summariesTogether } from '../../semantic/companions.js';
import {
  ancestryOf,
  calledDefinition,
  classAround,
  definitionBehind,
  methodNamed,
} from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../semantic/elsewhere.js';
import { setsPart } from '../../semantic/given-away.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject, type Passed, passedBy } from '../../semantic/project-names.js';
import { beginning, isPut, isTakenByName, runsValue, type Taken } from '../../semantic/put-values.js';
import { functionsByName, functionsOf, reachedFrom } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import {
  argumentsOf,
  argumentValue,
  enclosingClass,
  hasSplat,
  isTarget,
  methodName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { mayHaveForward, runsInForward } from '../../torch/module/modules.js';
import { isOfKnownPackage } from '../value/plain.js';
import { growsPart, isForeignLayer, isOwnLayer, staysWhole } from './foreign-layers.js';

/** What the forwards of a project run that is not code of their class. */
interface ForwardFacts extends Runs {
  /** Something is assigned to `.forward` of an object or a class. */
  readonly isReplaced: boolean;
}

/** What code runs that something else gave it. */
interface Runs {
  /** Calls of what it holds or is given: `self.op(u, x)`, where `op` is an argument of the constructor. */
  readonly runs: readonly Run[];
  /** Functions of other files that it hands values to, which may be functions. */
  readonly hands: readonly string[];
  /** What it takes out of an object by a text, and so may run. */
  readonly takes: readonly Taken[];
}

/** `method`: of its own class, in place of which something may be set. */
export interface Run extends Passed {
  readonly method?: string;
}

/** Of this file and of the other files of the project; undefined where those are too many. */
export const forwardFacts = remembered((module: PyModule): ForwardFacts | undefined => {
  const others = summariesTogether(module, { word: 'forward', beside: [] }, factsIn);
  const called = summariesTogether(module, { word: '__call__', beside: [] }, factsIn);
  if (others === undefined || called === undefined) return undefined;
  const all = [module.alone.memo(factsIn, module.alone), ...others, ...called];
  const runs = all.flatMap((each) => each.runs);
  const takes = all.flatMap((each) => each.takes);
  const hands = new Set(all.flatMap((each) => each.hands));
  for (const name of hands) {
    const found = summariesTogether(module, { word: name, beside: [] }, runsOf);
    if (found === undefined || hands.size > MOST_HANDED) return undefined;
    for (const each of [...found, runsOf(module.alone, name)]) {
      runs.push(...each.runs);
      takes.push(...each.takes);
      for (const next of each.hands) hands.add(next);
    }
  }
  return { runs, takes, hands: [...hands], isReplaced: all.some(({ isReplaced }) => isReplaced) };
});

/** Functions of other files that are looked for by their name. */
const MOST_HANDED = 64;

function factsIn(module: PyModule): ForwardFacts {
  const isReplaced =
    module.wordsSet('.forward').some(({ parent }) => parent && isTarget(parent)) ||
    module.mentions(PUT_BY_TEXT);
  if (!mayHaveForward(module.text)) return { runs: [], hands: [], takes: [], isReplaced };
  const methods = functionsOf(module).filter(
    (each) => enclosingClass(each) !== undefined && runsInForward(module, each),
  );
  return { ...runsIn(module, methods), isReplaced };
}

/** `type(name, bases, {"forward": f})`, `dict(forward=f)`, `body["forward"] = f`, `setattr(net, "forward", f)`. */
const PUT_BY_TEXT =
  /["']forward["']\s*(?::|\]\s*=(?!=))|setattr_*\([^()]*["']forward["']|[({,]\s*forward\s*=\s*(?![=\d"']|None|True|False)/;

/** What runs when an object is gone through. */
export const ITERATED: ReadonlySet<string> = new Set(['__iter__', '__next__', '__getitem__', '__getitems__']);

/** Calls of what is held where something is gone through: `self.transform(x)` of a dataset. Undefined where those are too many. */
export const iterationRuns = remembered((module: PyModule): readonly Run[] | undefined => {
  const found: Run[] = [...module.alone.memo(iterationRunsIn, module.alone)];
  for (const word of ITERATED) {
    const files = summariesTogether(module, { word, beside: [] }, iterationRunsIn);
    if (files === undefined) return undefined;
    found.push(...files.flat());
  }
  return found;
});

function iterationRunsIn(module: PyModule): readonly Run[] {
  if (!module.mentions(/\bdef[\s\\]+__(?:iter|next|getitems?)__/)) return [];
  const functions = functionsOf(module).filter((each) => ITERATED.has(each.name?.text ?? ''));
  return runsIn(module, functions).runs;
}

/** Of the functions of a file that have this name. */
function runsOf(alone: PyModule, name: string): Runs {
  return runsIn(alone, functionsByName(alone, name));
}

/** A layer of an unknown package gives what it may run whatever it likes. */
const ANYTHING: Passed = { positional: 0, all: 0, isSpread: true };

/** Of some functions of a file and of what they run there. */
function runsIn(module: PyModule, functions: readonly PyNode[]): Runs {
  const code = new Set(functions.flatMap((each) => [each, ...reachedFrom(module, each)]));
  const calls = new Set([...code].flatMap((each) => [...each.walk()].filter(({ type }) => type === 'call')));
  const runs: Run[] = [];
  const hands = new Set<string>();
  const takes: Taken[] = [];
  for (const call of calls) {
    const callee = call.function;
    takes.push(...takenBy(module, call));
    if (runsGiven(module, call)) runs.push(givenOn(call));
    else if (runsValue(module, call)) runs.push(passedBy(call));
    else if (callee !== undefined && !isOwnLayer(module, callee)) runs.push(ANYTHING);
    const method = calledDefinition(module, call) === undefined ? undefined : methodName(call);
    if (method !== undefined) runs.push({ ...passedBy(call), method });
    const path = calledPath(module, call);
    if (
      path !== undefined &&
      !isOfKnownPackage(path) &&
      argumentsOf(call).some((each) => isChosen(module, argumentValue(each)))
    )
      hands.add(path.slice(path.lastIndexOf('.') + 1));
  }
  return { runs, takes, hands: [...hands] };
}

/** Functions of Python that give all names of a module or of an object. */
const NAMESPACES: ReadonlySet<string> = new Set(['eval', 'globals', 'locals', 'vars']);

function takenBy(module: PyModule, call: PyNode): readonly Taken[] {
  const callee = call.function;
  if (callee === undefined || !isUnbound(module, callee)) return [];
  if (NAMESPACES.has(callee.text)) return [{ name: '', isWhole: false, isOwn: false }];
  const [object, name] = callee.text === 'getattr' ? argumentsOf(call) : [];
  if (object === undefined || isOfKnownPackage(qualifiedName(module, object) ?? '')) return [];
  if (isOnlyComputedWith(module, call)) return [];
  const isOwn = object.text === classAround(call)?.self;
  const whole = name && plainString(name);
  return [{ name: whole ?? beginning(name), isWhole: whole !== undefined, isOwn }];
}

/** `w = getattr(self.module, name + "_raw")`, where `w` is a number or a tensor to all who read it: nobody runs it. */
function isOnlyComputedWith(module: PyModule, place: PyNode): boolean {
  const user = place.parent;
  switch (user?.type) {
    case 'assignment':
      return (
        user.right === place &&
        user.left?.type === 'identifier' &&
        module.resolve(user.left)?.kind === 'function' &&
        readsOf(module, user.left).every((read) => isOnlyComputedWith(module, read))
      );
    case 'binary_operator':
    case 'comparison_operator':
    case 'not_operator':
      return true;
    case 'attribute': {
      const name = user.attribute?.text ?? '';
      return user.object === place && ofTensor(name) !== undefined && !isMethodOfProject(module, name);
    }
    case 'argument_list': {
      const call = user.parent;
      const path = call && calledPath(module, call);
      if (path !== undefined) return row(path)?.graph !== undefined && row(path)?.runs !== true;
      const name = (call && methodName(call)) ?? '';
      return isTensorMethod(name) && ofTensor(name) !== undefined && !isMethodOfProject(module, name);
    }
    default:
      return false;
  }
}

/** A value that may be a function: one of several, or one that the object was given; what a call has computed is a tensor. */
function isChosen(module: PyModule, value: PyNode): boolean {
  if (value.type === 'call') return isTakenByName(module, value);
  if (value.type === 'attribute') return isPut(module, value);
  if (value.type !== 'identifier') return CHOICES.has(value.type);
  return waysGiven(module, value).some((way) => {
    if (way.kind === 'value')
      return CHOICES.has(way.value.type) || (way.value.type === 'call' && isTakenByName(module, way.value));
    return way.kind !== 'part' && way.kind !== 'update' && !isOfForward(module, way.node);
  });
}

const CHOICES: ReadonlySet<string> = new Set([
  'attribute',
  'conditional_expression',
  'identifier',
  'lambda',
  'subscript',
]);

/** A parameter of a forward: what a network is called with is data. */
function isOfForward(module: PyModule, write: PyNode): boolean {
  const owner = write.closest('function_definition');
  return owner !== undefined && enclosingClass(owner) !== undefined && runsInForward(module, owner);
}

/** `checkpoint(self.rule, x)`: a function of a library that runs what it is handed first, which something else put there. */
export function runsGiven(module: PyModule, call: PyNode): boolean {
  const [first] = argumentsOf(call);
  if (first === undefined || !isRunner(module, call)) return false;
  const value = argumentValue(first);
  return isPut(module, value) && definitionBehind(module, value) === undefined;
}

function isRunner(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  if (path !== undefined) return row(path)?.runs === true;
  const known = isUnbound(module, call.function) ? builtin(call.function?.text ?? '') : undefined;
  return known?.runs === true && known.gives === 'arguments';
}

/** What such a function gives on: its own options come by keyword. `vmap(self.rule)` is given the rest later. */
function givenOn(call: PyNode): Passed {
  const { positional, isSpread } = passedBy(call);
  return { positional: positional - 1, all: positional - 1, isSpread: isSpread || positional === 1 };
}

/** Functions of Python that run none of the values that a forward gives them. */
const BUILTINS: ReadonlySet<string> = new Set(
  'abs bool dict enumerate float int isinstance len list print range repr reversed round str tuple zip'.split(
    ' ',
  ),
);

/**
 * The forward of a class runs functions of libraries, methods of tensors and layers that the class makes itself, of torch or of
 * classes like it: nobody can hand it a function that it would run.
 */
export function runsOnlyLayers({ module, node }: Elsewhere): boolean {
  return module.memo(findOnlyLayers, node);
}

function findOnlyLayers(module: PyModule, node: PyNode): boolean {
  return isClosedClass({ module, node }, new Set());
}

/** `seen`: the classes that are being looked at. */
function isClosedClass({ module, node }: Elsewhere, seen: Set<PyNode>): boolean {
  if (seen.has(node)) return true;
  seen.add(node);
  if (forwardFacts(module)?.isReplaced !== false) return false;
  const { imported, unknown } = ancestryOf(module, node);
  const forward = methodNamed(module, node, 'forward');
  if (unknown || !imported.every(isModuleClass) || forward === undefined) return false;
  if (methodNamed(module, node, '__call__') !== undefined) return false;
  return [forward, ...reachedFrom(module, forward)].every((each) =>
    [...each.walk()].every((inside) => inside.type !== 'call' || isClosed(module, inside, seen)),
  );
}

function isClosed(module: PyModule, call: PyNode, seen: Set<PyNode>): boolean {
  const callee = call.function;
  if (callee === undefined || argumentsOf(call).some(({ type }) => type === 'lambda')) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return isOfKnownPackage(path) && !runsGiven(module, call);
  const definition = calledDefinition(module, call);
  if (definition !== undefined) return definition.type === 'function_definition';
  if (callee.type === 'identifier') return isUnbound(module, callee) && BUILTINS.has(callee.text);
  if (callee.type !== 'attribute') return false;
  const name = methodName(call) ?? '';
  if (attributeValues(module, callee) !== undefined)
    return (
      isLayer(module, callee, seen) &&
      (isOwnLayer(module, callee) || !argumentsOf(call).some((each) => isChosen(module, argumentValue(each))))
    );
  // A part of its own that something else put there.
  if (callee.object?.text === classAround(call)?.self) return false;
  return isTensorMethod(name) && !isMethodOfProject(module, name);
}

/** Methods of tensors and lists that run nothing of what they are given. */
function isTensorMethod(name: string): boolean {
  if (/^(?:append|extend|items|keys|values|insert|get)$/.test(name)) return true;
  return ofTensor(name) !== undefined && !/^(?:apply_|map_|map2_|backward|register_\w+)$/.test(name);
}

/** `nn.Linear(n, m)`, `nn.Sequential(nn.Linear(n, m), self.norm)`, `Block(n)` of the project. */
function isLayer(module: PyModule, value: PyNode, seen: Set<PyNode>): boolean {
  switch (value.type) {
    case 'attribute':
      return isOwnPart(module, value, seen);
    case 'list':
    case 'tuple':
      return value.named.every((each) => isLayer(module, each, seen));
    case 'list_comprehension':
      return value.body !== undefined && isLayer(module, value.body, seen);
    case 'call':
      return isNewLayer(module, value, seen);
    default:
      return false;
  }
}

function isOwnPart(module: PyModule, attribute: PyNode, seen: Set<PyNode>): boolean {
  const values = attributeValues(module, attribute) ?? [];
  const name = attribute.attribute?.text ?? '';
  if (values.length === 0 || givesOtherwise(module, attribute)) return false;
  if (isAnywhere(module, name, setsPart) || isMethodOfProject(module, 'detach')) return false;
  if (!isOwnLayer(module, attribute) && !staysWhole(module, name)) return false;
  const holdsOthers = values.some(
    (each) => each.type !== 'call' || CONTAINERS.has(calledPath(module, each) ?? ''),
  );
  if (holdsOthers && isAnywhere(module, name, growsPart)) return false;
  return values.every((each) => isLayer(module, each, seen));
}

function isNewLayer(module: PyModule, call: PyNode, seen: Set<PyNode>): boolean {
  const callee = call.function;
  const path = callee && qualifiedName(module, callee);
  if (path === undefined) {
    const own = callee && definitionBehind(module, callee);
    return own?.type === 'class_definition' && isClosedClass({ module, node: own }, seen);
  }
  const made = definedElsewhere(module, path);
  if (made !== undefined) return made.node.type === 'class_definition' && isClosedClass(made, seen);
  if (!isModuleClass(path)) return isForeignLayer(module, call, path);
  // What holds other layers.
  if (!CONTAINERS.has(path)) return !/\.Transformer\w*$/.test(path);
  return (
    argumentsOf(call).length > 0 &&
    !hasSplat(call) &&
    argumentsOf(call).every((each) => isLayer(module, argumentValue(each), seen))
  );
}
