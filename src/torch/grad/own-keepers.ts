import { summariesTogether } from '../../semantic/companions.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsByName } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { enclosingClass, enclosingFunction, rootOf, statementOf } from '../../semantic/statements.js';
import { livesIn, waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { computes, mayGiveGraph } from '../../values/effects/lazy-code.js';
import { keepsOwn, ownEscapes } from '../../values/uses/escapes.js';
import { moduleKind } from '../module/modules.js';
import { storesRunBy } from './named-keepers.js';

/** A function or method that keeps what it computes with a network, or with parameters of its own. */
interface OwnKeeper {
  readonly home: PyModule;
  readonly node: PyNode;
}

interface Found {
  readonly keepers: readonly OwnKeeper[];
  /** Why not all files were looked into. */
  readonly unread: string | undefined;
}

/**
 * Where the project has a method of this name that computes something with a network or with parameters of its own object,
 * and keeps it: in brackets, unless in this file.
 */
export const ownKeeper = remembered((module: PyModule, name: string): string | undefined => {
  const { keepers, unread } = ownKeepers(module, name);
  const [first] = keepers;
  if (first === undefined) return unread && ` (${unread})`;
  return first.home.path === module.path ? '' : ` (\`${first.home.path}\`)`;
});

/** All of them, those of this file first. */
export const ownKeepers = remembered((module: PyModule, name: string): Found => {
  const own = keepersIn(module, name);
  const mention = { word: name, beside: [], needs: [`def ${name}`] };
  const files = summariesTogether(module, mention, mayKeepOwn);
  if (files === undefined)
    return { keepers: own, unread: module.around.unread ?? `one of many files that name \`${name}\`` };
  const places = new Set(files.filter((place) => place !== undefined));
  if (places.size === 0) return { keepers: own, unread: undefined };
  const { modules, unread } = module.around.naming(mention, (_text, path) => places.has(path));
  return { keepers: [...own, ...modules.flatMap((there) => keepersIn(there, name))], unread };
});

function keepersIn(module: PyModule, name: string): readonly OwnKeeper[] {
  return functionsByName(module, name)
    .filter((each) => mayKeepOwnBy(module, each) && computes(module, each) && keptOwn(module, each))
    .map((node) => ({ home: module, node }));
}

/** The file itself, where it has a method that may: whether that computes anything, others have to say. */
function mayKeepOwn(alone: PyModule, name: string): string | undefined {
  const isOne = functionsByName(alone, name).some((method) => mayKeepOwnBy(alone, method));
  return isOne ? alone.path : undefined;
}

/** Of what it does not get, but has. What the forward of a network keeps is asked of each network that may run it. */
function mayKeepOwnBy(module: PyModule, functionNode: PyNode): boolean {
  const owner = functionNode.name?.text === 'forward' ? enclosingClass(functionNode) : undefined;
  if (owner !== undefined && moduleKind(module, owner).isModule !== 'no') return false;
  return keepsOwn(module, functionNode) || storesRunBy(module.alone, functionNode).length > 0;
}

/** What it keeps may be what it computes: a file that is opened once is not, and what it hands back it does not keep. */
function keptOwn(module: PyModule, functionNode: PyNode): boolean {
  const stored = storesRunBy(module, functionNode).map(({ into }) => ({ node: statementOf(into), into }));
  return [...ownEscapes(module, functionNode), ...stored].some(
    ({ node, into }) => !(into && isMadeHere(module, into)) && mayGiveGraph(module, node),
  );
}

/** A list or dictionary that was made there, by one of its names. */
function isMadeHere(module: PyModule, into: PyNode): boolean {
  const root = into.type === 'call' ? into : rootOf(into);
  const owner = root.type === 'identifier' ? enclosingFunction(root) : undefined;
  if (owner === undefined || !livesIn(module, root, owner)) return false;
  const ways = waysReaching(module, root);
  return ways.length > 0 && ways.every((way) => way.kind === 'value' && isFreshContainer(module, way.value));
}
