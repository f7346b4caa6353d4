import { row } from '../../src/library/library.js';
import { PLAIN_BASES } from '../../src/library/names.js';
import { isModuleClass } from '../../src/library/paths.js';
import { plainAttributes, valuesWritten } from '../../src/semantic/attribute-uses.js';
import { calledDefinition, classAround, classBehind } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf, mayBeOfProject } from '../../src/semantic/elsewhere.js';
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
import { takerOf } from './parameter-given.js';
import { isPlainOption } from './plain-option.js';

/**
 * Whether all that the project puts under a name into any dictionary is plain: numbers, texts, truths, nothing, and what is
 * made of these. Then no checkpoint of the project has a tensor there.
 */
export function isSavedPlain(module: PyModule, name: string): boolean {
  return module.memo(findSaved, name);
}

function findSaved(module: PyModule, name: string): boolean {
  const others = module.around.summaries({ word: name, beside: [] }, lookAtPuts);
  const keys = module.around.summaries({ word: 'save', beside: [] }, joinsKeys);
  if (keys?.includes(true) !== false || joinsKeys(module.alone)) return false;
  const homes = others && homesOf(module, name, others);
  if (others === undefined || homes === undefined) return false;
  const puts = [module, ...homes].flatMap((there) => putsIn(there, name));
  const isPut = puts.some(({ isSure }) => isSure) || others.some(({ isPut }) => isPut);
  return isPut && puts.every((put) => new Plain(name).is(put, 0));
}

