import { givesModule } from '../../src/library/library.js';
import { PLAIN_BASES } from '../../src/library/names.js';
import { isModuleClass } from '../../src/library/paths.js';
import {
  calledDefinition,
  classAround,
  definitionNamed,
  methodNamed,
  overridesOf,
} from '../../src/semantic/definitions.js';
import {
  boundElsewhere,
  definedElsewhere,
  type Elsewhere,
  lineageOf,
  starredDefinition,
} from '../../src/semantic/elsewhere.js';
import { isReachedByText, valuesGiven } from '../../src/semantic/function-uses.js';
import { calledPath, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isOverriddenElsewhere } from '../../src/semantic/overridden.js';
import { argumentsByName } from '../../src/semantic/parameters.js';
import { givesReturned, returnsOf } from '../../src/semantic/returns.js';
import {
  enclosingClass,
  enclosingFunction,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { isUnbound, waysReaching } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { gradModeOf } from '../../src/values/value/gradient.js';
import {
  isPlainLine,
  isPlainMaking,
  isSetElsewhere,
  isSetOtherwise,
  type Owner,
  valuesHeld,
} from './held-values.js';
import { isNeverCalled } from './never-called.js';
import { isParsing } from './plain-option.js';

const MAX_HOPS = 8;

/** All that an expression can be; undefined where some of that is nothing of the project, or does not show. */
export function ownersOf(module: PyModule, object: PyNode): readonly Owner[] | undefined {
  const owners = new Owners().of({ module, node: object }, 0);
  return owners?.length === 0 ? undefined : owners;
}

class Owners {
  readonly #seen = new Set<PyNode>();

  of({ module, node }: Elsewhere, hops: number): readonly Owner[] | undefined {
    const value = unparenthesized(node);
    if (this.#seen.has(value)) return [];
    this.#seen.add(value);
    if (hops > MAX_HOPS) return undefined;
    switch (value.type) {
      // Nothing has no attributes.
      case 'none':
        return [];
      case 'conditional_expression':
        return this.#all(module, [value.named[0], value.named[2]], hops);
      case 'boolean_operator':
        return this.#all(module, value.named, hops);
      case 'identifier':
        return this.#name(module, value, hops);
      case 'attribute':
        return this.#attribute(module, value, hops);
      case 'call':
        return this.#call(module, value, hops);
      default:
        return undefined;
    }
  }

  #all(
    module: PyModule,
    nodes: readonly (PyNode | undefined)[] | undefined,
    hops: number,
  ): readonly Owner[] | undefined {
    return this.#each(
      nodes?.map((node) => node && { module, node }),
      hops,
    );
  }

  #each(values: readonly (Elsewhere | undefined)[] | undefined, hops: number): readonly Owner[] | undefined {
    if (values === undefined || values.length === 0) return undefined;
    const owners: Owner[] = [];
    for (const value of values) {
      const found = value && this.of(value, hops + 1);
      if (found === undefined) return undefined;
      owners.push(...found);
    }
    return owners;
  }

  #name(module: PyModule, name: PyNode, hops: number): readonly Owner[] | undefined {
    const around = classAround(name);
    if (around?.self === name.text) return [{ module, node: around.classNode, isExact: false }];
    const path = qualifiedName(module, name);
    const found = path === undefined ? named(module, name) : boundElsewhere(module, path);
    if (found?.node.type === 'class_definition') return [{ ...found, isExact: true, isClass: true }];
    const { left, right } = found?.node.type === 'assignment' ? found.node : {};
    if (found !== undefined && left !== undefined && right !== undefined)
      return isSetElsewhere(found.module, left.text)
        ? undefined
        : this.of({ module: found.module, node: right }, hops + 1);
    if (found !== undefined || path !== undefined) return undefined;
    if (module.resolve(name) === module.scope && isSetElsewhere(module, name.text)) return undefined;
    return this.#each(
      waysReaching(module, name).flatMap((given): readonly (Elsewhere | undefined)[] => {
        if (given.kind === 'value') return [{ module, node: given.value }];
        const isFirst = given.node.parent?.named[0] === given.node;
        if (given.kind === 'part' && isFirst && isParsing(module, given.value))
          return [{ module, node: given.value }];
        return given.kind === 'parameter' ? (givenTo(module, given.node) ?? [undefined]) : [undefined];
      }),
      hops,
    );
  }

  /** Of what each of the objects that it may be taken from holds by its name. */
  #attribute(module: PyModule, attribute: PyNode, hops: number): readonly Owner[] | undefined {
    const { object } = attribute;
    const name = attribute.attribute?.text;
    const holders = object && this.of({ module, node: object }, hops + 1);
    if (holders === undefined || name === undefined) return undefined;
    const values = holders.map((holder) => valuesHeld(holder, name));
    if (values.includes(undefined)) return undefined;
    return this.#each(
      values.flatMap((each) => each ?? []),
      hops,
    );
  }

  #call(module: PyModule, call: PyNode, hops: number): readonly Owner[] | undefined {
    if (isParsing(module, call)) return [{ module, node: call, isExact: true }];
    const made = calledIn(module, call);
    if (made?.node.type === 'class_definition')
      return isPlainMaking(made) ? [{ ...made, isExact: true }] : undefined;
    if (made !== undefined)
      return handsBack(made) ? this.#all(made.module, returnsOf(made.node), hops) : undefined;
    const method = methodName(call) ?? '';
    const receiver = givesModule(method) ? receiverOf(call) : undefined;
    const owners = receiver && this.of({ module, node: receiver }, hops + 1);
    return owners?.every((owner) => isOwnModule(owner, method)) ? owners : undefined;
  }
}

