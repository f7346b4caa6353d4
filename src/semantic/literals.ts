import type { PyNode } from '../syntax/node.js';
import { definitionOf } from './flow.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { unparenthesized } from './statements.js';
import { plainString } from './strings.js';
import { isUnbound } from './variables.js';

/** What an expression says, and where it is written. */
export interface Written {
  readonly node: PyNode;
  /** The variable that brings it here; undefined where it is written on the spot. */
  readonly variable: PyNode | undefined;
}

/** The expression itself, or what the variable in its place is assigned, where that happens exactly once. */
export function writtenBehind(module: PyModule, value: PyNode): Written {
  const scope = value.type === 'identifier' ? module.resolve(value) : undefined;
  const writes = scope === undefined ? [] : module.writes(scope, value.text);
  const [only] = writes;
  const definition = only === undefined || writes.length > 1 ? undefined : definitionOf(only);
  return definition?.kind === 'value'
    ? { node: definition.value, variable: only }
    : { node: value, variable: undefined };
}

/** A whole number above zero, written in digits. */
export function wholeNumber(node: PyNode): number | undefined {
  const digits = node.type === 'integer' ? node.text.replaceAll('_', '') : '';
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : undefined;
}

/** Whether a place is all that reads a variable: of a variable of the module, other files may read it too. */
export function onlyUse(module: PyModule, { variable }: Written): 'yes' | 'unknown' {
  if (variable === undefined) return 'yes';
  const scope = module.resolve(variable);
  if (scope === undefined || scope.kind !== 'function') return 'unknown';
  return module.reads(scope, variable.text).length <= 1 ? 'yes' : 'unknown';
}

/** `[]`, `{}`, `defaultdict(list)`: nobody else holds it yet. */
export function isFreshContainer(module: PyModule, value: PyNode): boolean {
  const { type, function: callee } = unparenthesized(value);
  if (/^(?:list|dictionary|set)(?:_comprehension)?$/.test(type)) return true;
  if (type !== 'call' || callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return /^collections\.(?:defaultdict|deque|OrderedDict)$/.test(path);
  return isUnbound(module, callee) && /^(?:list|dict|set)$/.test(callee.text);
}

export function elementsOf(value: PyNode): readonly PyNode[] | undefined {
  const plain =
    (value.type === 'expression_list' || value.type === 'tuple') &&
    !value.named.some((item) => item.type === 'list_splat');
  return plain ? value.named : undefined;
}

/** What a dict has under a name, as written; undefined where more may come into it. */
export function entryOf(dict: PyNode | undefined, name: string): PyNode | undefined {
  const pairs = dict?.type === 'dictionary' ? dict.named : [];
  if (pairs.some(({ type }) => type !== 'pair' && type !== 'comment')) return undefined;
  const found = pairs.filter((pair) => {
    const key = pair.key;
    return key !== undefined && plainString(key) === name;
  });
  return found.length === 1 ? found[0]?.value : undefined;
}

/** What a call is handed inside a literal: `Runner([net])`, `launch(models={"g": net})`. */
export function valuesInside(given: PyNode): readonly PyNode[] {
  if (/^(?:list|tuple|set|dictionary|list_splat|dictionary_splat)$/.test(given.type))
    return given.named.flatMap(valuesInside);
  return given.type === 'pair' ? valuesInside(given.value ?? given) : [given];
}

/** The elements of a literal, so that the words can name the one that counts. */
export function partsOfLiteral(value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  if (/^(?:expression_list|tuple|list)$/.test(node.type)) return node.named.flatMap(partsOfLiteral);
  return node.type === 'dictionary' ? node.named.flatMap((pair) => pair.value ?? pair) : [node];
}

/** The elements of a list or tuple as written; anything else is not taken apart. */
export function itemsOf(iterable: PyNode): readonly PyNode[] {
  return ['list', 'tuple', 'expression_list'].includes(iterable.type) ? iterable.named : [iterable];
}
