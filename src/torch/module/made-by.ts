import { givesModule } from '../../library/library.js';
import { ACCELERATOR, PLAIN_BASES, UNWRAPS, WRAPS_MODULE } from '../../library/names.js';
import { isKbitPreparation, isModuleClass, isPeftModelMaker } from '../../library/paths.js';
import { type Answer, all } from '../../semantic/answer.js';
import { plainAttributes } from '../../semantic/attribute-uses.js';
import { setsSomeByText } from '../../semantic/attribute-writes.js';
import {
  attributeValues,
  attributeValuesInProject,
  givesOtherwise,
  valueJustSet,
} from '../../semantic/attributes.js';
import {
  attributeOfSelf,
  calledDefinition,
  classAround,
  classBehind,
  definitionBehind,
} from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf, starredDefinition } from '../../semantic/elsewhere.js';
import { type Definition, definitionOf } from '../../semantic/flow.js';
import { allGiven } from '../../semantic/function-uses.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByName } from '../../semantic/parameters.js';
import { isProgram } from '../../semantic/program.js';
import { mayInherit } from '../../semantic/project-names.js';
import { givesReturned, returnsOf } from '../../semantic/returns.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { entriesOf } from '../../semantic/tables.js';
import { isUnbound, waysGiven, waysReaching, writesOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { LOADERS } from '../huggingface/pretrained.js';
import { attributeElsewhere } from './modules.js';

/** `self.name`, which holds what it is given: neither the class nor a base of it makes more of that. */
function isPlainOfSelf(module: PyModule, attribute: PyNode): boolean {
  const own = attributeOfSelf(attribute);
  if (own === undefined) return false;
  const { unknown, imported } = lineageOf(module, own.classNode);
  return (
    !unknown &&
    imported.every((path) => isModuleClass(path) || PLAIN_BASES.has(path)) &&
    attributeElsewhere(module, own.classNode, own.name) === undefined &&
    plainAttributes(module, own.classNode, own.name).answer === 'yes'
  );
}

/** What makes a value one of a kind. */
export interface Maker {
  /** Whether a call of this dotted name of a package gives one. */
  readonly gives: (path: string, call?: PyNode) => boolean;
  /** Whether instances of a class of the project are. */
  readonly isClass: (module: PyModule, classNode: PyNode) => Answer;
  /** Whether wrappers of other packages, and classes of other files that inherit from this one, leave it one. */
  readonly outlivesOthers: boolean;
}

const MAX_HOPS = 8;

/**
 * Whether a value is of a kind by what made it, wherever in the project that stands: every value that its name is given
 * must be. `None` is as good as any. A name, or what is done with a value, proves nothing.
 */
export function madeBy(module: PyModule, value: PyNode, maker: Maker): Answer {
  return new Trace(maker).value(module, value, 0);
}

class Trace {
  readonly #seen = new Set<PyNode>();

  constructor(private readonly maker: Maker) {}

  value(module: PyModule, value: PyNode | undefined, hops: number): Answer {
    const target = value && unparenthesized(value);
    if (target === undefined || hops > MAX_HOPS) return 'unknown';
    switch (target.type) {
      case 'none':
        return 'yes';
      case 'call':
        return this.#call(module, target, hops);
      case 'conditional_expression':
        return all([target.named[0], target.named[2]].map((each) => this.value(module, each, hops + 1)));
      case 'attribute':
        return this.#attribute(module, target, hops);
      case 'identifier':
        return this.#name(module, target, hops);
      default:
        return 'unknown';
    }
  }

  #attribute(module: PyModule, target: PyNode, hops: number): Answer {
    if (target.attribute?.text === 'module') return this.value(module, target.object, hops + 1);
    const set = isPlainOfSelf(module, target) ? valueJustSet(target) : undefined;
    if (set !== undefined) return this.value(module, set, hops + 1);
    const isOpen = this.#isOpen(module, target) || givesOtherwise(module, target);
    const values = isOpen ? undefined : attributeValues(module, target);
    // `self.net = wrap(self.net)` leaves it what it was.
    return all(
      values?.map((each) => (each.contains(target) ? 'yes' : this.value(module, each, hops + 1))) ?? [
        'unknown',
      ],
    );
  }

  #name(module: PyModule, name: PyNode, hops: number): Answer {
    const around = classAround(name);
    if (around?.self === name.text)
      return this.#isOpen(module, name) ? 'unknown' : this.maker.isClass(module, around.classNode);
    const isBinding = writesOf(module, name).includes(name);
    const ways = isBinding ? [definitionOf(name)] : waysReaching(module, name);
    return ways.length === 0 ? 'unknown' : all(ways.map((way) => this.#definition(module, way, name, hops)));
  }

  #definition(module: PyModule, definition: Definition, name: PyNode, hops: number): Answer {
    // `net = grow(net)` leaves it what it was: all else that it is given is looked at.
    if (this.#seen.has(definition.node)) return 'yes';
    this.#seen.add(definition.node);
    if (definition.kind === 'parameter')
      return this.maker.outlivesOthers
        ? this.#annotation(module, definition.node)
        : this.#parameter(module, definition.node, hops);
    const given =
      definition.kind === 'value'
        ? definition.value
        : definition.kind === 'part' && this.maker.outlivesOthers
          ? preparedPart(module, definition.node, definition.value)
          : undefined;
    return given?.contains(name) ? 'yes' : this.value(module, given, hops + 1);
  }

  /** By what it is given wherever its function is called. */
  #parameter(module: PyModule, parameter: PyNode, hops: number): Answer {
    const given = allGiven(module, parameter) ?? [];
    return given.length === 0
      ? 'unknown'
      : all(given.map((each) => this.value(each.module, each.node, hops + 1)));
  }

  /** `net: nn.Module`. */
  #annotation(module: PyModule, parameter: PyNode): Answer {
    const type = parameter.closest('typed_parameter', 'typed_default_parameter')?.field('type')?.named[0];
    const path = type && qualifiedName(module, type);
    return path !== undefined && this.maker.gives(path) ? 'yes' : 'unknown';
  }

  /** Whether files of the project inherit the method that a node stands in, or set the attribute: it may hold something else there. */
  #isOpen(module: PyModule, node: PyNode): boolean {
    const name = classAround(node)?.classNode.name?.text;
    if (this.maker.outlivesOthers || name === undefined) return false;
    const attribute = node.type === 'attribute' ? node.attribute?.text : undefined;
    const others = module.around.summaries({ word: 'import', beside: [] }, isProgram);
    if (!isProgram(module) && (others === undefined || others.length === 0)) return true;
    if (attribute !== undefined) {
      const byText = module.around.summaries({ word: attribute, beside: [] }, setsSomeByText);
      return attributeValuesInProject(module, node) === undefined || byText?.includes(true) !== false;
    }
    return module.around.summaries({ word: name, beside: [] }, mayInherit)?.includes(true) ?? true;
  }

  #call(module: PyModule, call: PyNode, hops: number, callee = call.function): Answer {
    const makers = callee && hops <= MAX_HOPS ? entriesOf(module, callee) : undefined;
    if (makers !== undefined) return all(makers.map((each) => this.#call(module, call, hops + 1, each)));
    if (callee?.type === 'lambda') return this.value(module, callee.body, hops + 1);
    const path = callee && qualifiedName(module, callee);
    const [first] = argumentsOf(call);
    if (path !== undefined) {
      if (WRAPS_MODULE.has(path) || isKbitPreparation(path)) return this.value(module, first, hops + 1);
      if (this.maker.gives(path, call)) return 'yes';
      if (isPeftModelMaker(path)) return this.value(module, first, hops + 1);
      return this.#definedAs(definedElsewhere(module, path), { module, node: call }, hops);
    }
    const own =
      callee === call.function ? calledDefinition(module, call) : callee && definitionBehind(module, callee);
    if (own !== undefined) return this.#definedAs({ module, node: own }, { module, node: call }, hops);
    if (callee !== undefined && isUnbound(module, callee))
      return this.#definedAs(starredDefinition(module, callee.text), { module, node: call }, hops);
    if (callee !== call.function) return 'unknown';
    const name = methodName(call) ?? '';
    const receiver = receiverOf(call);
    // `Net.from_pretrained(path)` of a class of the file.
    const loaded = receiver && LOADERS.has(name) ? classBehind(module, receiver) : undefined;
    if (loaded !== undefined) return this.maker.isClass(module, loaded);
    if (givesModule(name)) return this.value(module, receiver, hops + 1);
    const isUnwrapped = this.maker.outlivesOthers && UNWRAPS.has(name);
    return isUnwrapped ? this.value(module, first, hops + 1) : 'unknown';
  }

  /** A class of the kind, or a function that gives nothing else. */
  #definedAs(definition: Elsewhere | undefined, call: Elsewhere, hops: number): Answer {
    if (definition === undefined) return 'unknown';
    const { module, node } = definition;
    if (node.type === 'class_definition') return this.maker.isClass(module, node);
    const returned = givesReturned(node) ? returnsOf(node) : [];
    if (returned.length === 0) return 'unknown';
    return all(
      returned.map((each) => {
        const given = givenBack(definition, each, call);
        return given === undefined
          ? this.value(module, each, hops + 1)
          : this.value(call.module, given, hops + 1);
      }),
    );
  }
}

/** What a call gives for a parameter that a function hands back as it is. */
function givenBack(
  { module, node }: Elsewhere,
  returned: PyNode | undefined,
  call: Elsewhere,
): PyNode | undefined {
  if (returned?.type !== 'identifier' || module.resolve(returned)?.node !== node) return undefined;
  const ways = waysGiven(module, returned);
  if (ways.length !== 1 || ways[0]?.kind !== 'parameter') return undefined;
  return argumentsByName(call.module, node, call.node)?.get(returned.text);
}

/** `model` of `model, optimizer = accelerator.prepare(model, optimizer)`, on the right. */
function preparedPart(module: PyModule, target: PyNode, value: PyNode): PyNode | undefined {
  const pattern = target.parent;
  const receiver = value.type === 'call' && methodName(value) === 'prepare' ? receiverOf(value) : undefined;
  const ways = waysGiven(module, receiver);
  if (ways.length === 0 || pattern === undefined) return undefined;
  const isAccelerator = ways.every(
    (way) => way.kind === 'value' && calledPath(module, way.value) === ACCELERATOR,
  );
  const given = argumentsOf(value);
  return isAccelerator && given.length === pattern.named.length
    ? given[pattern.named.indexOf(target)]
    : undefined;
}