/** The class or function that a call calls: by its name, or as a method of the object around. */
export function calledIn(module: PyModule, call: PyNode): Elsewhere | undefined {
  const path = calledPath(module, call);
  if (path !== undefined) return definedElsewhere(module, path);
  const callee = call.function;
  if (callee?.type === 'identifier') {
    if (isUnbound(module, callee)) return starredDefinition(module, callee.text);
    const node = calledDefinition(module, call);
    return node && { module, node };
  }
  const around = callee?.type === 'attribute' ? classAround(call) : undefined;
  if (around === undefined || around.self !== callee?.object?.text) return undefined;
  const owner = { module, node: around.classNode, isExact: false };
  return methodOf(owner, module, call);
}

/** `self.__repair(state)`: of this very class, whatever its heirs define; nobody spells the name that Python makes of it. */
function privateMethod(owner: Owner, name: string): Elsewhere | undefined {
  const { module, node } = owner;
  const bindings = module.scopeOf(node).bindings(name);
  const method = bindings[0]?.parent;
  if (bindings.length > 1 || method?.type !== 'function_definition') return undefined;
  const spelled = `_${node.name?.text.replace(/^_+/, '')}${name}`;
  const isElsewhere =
    module.around.summaries({ word: spelled, beside: [] }, namesIt)?.includes(true) !== false;
  const isSet = module.wordsSet(`.${name}`).length > 0;
  const isPlain = isPlainLine(owner) && !isSetOtherwise(owner, spelled);
  return isPlain && !isSet && !isElsewhere && !namesIt(module.alone, spelled)
    ? { module, node: method }
    : undefined;
}

function namesIt({ text }: PyModule, name: string): boolean {
  return text.includes(name);
}

/** The same, also of the one class that an object can be of. */
export function calledOf(module: PyModule, call: PyNode): Elsewhere | undefined {
  const receiver = receiverOf(call);
  const found = calledIn(module, call);
  if (found !== undefined || receiver === undefined) return found;
  const owners = ownersOf(module, receiver) ?? [];
  const [owner] = owners;
  const isOne =
    owner?.node.type === 'class_definition' &&
    owners.every(({ node, isClass }) => node === owner.node && !isClass);
  return isOne ? methodOf(owner, module, call) : undefined;
}

