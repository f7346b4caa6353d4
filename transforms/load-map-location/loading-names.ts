import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { returnedBy } from '../../src/semantic/returns.js';
import { argumentsOf, isTarget, methodName, receiverOf } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';

/** What a file says about the names by which objects load. */
export interface LoadingNames {
  /** Methods called `load_state_dict`, and those that may answer to that name. */
  readonly methods: readonly PyNode[];
  /** Whether an object or a class gets one of the names otherwise: it loads nobody knows how. */
  readonly areGiven: boolean;
  /** Attributes that list all names to which a method answers otherwise, as far as this file goes. */
  readonly lists: readonly string[];
}

const LOADS = 'load_state_dict';
/** What torch's `load_state_dict` calls of a module. */
const PARTS_OF_LOADING = ['_load_from_state_dict', 'set_extra_state'];

export function loadingNames(alone: PyModule): LoadingNames {
  return alone.memo(findNames, alone);
}

function findNames(alone: PyModule): LoadingNames {
  const places = alone.words(LOADS);
  const own = places.filter((node) => isMethodName(alone, node)).flatMap(({ parent }) => parent ?? []);
  const areGiven =
    places.some((node) => isGiven(alone, node)) ||
    PARTS_OF_LOADING.some((name) =>
      alone
        .words(name)
        .some((node) => (isMethodName(alone, node) && !passesOn(alone, node)) || isGiven(alone, node)),
    ) ||
    (setsByComputedName(alone) && makesName(alone));
  const { methods, lists } = answerers(alone);
  return { methods: [...own, ...methods], areGiven, lists };
}

/** A method that hands what it is given on to its base, and beside that only adds, renames or removes entries. */
function passesOn(alone: PyModule, name: PyNode): boolean {
  const method = name.parent;
  const state = method?.parameters?.named[1];
  if (method?.type !== 'function_definition' || state?.type !== 'identifier') return false;
  const reads = alone.reads(alone.scopeOf(method), state.text);
  if (alone.writes(alone.scopeOf(method), state.text).length !== 1) return false;
  return (
    reads.some((read) => isHandedToBase(read, name.text)) &&
    reads.every((read) => isHandedOn(read, name.text) || isArranged(read))
  );
}

/** `super()._load_from_state_dict(state, …)`, or the same of a part, which is of torch or has a method that is looked at too. */
function isHandedOn(read: PyNode, method: string): boolean {
  const call =
    read.parent?.type === 'argument_list' && read.parent.named[0] === read ? read.parent.parent : undefined;
  return call !== undefined && methodName(call) === method;
}

function isHandedToBase(read: PyNode, method: string): boolean {
  const call = isHandedOn(read, method) ? read.parent?.parent : undefined;
  return call !== undefined && receiverOf(call)?.function?.text === 'super';
}

/** `key in state`, `state[key] = fresh`, `state[key] = state.pop(old)`, `del state[key]`. */
function isArranged(read: PyNode): boolean {
  const { parent } = read;
  if (parent?.type === 'comparison_operator')
    return /\bin\b/.test(parent.text) && parent.named.at(-1) === read;
  const call = parent?.type === 'attribute' ? parent.parent : undefined;
  const entry =
    call?.type === 'call' && methodName(call) === 'pop'
      ? call
      : parent?.type === 'subscript'
        ? parent
        : undefined;
  if (entry === undefined || (entry.type === 'subscript' && entry.value !== read)) return false;
  const use = entry.parent;
  if (use?.type === 'delete_statement' || use?.type === 'expression_statement') return true;
  if (use?.type !== 'assignment') return false;
  const target = use.left;
  return (
    target?.type === 'subscript' &&
    target.value?.text === read.text &&
    use.parent?.type === 'expression_statement'
  );
}

/** `def` in the body of a class, also under a decorator or an `if`. */
function isMethodName(alone: PyModule, node: PyNode): boolean {
  return roleOf(node) === 'def' && alone.resolve(node)?.kind === 'class';
}

/** `net.load_state_dict = f`, `make(load_state_dict=f)`, any binding of the name in the body of a class but a method. */
function isGiven(alone: PyModule, node: PyNode): boolean {
  if (node.type !== 'identifier') return false;
  const { parent } = node;
  if (parent?.type === 'keyword_argument') return parent.name === node;
  if (parent?.type === 'attribute' && parent.attribute === node) return isBound(parent);
  const role = roleOf(node);
  return role !== 'def' && binds(role) && alone.resolve(node)?.kind === 'class';
}

/** An attribute that gets a value, in whichever way. */
export function isBound(attribute: PyNode): boolean {
  if (isTarget(attribute, true)) return true;
  const { parent } = attribute;
  if (/^(?:for_statement|for_in_clause)$/.test(parent?.type ?? '')) return parent?.left === attribute;
  return /pattern|^delete_statement$/.test(parent?.type ?? '');
}

const SET_BY_NAME = ['setattr', '__setattr__', '__dict__', 'vars', 'locals', 'globals', 'type'];

/** Whether the file can give something a name that is put together as it runs. */
function setsByComputedName(alone: PyModule): boolean {
  return SET_BY_NAME.some((word) => alone.words(word).some(({ type }) => type === 'identifier'));
}

