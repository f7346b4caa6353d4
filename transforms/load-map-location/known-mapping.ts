import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  enclosingFunction,
  methodName,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { areSame, isSurelyBeside, valuesAt } from './keeper.js';
import { bare, OF_TEXT } from './loaded-use.js';

const MAKES_MAPPING = /(?:^|\.)(?:dict|OrderedDict|defaultdict|state_dict)$/;
const OF_MAPPINGS = /^(?:get|items|keys|pop|setdefault|update)$/;

/** The same as below; and what is loaded as a part of it is none of a tensor. */
export function isMappingThere(
  module: PyModule,
  value: PyNode,
  part: PyNode | undefined,
  loads: readonly PyNode[],
): boolean {
  if (part !== undefined && (loads.some((load) => argumentsOf(load)[0] === part) || takesTexts(part)))
    return true;
  return isKnownMapping(module, bare(value), loads);
}

/** Whether a container is a mapping: by what made it, or because its function, in any case, loads it whole or asks it for what only mappings have. */
function isKnownMapping(module: PyModule, container: PyNode, loads: readonly PyNode[]): boolean {
  const isVariable = container.type === 'identifier';
  const values = isVariable ? valuesAt(module, container) : undefined;
  if (values !== undefined && values.length > 0 && values.every(isMapping)) return true;
  const around = enclosingFunction(container) ?? module.root;
  return ownNodes(around).some((node) => {
    const asked = node.type === 'call' ? mappingIn(node, loads) : takesTexts(node) ? node.right : undefined;
    if (asked === undefined || bare(asked).text !== container.text) return false;
    if (node.body?.contains(container) !== true && !isSurelyBeside(module, node, container)) return false;
    return !isVariable || areSame(values, valuesAt(module, bare(asked)));
  });
}

function isMapping(made: PyNode): boolean {
  if (made.type === 'call') {
    const copied = methodName(made) === 'copy' ? receiverOf(made) : undefined;
    return copied === undefined ? MAKES_MAPPING.test(made.function?.text ?? '') : isMapping(copied);
  }
  return made.type === 'dictionary' || made.type === 'dictionary_comprehension';
}

/** A loop that first of all takes what it is given for a text: no part of a tensor is one. */
function takesTexts(loop: PyNode): boolean {
  const name = loop.left?.type === 'identifier' ? loop.left.text : undefined;
  const first = name === undefined ? undefined : doneFirst(loop);
  return [...(first === undefined ? [] : ownNodes(first))].some((node) => {
    if (!isSurelyDone(node, first)) return false;
    // `"bias" in name`
    if (node.type === 'comparison_operator')
      return node.named[0]?.type === 'string' && node.named[1]?.text === name && /\bin\b/.test(node.text);
    // `net.state_dict()[name]`
    if (node.type === 'subscript' && node.subscript?.text === name)
      return node.value !== undefined && methodName(node.value) === 'state_dict';
    if (node.type !== 'call' || receiverOf(node)?.text !== name) return false;
    const method = methodName(node) ?? '';
    return OF_TEXT.has(method) || (method === 'split' && argumentsOf(node)[0]?.type === 'string');
  });
}

/** Not where another part decides whether it comes to that. */
function isSurelyDone(node: PyNode, first: PyNode | undefined): boolean {
  for (let at = node; at !== first && at.parent !== undefined; at = at.parent) {
    const { type, named } = at.parent;
    if (type === 'boolean_operator' && named[0] !== at) return false;
    if (type === 'conditional_expression' && named[1] !== at) return false;
  }
  return true;
}

/** The first statement of a loop; what a comprehension asks of each element, or else makes of it. */
function doneFirst(loop: PyNode): PyNode | undefined {
  if (loop.type === 'for_statement') {
    const first = loop.body?.named.find(({ type }) => type !== 'comment');
    return first?.type === 'if_statement'
      ? first.condition
      : first?.type === 'expression_statement'
        ? first
        : undefined;
  }
  const parts = loop.type === 'for_in_clause' ? (loop.parent?.named ?? []) : [];
  const [made, , asked, ...more] = parts;
  return more.length > 0 || asked?.type === 'for_in_clause' ? undefined : (asked ?? made);
}

/** `state` of `net.load_state_dict(state)` and of `state.items()`. */
function mappingIn(call: PyNode, loads: readonly PyNode[]): PyNode | undefined {
  if (loads.includes(call)) return argumentsOf(call)[0];
  return OF_MAPPINGS.test(methodName(call) ?? '') ? call.function?.object : undefined;
}