/** `{"st" "ep": value}`: no name is written there. */
function joinsKeys(alone: PyModule): boolean {
  return alone.mentions(/["']\w*["'][ \t]*(?:\+[ \t]*)?["']\w*["']\s*(?::|\]\s*=)/);
}

/** What a file puts under a name; plain data, kept with the file. */
interface Puts {
  readonly path: string;
  readonly isPut: boolean;
  /** For each value that is computed, a word of it. */
  readonly words: readonly string[];
}

function lookAtPuts(alone: PyModule, name: string): Puts {
  const puts = putsIn(alone, name);
  const words = puts.flatMap(({ node }) => {
    const word = [...node.walk()].find(({ type }) => type === 'identifier');
    return word === undefined ? [] : [word.text];
  });
  return { path: alone.path, isPut: puts.some(({ isSure }) => isSure), words: [...new Set(words)] };
}

/** The files with computed values; undefined where one cannot be looked into. */
function homesOf(module: PyModule, name: string, files: readonly Puts[]): readonly PyModule[] | undefined {
  const wanted = files.filter(({ words }) => words.length > 0);
  const words = new Set(wanted.flatMap(({ words: [first = ''] }) => first));
  const named = new RegExp(`\\b${name}\\b`);
  const found = new Map<string, PyModule>();
  for (const word of words) {
    const { modules, unread } = module.around.naming({ word, beside: [name] }, (text) => named.test(text));
    if (unread !== undefined) return undefined;
    for (const there of modules) found.set(there.path, there);
  }
  const homes = wanted.flatMap(({ path }) => found.get(path) ?? []);
  return homes.length === wanted.length ? homes : undefined;
}

interface Put extends Elsewhere {
  /** Into a dictionary; otherwise somebody may put it there who is given it by this name. */
  readonly isSure: boolean;
}

function putsIn(module: PyModule, name: string): readonly Put[] {
  const keys = [...module.text.matchAll(new RegExp(`(?<=["'])${name}["']|\\b${name}\\s*=(?!=)`, 'g'))];
  return keys.flatMap(({ index }): Put[] => {
    const at = module.root.descendantAt(index);
    const key = at.type === 'identifier' ? at : at.closest('string');
    const entry = entryAt(key);
    if (entry !== undefined) return [{ module, node: entry, isSure: true }];
    const given = key === undefined ? undefined : mayBecomeEntry(module, key);
    return given === undefined ? [] : [{ module, node: given, isSure: false }];
  });
}

/** `keep(net, step=value)`, of which nobody knows where it gets; a name in a variable, which may be the key of anything. */
function mayBecomeEntry(module: PyModule, key: PyNode): PyNode | undefined {
  const { parent } = key;
  if (key.type === 'string')
    return parent?.type === 'assignment' && parent.right === key ? parent : undefined;
  const call = parent?.type === 'keyword_argument' && parent.name === key ? parent.parent?.parent : undefined;
  if (call?.type !== 'call' || /\.format$/.test(call.function?.text ?? '')) return undefined;
  const path = calledPath(module, call);
  if (path !== undefined && !mayBeOfProject(module, path)) return undefined;
  const found = calledIn(module, call);
  const taker = found && takerOf(found.node, found.module);
  const names = taker?.node.parameters?.named.map((each) => (each.name ?? each.named[0] ?? each).text);
  return names?.includes(key.text) ? undefined : parent?.value;
}

/** The value that an entry of a dictionary gets by a key, as it is written or as it is set. */
function entryAt(key: PyNode | undefined): PyNode | undefined {
  const { parent } = key ?? {};
  if (key === undefined || parent === undefined) return undefined;
  if (parent.type === 'pair') return parent.key === key ? parent.value : undefined;
  if (parent.type === 'subscript') {
    const assignment = parent.parent;
    const isSet = assignment?.type.endsWith('assignment') && assignment.left === parent;
    return parent.subscript === key && isSet ? assignment?.right : undefined;
  }
  if (parent.type === 'argument_list')
    return methodName(parent.parent ?? parent) === 'setdefault' && parent.named[0] === key
      ? parent.named[1]
      : undefined;
  const call = parent.type === 'keyword_argument' && parent.name === key ? parent.parent?.parent : undefined;
  return /^(?:dict|update)$/.test(call?.function?.text.split('.').at(-1) ?? '') ? parent.value : undefined;
}

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
class Plain {
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
    if (isPlainOption(module, attribute)) return true;
    const name = attribute.attribute?.text ?? '';
    const object = attribute.object;
    if (object === undefined) return false;
    const around = classAround(attribute);
    const own = around?.self === object.text ? around.classNode : classBehind(module, object);
    const owner = own === undefined ? madeElsewhere(module, object) : { module, node: own };
    if (owner === undefined || !isHeldPlainly(owner, name)) return false;
    const values = valuesWritten(owner.module, owner.node, name);
    return this.#areAll(
      values.map((node) => node && { module: owner.module, node }),
      hops,
    );
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
  if (settersElsewhere(module, node, name)?.length !== 0 || setsByText(module.alone)) return false;
  return [name, node.name?.text ?? name].every(
    (word) => module.around.summaries({ word, beside: [] }, setsByText)?.includes(true) === false,
  );
}

/** `setattr(meter, key, value)`, `meter.__dict__[key] = value`. */
function setsByText(alone: PyModule): boolean {
  return alone.mentions(/setattr(?:__)?\(|__dict__|(?<![.\w])vars\(|__getattribute__/);
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

function calledIn(module: PyModule, call: PyNode): Elsewhere | undefined {
  const path = calledPath(module, call);
  if (path !== undefined) return definedElsewhere(module, path);
  const callee = call.function?.type === 'identifier' ? call.function : undefined;
  if (callee !== undefined && isUnbound(module, callee)) return starredDefinition(module, callee.text);
  const node = callee && calledDefinition(module, call);
  return node && { module, node };
}

/** The class of another file that made an object, by the only call that did. */
function madeElsewhere(module: PyModule, object: PyNode): Elsewhere | undefined {
  const [only, ...others] = writesOf(module, object);
  const found = only === undefined || others.length > 0 ? undefined : definitionOf(only);
  const value = found?.kind === 'value' && found.value.type === 'call' ? found.value : undefined;
  const made = value && calledIn(module, value);
  return made?.node.type === 'class_definition' ? made : undefined;
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
