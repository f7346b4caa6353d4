import { callsNamed } from '../semantic/called-name.js';
import { calledDefinition, selfName } from '../semantic/definitions.js';
import { definedElsewhere } from '../semantic/elsewhere.js';
import { calledPath } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import {
  argumentsOf,
  enclosingClass,
  enclosingFunction,
  hasSplat,
  keywordValue,
} from '../semantic/statements.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import type { Told } from './value.js';

/** What a parameter is in every call of its function that this file and its callers have; in none, its default. */
export function givenToParameter(
  module: PyModule,
  identifier: PyNode,
  callers: readonly PyModule[],
  valueOf: (node: PyNode, home: PyModule) => Told | undefined,
): Told | undefined {
  const [only, ...others] = waysReaching(module, identifier);
  const owner = only?.kind === 'parameter' ? enclosingFunction(only.node) : undefined;
  const name = owner?.name?.text;
  if (only === undefined || others.length > 0 || owner === undefined || name === undefined) return undefined;
  const written = defaultOf(owner, identifier.text);
  const called = (name === '__init__' ? enclosingClass(owner) : undefined) ?? owner;
  const calls = [module, ...callers].flatMap((home) =>
    callsNamed(home, called.name?.text ?? name).flatMap(({ call }) =>
      isCallOf(home, call, module, [called, owner]) ? [{ home, call }] : [],
    ),
  );
  if (calls.length === 0) {
    // A method is called by whatever holds its object.
    const told =
      written === undefined || called.closest('class_definition') !== undefined
        ? undefined
        : valueOf(written, module);
    return told && { ...told, by: `the default of \`${name}\`` };
  }
  const told = calls.map(({ home, call }) => {
    const node = givenIn(call, owner, identifier.text);
    if (node !== undefined) return valueOf(node, home);
    return written === undefined ? undefined : valueOf(written, module);
  });
  const [first] = told;
  const isSame = told.every((each) => JSON.stringify(each?.value) === JSON.stringify(first?.value));
  return isSame ? first : undefined;
}

function isCallOf(home: PyModule, call: PyNode, module: PyModule, wanted: readonly PyNode[]): boolean {
  const own = calledDefinition(home, call);
  if (own !== undefined) return home === module && wanted.includes(own);
  const path = calledPath(home, call);
  const there = path === undefined ? undefined : definedElsewhere(home, path);
  return there?.module.path === module.path && wanted.some(({ start }) => start === there.node.start);
}

function parametersOf(owner: PyNode): readonly PyNode[] {
  return (owner.parameters?.named ?? []).filter(({ type }) => type !== 'comment');
}

function nameOf(parameter: PyNode): string | undefined {
  if (parameter.type === 'identifier') return parameter.text;
  return parameter.name?.text ?? parameter.children[0]?.text;
}

function defaultOf(owner: PyNode, name: string): PyNode | undefined {
  return parametersOf(owner).find((parameter) => nameOf(parameter) === name)?.value;
}

/** By keyword, or by its place behind `self`. */
function givenIn(call: PyNode, owner: PyNode, name: string): PyNode | undefined {
  const keyword = keywordValue(call, name);
  if (keyword !== undefined) return keyword;
  const isMethod = enclosingClass(owner) !== undefined && selfName(owner) !== undefined;
  const names = parametersOf(owner).map(nameOf);
  const at = names.indexOf(name) - (isMethod ? 1 : 0);
  const before = argumentsOf(call).slice(0, at + 1);
  // What is spread may be anything.
  if (hasSplat(call)) return call;
  const placed = before[at];
  return placed?.type === 'keyword_argument' || before.some(({ type }) => type === 'keyword_argument')
    ? undefined
    : placed;
}
