import { definitionOf } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import { binds, roleOf } from '../../semantic/names.js';
import type { Scope } from '../../semantic/scope.js';
import { argumentsOf, enclosingLoops, receiverOf, statementOf } from '../../semantic/statements.js';
import { isInLoop, linesOf } from '../../syntax/code-text.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';
import { isFreshContainer } from './record-fate.js';
import { isHandedBack, isOneFunction, recordingStretches } from './running-total.js';

/** A variable that starts as an empty list and is appended to from one round of a loop to the next. */
export interface KeptList {
  readonly name: string;
  readonly scope: Scope;
  readonly appends: readonly {
    /** The name of the list, where it is appended to. */
    readonly target: PyNode;
    readonly value: PyNode;
  }[];
}

const APPEND = /(?:^|[;:])\s*([\w\u0080-\uffff]+)\.append\([ \t]*(?![\d"'[{(]|[fr]["'])([^\r\n]*)/g;
/** A number, a text or a new container, whatever it is made of. */
const PLAIN =
  /^[^-+*/%@]*\.(?:item|tolist|numpy|detach|strip|split|join)\([^()]*\)\)|^(?:float|int|len|str)\(/;

/** Functions whose lists go with one pass of a network, or hold no tensors: nothing piles up. */
const SHORT_LIVED = /^(?:forward|__init__|__getitem__|__call__|_?(?:pre|post)_?process\w*|_?convert\w*)$/;

/** A bare name that the text never sets is a loop variable or an argument. */
function isNeverSet(text: string, value: string): boolean {
  const name = /^(\w+)[ \t]*\)/.exec(value)?.[1];
  return name !== undefined && !new RegExp(`(?<![\\w.])${name}(?!\\w)[^=]{0,120}=(?!=)`).test(text);
}

/** The names of lists that could hold tensors, going by the text alone: no node is made to ask it. */
function* listNames(text: string): Generator<string> {
  if (isOneFunction(text) && SHORT_LIVED.test(/\bdef[ \t]+(\w+)/.exec(text)?.[1] ?? '')) return;
  const seen = new Set<string>();
  const appends = linesOf(text).filter((line) => line.text.includes('.append(') && isInLoop(line));
  for (const [, name = '', value = ''] of appends.flatMap((line) => [...line.text.matchAll(APPEND)])) {
    if (seen.has(name) || PLAIN.test(value) || isNeverSet(text, value)) continue;
    seen.add(name);
    const made = new RegExp(
      `(?<![\\w.])${name}(?!\\w)[^\\r\\n]*=[ \\t(]*(?:[^\\r\\n]*,)?[ \\t]*(?:\\[|list\\(|[\\w.]*deque\\()`,
    );
    if (made.test(text) && !isSomethingElse(text, name)) yield name;
  }
}

/** The text of one function says it: the name is given something else than a list, or is handed back with its graphs. */
function isSomethingElse(text: string, name: string): boolean {
  if (!isOneFunction(text)) return false;
  const other = `^[ \\t]*${name}[ \\t]*=(?!=)(?![ \\t]*(?:\\(|\\[|list\\(|[\\w.]*deque\\())`;
  return new RegExp(other, 'm').test(text) || isHandedBack(text, name);
}

/** Whether some function of the file could have such a list. */
export function mayKeepList(glimpse: Glimpse): boolean {
  return recordingStretches(glimpse, '.append(').some((stretch) => !listNames(stretch).next().done);
}

export function keptLists(module: PyModule): readonly KeptList[] {
  return module.memo(findLists, module);
}

function findLists(module: PyModule): readonly KeptList[] {
  const names = new Map(
    recordingStretches(module.glimpse, '.append(').map((text) => [text, new Set(listNames(text))]),
  );
  const wanted = (stretch: string, name: string): boolean => names.get(stretch)?.has(name) === true;
  const found: KeptList[] = [];
  for (const name of new Set([...names.values()].flatMap((some) => [...some]))) {
    const scopes = new Set<Scope>();
    for (const place of module.atWhere(`${name}.append(`, (stretch) => wanted(stretch, name))) {
      const scope = place.type === 'identifier' && place.text === name ? module.resolve(place) : undefined;
      if (scope === undefined || scopes.has(scope)) continue;
      scopes.add(scope);
      const list = listIn(module, scope, name);
      if (list !== undefined) found.push(list);
    }
  }
  return found;
}

function listIn(module: PyModule, scope: Scope, name: string): KeptList | undefined {
  if (scope.kind !== 'function' && scope.kind !== 'module') return undefined;
  if (SHORT_LIVED.test(scope.node.field('name')?.text ?? '')) return undefined;
  const places = module.occurrences(scope, name);
  const made: PyNode[] = [];
  for (const place of places) {
    const role = roleOf(place);
    if (!binds(role) || role === 'delete' || role === 'declare' || role === 'update') continue;
    const definition = definitionOf(place);
    if (module.scopeAt(place) !== scope || definition.kind !== 'value') return undefined;
    if (!isFreshContainer(definition.value)) return undefined;
    made.push(place);
  }
  const appends = places.flatMap((target) => {
    const call = appendTo(target);
    const [value, ...others] = call === undefined ? [] : argumentsOf(call);
    if (call === undefined || value === undefined || others.length > 0) return [];
    if (module.scopeAt(target) !== scope || value.type.endsWith('splat')) return [];
    const kept = enclosingLoops(target).some((loop) => outlives(loop, made));
    return kept ? [{ target, value }] : [];
  });
  return appends.length === 0 ? undefined : { name, scope, appends };
}

/** `name.append(value)` as a statement. */
function appendTo(target: PyNode): PyNode | undefined {
  const callee = target.parent;
  const call = callee?.parent;
  const appends =
    callee?.field('attribute')?.text === 'append' &&
    call?.type === 'call' &&
    receiverOf(call) === target &&
    call.parent?.type === 'expression_statement';
  return appends ? call : undefined;
}

/** The list is made before the loop and not anew in each round. */
function outlives(loop: PyNode, made: readonly PyNode[]): boolean {
  return (
    made.some((place) => !loop.contains(place)) &&
    !made.some((place) => statementOf(place).parent === loop.field('body'))
  );
}
