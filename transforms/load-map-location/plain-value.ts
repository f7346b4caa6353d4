import { row } from '../../src/library/library.js';
import { PLAIN_BASES } from '../../src/library/names.js';
import { isModuleClass } from '../../src/library/paths.js';
import { plainAttributes, valuesWritten } from '../../src/semantic/attribute-uses.js';
import { calledDefinition, classAround, classBehind } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { type Definition, definitionOf } from '../../src/semantic/flow.js';
import { isReachedByText, type Part, targetOf, valuesGiven } from '../../src/semantic/function-uses.js';
import { calledPath, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { settersElsewhere } from '../../src/semantic/project-names.js';
import { givesReturned, returnsOf } from '../../src/semantic/returns.js';
import { starredDefinition } from '../../src/semantic/star-imports.js';
import { argumentsOf, enclosingFunction, methodName } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isCount, isUnbound, readsOf, writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';
import { isBound } from './loading-names.js';
import { isPlainOption, setsByText } from './plain-option.js';

const LITERALS: ReadonlySet<string> = new Set(
  'comment concatenated_string false float integer none string true'.split(' '),
);
/** What is made of plain values is plain. */
const MADE_OF: ReadonlySet<string> = new Set(
  'binary_operator boolean_operator comparison_operator conditional_expression dictionary expression_list list not_operator parenthesized_expression set tuple unary_operator'.split(
    ' ',
  ),
);
/** A number or a text of whatever they are given. */
const CASTS: ReadonlySet<string> = new Set('bool float int len repr str'.split(' '));
const HANDS_ON: ReadonlySet<string> = new Set('abs max min round sum tuple'.split(' '));

const MAX_HOPS = 8;

/** Follows a value to all that it can come from: it is plain where each of these is. */
export class Plain {
  readonly #seen = new Set<PyNode>();

  /** `key`: what is read back by it is what was saved by it. */
  constructor(private readonly key: string) {}

  is({ module, node }: Elsewhere, hops: number): boolean {
    if (this.#seen.has(node) || LITERALS.has(node.type)) return true;
    if (hops > MAX_HOPS) return false;
    this.#seen.add(node);
    if (MADE_OF.has(node.type)) {
      const isText = node.type === 'binary_operator' && /string$/.test(node.left?.type ?? '');
      return isText || node.named.every((part) => this.is({ module, node: part }, hops));
    }
    switch (node.type) {
      case 'pair':
        return node.value !== undefined && this.is({ module, node: node.value }, hops);
      case 'subscript':
        return node.subscript !== undefined && plainString(node.subscript) === this.key;
      case 'identifier':
        return this.#name(module, node, hops);
      case 'attribute':
        return this.#attribute(module, node, hops);
      case 'call':
        return this.#call(module, node, hops);
      default:
        return false;
    }
  }

  #areAll(values: readonly (Elsewhere | undefined)[] | undefined, hops: number): boolean {
    if (values === undefined || values.length === 0) return false;
    // What others hold too, they may change.
    return values.every(
      (value) => value !== undefined && !isContainer(value.node) && this.is(value, hops + 1),
    );
  }

  #name(module: PyModule, name: PyNode, hops: number): boolean {
    const writes = writesOf(module, name);
    if (module.resolve(name) === module.scope && isSetElsewhere(module, name.text)) return false;
    return writes.length > 0 && writes.every((write) => this.#definition(module, definitionOf(write), hops));
  }

  #definition(module: PyModule, found: Definition, hops: number): boolean {
    switch (found.kind) {
      case 'value':
        if (isContainer(found.value) && !this.#holdsOnly(module, found.node, hops)) return false;
        return this.is({ module, node: found.value }, hops);
      case 'update':
        return this.is({ module, node: found.value }, hops);
      case 'loop':
        return counts(module, found.node, found.iterable);
      case 'part':
        return this.#part(module, found.node, found.value, hops);
      case 'parameter':
        return this.#areAll(givenTo(module, found.node), hops);
      default:
        return false;
    }
  }

  /** Nothing but plain values is ever put into what a variable holds, and nobody else gets it. */
  #holdsOnly(module: PyModule, variable: PyNode, hops: number): boolean {
    return readsOf(module, variable).every((read) => {
      const { parent } = read;
      if (parent?.type === 'pair') return parent.value === read;
      const call = parent?.type === 'attribute' ? parent.parent : undefined;
      if (call?.type !== 'call' || call.function !== parent || methodName(call) !== 'append') return false;
      return argumentsOf(call).every((node) => !isContainer(node) && this.is({ module, node }, hops + 1));
    });
  }

  /** `loss, right = validate(…)` */
  #part(module: PyModule, target: PyNode, value: PyNode, hops: number): boolean {
    const targets = target.parent?.named ?? [];
    const part = { index: targets.indexOf(target), of: targets.length };
    if (value.type !== 'call' || targetOf(value, part) !== target) return false;
    return this.#areAll(partsGiven(module, value, part, hops), hops);
  }

  #attribute(module: PyModule, attribute: PyNode, hops: number): boolean {
    const path = qualifiedName(module, attribute);
    if (path !== undefined) return /^(?:math|numpy|sys)\.(?:e|inf|maxsize|nan|pi)$/.test(path);
    const name = attribute.attribute?.text ?? '';
    if (isPlainOption(module, attribute)) {
      const set = valuesSet(module, name);
      return set !== undefined && (set.length === 0 || this.#areAll(set, hops));
    }
    const object = attribute.object;
    if (object === undefined) return false;
    const around = classAround(attribute);
    const own = around?.self === object.text ? around.classNode : classBehind(module, object);
    const owner = own === undefined ? madeElsewhere(module, object) : { module, node: own };
    if (owner === undefined || !isHeldPlainly(owner, name)) return false;
    const written = valuesWritten(owner.module, owner.node, name);
    const isSetElsewhere = settersElsewhere(owner.module, owner.node, name)?.length !== 0;
    const others = isSetElsewhere ? valuesSet(owner.module, name) : [];
    if (others === undefined) return false;
    return this.#areAll([...written.map((node) => node && { module: owner.module, node }), ...others], hops);
  }

  #call(module: PyModule, call: PyNode, hops: number): boolean {
    const callee = call.function;
    const given = argumentsOf(call).map((node) => ({ module, node: node.value ?? node }));
    if (callee !== undefined && isUnbound(module, callee)) {
      if (CASTS.has(callee.text)) return true;
      if (HANDS_ON.has(callee.text)) return given.every((each) => this.is(each, hops));
    }
    if (methodName(call) === 'get' && given[0] !== undefined && plainString(given[0].node) === this.key)
      return given.slice(1).every((each) => this.is(each, hops + 1));
    if (isPythonNumber(module, call) === 'yes') return true;
    const path = calledPath(module, call);
    if (path !== undefined && row(path)?.gives === 'plain')
      return given.every((each) => this.is(each, hops + 1));
    const made = calledIn(module, call);
    if (made?.node.type !== 'function_definition' || !givesReturned(made.node)) return false;
    return this.#areAll(
      returnsOf(made.node).map((node) => node && { module: made.module, node }),
      hops,
    );
  }
}

