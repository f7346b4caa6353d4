import { builtin, ofTensor } from '../../library/library.js';
import { attributeValues } from '../../semantic/attributes.js';
import { calledDefinition, classAround, methodNamed } from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf } from '../../semantic/elsewhere.js';
import { placeOf, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsNamed } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import { reachedFrom } from '../../semantic/reach.js';
import { rememberedFrom } from '../../semantic/remembered.js';
import { functionElsewhere } from '../../semantic/star-imports.js';
import {
  argumentsOf,
  contextManagers,
  decoratorsOf,
  methodName,
  receiverOf,
} from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { moduleKind } from '../../torch/module/modules.js';
import { isMethodOfLibraries } from '../value/plain.js';
import { bare } from './handed-function.js';
import { isSetInPlace } from './inherited.js';
import { type Contents, Ingredients, isAskedAsNetwork, isOrdinaryObject, isStranger } from './strangers.js';

/** A call of a stranger that has a network, and what runs it. */
interface Holder extends Elsewhere {
  /** What runs it there: a callable, an object with methods, something that is gone through. */
  readonly by: PyNode;
}

function runsWithout({ module, node, by }: Holder): Question {
  const place = placeOf(module, node).replaceAll('`', '');
  const made = shown(node);
  return made === shown(by)
    ? ask('runs-without')`Does \`${made}\` (${place}), which has a network, run without differentiating it?`
    : ask(
        'runs-without',
      )`Does \`${shown(by)}\` (${place}: \`${made}\`), which has a network, run without differentiating it?`;
}

/**
 * What a part of a function may run of packages that memfix does not know, and which has a network: it was given one when it
 * was made, or is given one by the call. Such code may differentiate.
 */
export function strangersRunIn(
  module: PyModule,
  part: PyNode,
  models: ReadonlySet<string>,
): readonly Question[] {
  const found: Question[] = [];
  for (const node of part.walk()) {
    const holder = holderRunAt(module, node, models);
    if (holder !== undefined) found.push(runsWithout(holder));
  }
  return found;
}

function holderRunAt(module: PyModule, node: PyNode, models: ReadonlySet<string>): Holder | undefined {
  switch (node.type) {
    case 'call':
      return holderCalled(module, node, models);
    case 'for_statement':
    case 'for_in_clause':
      return node.right && holderBehind(module, node.right, 'network');
    case 'with_statement':
      return first(contextManagers(node), (each) =>
        each.type === 'call' ? undefined : holderBehind(module, each, 'unknown'),
      );
    default:
      return undefined;
  }
}

function first<T, F>(all: readonly T[], find: (each: T) => F | undefined): F | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `least`: what it must have been given. */
function holderBehind(module: PyModule, value: PyNode, least: 'network' | 'unknown'): Holder | undefined {
  const ingredients = new Ingredients();
  ingredients.of(module, value);
  const found = ingredients.holders.find(({ given }) => least === 'unknown' || given === 'network');
  return found && { module: found.module, node: found.call, by: value };
}

function holderCalled(module: PyModule, call: PyNode, models: ReadonlySet<string>): Holder | undefined {
  const callee = call.function;
  if (callee === undefined || models.has(callee.text)) return undefined;
  const own = calledDefinition(module, call);
  if (own !== undefined) return holderRunBy({ module, node: own }, call);
  const inherited = inheritedMethod(module, call);
  if (inherited !== undefined) return holderRunBy(inherited, call);
  const path = qualifiedName(module, callee);
  const isGiven = () =>
    argumentsOf(call)
      .map(bare)
      .some((each) => isNetwork(module, each, models));
  if (path !== undefined) {
    const elsewhere = functionElsewhere(module, callee) ?? definedElsewhere(module, path);
    if (elsewhere !== undefined) return holderRunBy(elsewhere, call);
    return isStranger(module, path) && isGiven() ? { module, node: call, by: call } : undefined;
  }
  if (isUnbound(module, callee) && builtin(callee.text) !== undefined)
    return builtin(callee.text)?.runs
      ? first(argumentsOf(call).map(bare), (each) => holderBehind(module, each, 'unknown'))
      : undefined;
  const object = receiverOf(call);
  // `self.adversary(x)`: an attribute that is called, or a method of a base that is not known.
  const receiver = object?.text === classAround(call)?.self ? undefined : object;
  const name = methodName(call) ?? '';
  const value = receiver ?? callee;
  if (models.has(value.text)) return undefined;
  if (receiver !== undefined && isOrdinaryObject(module, receiver)) return undefined;
  const ingredients = new Ingredients();
  const contents = ingredients.of(module, value);
  const isOrdinary =
    (receiver !== undefined || attributeValues(module, callee) === undefined) &&
    object !== undefined &&
    (ofTensor(name) !== undefined || isMethodOfLibraries(name));
  const holder = ingredients.holders.find(({ given }) => !isOrdinary || given === 'network');
  if (holder !== undefined) return { module: holder.module, node: holder.call, by: value };
  const [stranger] = ingredients.strangers;
  if (stranger !== undefined && isGiven()) return { ...stranger, by: value };
  if (contents !== 'unknown' || isOrdinary) return undefined;
  if (isGiven() && (receiver === undefined || functionsNamed(module, name)?.length === 0))
    return { module, node: call, by: value };
  const anywhere = module.memo(holderAnywhere, module);
  return anywhere === UNREAD ? { module, node: call, by: value } : anywhere && { ...anywhere, by: value };
}

