import { isExact, isPlain, ofTensor, row } from '../../src/library/library.js';
import { definitionOf, reachingDefinitions, readsReached } from '../../src/semantic/flow.js';
import { calledPath } from '../../src/semantic/imports.js';
import { isFreshContainer } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { remembered } from '../../src/semantic/remembered.js';
import type { Scope } from '../../src/semantic/scope.js';
import {
  argumentsOf,
  enclosingLoops,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { behindBracket } from '../../src/syntax/code-text.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';

/** A list of tensors that is filled in a loop, joined after it and then only looked at on the CPU. */
export interface JoinedOutputs {
  readonly name: string;
  readonly appends: readonly { readonly target: PyNode; readonly value: PyNode }[];
}

/** A list that is joined along the first dimension. */
const JOINED =
  /(?:cat|concat|concatenate|stack)[\s\\]*\([\s\\]*([\w\u0080-\uffff]+)[\s\\]*(?:\)|,[\s\\]*(?:\)|(?:\w+[\s\\]*=[\s\\]*)?0[\s\\]*[,)]))/g;

/** Whether the code of a function may fill a list and join it. */
function mayJoin(code: string): boolean {
  return [...code.matchAll(JOINED)].some(
    ({ 1: name = '', index }) =>
      new RegExp(`(?<![\\w.\\u0080-\\uffff])${name}[\\s\\\\]*\\.[\\s\\\\]*append\\b`).test(code) &&
      isFollowed(code, index, code.indexOf('(', index)),
  );
}