/** Whether some text of the file that is put together, `verb + "_state_dict"`, may give the name. */
function makesName(alone: PyModule): boolean {
  return [...alone.code.matchAll(/load_|state_|_dict/g)].some(({ index }) => {
    const text = alone.root.descendantAt(index).closest('string');
    return text !== undefined && isComposed(text) && mayGive(text, LOADS);
  });
}

function isComposed(text: PyNode): boolean {
  const { parent } = text;
  if (text.named.some(({ type }) => type === 'interpolation')) return true;
  if (parent?.type === 'binary_operator' || parent?.type === 'concatenated_string') return true;
  if (parent?.type === 'attribute') return /^(?:format|join)$/.test(parent.attribute?.text ?? '');
  return parent?.type === 'augmented_assignment' || isJoined(parent);
}

/** `"_".join(["load", "state_dict"])` */
function isJoined(holder: PyNode | undefined): boolean {
  const list = holder?.type === 'list' || holder?.type === 'tuple' ? holder.parent : undefined;
  const call = list?.type === 'argument_list' ? list.parent : undefined;
  return call !== undefined && methodName(call) === 'join';
}

/** What is written of the name, with anything in between. */
function mayGive(text: PyNode, name: string): boolean {
  const pieces = text.childrenOfType('string_content').flatMap((piece) => piece.text.split(/\{[^{}]*\}|%s/));
  let from = 0;
  for (const piece of pieces) {
    const at = name.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return true;
}

/** Methods that answer to names that nothing else of the object has, with more than what something holds by that name. */
function answerers(alone: PyModule): Pick<LoadingNames, 'methods' | 'lists'> {
  const lists = new Set<string>();
  const methods = ['__getattr__', '__getattribute__'].flatMap((name) =>
    alone.words(name).flatMap((node) => {
      const method = isMethodName(alone, node) ? node.parent : undefined;
      return method === undefined || looksUp(alone, method, lists) ? [] : [method];
    }),
  );
  return { methods, lists: [...lists] };
}

/** `return getattr(self.module, name)`, `return self[name]`, and anything for a name out of a list without those of loading. */
function looksUp(alone: PyModule, method: PyNode, lists: Set<string>): boolean {
  const given = method.parameters?.named[1];
  const name = given?.type === 'typed_parameter' ? given.named[0] : given;
  if (name?.type !== 'identifier' || alone.writes(alone.scopeOf(method), name.text).length > 1) return false;
  return returnedBy(method).every((value) => {
    const isOwn = value.type === 'identifier' && alone.resolve(value) === alone.scopeOf(method);
    const made = isOwn ? alone.writes(alone.scopeOf(method), value.text).map(valueOf) : [value];
    return (
      (made.length > 0 && made.every((each) => each !== undefined && isLookUp(each, name.text))) ||
      isForListed(alone, value, name.text, lists)
    );
  });
}

function valueOf(write: PyNode): PyNode | undefined {
  const found = definitionOf(write);
  return found.kind === 'value' ? found.value : undefined;
}

function isLookUp(value: PyNode, name: string): boolean {
  if (value.type === 'subscript') return value.subscript?.text === name;
  if (value.type !== 'call') return value.type === 'none';
  const [first, second, third] = argumentsOf(value);
  const isPlain = (other: PyNode | undefined): boolean => other === undefined || other.type === 'none';
  if (value.function?.text === 'getattr') return second?.text === name && isPlain(third);
  const asks = /^(?:__getattr__|__getattribute__|__getitem__|get)$/.test(methodName(value) ?? '');
  const key = methodName(value) === '__getattribute__' && second !== undefined ? second : first;
  return asks && key?.text === name && isPlain(key === second ? third : second);
}

/** Below `if name in self.functions:`. */
function isForListed(alone: PyModule, value: PyNode, name: string, lists: Set<string>): boolean {
  return [...value.ancestors()].some((branch) => {
    const asked = branch.type === 'if_statement' ? branch.condition : undefined;
    if (asked?.type !== 'comparison_operator' || !branch.consequence?.contains(value)) return false;
    const [key, list, ...more] = asked.named;
    if (key?.text !== name || list === undefined || more.length > 0 || !isIn(asked)) return false;
    if (isListOfOthers(list)) return true;
    const attribute = list.type === 'attribute' && list.object?.text === 'self' ? list.attribute : undefined;
    if (attribute === undefined || !isOnlyList(alone, attribute.text)) return false;
    lists.add(attribute.text);
    return true;
  });
}

function isIn(comparison: PyNode): boolean {
  return comparison.children.some(({ text }) => text === 'in');
}

/** Whether every place of a file that names an attribute makes it a list of other names, or looks for something in it. */
function isOnlyList(alone: PyModule, attribute: string): boolean {
  return alone.words(attribute).every(({ parent: place }) => {
    const use = place?.type === 'attribute' && place.object?.text === 'self' ? place.parent : undefined;
    if (use?.type === 'assignment' && use.left === place)
      return use.right !== undefined && isListOfOthers(use.right);
    return use?.type === 'comparison_operator' && use.named.at(-1) === place && /\bin\b/.test(use.text);
  });
}

/** Texts as they are written, and none of them a name by which objects load. */
function isListOfOthers(list: PyNode): boolean {
  const names = list.named.filter(({ type }) => type !== 'comment').map(plainString);
  if (!/^(?:list|set|tuple)$/.test(list.type)) return false;
  return names.every((each) => each !== undefined && ![LOADS, ...PARTS_OF_LOADING].includes(each));
}
