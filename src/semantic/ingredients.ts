import type { PyNode } from '../syntax/node.js';
import { attributeValues } from './attributes.js';
import { classAround, definitionNamed } from './definitions.js';
import { definedElsewhere, type Elsewhere, starredDefinition } from './elsewhere.js';
import { definitionOf } from './flow.js';
import { allGiven } from './function-uses.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { argumentsOf, methodName, receiverOf } from './statements.js';

/** What code is made with: the classes and functions it names, those that these name, and so on. */
export interface Ingredients {
  /** In this file or another one of the project. */
  readonly definitions: readonly Elsewhere[];
  /** Dotted names that lead out of the project, and names that are bound nowhere in it. */
  readonly strangers: readonly string[];
  /** All code that was looked through: these, and the values of the variables on the way. */
  readonly places: readonly Elsewhere[];
  /** The variables of files on the way, which others may set. */
  readonly variables: readonly Elsewhere[];
  /** Parameters of the function around it, and attributes of its object, that it hands on as they are. */
  readonly handed: readonly Elsewhere[];
}

/** Code that names more than this is not looked through. */
const MAX_VISITED = 200;

/**
 * Undefined where there is too much of it. Types, and attributes of values, are not followed. `isEnough`: a stranger behind
 * which nothing more is wanted. `isClosed`: a call whose arguments make no difference.
 */
export function ingredientsOf(
  module: PyModule,
  node: PyNode,
  isEnough: (stranger: string) => boolean = () => false,
  isClosed: (module: PyModule, call: PyNode) => boolean = () => false,
): Ingredients | undefined {
  const definitions: Elsewhere[] = [];
  const places: Elsewhere[] = [];
  const variables: Elsewhere[] = [];
  const strangers = new Set<string>();
  const handed: Elsewhere[] = [];
  const seen = new Set<PyNode>();
  const starts = valuesOf(module, node);
  if (starts === undefined) return undefined;
  const pending: Elsewhere[] = starts.map((start) => ({ module, node: start }));
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at.node)) continue;
    seen.add(at.node);
    if (seen.size > MAX_VISITED) return undefined;
    places.push(at);
    if (isDefinition(at.node)) definitions.push(at);
    for (const name of namesIn(at, isClosed)) {
      const { found, stranger, isGiven } = behindName(at, name, definitions);
      pending.push(...found);
      if (found.length > 0 && at.module.resolve(name) === at.module.scope)
        variables.push({ module: at.module, node: name });
      if (stranger !== undefined) strangers.add(stranger);
      if (stranger !== undefined && isEnough(stranger))
        return { definitions, strangers: [...strangers], places, variables, handed };
      if (isGiven) handed.push({ module: at.module, node: wholePath(name, at.node) });
    }
  }
  return { definitions, strangers: [...strangers], places, variables, handed };
}

/** Of `model` in `model = Net()`, what it is given there and elsewhere; undefined where a value is none that is written down. */
function valuesOf(module: PyModule, node: PyNode): readonly PyNode[] | undefined {
  const scope = node.type === 'identifier' && roleOf(node) !== 'read' ? module.resolve(node) : undefined;
  if (scope === undefined) return [node];
  const values = module.writes(scope, node.text).map((write) => {
    const definition = definitionOf(write);
    return 'value' in definition ? definition.value : undefined;
  });
  return values.every((value) => value !== undefined) ? values : undefined;
}

function isDefinition({ type }: PyNode): boolean {
  return type === 'class_definition' || type === 'function_definition';
}

/** What gives a number, a text or nothing, whatever it is given. */
const ENDS: ReadonlySet<string> = new Set(
  'abs bool float hasattr int isinstance issubclass len max min open print range round str sum'.split(' '),
);

