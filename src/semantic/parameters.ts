import type { PyNode } from '../syntax/node.js';
import { calledDefinition, definitionBehind, definitionNamed, selfName } from './definitions.js';
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
  passes: (decorator: PyNode) => boolean = ({ text }) => text === 'staticmethod',
): ReadonlyMap<string, PyNode> | undefined {
  const object = call.function?.object;
  const isOfClass =
    object?.type === 'identifier' && definitionNamed(module, object)?.type === 'class_definition';
  const parameters = functionNode.parameters?.named ?? [];
  if (!decoratorsOf(functionNode).every(passes)) return undefined;
  if (isOfClass || hasSplat(call) || call.arguments?.type !== 'argument_list') return undefined;
  if (parameters.some(({ type }) => type.endsWith('_splat_pattern'))) return undefined;
  const names = parameters.filter(({ type }) => !type.endsWith('_separator')).map(nameOf);
  const positional = names.slice(selfName(functionNode) === undefined ? 0 : 1);
  const given = new Map<string, PyNode>();
  for (const [at, argument] of argumentsOf(call).entries()) {
    const isNamed = argument.type === 'keyword_argument';
    const name = isNamed ? argument.name?.text : positional[at];
    const value = isNamed ? argument.value : argument;
    if (name === undefined || value === undefined || !names.includes(name)) return undefined;
    given.set(name, value);
  }
  return given;
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
  const returned = [...ownNodes(maker)].filter(({ type }) => type === 'return_statement');
  const [only] = returned.length === 1 ? (returned[0]?.named ?? []) : [];
  return only === undefined || only.type === 'call' ? undefined : functionBehind(module, only);
}