/** What a call gives in one of so many places, also where its function hands on what another gives. */
function partsGiven(
  module: PyModule,
  call: PyNode,
  part: Part,
  hops: number,
): readonly (Elsewhere | undefined)[] | undefined {
  const made = calledIn(module, call);
  if (made?.node.type !== 'function_definition' || !givesReturned(made.node) || hops > MAX_HOPS)
    return undefined;
  return returnsOf(made.node).flatMap((returned) => {
    if (returned?.type === 'call') return partsGiven(made.module, returned, part, hops + 1) ?? [undefined];
    const isEven =
      /^(?:expression_list|tuple)$/.test(returned?.type ?? '') && returned?.named.length === part.of;
    const node = isEven ? returned?.named[part.index] : undefined;
    return [node && { module: made.module, node }];
  });
}

/** Whether objects of a class hold by a name what code assigns to it, and nothing else. */
function isHeldPlainly({ module, node }: Elsewhere, name: string): boolean {
  const { unknown, imported } = lineageOf(module, node);
  if (unknown || !imported.every((path) => isModuleClass(path) || PLAIN_BASES.has(path))) return false;
  if (plainAttributes(module, node, name).answer !== 'yes') return false;
  if (setsByText(module.alone)) return false;
  return [name, node.name?.text ?? name].every(
    (word) => module.around.summaries({ word, beside: [] }, setsByText)?.includes(true) === false,
  );
}