function* namesIn(
  { module, node }: Elsewhere,
  isClosed: (module: PyModule, call: PyNode) => boolean,
): Generator<PyNode> {
  const isFollowed = ({ type, parent }: PyNode): boolean => {
    if (type !== 'argument_list' || parent?.type !== 'call') return type !== 'type';
    return !ENDS.has(parent.function?.text ?? '') && !isClosed(module, parent);
  };
  for (const each of node.walk(isFollowed))
    if (each.type === 'identifier' && roleOf(each) === 'read') yield each;
}

interface Behind {
  readonly found: readonly Elsewhere[];
  readonly stranger?: string;
  readonly isGiven?: boolean;
}

function behindName(at: Elsewhere, name: PyNode, definitions: readonly Elsewhere[]): Behind {
  const { module } = at;
  const whole = wholePath(name, at.node);
  const path = qualifiedName(module, whole);
  if (path !== undefined) {
    const found = leadsTo(module, path);
    return found === undefined ? { found: [], stranger: path } : { found: [found] };
  }
  const scope = module.resolve(name);
  if (scope === undefined) return unbound(module, name.text);
  const own = definitionNamed(module, name);
  if (own !== undefined) return { found: [{ module, node: own }] };
  // What stands in the code that is looked through is seen there, and what it is called with where it is called.
  const looked = [at.node, ...definitions.flatMap((each) => (each.module === module ? each.node : []))];
  const writes = module
    .writes(scope, name.text)
    .filter((write) => !looked.some((node) => node.contains(write)));
  const given = writes.flatMap((write) => {
    const definition = definitionOf(write);
    return 'value' in definition ? [definition.value] : [];
  });
  const put = module.reads(scope, name.text).flatMap(partsPut);
  const found = [...given, ...put].map((node) => ({ module, node }));
  const parameters = writes.filter((write) => roleOf(write) === 'parameter');
  if (parameters.length === 0) return { found };
  const values = attributeOfObject(module, name);
  if (values !== undefined) return { found: values.map((node) => ({ module, node })) };
  // Of `Net(args.size)` only a part of what is given is handed on.
  const isGiven = whole === name || classAround(name)?.self === name.text;
  const handed = isGiven ? parameters.map((each) => allGiven(module, each)) : [];
  if (handed.includes(undefined)) return { found, isGiven };
  return { found: [...found, ...handed.flatMap((each) => each ?? [])] };
}

/** `block.add_module(key, part)`, `layers.append(part)` */
function partsPut(container: PyNode): readonly PyNode[] {
  const call = container.parent?.parent;
  if (call?.type !== 'call' || call.function !== container.parent || receiverOf(call) !== container)
    return [];
  return /^(?:add_module|register_module|append|extend|insert)$/.test(methodName(call) ?? '')
    ? argumentsOf(call)
    : [];
}

/** The values that `self.inner` gets in the file, where they are known. */
function attributeOfObject(module: PyModule, self: PyNode): readonly PyNode[] | undefined {
  const { parent } = self;
  const isObject = parent?.type === 'attribute' && classAround(self)?.self === self.text;
  return isObject ? attributeValues(module, parent) : undefined;
}

/** A name that nothing binds in its file: one of Python's own, or from `import *`. */
function unbound(module: PyModule, name: string): Behind {
  const found = starredDefinition(module, name);
  if (found !== undefined) return { found: [found] };
  const isOwn = !/^[A-Z]/.test(name) || /(?:Error|Exception|Warning|Interrupt|Iteration)$/.test(name);
  return isOwn ? { found: [] } : { found: [], stranger: name };
}

/** `a.b.c` of the `a` there, as far as the code goes that is looked through. */
function wholePath(name: PyNode, code: PyNode): PyNode {
  let whole = name;
  while (whole !== code && whole.parent?.type === 'attribute' && whole.parent.object === whole)
    whole = whole.parent;
  return whole;
}

/** The definition behind a path or behind the first names of it: `models.Net` of `models.Net.from_file`. */
function leadsTo(module: PyModule, path: string): Elsewhere | undefined {
  for (let at = path; at.includes('.'); at = at.slice(0, at.lastIndexOf('.'))) {
    const found = definedElsewhere(module, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
