import { builtin, canonical, row } from '../../src/library/library.js';
import { DATA_LOADER } from '../../src/library/names.js';
import { type Elsewhere, makerOf } from '../../src/semantic/elsewhere.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import { shown } from '../../src/semantic/gate.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsByName, restOf } from '../../src/semantic/parameters.js';
import { ask } from '../../src/semantic/question.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingFunction,
  unparenthesized,
  wholeName,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type GradDoubt, unknown } from '../../src/torch/grad/doubts.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';
import { mayTrainData } from './sharing.js';

/** The parameters of a function that is being looked into, by what its call gives them; `undefined`: nothing, as `**kwargs`. */
export type Given = ReadonlyMap<string, Elsewhere | undefined> | undefined;

/** What a call gives to the parameters of a function that it runs; undefined where some of it has no name, or a decorator may change it. */
export function givenInside(module: PyModule, functionNode: PyNode, call: PyNode): Given {
  const given = argumentsByName(module, functionNode, call);
  // `*args` and `**kwargs` would get the rest.
  if (given === undefined || given.size !== argumentsOf(call).length) return undefined;
  if (decoratorsOf(functionNode).some(({ text }) => text !== 'staticmethod')) return undefined;
  return new Map<string, Elsewhere | undefined>([
    ...[...given].map(([name, node]) => [name, { module, node }] as const),
    ...restOf(functionNode).map((name) => [name, undefined] as const),
  ]);
}

const MAX_DEPTH = 24;
const LOADER: Maker = {
  gives: (path) => canonical(path) === DATA_LOADER,
  isClass: () => 'no',
  outlivesOthers: false,
};

/** A `DataLoader`, wherever it was made, or what hands on its batches. */
export function isLoader(module: PyModule, data: PyNode, given: Given, depth: number): boolean {
  const node = unparenthesized(data);
  if (depth > MAX_DEPTH) return false;
  if (node.type === 'call' && builtin(node.function?.text ?? '') !== undefined)
    return (
      argumentsOf(node).length > 0 &&
      argumentsOf(node).every((each) => isLoader(module, each, given, depth + 1))
    );
  if (madeBy(module, node, LOADER) === 'yes') return true;
  const scope = node.type === 'identifier' ? module.resolve(node) : undefined;
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, node.text);
  if (only === undefined || others.length > 0) return false;
  const definition = definitionOf(only);
  if (definition.kind === 'value') return isLoader(module, definition.value, given, depth + 1);
  if (definition.kind !== 'parameter') return false;
  const known = given?.get(only.text);
  const owner = enclosingFunction(only);
  const values = known === undefined ? owner && valuesGiven(module, owner, only) : [known];
  return (
    values !== undefined &&
    values.length > 0 &&
    values.every((each) => isLoader(each.module, each.node, undefined, depth + 1))
  );
}

/** A dataset of tensors that are trained themselves, or that one of the `trained` networks of a file computes. */
export function doubtOfLoader(
  module: PyModule,
  data: PyNode,
  home: PyModule,
  trained: ReadonlySet<string>,
): GradDoubt | undefined {
  if (!mayTrainData(module) && !isLoadedWith(home, trained)) return undefined;
  return unknown(
    ask('input-without-gradient')`Does all that \`${shown(data)}\` gives come without a gradient?`,
  );
}

/** Whether a loader or its dataset is made with one of these networks: `DataLoader(encoder(x))`, `Encoded(encoder)`. */
function isLoadedWith(module: PyModule, networks: ReadonlySet<string>): boolean {
  const calls = module.words('DataLoader').flatMap((node) => {
    const { parent: call } = wholeName(node);
    return call?.type === 'call' ? [call] : [];
  });
  const pending = calls.flatMap(argumentsOf);
  const seen = new Set<PyNode>();
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const node of at.walk()) {
      if (seen.has(node)) continue;
      seen.add(node);
      if (networks.has(node.text)) return true;
      const scope = node.type === 'identifier' ? module.resolve(node) : undefined;
      for (const write of scope === undefined ? [] : module.writes(scope, node.text)) {
        const { parent } = write;
        if (parent?.type === 'assignment' && parent.right !== undefined) pending.push(parent.right);
        else if (parent?.type === 'function_definition') pending.push(parent);
      }
    }
  }
  return false;
}

/** `x.requires_grad_()`, `x.requires_grad = True`, anywhere in the scope of the variable. */
export function asksForGradient(module: PyModule, name: PyNode): boolean {
  const scope = module.resolve(name);
  return scope !== undefined && module.reads(scope, name.text).some(isAsked);
}

/** What stands here, or an element of it, is asked for its gradient. */
export function isAsked(place: PyNode): boolean {
  let at = place;
  while (at.parent?.type === 'subscript' && at.parent.value === at) at = at.parent;
  const attribute = at.parent?.type === 'attribute' && at.parent.object === at ? at.parent : undefined;
  const asked = attribute?.attribute?.text;
  if (asked !== 'requires_grad' && asked !== 'requires_grad_') return false;
  const user = attribute?.parent;
  const isSet = user?.type === 'assignment' && user.left === attribute;
  const isCalled = user?.type === 'call' && user.function === attribute;
  if (!isSet && !isCalled) return false;
  const mode = isCalled ? argumentsOf(user)[0] : user?.right;
  return (mode?.value ?? mode)?.type !== 'false';
}

/** `nn.MSELoss()(a, b)`, `criterion(a, b)` with `criterion = nn.MSELoss()`: it has no weights. */
export function isLoss(module: PyModule, callee: PyNode): boolean {
  return row(makerOf(module, callee) ?? '')?.is === 'loss';
}

export function withoutGradient(node: PyNode): GradDoubt {
  return unknown(ask('input-without-gradient')`Does \`${shown(node)}\` come without a gradient?`);
}

/** The first that speaks against it; a refusal before a doubt. */
export function first<T>(all: readonly T[], look: (each: T) => GradDoubt | undefined): GradDoubt | undefined {
  let found: GradDoubt | undefined;
  for (const each of all) {
    const doubt = look(each);
    if (doubt?.answer === 'no') return doubt;
    found ??= doubt;
  }
  return found;
}

/** What is given to `self.y`, or a part of it: `self.y = …`, `x, self.y = …`. */
export function valueWritten(place: PyNode): PyNode | undefined {
  const target = /^(?:pattern_list|tuple_pattern)$/.test(place.parent?.type ?? '') ? place.parent : place;
  return target?.parent?.left === target ? target?.parent?.right : undefined;
}