function isContainer({ type }: PyNode): boolean {
  return /^(?:dictionary|list|set)/.test(type);
}

/** `train.step = …`, in another file. */
function isSetElsewhere(module: PyModule, name: string): boolean {
  return module.around.summaries({ word: name, beside: [] }, setsAttribute)?.includes(true) ?? true;
}

function setsAttribute({ code }: PyModule, name: string): boolean {
  return new RegExp(`\\b(?!self\\b)\\w+\\.${name}\\s*(?:[-+*/|&]?=(?!=)|,[^=\\n()]*=(?!=))`).test(code);
}

export function calledIn(module: PyModule, call: PyNode): Elsewhere | undefined {
  const path = calledPath(module, call);
  if (path !== undefined) return definedElsewhere(module, path);
  const callee = call.function?.type === 'identifier' ? call.function : undefined;
  if (callee !== undefined && isUnbound(module, callee)) return starredDefinition(module, callee.text);
  const node = callee && calledDefinition(module, call);
  return node && { module, node };
}

/** What the project gives to attributes of a name, of whatever object; undefined where one gets it otherwise than by an assignment. */
function valuesSet(module: PyModule, name: string): readonly Elsewhere[] | undefined {
  const named = new RegExp(`\\.${name}\\b`);
  const { modules, unread } = module.around.naming({ word: name, beside: [] }, (text) => named.test(text));
  if (unread !== undefined) return undefined;
  const values: Elsewhere[] = [];
  for (const there of [module, ...modules])
    for (const node of there.words(name)) {
      const attribute = node.text === name && node.parent?.attribute === node ? node.parent : undefined;
      if (attribute === undefined || !isBound(attribute)) continue;
      const { parent } = attribute;
      const value =
        parent?.type.endsWith('assignment') && parent.left === attribute ? parent.right : undefined;
      if (value === undefined) return undefined;
      values.push({ module: there, node: value });
    }
  return values;
}

/** The class of the project that made an object, by the only call that did, or by a function that gives nothing else. */
function madeElsewhere(module: PyModule, object: PyNode, hops = 0): Elsewhere | undefined {
  const [only, ...others] = writesOf(module, object);
  const found = only === undefined || others.length > 0 ? undefined : definitionOf(only);
  return found?.kind === 'value' ? classMade(module, found.value, hops) : undefined;
}

function classMade(module: PyModule, value: PyNode | undefined, hops: number): Elsewhere | undefined {
  if (value === undefined || hops > MAX_HOPS) return undefined;
  if (value.type === 'identifier') return madeElsewhere(module, value, hops + 1);
  const made = value.type === 'call' ? calledIn(module, value) : undefined;
  if (made?.node.type !== 'function_definition') return made;
  if (!givesReturned(made.node)) return undefined;
  const [first, ...more] = returnsOf(made.node).map((each) => classMade(made.module, each, hops + 1));
  return more.every((each) => each?.node === first?.node) ? first : undefined;
}

function givenTo(module: PyModule, parameter: PyNode): readonly Elsewhere[] | undefined {
  const taker = enclosingFunction(parameter);
  if (taker?.type !== 'function_definition' || isReachedByText(module, taker)) return undefined;
  return valuesGiven(module, taker, parameter);
}

/** A loop over `range(…)`, or the count of `enumerate(…)`. */
function counts(module: PyModule, target: PyNode, iterable: PyNode): boolean {
  if (isCount(module, target, iterable)) return true;
  const callee = iterable.function;
  if (callee === undefined || target.parent?.left !== target) return false;
  const [first] = argumentsOf(iterable);
  const isOfRange = first !== undefined && first.function !== undefined && counts(module, target, first);
  if (isUnbound(module, callee)) return callee.text === 'range' || (callee.text === 'list' && isOfRange);
  const path = qualifiedName(module, callee) ?? '';
  if (/^tqdm\.(?:\w+\.)*(?:tn?range|trange)$/.test(path) || path === 'itertools.count') return true;
  // `tqdm(range(n))`
  return isOfRange && (path.startsWith('tqdm.') || path.startsWith('rich.'));
}
