import { ORDERED_DICT, SAVE } from '../../src/library/names.js';
import { callsOfPaths } from '../../src/semantic/called-name.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  assignedValue,
  enclosingFunction,
  methodName,
  ownNodes,
  positionalArguments,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isUnbound, onlyValue } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isCpu } from '../../src/values/value/device-value.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';

/** A `torch.save` of a file; plain data, kept with the file. */
interface Saved {
  /** The file that it writes, where that is a text. */
  readonly path: string | undefined;
  readonly isOnCpu: boolean;
}

/**
 * Whether what a load reads was on the CPU when the project saved it: then it goes to no GPU, and there is nothing to gain.
 * Counted are the writers of the same path where they show, else all of the project.
 */
export function isSavedFromCpu(module: PyModule, load: PyNode): boolean {
  const saved = module.memo(findSaved, module);
  if (saved.length === 0) return false;
  const path = pathOf(positionalArguments(load)[0]);
  const same = saved.filter((each) => path !== undefined && each.path === path);
  return (same.length > 0 ? same : saved).every(({ isOnCpu }) => isOnCpu);
}

/** None where not all files can be read. */
function findSaved(module: PyModule): readonly Saved[] {
  const others = module.around.summaries({ word: 'save', beside: [] }, savedIn);
  return others === undefined ? [] : [savedIn(module.alone), ...others].flat();
}

function savedIn(alone: PyModule): readonly Saved[] {
  return callsOfPaths(alone, 'save', new Set([SAVE])).map((call) => {
    const [value, file] = positionalArguments(call);
    const isOnCpu = value !== undefined && stateOf(alone, value) === 'cpu';
    return { path: pathOf(file), isOnCpu };
  });
}

function pathOf(file: PyNode | undefined): string | undefined {
  return file?.type === 'string' ? plainString(file) : undefined;
}

/** How deep values may be in one another. */
const MAX_DEPTH = 6;
/** Methods that leave a tensor, or a dictionary of them, where it is. */
const STAYS = /^(?:bfloat16|clone|contiguous|copy|data|detach|double|float|half|numpy)$/;

/** Where the tensors of a value are; `none` where it has none that show. */
function stateOf(module: PyModule, expression: PyNode, depth = 0): 'cpu' | 'none' | 'unknown' {
  const node = unparenthesized(expression);
  if (depth > MAX_DEPTH) return 'unknown';
  if (/^(?:integer|float|string|true|false|none|unary_operator)$/.test(node.type)) return 'none';
  if (node.type === 'dictionary') {
    const values = node.named.map((pair) => pair.value);
    const states = values.map((value) => (value ? stateOf(module, value, depth + 1) : 'unknown'));
    if (states.includes('unknown')) return 'unknown';
    return states.includes('cpu') ? 'cpu' : 'none';
  }
  if (/comprehension$|^generator_expression$/.test(node.type)) {
    const [body] = node.named;
    const made = body?.type === 'tuple' ? body.named[1] : (body?.value ?? body);
    return made === undefined ? 'unknown' : stateOf(module, made, depth + 1);
  }
  if (node.type === 'identifier') {
    if (isMovedBefore(module, node) || hasElementsMoved(module, node)) return 'cpu';
    const value = onlyValue(module, node);
    if (value !== undefined) return stateOf(module, value, depth + 1);
  }
  if (isPythonNumber(module, node) === 'yes') return 'none';
  if (node.type !== 'call') return 'unknown';
  const name = methodName(node);
  const receiver = receiverOf(node);
  const [given] = argumentsOf(node);
  if (name === 'cpu') return 'cpu';
  if (name === 'to') return given !== undefined && isCpu(module, given) ? 'cpu' : 'unknown';
  if (makesDictionary(module, node.function))
    return given === undefined ? 'none' : stateOf(module, given, depth + 1);
  if (receiver === undefined) return 'unknown';
  if (name === 'state_dict')
    return isMovedBefore(module, receiver) || stateOf(module, receiver, depth + 1) === 'cpu'
      ? 'cpu'
      : 'unknown';
  return STAYS.test(name ?? '') ? stateOf(module, receiver, depth + 1) : 'unknown';
}

/** `dict(…)`, `collections.OrderedDict(…)` */
function makesDictionary(module: PyModule, callee: PyNode | undefined): boolean {
  if (isUnbound(module, callee)) return callee?.text === 'dict';
  return callee !== undefined && qualifiedName(module, callee) === ORDERED_DICT;
}

/** `net.cpu()` above, in the same block, and nothing that moves it on. */
function isMovedBefore(module: PyModule, receiver: PyNode): boolean {
  const statement = statementOf(receiver);
  const siblings = statement.parent?.named ?? [];
  const before = siblings.slice(0, siblings.indexOf(statement)).toReversed();
  for (const each of before)
    for (const node of each.walk()) {
      if (node.type !== 'call' || receiverOf(node)?.text !== receiver.text) continue;
      const name = methodName(node);
      if (name === 'cpu') return true;
      if (name === 'cuda') return false;
      if (name === 'to') {
        const [device] = argumentsOf(node);
        return device !== undefined && isCpu(module, device);
      }
    }
  return false;
}

/** `for key in state: state[key] = state[key].cpu()`. */
function hasElementsMoved(module: PyModule, name: PyNode): boolean {
  const owner = enclosingFunction(name) ?? module.root;
  for (const node of ownNodes(owner)) {
    const value =
      node.type === 'subscript' && node.value?.text === name.text ? assignedValue(node) : undefined;
    if (value === undefined || node.closest('for_statement') === undefined) continue;
    if (value.type === 'call' && stateOf(module, value, MAX_DEPTH) === 'cpu') return true;
  }
  return false;
}
