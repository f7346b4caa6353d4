import type { PyNode } from '../syntax/node.js';
import { within } from '../syntax/within.js';
import type { PyModule } from './module.js';
import { binds, roleOf } from './names.js';
import type { Scope } from './scope.js';
import { argumentsOf, enclosingLoops, methodName, receiverOf, swallowsErrors } from './statements.js';

const GROWING: ReadonlySet<string> = new Set([
  'add',
  'append',
  'clear',
  'extend',
  'insert',
  'pop',
  'popleft',
  'remove',
  'update',
]);

const ONLY_READS: ReadonlySet<string> = new Set('enumerate len list print reversed sum tuple zip'.split(' '));

/** Why `len(sequence)` is not proven to be how often the additions ran; undefined when it is. */
export function isCountOf(
  module: PyModule,
  sequence: PyNode,
  additions: readonly { readonly statement: PyNode }[],
  division: PyNode,
): string | undefined {
  const written = sequence.text;
  const [addition] = additions;
  const loop = addition && enclosingLoops(addition.statement)[0];
  if (addition === undefined || additions.length > 1 || loop?.type !== 'for_statement') {
    return `\`len(${written})\` is not the number of additions`;
  }
  const body = loop.body;
  const iterable = loop.right;
  if (iterable === undefined || !runsOver(module, iterable, written))
    return `the loop does not run over exactly \`${written}\``;
  if (addition.statement.parent !== body) return `not every pass over \`${written}\` adds a term`;
  if (!alwaysRuns(loop, division)) return `the loop over \`${written}\` does not always run to its end`;
  if (enclosingLoops(addition.statement).some((other) => other !== loop && !other.contains(division))) {
    return `the loop over \`${written}\` runs more than once`;
  }
  if (module.memo(mayLeaveOut, loop)) return `the loop may leave out elements of \`${written}\``;
  return changes(module, sequence, loop, division)
    ? `\`${written}\` may change before its length is taken`
    : undefined;
}

function mayLeaveOut(_: PyModule, loop: PyNode): boolean {
  const inside = loop.body?.walk((inner) => !/_definition$|^lambda$/.test(inner.type)) ?? [];
  for (const node of inside)
    if (/^(?:continue|break)_statement$/.test(node.type) && enclosingLoops(node)[0] === loop) return true;
  return false;
}

/** Whoever comes to the place has been through the whole loop. */
function alwaysRuns(loop: PyNode, place: PyNode): boolean {
  let block = loop.parent;
  while (block !== undefined && !block.contains(place)) {
    const around = block.parent;
    if (around?.type !== 'with_statement' || swallowsErrors(around)) return false;
    block = around.parent;
  }
  return true;
}

/** `seq`, `enumerate(seq)`, `range(len(seq))`, `seq.items()` and the like: one pass per element. */
function runsOver(module: PyModule, iterable: PyNode, written: string): boolean {
  if (iterable.text === written) return true;
  if (iterable.type !== 'call') return false;
  const callee = iterable.function;
  const [first, ...rest] = argumentsOf(iterable);
  if (callee?.type === 'identifier' && module.resolve(callee) === undefined) {
    const wraps = callee.text === 'enumerate' || callee.text === 'reversed';
    if (wraps && first !== undefined) return runsOver(module, first, written);
    return (
      callee.text === 'range' && rest.length === 0 && first?.text.replace(/\s/g, '') === `len(${written})`
    );
  }
  const view = ['items', 'keys', 'values'].includes(methodName(iterable) ?? '');
  return view && first === undefined && receiverOf(iterable)?.text === written;
}

function changes(module: PyModule, sequence: PyNode, loop: PyNode, division: PyNode): boolean {
  const root = [...sequence.walk()].find((node) => node.type === 'identifier');
  const scope = root && module.resolve(root);
  if (root === undefined || scope === undefined) return root === undefined;
  const places = changingPlaces(module, scope, root.text, sequence.text);
  return within(places, { start: loop.start, end: division.end }).length > 0;
}

/** The uses of a variable that may change the sequence which it is, or has. */
function changingPlaces(module: PyModule, scope: Scope, name: string, written: string): readonly PyNode[] {
  const known = module.memo(noChangesYet, scope.node);
  const found =
    known.get(written) ?? module.occurrences(scope, name).filter((place) => mayChange(place, written));
  known.set(written, found);
  return found;
}

function noChangesYet(): Map<string, readonly PyNode[]> {
  return new Map();
}

function mayChange(place: PyNode, written: string): boolean {
  if (binds(roleOf(place)) || isPartChanged(place) || isHandedOn(place, written)) return true;
  const attribute = place.closest('attribute', 'block');
  const call = [...place.ancestors()].find((node) => node.type === 'call' || node.type === 'block');
  const assigned = attribute?.parent?.type === 'assignment' && attribute.parent.left === attribute;
  return (
    assigned ||
    (call?.type === 'call' && GROWING.has(methodName(call) ?? '') && receiverOf(call)?.text === written)
  );
}

/** `prune(seq)`: what it does with the sequence is not seen. */
function isHandedOn(place: PyNode, written: string): boolean {
  let whole = place;
  while (whole.text !== written && whole.parent?.type === 'attribute') whole = whole.parent;
  const callee = whole.parent?.type === 'argument_list' ? whole.parent.parent?.function : undefined;
  return whole.text === written && callee !== undefined && !ONLY_READS.has(callee.text);
}

/** `del seq[i]`, `seq[:] = …` */
function isPartChanged(place: PyNode): boolean {
  const holder = place.closest('delete_statement', 'subscript', 'block');
  if (holder?.type === 'delete_statement') return true;
  const written = holder?.parent;
  return (
    holder?.type === 'subscript' &&
    /assignment|delete/.test(written?.type ?? '') &&
    written?.named[0] === holder
  );
}
