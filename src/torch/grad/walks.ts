import { givesHeld, givesModule, isPlainMethod, ofTensor, walksModule } from '../../library/library.js';
import { callOfMethod } from '../../semantic/called-name.js';
import { reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import {
  enclosingFunction,
  givenTo,
  methodName,
  receiverOf,
  unparenthesized,
  wholeName,
} from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import { behindBracket } from '../../syntax/code-text.js';
import type { PyNode } from '../../syntax/node.js';
import { isGradOff } from '../../values/effects/mode.js';
import { isPlainAttribute, resultOf } from '../../values/value/plain.js';

/** A function that walks a network's parameters and turns tensor math on them into numbers. */
export interface Walk {
  readonly functionNode: PyNode;
  /** The loop's `model.parameters()`. */
  readonly call: PyNode;
  /** The first operation that records a graph. */
  readonly math: PyNode;
}

const WALKERS: readonly string[] = ['parameters()', 'modules()'];

const NUMBERED = /\.[\s\\]*(?:item|tolist)[\s\\]*\(|\b(?:float|print)[\s\\]*\(/;

/** Whether the text could turn math on parameters into numbers; no node is made to ask it. */
export function mayWalk(text: string): boolean {
  if (!WALKERS.some((word) => text.includes(word)) || !NUMBERED.test(text)) return false;
  if (!/\bin\b[\s\S]{0,400}?(?:parameters|modules)\(\)/.test(text)) return false;
  for (const { 0: word, index } of text.matchAll(/\b(?:named_)?(?:parameters|modules)[\s\\]*\(/g))
    if (!isOnlyListed(text, index, index + word.length)) return true;
  return false;
}

/** How far the brackets around `p for p in model.parameters()` are looked for. */
const REACH = 600;

/** `[p for p in model.parameters() if …]`, where nothing in the brackets makes a number: what it gives is not followed. */
function isOnlyListed(text: string, start: number, open: number): boolean {
  if (!/\bfor\b[^()[\]{}]*\bin[ \t]+[\w.]*$/.test(text.slice(Math.max(0, start - REACH), start)))
    return false;
  if (!/^\)\s*(?:if\b|[)\]}])/.test(text.slice(open, open + REACH))) return false;
  let depth = 0;
  for (let at = start - 1; at >= 0 && at > start - REACH; at--) {
    if (')]}'.includes(text[at] ?? '')) depth++;
    else if ('([{'.includes(text[at] ?? '') && depth-- === 0) {
      const part = text.slice(at, at + 2 * REACH);
      const end = behindBracket(part, 0);
      return end < part.length && !NUMBERED.test(part.slice(0, end));
    }
  }
  return false;
}

/** The parameter diagnostics of a file, one per function. */
export const walks = remembered((module: PyModule): readonly Walk[] => {
  const found = new Map<PyNode, Walk>();
  const calls = WALKERS.flatMap((word) => module.atWhere(word, mayWalk)).flatMap((node) => {
    const call = /^(?:named_)?(?:parameters|modules)$/.test(node.text) ? callOfMethod(node) : undefined;
    return call ?? [];
  });
  for (const call of calls.sort((a, b) => a.start - b.start)) {
    const functionNode = enclosingFunction(call);
    if (functionNode === undefined || found.has(functionNode) || !isLooped(call)) continue;
    const math = mathTurnedIntoNumbers(module, functionNode);
    if (math !== undefined) found.set(functionNode, { functionNode, call, math });
  }
  return [...found.values()];
});

function isLooped(call: PyNode): boolean {
  const loop = call.closest('for_statement', 'for_in_clause');
  return loop?.right?.contains(call) ?? false;
}

/** An operation on a walked parameter, in what `.item()`, `.tolist()`, `float()` or `print()` is given. */
function mathTurnedIntoNumbers(module: PyModule, functionNode: PyNode): PyNode | undefined {
  const tracer = new WalkTrace(module);
  for (const call of numberingCalls(module, functionNode)) {
    for (const value of numbered(call)) {
      const math = tracer.math(value);
      if (math !== undefined && !isGradOff(module, math)) return math;
    }
  }
  return undefined;
}

/** The calls of a function that may turn a tensor into a number, outer ones first. */
function numberingCalls(module: PyModule, functionNode: PyNode): readonly PyNode[] {
  const body = functionNode.body ?? functionNode;
  const words = NUMBERING.flatMap((word) => module.ownWords(word, body));
  const calls = words.flatMap((word) => {
    const call = wholeName(word).parent;
    return call?.type === 'call' && enclosingFunction(call) === functionNode ? [call] : [];
  });
  return [...new Set(calls)].sort((a, b) => a.start - b.start || b.end - a.end);
}

const NUMBERING: readonly string[] = ['item', 'tolist', 'float', 'print'];

function numbered(call: PyNode): readonly PyNode[] {
  const name = methodName(call);
  const receiver = receiverOf(call);
  if ((name === 'item' || name === 'tolist') && receiver !== undefined) return [receiver];
  const callee = call.function;
  return callee?.type === 'identifier' && ['float', 'print'].includes(callee.text) ? givenTo(call) : [];
}

