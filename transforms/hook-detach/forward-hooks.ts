import { calledDefinition, classAround, definitionBehind } from '../../src/semantic/definitions.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { remembered } from '../../src/semantic/remembered.js';
import {
  argumentsOf,
  enclosingFunction,
  keywordValue,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** A forward hook that stores what its layer gives out, as it is. */
export interface StoredOutput {
  /** The function or lambda. */
  readonly hook: PyNode;
  /** `output` or `output[0]`. */
  readonly value: PyNode;
  /** What it is stored in, as written. */
  readonly store: PyNode;
  readonly every: boolean;
}

export const storedOutputs = remembered((module: PyModule): readonly StoredOutput[] => {
  const hooks = new Set<PyNode>();
  for (const { text, parent } of module.at('register_forward_hook')) {
    const call = parent?.parent;
    if (text !== 'register_forward_hook' || call?.type !== 'call' || call.function !== parent) continue;
    const given = keywordValue(call, 'hook') ?? argumentsOf(call)[0];
    const hook = given && hookBehind(module, given);
    if (hook !== undefined) hooks.add(hook);
  }
  return [...hooks].flatMap((hook) => storesOf(module, hook));
});

/** The function that a name, a lambda, `partial(f, …)` or a maker of hooks stands for. */
function hookBehind(module: PyModule, expression: PyNode): PyNode | undefined {
  const node = unparenthesized(expression);
  if (node.type === 'lambda') return node;
  if (node.type !== 'call') {
    const definition = definitionBehind(module, node);
    return definition?.type === 'function_definition' ? definition : undefined;
  }
  const [first] = argumentsOf(node);
  if (/(?:^|\.)partial$/.test(node.function?.text ?? ''))
    return first === undefined ? undefined : hookBehind(module, first);
  const maker = calledDefinition(module, node);
  if (maker?.type !== 'function_definition') return undefined;
  const returned = ownNodes(maker).flatMap((inner) =>
    inner.type === 'return_statement' ? inner.named.slice(0, 1) : [],
  );
  const [only, ...others] = returned;
  return only === undefined || others.length > 0 || only.type === 'call'
    ? undefined
    : hookBehind(module, only);
}

/** The last parameter, after the module and its input. */
function outputName(hook: PyNode): string | undefined {
  const parameters = hook.parameters?.named ?? [];
  const last = parameters.at(-1);
  const name = last?.type === 'typed_parameter' ? last.children[0] : last;
  return parameters.length >= 3 && name?.type === 'identifier' ? name.text : undefined;
}

function storesOf(module: PyModule, hook: PyNode): readonly StoredOutput[] {
  const name = outputName(hook);
  const scope = module.scopeOf(hook);
  if (name === undefined || module.writes(scope, name).some((place) => roleOf(place) !== 'parameter'))
    return [];
  return module.reads(scope, name).flatMap((read): readonly StoredOutput[] => {
    const item = read.parent;
    const value =
      item?.type === 'subscript' && item.value === read && /\[\s*-?\d+\s*\]$/.test(item.text) ? item : read;
    const holder = value.parent;
    if (enclosingFunction(read) !== (hook.type === 'lambda' ? enclosingFunction(hook) : hook)) return [];
    if (holder?.type === 'assignment' && holder.right === value) {
      const store = holder.left;
      const kept = store?.type === 'subscript' || store?.type === 'attribute';
      return store !== undefined && kept ? [{ hook, value, store, every: false }] : [];
    }
    const call = holder?.type === 'argument_list' ? holder.parent : undefined;
    const store = call && methodName(call) === 'append' ? receiverOf(call) : undefined;
    return store === undefined ? [] : [{ hook, value, store, every: true }];
  });
}

/** The hook itself looks up what it stores into: who reads it is not to be seen. */
export function isStoreFetched(module: PyModule, { hook, store }: StoredOutput): boolean {
  let root = store;
  while (root.type !== 'identifier' && root.children[0] !== undefined) root = root.children[0];
  const scope = root.type === 'identifier' ? module.resolve(root) : undefined;
  return (
    scope?.node === hook && module.writes(scope, root.text).some((place) => roleOf(place) !== 'parameter')
  );
}

/** Where the file reads what a hook has stored: by the name of the variable or of the attribute behind it. */
export function readsOfStore(module: PyModule, { hook, store }: StoredOutput): readonly PyNode[] {
  let root = store;
  while (root.type === 'subscript') root = root.value ?? root.children[0] ?? root;
  if (root.type === 'attribute') {
    const name = root.attribute?.text ?? '';
    return module.words(`.${name}`).flatMap(({ text, parent }) => {
      const read = text === name && parent?.type === 'attribute' && !hook.contains(parent);
      return read && parent.parent?.left !== parent ? [parent] : [];
    });
  }
  const scope = root.type === 'identifier' ? module.resolve(root) : undefined;
  if (scope === undefined) return [];
  return module
    .occurrences(scope, root.text)
    .filter((place) => roleOf(place) === 'read' && !hook.contains(place));
}

/** The class of the hook is a module whose `forward` hands the stored outputs on. */
export function isReadInForward(reads: readonly PyNode[]): boolean {
  return reads.some((read) => {
    const around = enclosingFunction(read)?.name?.text ?? '';
    return (
      /^(?:forward|__call__|training_step|compute_loss)$/.test(around) && classAround(read) !== undefined
    );
  });
}

/** A statement, a function or a class that is named after a loss reads it. */
export function feedsLoss(read: PyNode): boolean {
  const statement = statementOf(read);
  const body = statement.body ?? statement.consequence;
  const header = statement.children.filter((part) => part !== body && part.type !== 'comment');
  if (header.some(({ text }) => /loss|criteri/i.test(text))) return true;
  for (const around of read.ancestors()) {
    if (/^(?:function|class)_definition$/.test(around.type) && /loss|criteri/i.test(around.name?.text ?? ''))
      return true;
  }
  return false;
}