/** How far a cue looks around a call: longer ones are parsed. */
const FAR = 1_000;
const NAMED =
  /(?:^|=|(?<![\w\u0080-\uffff])\()[\s\\]*(?:[\w\u0080-\uffff][\w.\u0080-\uffff]*)?$|(?:^|[\s\\])\.[\w.\u0080-\uffff]*$/;
const FOLLOWED = /[\s\\)]*[.[]/y;

/** Whether something may be done with what a call gives, or it may get a name: in `f(join(x))` and `return join(x)` neither is. */
function isFollowed(code: string, callee: number, open: number): boolean {
  const near = code.slice(open, open + FAR);
  const end = behindBracket(near, 0);
  FOLLOWED.lastIndex = open + end;
  return end === FAR || FOLLOWED.test(code) || NAMED.test(code.slice(Math.max(0, callee - FAR), callee));
}

/** Whether some function of the file could have such a list, and be an evaluation. */
export function mayJoinOutputs(glimpse: Glimpse): boolean {
  return glimpse.repeatingWith('append').some((code) => mayJoin(code) && mayEvaluate(glimpse, code));
}

const EVALUATES = /\.eval\(|no_grad|inference_mode|grad_enabled/;
/** Under another name: neither called nor one of several imported names. */
const RENAMED = /(?:no_grad|inference_mode|grad_enabled)(?!\w|[\s\\]*[(:,])/;

/** What makes a function an evaluation stands in it. */
function mayEvaluate(glimpse: Glimpse, code: string): boolean {
  return EVALUATES.test(code) || glimpse.memo(renamesEvaluation);
}

function renamesEvaluation({ text }: Glimpse): boolean {
  return RENAMED.test(text);
}

export const joinedOutputs = remembered((module: PyModule): readonly JoinedOutputs[] => {
  const found: JoinedOutputs[] = [];
  const seen = new Set<string>();
  for (const literal of ['cat(', 'concat(', 'concatenate(', 'stack(']) {
    for (const hit of module.atWhere(literal, (code) => mayJoin(code) && mayEvaluate(module.glimpse, code))) {
      const call = hit.closest('call');
      const [list] = call === undefined ? [] : argumentsOf(call);
      const scope = list?.type === 'identifier' ? module.resolve(list) : undefined;
      if (call === undefined || list === undefined || scope?.kind !== 'function') continue;
      const key = `${list.text}@${scope.node.start}`;
      if (seen.has(key) || !isJoin(module, call)) continue;
      seen.add(key);
      const outputs = outputsIn(module, scope, list.text);
      if (outputs !== undefined) found.push(outputs);
    }
  }
  return found;
});

function isJoin(module: PyModule, call: PyNode): boolean {
  const path = calledPath(module, call);
  return path !== undefined && row(path)?.joins === true;
}

/** Along the first dimension, where the batches are. */
function joinsBatches(call: PyNode): boolean {
  const [, second] = argumentsOf(call);
  const dimension = second?.type === 'keyword_argument' ? second.value : second;
  return dimension === undefined || dimension.text === '0';
}

function outputsIn(module: PyModule, scope: Scope, name: string): JoinedOutputs | undefined {
  const appends: { target: PyNode; value: PyNode }[] = [];
  let joined = false;
  for (const place of module.occurrences(scope, name)) {
    if (module.scopeAt(place) !== scope) return undefined;
    if (binds(roleOf(place))) {
      if (!isPlainStart(module, place)) return undefined;
      continue;
    }
    const value = appended(place);
    if (value !== undefined) {
      if (enclosingLoops(place).length > 0) appends.push({ target: place, value });
    } else {
      const held = heldAt(module, place);
      const call = place.parent?.parent;
      // What was joined is followed from where that is done.
      if (held === 'joined') continue;
      if (held === 'either' || call?.type !== 'call') return undefined;
      if (call.function?.text === 'len') continue;
      if (!isJoin(module, call) || argumentsOf(call)[0] !== place || !joinsBatches(call)) return undefined;
      if (!endsOnCpu(module, call, 0)) return undefined;
      joined = true;
    }
  }
  return joined && appends.length > 0 ? { name, appends } : undefined;
}

/** `outputs = []`, or `outputs = torch.cat(outputs)`. */
function isPlainStart(module: PyModule, place: PyNode): boolean {
  const definition = definitionOf(place);
  if (roleOf(place) === 'delete') return true;
  if (definition.kind !== 'value') return false;
  return isFreshContainer(module, definition.value) || isMadeOfItself(module, definition.value, place.text);
}

function isMadeOfItself(module: PyModule, value: PyNode, name: string): boolean {
  for (
    let node: PyNode | undefined = unparenthesized(value);
    node?.type === 'call';
    node = receiverOf(node)
  ) {
    if (isJoin(module, node)) return argumentsOf(node)[0]?.text === name;
  }
  return false;
}

/** Whether the variable is still the list here, or what was made of it. */
function heldAt(module: PyModule, place: PyNode): 'list' | 'joined' | 'either' {
  const fresh = (reachingDefinitions(module, place) ?? []).map(
    (found) => found.kind === 'value' && isFreshContainer(module, found.value),
  );
  return fresh.every(Boolean) ? 'list' : fresh.some(Boolean) ? 'either' : 'joined';
}

/** The value of `place.append(value)`. */
function appended(place: PyNode): PyNode | undefined {
  const call = place.parent?.parent;
  if (call?.type !== 'call' || methodName(call) !== 'append' || receiverOf(call) !== place) return undefined;
  const [value] = argumentsOf(call);
  return call.parent?.type === 'expression_statement' && !value?.type.endsWith('splat') ? value : undefined;
}

/** Wherever the tensor goes, it is moved to the CPU with nothing computed before; its shape may be looked at. */
function endsOnCpu(module: PyModule, start: PyNode, depth: number): boolean {
  let node = start;
  for (let parent = node.parent; parent !== undefined; parent = node.parent) {
    if (parent.type === 'parenthesized_expression') node = parent;
    else if (parent.type === 'subscript' && parent.value === node) node = parent;
    else if (parent.type === 'attribute') {
      const name = parent.attribute?.text ?? '';
      const known = ofTensor(name);
      if (isPlain(known) && !known?.tellsDevice) return true;
      const call = parent.parent;
      if (call?.type !== 'call' || call.function !== parent) return false;
      if (name === 'cpu' || name === 'numpy') return true;
      if (name === 'to' && /^["']cpu["']$/.test(argumentsOf(call)[0]?.text ?? '')) return true;
      if (!isExact(name) && name !== 'argmax' && name !== 'detach') return false;
      node = call;
    } else if (parent.type === 'assignment' && parent.right === node) {
      return depth < 3 && readsEndOnCpu(module, parent.left, depth + 1);
    } else return false;
  }
  return false;
}

function readsEndOnCpu(module: PyModule, target: PyNode | undefined, depth: number): boolean {
  const scope = target?.type === 'identifier' ? module.resolve(target) : undefined;
  if (target === undefined || scope === undefined || scope !== module.scopeAt(target)) return false;
  const reads = readsReached(module, scope, target.text, [target]);
  return (
    reads.length > 0 &&
    reads.every((read) => module.scopeAt(read) === scope && endsOnCpu(module, read, depth))
  );
}