/** The method of a class that a call of it runs, where no other may be in its place. */
function methodOf(owner: Owner, module: PyModule, call: PyNode): Elsewhere | undefined {
  const name = methodName(call) ?? '';
  if (name.startsWith('__') && !name.endsWith('__'))
    return classAround(call)?.classNode === owner.node ? privateMethod(owner, name) : undefined;
  const { unknown, imported } = lineageOf(owner.module, owner.node);
  const node = methodNamed(owner.module, owner.node, name);
  if (
    node === undefined ||
    unknown ||
    !imported.every((path) => isModuleClass(path) || PLAIN_BASES.has(path))
  )
    return undefined;
  const isOwn =
    enclosingClass(node) === owner.node || lineageOf(owner.module, owner.node).elsewhere.length === 0;
  if (!isOwn || overridesOf(owner.module, call, node)?.length !== 0) return undefined;
  if (module !== owner.module && overridesOf(module, call, node)?.length !== 0) return undefined;
  if (!isPlainLine(owner) || isSetOtherwise(owner, name) || isOverriddenElsewhere(owner.module, node))
    return undefined;
  return { module: owner.module, node };
}

/** Whether a call of a function gives what that returns, also under `@torch.no_grad()`. */
export function handsBack({ module, node }: Elsewhere): boolean {
  return (
    node.type === 'function_definition' &&
    givesReturned(node, (each) => each.text === 'staticmethod' || gradModeOf(module, each) !== undefined)
  );
}

function named(module: PyModule, name: PyNode): Elsewhere | undefined {
  if (isUnbound(module, name)) return starredDefinition(module, name.text);
  const node = definitionNamed(module, name);
  return node && { module, node };
}

/** `net.to(device)`, where that is the method of torch's modules, which gives the object itself. */
function isOwnModule({ module, node }: Owner, method: string): boolean {
  if (node.type !== 'class_definition') return false;
  const { imported, unknown } = lineageOf(module, node);
  return !unknown && imported.every(isModuleClass) && methodNamed(module, node, method) === undefined;
}

/** What the project gives to a parameter; undefined where somebody may give it something else. */
export function givenTo(module: PyModule, parameter: PyNode): readonly Elsewhere[] | undefined {
  const taker = enclosingFunction(parameter);
  if (taker?.type !== 'function_definition' || isReachedByText(module, taker)) return undefined;
  const heirs: Elsewhere[] = [];
  const own = valuesGiven(module, taker, parameter, (there, node) => {
    const heir = node.parent?.type === 'argument_list' ? node.parent.parent : undefined;
    if (heir?.type === 'class_definition') heirs.push({ module: there, node: heir });
    // `super(Base, self)`
    const isAsked = heir?.type === 'call' && heir.function?.text === 'super';
    return heir?.type !== 'class_definition' && !isAsked && !isNeverCalled(there, node);
  });
  const others = heirs.map((heir) => givenByHeir(heir, taker, parameter));
  return own && !others.includes(undefined) ? [...own, ...others.flatMap((each) => each ?? [])] : undefined;
}

/** What a class gives to a parameter of the `__init__` of its only base. */
function givenByHeir(
  { module, node }: Elsewhere,
  taker: PyNode,
  parameter: PyNode,
): readonly Elsewhere[] | undefined {
  const [init, ...others] = module.scopeOf(node).bindings('__init__');
  if (init === undefined || others.length > 0 || node.superclasses?.named.length !== 1) return undefined;
  const maker = init.parent;
  if (maker?.type !== 'function_definition' || taker.name?.text !== '__init__') return undefined;
  const calls = [...maker.walk()].filter(
    (call) =>
      call.type === 'call' && methodName(call) === '__init__' && receiverOf(call)?.function?.text === 'super',
  );
  const values = calls.map((call) => argumentsByName(module, taker, call)?.get(parameter.text));
  return calls.length === 0 || values.includes(undefined)
    ? undefined
    : values.flatMap((value) => (value === undefined ? [] : [{ module, node: value }]));
}
