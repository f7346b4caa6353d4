import { definitionOf } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { isLookedAt } from '../../src/semantic/mapping-use.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';

/** Where a mapping in code comes from: a file named in the code, and the keys that lead to it there. */
export interface YamlSource {
  /** As written: `configs/model.yaml`. */
  readonly name: string;
  readonly keys: readonly string[];
  /** The path is a default, which a caller may replace. */
  readonly isDefault: boolean;
  /** Variables that hold the mapping, or one around it, on the way. */
  readonly holders: readonly PyNode[];
}

const LOADS: ReadonlySet<string> = new Set([
  'yaml.safe_load',
  'yaml.full_load',
  'yaml.unsafe_load',
  'yaml.load',
  'omegaconf.OmegaConf.load',
]);
const MAX_HOPS = 8;

/** The YAML file that an expression's mapping was read from, where the file shows it. */
export function yamlSource(module: PyModule, expression: PyNode): YamlSource | undefined {
  return sourceOf(module, expression, 0);
}

function sourceOf(module: PyModule, expression: PyNode, hops: number): YamlSource | undefined {
  const node = unparenthesized(expression);
  if (hops > MAX_HOPS) return undefined;
  if (node.type === 'identifier') {
    const [only, ...others] = writesOf(module, node);
    const definition = only === undefined || others.length > 0 ? undefined : definitionOf(only);
    const source = definition?.kind === 'value' ? sourceOf(module, definition.value, hops + 1) : undefined;
    return source && only && { ...source, holders: [...source.holders, only] };
  }
  const part = partOf(node);
  if (part !== undefined) {
    const source = sourceOf(module, part.of, hops + 1);
    return source && { ...source, keys: [...source.keys, part.key] };
  }
  const callee = node.type === 'call' ? node.function : undefined;
  const path = callee && qualifiedName(module, callee);
  const [given] = node.type === 'call' ? argumentsOf(node) : [];
  if (given === undefined || path === undefined || !LOADS.has(path)) return undefined;
  const file = path.startsWith('yaml.')
    ? openedPath(module, given, hops + 1)
    : pathOf(module, given, hops + 1);
  return file && { ...file, keys: [], holders: [] };
}

/** `config["model"]`, `config.get("model")`. */
function partOf(node: PyNode): { readonly of: PyNode; readonly key: string } | undefined {
  const isGet = node.type === 'call' && methodName(node) === 'get';
  const of = node.type === 'subscript' ? node.value : isGet ? receiverOf(node) : undefined;
  const written = node.type === 'subscript' ? node.subscript : argumentsOf(node)[0];
  const key = of === undefined || written === undefined ? undefined : plainString(written);
  return of === undefined || key === undefined ? undefined : { of, key };
}

type NamedPath = Pick<YamlSource, 'name' | 'isDefault'>;

/** What a stream was opened on, or a text was read from. */
function openedPath(module: PyModule, expression: PyNode, hops: number): NamedPath | undefined {
  const node = unparenthesized(expression);
  if (hops > MAX_HOPS) return undefined;
  if (node.type === 'identifier') {
    const [only, ...others] = writesOf(module, node);
    const definition = only === undefined || others.length > 0 ? undefined : definitionOf(only);
    const isKnown = definition?.kind === 'with' || definition?.kind === 'value';
    return isKnown ? openedPath(module, definition.value, hops + 1) : undefined;
  }
  if (node.type !== 'call') return undefined;
  const callee = node.function;
  if (callee?.type === 'identifier' && callee.text === 'open' && module.resolve(callee) === undefined) {
    const [given] = argumentsOf(node);
    return given && pathOf(module, given, hops + 1);
  }
  const receiver = receiverOf(node);
  const name = methodName(node);
  if (receiver === undefined || name === undefined) return undefined;
  if (name === 'read') return openedPath(module, receiver, hops + 1);
  return name === 'open' || name === 'read_text' ? pathOf(module, receiver, hops + 1) : undefined;
}

/** A path that the code spells out. */
function pathOf(module: PyModule, expression: PyNode, hops: number): NamedPath | undefined {
  const node = unparenthesized(
    expression.type === 'keyword_argument' ? (expression.value ?? expression) : expression,
  );
  if (hops > MAX_HOPS) return undefined;
  const written = plainString(node);
  if (written !== undefined) return { name: written, isDefault: false };
  if (node.type === 'identifier') {
    const [only, ...others] = writesOf(module, node);
    if (only === undefined || others.length > 0) return undefined;
    const definition = definitionOf(only);
    if (definition.kind === 'value') return pathOf(module, definition.value, hops + 1);
    const otherwise = definition.kind === 'parameter' ? only.parent?.value : undefined;
    const path = otherwise && pathOf(module, otherwise, hops + 1);
    return path && { ...path, isDefault: true };
  }
  const callee = node.type === 'call' ? node.function : undefined;
  const isPath = callee !== undefined && qualifiedName(module, callee) === 'pathlib.Path';
  const [only, ...others] = isPath ? argumentsOf(node) : [];
  return only === undefined || others.length > 0 ? undefined : pathOf(module, only, hops + 1);
}

function writesOf(module: PyModule, identifier: PyNode): readonly PyNode[] {
  const scope = module.resolve(identifier);
  return scope === undefined ? [] : module.writes(scope, identifier.text);
}

/** A place where the file changes the mapping, or hands it on as a whole, besides the call that receives it. */
export function changedOnTheWay(
  module: PyModule,
  { holders }: YamlSource,
  receiver: PyNode,
): PyNode | undefined {
  const names = new Set(holders);
  for (const holder of holders) {
    const scope = module.resolve(holder);
    const uses = scope === undefined ? [] : module.reads(scope, holder.text);
    const changed = uses.find((use) => !receiver.contains(use) && !isLookedAt(use, names));
    if (changed !== undefined) return changed;
  }
  return undefined;
}