/** `self.convert(x)` of a base in another file, where the project has no other function of this name, nor puts one in its place. */
function inheritedMethod(module: PyModule, call: PyNode): Elsewhere | undefined {
  const around = classAround(call);
  const name = methodName(call);
  if (around === undefined || name === undefined || receiverOf(call)?.text !== around.self) return undefined;
  const { elsewhere, imported, unknown } = lineageOf(module, around.classNode);
  if (unknown || imported.some((path) => isStranger(module, path))) return undefined;
  const found = first(elsewhere, ({ module: there, node }) => {
    const method = methodNamed(there, node, name);
    return method && decoratorsOf(method).length === 0 ? { module: there, node: method } : undefined;
  });
  if (found === undefined || functionsNamed(module, name)?.length !== 1) return undefined;
  return isSetInPlace(module, name) ? undefined : found;
}

function isNetwork(module: PyModule, value: PyNode, models: ReadonlySet<string>): boolean {
  if (models.has(value.text) || isAskedAsNetwork(module, value)) return true;
  const ingredients = new Ingredients();
  return (
    ingredients.of(module, value) === 'network' ||
    ingredients.holders.some(({ given }) => given === 'network')
  );
}

/** The same for a function of the project, and all that it runs. */
function holderRunBy(found: Elsewhere, call: PyNode): Holder | undefined {
  if (found.node.type === 'class_definition') {
    // What a network runs is asked of the network.
    const maker = methodNamed(found.module, found.node, '__init__');
    const isNetwork = moduleKind(found.module, found.node).isModule !== 'no';
    return maker && !isNetwork ? holderRunBy({ module: found.module, node: maker }, call) : undefined;
  }
  const holder = holderRunIn(found.module, found.node);
  return holder && { ...holder, by: call.function ?? call };
}

/** One that runs itself on the way adds nothing. */
const holderRunIn = rememberedFrom(undefined, (module, node): Holder | undefined =>
  first([node, ...reachedFrom(module, node)], (each) =>
    first([...(each.body ?? each).walk()], (inside) => holderRunAt(module, inside, NONE)),
  ),
);

const NONE: ReadonlySet<string> = new Set();

/** There are more files than were looked into. */
const UNREAD = 'unread';

/** The first of all calls of strangers in the project that get a network: what is handed around may be what it gives. */
function holderAnywhere(
  module: PyModule,
): (Elsewhere & { readonly given: Contents }) | typeof UNREAD | undefined {
  const files = module.around.summaries({ word: 'import', beside: [] }, packagesIn);
  if (files === undefined) return UNREAD;
  const packages = new Set([packagesIn(module.alone), ...files].flat());
  for (const name of packages) {
    if (!isStranger(module, `${name}.${name}`)) continue;
    const { modules, unread } = module.around.naming({ word: name, beside: [] }, () => true);
    const found = first([module, ...modules], (there) => holderOf(there, name));
    if (found !== undefined || unread !== undefined) return found ?? UNREAD;
  }
  return undefined;
}

function holderOf(module: PyModule, name: string): (Elsewhere & { readonly given: Contents }) | undefined {
  for (const call of module.root.walk()) {
    if (call.type !== 'call' || call.function === undefined) continue;
    const path = qualifiedName(module, call.function);
    if (path?.startsWith(`${name}.`) !== true || !isStranger(module, path)) continue;
    const given = argumentsOf(call).map((each) => new Ingredients().of(module, each));
    if (given.includes('network')) return { module, node: call, given: 'network' };
  }
  return undefined;
}

/** The packages that a file imports something of. */
function packagesIn(alone: PyModule): readonly string[] {
  return [...alone.code.matchAll(IMPORTS)].flatMap(([, from, names = '']) =>
    from === undefined ? names.split(',').map((each) => each.trim().split(/[.\s]/, 1)[0] ?? '') : [from],
  );
}

const IMPORTS = /^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))/gm;