const MAX_STEPS = 2000;

class WalkTrace {
  readonly #open = new Set<PyNode>();
  #steps = 0;

  constructor(private readonly module: PyModule) {}

  /** The operation on a walked value inside an expression, through the names it reads. */
  math(expression: PyNode): PyNode | undefined {
    const node = unparenthesized(expression);
    if (this.#open.has(node) || ++this.#steps > MAX_STEPS) return undefined;
    this.#open.add(node);
    const found = this.#operation(node);
    this.#open.delete(node);
    return found;
  }

  #operation(node: PyNode): PyNode | undefined {
    switch (node.type) {
      case 'binary_operator': {
        const sides = [node.left, node.right];
        return sides.some((side) => side && this.#isWalked(side)) ? node : this.#first(sides);
      }
      case 'call': {
        const name = methodName(node);
        const receiver = receiverOf(node);
        const path = calledPath(this.module, node);
        if (path !== undefined) {
          if (resultOf(path) === 'computed' && givenTo(node).some((given) => this.#isWalked(given)))
            return node;
          return resultOf(path) === 'computed' ? this.#first(givenTo(node)) : undefined;
        }
        if (receiver === undefined || name === undefined || isPlainMethod(name)) return undefined;
        if (this.#isWalked(receiver)) return isPassing(name) ? undefined : node;
        return this.math(receiver);
      }
      case 'identifier':
        return this.#first(this.#origins(node));
      case 'attribute':
        return isPlainAttribute(node.attribute?.text ?? '') ? undefined : this.#first([node.object]);
      case 'subscript':
        return this.#first([node.value]);
      case 'string':
        return this.#first(
          [...node.walk()].filter(({ type }) => type === 'interpolation').map((each) => each.named[0]),
        );
      case 'comparison_operator':
        return this.#first(node.named);
      case 'format_expression':
      case 'unary_operator':
      case 'keyword_argument':
        return this.#first(node.named.slice(-1));
      default:
        return undefined;
    }
  }

  #first(nodes: readonly (PyNode | undefined)[]): PyNode | undefined {
    for (const node of nodes) {
      const found = node && this.math(node);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A walked parameter itself, or something that hangs on a walked module: `p`, `module.weight`, `coeffs[2]`. */
  #isWalked(expression: PyNode): boolean {
    const node = unparenthesized(expression);
    if (this.#open.has(node) || ++this.#steps > MAX_STEPS) return false;
    this.#open.add(node);
    const walked = this.#walks(node);
    this.#open.delete(node);
    return walked;
  }

  #walks(node: PyNode): boolean {
    switch (node.type) {
      case 'identifier':
        return this.#origins(node, true).some((origin) => this.#isWalked(origin));
      case 'attribute': {
        const name = node.attribute?.text ?? '';
        const object = node.object;
        if (name === 'grad' || isPlainAttribute(name) || object === undefined) return false;
        // `p.ds_numel`: what a library puts on a parameter is mostly no tensor; a module has its own there.
        const isOpen = ofTensor(name) !== undefined || !this.#isParameter(object);
        return isOpen && this.#isWalked(object);
      }
      case 'subscript': {
        const value = node.value;
        return value !== undefined && this.#isWalked(value);
      }
      case 'call': {
        const name = methodName(node) ?? '';
        const receiver = receiverOf(node);
        if (/^(?:named_)?(?:parameters|modules)$/.test(name)) return true;
        if (receiver !== undefined && isPassing(name)) return this.#isWalked(receiver);
        const callee = node.function?.text ?? '';
        const inner = givenTo(node)[0];
        return (
          /^(?:enumerate|zip|list|sorted|filter|tqdm)$/.test(callee) &&
          inner !== undefined &&
          this.#isWalked(inner)
        );
      }
      default:
        return false;
    }
  }

  #isParameter(object: PyNode): boolean {
    const origins = object.type === 'identifier' ? this.#origins(object, true) : [];
    return origins.length > 0 && origins.every(({ text }) => /\bparameters\(\)|_parameters\(\)/.test(text));
  }

  /** The values a name may have; the text part of `name, parameter` is none. */
  #origins(identifier: PyNode, loops = false): readonly PyNode[] {
    const reaching = reachingDefinitions(this.module, identifier) ?? [];
    const definitions = reaching.length > 0 ? reaching : waysGiven(this.module, identifier);
    return definitions.flatMap((definition) => {
      if (definition.kind === 'value' || definition.kind === 'update') return [definition.value];
      if (!loops || definition.kind !== 'loop') return [];
      const { parent } = definition.node;
      const first = /pattern|tuple/.test(parent?.type ?? '') && parent?.named.indexOf(definition.node) === 0;
      const text = /(?:named_\w+|items|enumerate)\s*\(/.test(definition.iterable.text);
      return first && text ? [] : [definition.iterable];
    });
  }
}

/** Methods that hand on the walked thing without computing. */
function isPassing(name: string): boolean {
  return givesHeld(name) || walksModule(name) || givesModule(name) || name === 'contiguous';
}
