import { changesArray, changesTensor, isFresh, mayShare, ofTensor } from '../../src/library/library.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, methodName, receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import {
  copiesNumbers,
  isLook,
  isNamed,
  MAKES_STATE,
  REPACKS,
  readsOf,
  type Stray,
  TESTED,
  takesOnly,
} from './loaded-use.js';

/** Functions that give new values or views; those that change their argument end in `_`, or are numpy's few. */
const GIVES = /^(?:torch|numpy)\.(?:\w+\.)*(?!copyto$|fill_diagonal$|place$|put|shuffle$)\w*[^_]$/;

/**
 * Follows a loaded tensor that was put on a device by name. It is there in any case; but whether it is the loaded tensor
 * itself or a copy depends on where that one is, which matters as soon as one of them is changed in place.
 */
export class MovedFlow {
  readonly #seen = new Set<PyNode>();

  constructor(
    private readonly module: PyModule,
    private readonly strays: Stray[],
    private readonly onLoad: (call: PyNode) => void,
    private readonly onWrite: (subscript: PyNode) => void,
  ) {}

  follow(value: PyNode): void {
    const { parent } = value;
    if (parent === undefined || this.#seen.has(value)) return;
    this.#seen.add(value);
    switch (parent.type) {
      case 'parenthesized_expression':
      case 'boolean_operator':
      case 'dictionary':
      case 'dictionary_comprehension':
      case 'dictionary_splat':
      case 'list':
      case 'list_comprehension':
      case 'pair':
        this.follow(parent);
        return;
      case 'conditional_expression':
        if (parent.named[1] !== value) this.follow(parent);
        return;
      case 'named_expression':
        this.#bind(parent.name);
        this.follow(parent);
        return;
      case 'assignment':
        if (parent.left !== value) this.#assign(parent);
        return;
      case 'augmented_assignment':
        if (parent.left === value) this.#changed(value);
        return;
      case 'subscript':
        if (parent.value === value) this.#lookUp(parent);
        return;
      case 'attribute':
        this.#attribute(parent, value);
        return;
      case 'argument_list':
        this.#argument(parent.parent, value);
        return;
      case 'keyword_argument':
        this.#argument(parent.parent?.parent, parent);
        return;
      case 'for_statement':
      case 'for_in_clause':
        for (const name of parent.left?.walk() ?? []) if (name.type === 'identifier') this.#bind(name);
        return;
      // New values, or a module that is run: it moves itself and stays the same.
      case 'binary_operator':
      case 'unary_operator':
      case 'comparison_operator':
      case 'call':
        return;
      default:
        if (!TESTED.has(parent.type)) this.#kept(value, 'is handed on');
    }
  }

  #kept(node: PyNode, does: string): void {
    this.strays.push({ node, does, answer: 'unknown', matter: 'copy' });
  }

  #changed(node: PyNode): void {
    const does = node.type === 'call' ? 'changes it in place' : 'is changed in place';
    this.strays.push({ node, does, answer: 'no', matter: 'copy' });
  }

  #bind(name: PyNode | undefined): void {
    for (const read of name === undefined ? [] : readsOf(this.module, name)) this.follow(read);
  }

  #assign(assignment: PyNode): void {
    const target = assignment.left;
    const container = target?.type === 'subscript' ? target.value : undefined;
    if (target?.type === 'identifier') this.#bind(target);
    else if (target !== undefined && container?.type === 'identifier') {
      this.onWrite(target);
      this.#bind(container);
    } else if (target !== undefined) this.#kept(target, 'keeps it');
    if (assignment.parent?.type === 'assignment') this.#assign(assignment.parent);
  }

  #lookUp(subscript: PyNode): void {
    const { parent } = subscript;
    if (parent?.type === 'delete_statement') return;
    if (parent?.type !== 'assignment' || parent.left !== subscript) this.follow(subscript);
    else if (!isNamed(subscript.subscript)) this.onWrite(subscript);
  }

  #attribute(attribute: PyNode, value: PyNode): void {
    const name = attribute.attribute?.text ?? '';
    const { parent } = attribute;
    if (parent?.type === 'call' && parent.function === attribute) {
      if (changesTensor(name) || changesArray(name)) this.#changed(parent);
      else if (!isFresh(ofTensor(name)) && name !== 'keys') this.follow(parent);
    } else if (parent?.left === attribute) this.#changed(value);
    else if (name === 'imag' || mayShare(ofTensor(name))) this.follow(attribute);
  }

  #argument(call: PyNode | undefined, argument: PyNode): void {
    if (call?.type !== 'call') {
      this.#kept(argument, 'is handed on');
      return;
    }
    const method = methodName(call);
    const callee = call.function;
    const name = method ?? callee?.text ?? '';
    const receiver = receiverOf(call);
    const path = callee && qualifiedName(this.module, callee);
    if (argument.name?.text === 'out') this.#changed(call);
    else if (method === 'load_state_dict' && argumentsOf(call)[0] === argument) this.onLoad(call);
    else if (name === 'deepcopy' || (method === undefined ? isLook(call) : takesOnly(name))) return;
    else if (copiesNumbers(this.module, call)) return;
    else if (REPACKS.has(name)) this.follow(call);
    else if ((name === 'append' || name === 'update') && receiver?.type === 'identifier')
      this.#bind(receiver);
    else if (GIVES.test(path ?? '') && !MAKES_STATE.test(name)) this.follow(call);
    else if (name !== 'isinstance') this.#kept(argument, `is handed to \`${name}\``);
  }
}
