import type { PyModule } from '../../semantic/module.js';
import { functionsByName } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { isTarget } from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';

/** What a file sets as the forward of a class or an object that is made already, or may set as it by a name that it computes. */
export const forwardsSet = remembered((alone: PyModule): readonly PyNode[] => {
  const names = [...alone.wordsSet('forward'), ...stringsIn(alone)];
  const values = names.flatMap((name) => valueFor(name) ?? []).filter(({ type }) => !LITERALS.has(type));
  return [...values, ...alone.words('setattr').flatMap((name) => functionSet(alone, name) ?? [])];
});

export function setsForward(alone: PyModule): boolean {
  return forwardsSet(alone).length > 0;
}

function stringsIn(alone: PyModule): readonly PyNode[] {
  if (!alone.mentions(/["']forward["']/)) return [];
  return [...alone.root.walk()].filter((node) => node.type === 'string' && plainString(node) === 'forward');
}

/** `f` of `net.forward = f`, `dict(forward=f)`, `{"forward": f}`, `body["forward"] = f` and `setattr(net, "forward", f)`. */
function valueFor(name: PyNode): PyNode | undefined {
  const { parent } = name;
  if (parent === undefined) return undefined;
  if (parent.type === 'keyword_argument' && parent.name === name) return parent.value;
  if (parent.type === 'pair' && parent.named[0] === name) return parent.value;
  if (parent.type === 'argument_list') return parent.named[parent.named.indexOf(name) + 1];
  const isPlace = parent.type === 'subscript' || (parent.type === 'attribute' && parent.attribute === name);
  return isPlace && isTarget(parent) ? parent.parent?.right : undefined;
}

/** `f` of `setattr(net, name, f)`, where it is a function of this file. */
function functionSet(alone: PyModule, called: PyNode): PyNode | undefined {
  const [, name, value] = called.parent?.type === 'call' ? (called.parent.arguments?.named ?? []) : [];
  if (name === undefined || value === undefined || plainString(name) !== undefined) return undefined;
  return value.type === 'lambda' || functionsByName(alone, value.text).length > 0 ? value : undefined;
}

const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'none', 'string', 'integer', 'float']);
