import { isModuleClass } from '../../src/library/paths.js';
import { classAround, definitionNamed, methodNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf, mayBeOfProject } from '../../src/semantic/elsewhere.js';
import { calledPath, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath, roleOf } from '../../src/semantic/names.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingClass,
  isAsync,
  methodName,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import { isUnbound, waysReaching } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isPlainMaking } from './held-values.js';
import { calledOf, givenTo } from './owner.js';
import { parameterNode } from './parameter-given.js';
import { handsCode } from './taken-by-packages.js';

interface Given extends Elsewhere {
  /** `kwargs` of `**kwargs`, which holds it. */
  readonly isRest: boolean;
}

/**
 * The parameters of the project's functions that an argument of a call may become, where it is not known which of them is
 * called; none where only packages get it, and undefined where that does not show.
 */
export function parametersGiven(
  module: PyModule,
  call: PyNode,
  argument: PyNode,
): readonly Given[] | undefined {
  const takers = takersCalled(module, call);
  const given = takers?.map((taker) => taker && parametersOf(taker, argument));
  return given?.includes(undefined) === false ? given.flatMap((each) => each ?? []) : undefined;
}

function parametersOf({ module, node }: Elsewhere, argument: PyNode): readonly Given[] | undefined {
  if (!decoratorsOf(node).every(({ text }) => text === 'staticmethod') || isAsync(node)) return undefined;
  if (ownNodes(node).some(({ type }) => type === 'yield')) return undefined;
  const isOfObject = enclosingClass(node) !== undefined && decoratorsOf(node).length === 0;
  const parameters = (node.parameters?.named ?? []).slice(isOfObject ? 1 : 0);
  const rest = parameters.filter(({ type }) => type.endsWith('_splat_pattern'));
  const given = (name: PyNode | undefined, isRest: boolean): readonly Given[] =>
    name === undefined ? [] : [{ module, node: name, isRest }];
  const all = () =>
    parameters.flatMap((each) => {
      const name = each.type === 'identifier' ? each : (each.name ?? each.named[0]);
      return given(name, rest.includes(each));
    });
  const known = /_splat$/.test(argument.type) ? undefined : parameterNode(node, argument, isOfObject ? 1 : 0);
  if (known !== undefined && !rest.some((each) => each.contains(known))) return given(known, false);
  const isSpread = argument.parent?.named.some(({ type }) => type.endsWith('_splat'));
  return isSpread === true || rest.length > 0 ? all() : undefined;
}

/** All functions of the project that a call may run. */
function takersCalled(module: PyModule, call: PyNode): readonly (Elsewhere | undefined)[] | undefined {
  const found = calledOf(module, call);
  if (found !== undefined) return found.node.type === 'class_definition' ? makersOf(found) : [found];
  const callee = call.function;
  const receiver = receiverOf(call);
  const looked = callee && lookedUp(module, callee);
  if (looked !== undefined) {
    const all = looked.map((each) => ofModules(module, each));
    return all.flatMap((each) => each ?? [undefined]);
  }
  if (receiver === undefined || calledPath(module, call) !== undefined) return undefined;
  const isOfBases = receiver.function?.text === 'super' && methodName(call) === '__init__';
  const around = isOfBases ? classAround(call) : undefined;
  if (around !== undefined) return makersOfBases({ module, node: around.classNode });
  return isOfBases || handsCode(module, call) ? undefined : functionsNamed(module, methodName(call) ?? '');
}

/** The `__init__` that makes the objects of a class; none where only a package has one. */
function makersOf(made: Elsewhere): readonly Elsewhere[] | undefined {
  if (!isPlainMaking(made)) return undefined;
  const node = methodNamed(made.module, made.node, '__init__');
  if (node !== undefined) return [{ module: made.module, node }];
  return made.module.scopeOf(made.node).has('__init__') ? undefined : makersOfBases(made);
}

function makersOfBases({ module, node }: Elsewhere): readonly Elsewhere[] | undefined {
  const { elsewhere, unknown, imported } = lineageOf(module, node);
  if (unknown || !imported.every((path) => isModuleClass(path) || path === 'abc.ABC')) return undefined;
  const here = (node.superclasses?.named ?? []).flatMap((base) => {
    const found = definitionNamed(module, base);
    return found?.type === 'class_definition' ? [{ module, node: found }] : [];
  });
  return [...here, ...elsewhere].flatMap((base) => {
    const init = methodNamed(base.module, base.node, '__init__');
    return init === undefined ? [] : [{ module: base.module, node: init }];
  });
}

