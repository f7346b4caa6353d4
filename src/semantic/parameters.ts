import type { PyNode } from '../syntax/node.js';
import { calledDefinition, definitionBehind, definitionNamed, selfName } from './definitions.js';
import { callGiven } from './given-away.js';
import type { PyModule } from './module.js';
import { argumentsOf, decoratorsOf, hasSplat, ownNodes, unparenthesized } from './statements.js';

/**
 * The arguments of a call, by the names of the parameters of the function that it runs; `self` and what is left to its
 * default are not among them. Undefined where something is spread, where a decorator may do anything with them, or where
 * `Class.method(…)` is given its `self`.
 */
export function argumentsByParameter(
  module: PyModule,
  functionNode: PyNode,
  call: PyNode,
  /** A decorator that leaves the arguments as they are. */
  passes: (decorator: PyNode) => boolean = isStatic,
): ReadonlyMap<string, PyNode> | undefined {
  const parameters = functionNode.parameters?.named ?? [];
  if (parameters.some(isRest)) return undefined;
  return argumentsByName(module, functionNode, call, passes);
}

/** The same for the parameters by name of a function that takes others as well: `def f(a, *args, **kwargs)`. */
export function argumentsByName(
  module: PyModule,
  functionNode: PyNode,
  call: PyNode,
  passes: (decorator: PyNode) => boolean = isStatic,
): ReadonlyMap<string, PyNode> | undefined {
  const object = call.function?.object;
  const isOfClass =
    object?.type === 'identifier' && definitionNamed(module, object)?.type === 'class_definition';
  if (!decoratorsOf(functionNode).every(passes)) return undefined;
  if (isOfClass || hasSplat(call) || call.arguments?.type !== 'argument_list') return undefined;
  const parameters = functionNode.parameters?.named ?? [];
  const rest = parameters.filter(isRest);
  const named = parameters.filter((each) => !each.type.endsWith('_separator') && !isRest(each));
  const first = rest.find((each) => !each.text.startsWith('**'));
  const names = named.map(nameOf);
  const before = named.filter((each) => first === undefined || each.start < first.start).map(nameOf);
  const positional = before.slice(selfName(functionNode) === undefined ? 0 : 1);
  const given = new Map<string, PyNode>();
  for (const [at, argument] of argumentsOf(call).entries()) {
    const isNamed = argument.type === 'keyword_argument';
    const name = isNamed ? argument.name?.text : positional[at];
    const value = isNamed ? argument.value : argument;
    const isKnown = name !== undefined && names.includes(name);
    if (value === undefined || (!isKnown && rest.length === 0)) return undefined;
    if (isKnown) given.set(name, value);
  }
  return given;
}

function isStatic({ text }: PyNode): boolean {
  return text === 'staticmethod';
}

/** `*args`, `**kwargs: int` */
function isRest(parameter: PyNode): boolean {
  const inner = parameter.type === 'typed_parameter' ? parameter.named[0] : parameter;
  return inner?.type.endsWith('_splat_pattern') === true;
}

/** `args` and `kwargs` of `def f(x, *args, **kwargs)`. */
export function restOf(functionNode: PyNode): readonly string[] {
  return (functionNode.parameters?.named ?? []).filter(isRest).map(({ text }) => /\w+/.exec(text)?.[0] ?? '');
}

function nameOf(parameter: PyNode): string | undefined {
  const name = parameter.name ?? (parameter.type === 'typed_parameter' ? parameter.named[0] : parameter);
  return name?.type === 'identifier' ? name.text : undefined;
}

/** Whether a call of `expression` by this keyword raises, as the file shows: an unknown function takes anything. */
export function lacksParameter(module: PyModule, expression: PyNode, name: string): boolean {
  const called = functionBehind(module, expression);
  if (called === undefined || decoratorsOf(called).length > 0) return false;
  const parameters = called.parameters?.named ?? [];
  return !parameters.some((each) => each.type === 'dictionary_splat_pattern' || nameOf(each) === name);
}

/** The lambda or same-file function that an expression is; `wrap(block)` is what `wrap` returns in all cases. */
function functionBehind(module: PyModule, expression: PyNode): PyNode | undefined {
  const target = unparenthesized(expression);
  if (target.type === 'lambda') return target;
  const maker = target.type === 'call' ? calledDefinition(module, target) : undefined;
  if (maker === undefined) {
    const named = definitionBehind(module, target);
    return named?.type === 'function_definition' ? named : undefined;
  }
  if (maker.type !== 'function_definition' || decoratorsOf(maker).length > 0) return undefined;
  const returned = ownNodes(maker).filter(({ type }) => type === 'return_statement');
  const [only] = returned.length === 1 ? (returned[0]?.named ?? []) : [];
  return only === undefined || only.type === 'call' ? undefined : functionBehind(module, only);
}

/** The reads of the parameter by which a function of the file gets the variable: `train(model)`. */
export function readsAsParameter(module: PyModule, read: PyNode): readonly PyNode[] {
  const call = callGiven(read);
  const called = call && calledDefinition(module, call);
  if (call === undefined || called?.type !== 'function_definition') return [];
  const given = argumentsByParameter(module, called, call) ?? new Map<string, PyNode>();
  return [...given].flatMap(([name, value]) =>
    value === read ? module.reads(module.scopeOf(called), name) : [],
  );
}
