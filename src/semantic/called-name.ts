import type { PyNode } from '../syntax/node.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath, roleOf } from './names.js';
import { wholeName } from './statements.js';

/** A call and the identifier that names what it calls. */
export interface NamedCall {
  readonly call: PyNode;
  readonly name: PyNode;
}

/** The calls of whatever is called `word` where it comes from: `word(…)`, `a.word(…)`, and those by an alias of it. In source order. */
export function callsNamed(module: PyModule, word: string): readonly NamedCall[] {
  const found = new Map<PyNode, NamedCall>();
  const add = (name: PyNode): void => {
    const parent = name.parent;
    const callee = parent?.type === 'attribute' && parent.attribute === name ? parent : name;
    const call = callee.parent;
    const isCall = call?.type === 'call' && call.function === callee;
    // What an f-string calls is part of a text.
    if (isCall && call.closest('string') === undefined) found.set(call, { call, name });
  };
  for (const node of module.words(word)) {
    if (node.type !== 'identifier' || node.text !== word) continue;
    add(node);
    const alias = aliasOf(node);
    if (alias !== undefined) for (const read of module.reads(module.scopeAt(alias), alias.text)) add(read);
  }
  return [...found.values()].sort((a, b) => a.name.start - b.name.start);
}

/** The call `x.method(…)` of its `method`. */
export function callOfMethod(name: PyNode): PyNode | undefined {
  const callee = name.parent;
  const call = callee?.attribute === name ? callee.parent : undefined;
  return call?.type === 'call' && call.function === callee ? call : undefined;
}

/** The calls of methods at some literals: `.eval()`, `.step(`. */
export function methodCallsAt(module: PyModule, ...literals: readonly string[]): readonly PyNode[] {
  return literals.flatMap((literal) => module.at(literal).flatMap((node) => callOfMethod(node) ?? []));
}

/** `b` of `a.b`, `a` of `a`. */
export function lastName(expression: PyNode): PyNode | undefined {
  if (expression.type === 'identifier') return expression;
  return expression.type === 'attribute' ? expression.attribute : undefined;
}

/** The last name of what is called or held, whichever element of it: `update` of `self.meter.update`, `nets` of `nets[0]`. */
export function nameOf(expression: PyNode): string {
  const inner = expression.type === 'subscript' ? expression.value : undefined;
  return inner === undefined ? (lastName(expression)?.text ?? '') : nameOf(inner);
}

/** The other name that an import or a plain assignment gives to what a node names. */
function aliasOf(node: PyNode): PyNode | undefined {
  const imported = node.closest('aliased_import')?.alias;
  if (imported !== undefined && importedPath(imported) !== undefined) return imported;
  const value = node.parent?.type === 'attribute' ? node.parent : node;
  const { parent } = value;
  if (parent?.type !== 'assignment' || parent.right !== value) return undefined;
  const left = parent.left;
  return left?.type === 'identifier' && roleOf(left) === 'write' ? left : undefined;
}

/** The name that gets what a call makes, perhaps moved. */
export function targetGiven(call: PyNode): PyNode | undefined {
  let value = call;
  while (value.parent?.type === 'attribute' && value.parent.parent?.type === 'call')
    value = value.parent.parent;
  const { parent } = value;
  if (parent?.type === 'assignment') return parent.right === value ? parent.left : undefined;
  const assignment = parent?.parent;
  const targets = assignment?.type === 'assignment' ? assignment.left?.named : undefined;
  return parent !== undefined && targets?.length === parent.named.length
    ? targets[parent.named.indexOf(value)]
    : undefined;
}

/** Where the network stands, as written. */
export function placesOf(module: PyModule, text: string): readonly PyNode[] {
  const last = text.slice(text.lastIndexOf('.') + 1);
  return module.words(last).flatMap((node) => {
    const whole = wholeName(node);
    return whole.text === text ? [whole] : [];
  });
}

/** The calls of what an import brings by one of these paths, found by its own name. */
export function callsOfPaths(module: PyModule, name: string, paths: ReadonlySet<string>): readonly PyNode[] {
  return module.at(`${name}(`).flatMap((node) => {
    const call = node.closest('call');
    const callee = call?.function;
    if (call === undefined || !callee?.contains(node) || call.closest('string') !== undefined) return [];
    return paths.has(qualifiedName(module, callee) ?? '') ? [call] : [];
  });
}