/** `nets` of `getattr(nets, name)`, also of a variable that holds nothing else. */
function lookedUp(module: PyModule, callee: PyNode): readonly (PyNode | undefined)[] | undefined {
  if (callee.type === 'call') {
    const isLooking = callee.function?.text === 'getattr' && isUnbound(module, callee.function);
    return isLooking ? argumentsOf(callee).slice(0, 1) : undefined;
  }
  const ways = callee.type === 'identifier' ? waysReaching(module, callee) : [];
  const values = ways.map((way) => (way.kind === 'value' ? way.value : undefined));
  if (!values.some((value) => value?.type === 'call' && value.function?.text === 'getattr')) return undefined;
  return values.flatMap((value) => (value?.type === 'call' && lookedUp(module, value)) || [undefined]);
}

/** Where a module is a parameter, of all that it is given. */
function ofModules(
  module: PyModule,
  object: PyNode | undefined,
): readonly (Elsewhere | undefined)[] | undefined {
  const ways = object?.type === 'identifier' ? waysReaching(module, object) : [];
  const [way] = ways;
  if (object === undefined || way?.kind !== 'parameter') return object && ofModule(module, object);
  const given = ways.length === 1 ? givenTo(module, way.node) : undefined;
  return given?.flatMap((each) => ofModule(each.module, each.node) ?? [undefined]);
}

/** Whatever `getattr(nets, name)` gives: all that the file has at its top. */
function ofModule(module: PyModule, object: PyNode): readonly (Elsewhere | undefined)[] | undefined {
  const path = qualifiedName(module, object);
  if (path === undefined) return undefined;
  const there = module.around.module(path);
  if (there === undefined) return mayBeOfProject(module, `${path}.any`) ? undefined : [];
  if (there.mentions(/\bimport[ \t]*\*/)) return undefined;
  return there.root.named.flatMap((statement): readonly (Elsewhere | undefined)[] => {
    if (/^import/.test(statement.type))
      return [...statement.walk()].flatMap((name): readonly (Elsewhere | undefined)[] => {
        const from = name.type === 'identifier' ? importedPath(name) : undefined;
        if (from === undefined || !mayBeOfProject(there, from)) return [];
        const found = definedElsewhere(there, from);
        return found?.node.type === 'class_definition' ? (makersOf(found) ?? [undefined]) : [found];
      });
    const node = statement.type === 'decorated_definition' ? statement.definition : statement;
    if (node?.type === 'function_definition') return [{ module: there, node }];
    if (node?.type === 'class_definition') return makersOf({ module: there, node }) ?? [undefined];
    // `Net = partial(Base, 3)`
    const isOther = /^(?:expression_statement|if_statement|try_statement)$/.test(statement.type);
    return isOther && statement.named[0]?.type !== 'string' && statement.type !== 'comment'
      ? [undefined]
      : [];
  });
}

/** They put it somewhere, or hand it to what they are given. */
const HANDS_AWAY =
  /^(?:add|append|appendleft|apply|apply_async|extend|insert|map|parse_\w+|put|put_nowait|send|setdefault|submit|update)$|^__/;

/** All functions of a name, whichever object one is asked of; packages do nothing with it that counts. */
function functionsNamed(module: PyModule, name: string): readonly Elsewhere[] | undefined {
  if (!/^\w+$/.test(name) || HANDS_AWAY.test(name)) return undefined;
  const isGiven = new RegExp(`\\b${name}\\s*(?::[^=\\n]+)?=(?!=)|["']${name}["']`);
  const { modules, unread } = module.around.naming({ word: name, beside: [] }, (text) => text.includes(name));
  const all = [module, ...modules];
  if (unread !== undefined || all.some((there) => isGiven.test(there.text))) return undefined;
  const bound = all.flatMap((there) =>
    there
      .words(name)
      .filter((word) => word.text === name && word.type === 'identifier' && isGivenTo(word))
      .map((word) => ({ module: there, node: word.parent ?? word })),
  );
  return bound.every(({ node }) => node.type === 'function_definition') ? bound : undefined;
}

/** `def prepare`, `class prepare`, `import change as prepare` */
function isGivenTo(name: PyNode): boolean {
  const role = roleOf(name);
  return /^(?:class|def|write)$/.test(role) || (role === 'import' && name.parent?.type === 'aliased_import');
}
