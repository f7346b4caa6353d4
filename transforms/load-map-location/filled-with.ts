import { readsOnly } from '../../src/library/library.js';
import { SAVE } from '../../src/library/names.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { mayBeOfProject } from '../../src/semantic/elsewhere.js';
import { calledPath, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { namesIn } from '../../src/semantic/names.js';
import { argumentsOf, isCallee, isTarget, methodName, receiverOf } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isUnbound, readsOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { unpackedTo } from './loaded-use.js';
import { isBound } from './loading-names.js';
import { parameterGiven } from './parameter-given.js';
import { parametersGiven } from './parameters-given.js';
import { isReadElsewhere, mayBeReadByName } from './read-by-name.js';
import { isOfPackage, takenAs } from './taken-by-packages.js';
import { takersOf } from './takers.js';

/** Deeper than any container is looked into: what a file of JSON holds. */
export const ANY_DEPTH = 9;

/** What such a node stands for is the container itself. */
const IS_SAME = /^(?:await|boolean_operator|named_expression|parenthesized_expression)$/;
/** Where only the truth of a value counts, or what it reads like. */
const ASKED =
  /^(?:assert_statement|comparison_operator|delete_statement|elif_clause|expression_statement|if_statement|interpolation|not_operator|slice|while_statement)$/;
/** Of two containers these make a third one. */
const JOINS = /^[+*|&]$/;
/** Methods of containers, by what becomes of the elements. */
const PUTS_ONE = /^(?:add|append|appendleft|insert|setdefault)$/;
const PUTS_ALL = /^(?:extend|extendleft|update)$/;
const TAKES_ONE = /^(?:get|pop|popleft|setdefault)$/;
const TAKES_ALL = /^(?:copy|items|values)$/;
const TAKES_NONE = /^(?:clear|count|index|keys|remove|reverse|sort)$/;
/** Builtins that give a number, a text or nothing, and those that give elements, or a new container of them. */
const GIVES_ELEMENTS = /^(?:dict|enumerate|iter|list|max|min|next|reversed|set|sorted|sum|tuple|zip)$/;

interface Marks {
  readonly seen: Map<PyNode | string, number>;
  readonly lookedUp: Set<PyNode>;
}

/**
 * Whether the project puts nothing but plain values into a container, by whatever name it has it. `depth`: how many containers
 * are in one another there; an element of the innermost is no container.
 */
export class FilledWith {
  #seen = new Map<PyNode | string, number>();
  #lookedUp = new Set<PyNode>();

  /** `isNumber`: whether a value is no container, whatever becomes of what asks. */
  constructor(
    private readonly isPlain: (value: Elsewhere, depth: number) => boolean,
    private readonly isNumber: (value: Elsewhere) => boolean,
  ) {}

  /** What it has taken for plain so far. */
  marks(): Marks {
    return { seen: new Map(this.#seen), lookedUp: new Set(this.#lookedUp) };
  }

  forget({ seen, lookedUp }: Marks): void {
    this.#seen = seen;
    this.#lookedUp = lookedUp;
  }

  variable(module: PyModule, name: PyNode, depth: number): boolean {
    const scope = module.resolve(name);
    if (scope === undefined || scope.kind === 'class' || mayBeReadByName(module, name)) return false;
    if (scope === module.scope && isReadElsewhere(module, name)) return false;
    return readsOf(module, name).every((node) => this.#use({ module, node }, depth));
  }

  /** An attribute of this name, of whatever object. */
  attribute(module: PyModule, name: string, depth: number): boolean {
    const files = module.around.summaries({ word: 'getattr', beside: [] }, takesByText);
    if (files?.includes(true) !== false || takesByText(module.alone)) return false;
    return this.#everywhere(module, name, `.${name}`, depth, ({ parent }) => {
      if (parent?.type !== 'attribute' || parent.attribute?.text !== name) return undefined;
      return isBound(parent) || isCallee(parent) ? undefined : parent;
    });
  }

  /** What is in any dictionary by this name. */
  entry(module: PyModule, key: string, depth: number): boolean {
    return this.#everywhere(module, key, key, depth, (node) => {
      const text = node.closest('string');
      const { parent } = text ?? {};
      if (text === undefined || parent === undefined || plainString(text) !== key) return undefined;
      if (parent.type === 'subscript') return isTarget(parent) ? undefined : parent;
      const call = parent.type === 'argument_list' && parent.named[0] === text ? parent.parent : undefined;
      return call !== undefined && TAKES_ONE.test(methodName(call) ?? '') ? call : undefined;
    });
  }

  #everywhere(
    module: PyModule,
    word: string,
    written: string,
    depth: number,
    useAt: (node: PyNode) => PyNode | undefined,
  ): boolean {
    if (this.#isSeen(written, depth)) return true;
    const { modules, unread } = module.around.naming({ word, beside: [] }, (text) => text.includes(word));
    if (unread !== undefined || !/^\w+$/.test(word)) return false;
    const places = new RegExp(`\\b${word}\\b`, 'g');
    return [module, ...modules].every((there) =>
      [...there.text.matchAll(places)].every(({ index }) => {
        const use = useAt(there.root.descendantAt(index));
        return use === undefined || this.#use({ module: there, node: use }, depth);
      }),
    );
  }

  #isSeen(of: PyNode | string, depth: number): boolean {
    const known = this.#seen.get(of) ?? -1;
    if (known >= depth) return true;
    this.#seen.set(of, depth);
    return false;
  }

  /** What is done with an expression that may be the container, or one in it. */
  #use({ module, node }: Elsewhere, depth: number): boolean {
    const { parent } = node;
    if (depth <= 0 || parent === undefined || this.#isSeen(node, depth)) return true;
    if (ASKED.test(parent.type)) return true;
    const same = (of: PyNode, at = depth): boolean => this.#use({ module, node: of }, at);
    if (parent.type === 'named_expression' && parent.name !== undefined)
      if (!this.variable(module, parent.name, depth)) return false;
    if (IS_SAME.test(parent.type)) return same(parent);
    switch (parent.type) {
      case 'conditional_expression':
        return parent.named[1] === node || same(parent);
      case 'binary_operator':
        return depth === 1 || !JOINS.test(operatorOf(parent)) || same(parent);
      case 'unary_operator':
        return true;
      case 'subscript':
        return parent.value !== node || this.#element(module, parent, depth);
      case 'attribute':
        return this.#method(module, parent, depth);
      case 'assignment':
        return parent.left === node || this.#held(module, parent.left, depth);
      case 'augmented_assignment':
        return parent.left === node
          ? parent.right !== undefined && this.isPlain({ module, node: parent.right }, depth)
          : depth === 1 || this.#held(module, parent.left, depth);
      case 'for_statement':
      case 'for_in_clause':
        return parent.right !== node || this.#loop(module, parent, depth - 1);
      case 'pair': {
        const key = parent.key && plainString(parent.key);
        if (parent.key === node) return true;
        const whole = parent.parent;
        return (
          key !== undefined &&
          whole !== undefined &&
          this.#isLookedUp({ module, node: whole }) &&
          this.entry(module, key, depth)
        );
      }
      case 'dictionary_splat':
      case 'list_splat':
        return depth === 1 || this.#spread(module, parent, depth);
      case 'keyword_argument':
        return this.#given(module, parent, depth);
      case 'argument_list':
        return this.#given(module, node, depth);
      case 'expression_list':
      case 'tuple': {
        const target = unpackedTo(parent, node);
        if (target !== undefined) return this.variable(module, target, depth);
        // `"%d of %d" % (step, steps)`
        if (parent.parent?.type === 'binary_operator' && /string$/.test(parent.parent.left?.type ?? ''))
          return true;
        if (node.closest('return_statement', 'block')?.type === 'return_statement')
          return this.#returned(module, node, depth);
        return parent.type === 'tuple' && same(parent, depth + 1);
      }
      case 'list':
        return same(parent, depth + 1);
      case 'return_statement':
        return this.#returned(module, node, depth);
      default:
        return false;
    }
  }

  #element(module: PyModule, subscript: PyNode, depth: number): boolean {
    const { parent } = subscript;
    if (parent?.left === subscript && /assignment$/.test(parent.type))
      return parent.right !== undefined && this.isPlain({ module, node: parent.right }, depth - 1);
    if (parent?.left === subscript || /pattern/.test(parent?.type ?? '')) return false;
    const isPart = subscript.subscript?.type === 'slice';
    return this.#use({ module, node: subscript }, isPart ? depth : depth - 1);
  }

  /** `args.width`, of a namespace. */
  #attributeOf(module: PyModule, attribute: PyNode, depth: number): boolean {
    const { parent } = attribute;
    if (attribute.attribute?.text === '__dict__') return this.#use({ module, node: attribute }, depth);
    if (parent?.type === 'delete_statement') return true;
    if (!isBound(attribute))
      return this.isNumber({ module, node: attribute }) || this.#use({ module, node: attribute }, depth - 1);
    const value = parent?.left === attribute && /assignment$/.test(parent.type) ? parent.right : undefined;
    return value !== undefined && this.isPlain({ module, node: value }, depth - 1);
  }

  /** `**settings`: what is in it is in another dictionary, or given to a function. */
  #spread(module: PyModule, splat: PyNode, depth: number): boolean {
    const { parent } = splat;
    if (parent === undefined) return false;
    return parent.type === 'argument_list'
      ? this.#given(module, splat, depth - 1)
      : this.#use({ module, node: parent }, depth);
  }

  #method(module: PyModule, attribute: PyNode, depth: number): boolean {
    const call = attribute.parent;
    const name = attribute.attribute?.text ?? '';
    if (call?.type !== 'call' || call.function !== attribute)
      return this.#attributeOf(module, attribute, depth);
    const given = argumentsOf(call);
    const put = PUTS_ALL.test(name) ? depth : PUTS_ONE.test(name) ? depth - 1 : undefined;
    if (put !== undefined) {
      const arePlain = given.every((each) =>
        each.type === 'keyword_argument'
          ? each.value !== undefined && this.isPlain({ module, node: each.value }, depth - 1)
          : this.isPlain({ module, node: each }, put),
      );
      return arePlain && (name !== 'setdefault' || this.#use({ module, node: call }, depth - 1));
    }
    if (TAKES_ONE.test(name)) return this.#use({ module, node: call }, depth - 1);
    if (TAKES_ALL.test(name)) return depth === 1 || this.#use({ module, node: call }, depth);
    return TAKES_NONE.test(name);
  }

  #held(module: PyModule, target: PyNode | undefined, depth: number): boolean {
    if (target?.type === 'identifier') return this.variable(module, target, depth);
    if (target?.type === 'attribute') return this.attribute(module, target.attribute?.text ?? '', depth);
    const key = target?.type === 'subscript' && target.subscript ? plainString(target.subscript) : undefined;
    if (key !== undefined && target?.value?.type === 'identifier')
      return this.#isLookedUpBy(module, target.value) && this.entry(module, key, depth);
    return depth === 1 && /^(?:pattern_list|tuple_pattern)$/.test(target?.type ?? '');
  }

  /** Whether what a dictionary holds is only taken out of it by names that are written. */
  #isLookedUp({ module, node }: Elsewhere): boolean {
    const { parent } = node;
    if (parent === undefined || this.#lookedUp.has(node)) return true;
    this.#lookedUp.add(node);
    switch (parent.type) {
      case 'assignment':
        if (parent.left === node) return true;
        return parent.left?.type === 'identifier' && this.#isLookedUpBy(module, parent.left);
      case 'pair':
        return parent.parent !== undefined && this.#isLookedUp({ module, node: parent.parent });
      case 'subscript':
        return parent.subscript !== undefined && plainString(parent.subscript) !== undefined;
      case 'attribute':
        return /^(?:keys|update)$/.test(parent.attribute?.text ?? '');
      case 'argument_list': {
        const call = parent.parent;
        const path = call && calledPath(module, call);
        if (call === undefined || path === SAVE) return path === SAVE;
        const parameter = parameterGiven(module, call, node);
        return parameter !== undefined && this.#isLookedUpBy(parameter.module, parameter.node);
      }
      default:
        return ASKED.test(parent.type);
    }
  }

  #isLookedUpBy(module: PyModule, name: PyNode): boolean {
    if (module.resolve(name) === module.scope && isReadElsewhere(module, name)) return false;
    return readsOf(module, name).every((node) => this.#isLookedUp({ module, node }));
  }

  #loop(module: PyModule, { left }: PyNode, depth: number): boolean {
    return depth === 0 || namesIn(left).every((name) => this.variable(module, name, depth));
  }

  /** As an argument: of Python, of a package that makes nothing but plain values of it, or of a function of the project. */
  #given(module: PyModule, argument: PyNode, depth: number): boolean {
    const call = argument.parent?.parent;
    const callee = call?.type === 'call' ? call.function : undefined;
    if (call === undefined || callee === undefined) return false;
    const key = argument.type === 'keyword_argument' ? argument.name?.text : undefined;
    if (isUnbound(module, callee)) {
      if (callee.text === 'dict' && key !== undefined) return this.entry(module, key, depth);
      if (callee.text === 'vars') return this.#use({ module, node: call }, depth);
      if (callee.text === 'getattr')
        return argumentsOf(call)[1] === argument || this.#use({ module, node: call }, depth - 1);
      if (callee.text === 'setattr') {
        const [holder, , value] = argumentsOf(call);
        return holder === argument && value !== undefined && this.isPlain({ module, node: value }, depth - 1);
      }
      if (GIVES_ELEMENTS.test(callee.text)) return depth === 1 || this.#use({ module, node: call }, depth);
      if (readsOnly(callee.text) || callee.text === 'print') return true;
    }
    const path = calledPath(module, call);
    if (path !== undefined && !mayBeOfProject(module, path)) {
      if (/^copy\.\w+$/.test(path)) return depth === 1 || this.#use({ module, node: call }, depth);
      const taken = takenAs(module, call, path);
      return taken === 'nothing' || (taken === 'itself' && this.#use({ module, node: call }, depth));
    }
    if (methodName(call) === 'format' && /string$/.test(receiverOf(call)?.type ?? '')) return true;
    const parameters = parametersGiven(module, call, argument);
    if (parameters === undefined) return isOfPackage(module, receiverOf(call));
    return parameters.every((each) => this.variable(each.module, each.node, each.isRest ? depth + 1 : depth));
  }

  #returned(module: PyModule, node: PyNode, depth: number): boolean {
    if (node.closest('return_statement', 'block')?.type !== 'return_statement') return false;
    return (
      takersOf(module, node)?.every(({ module: there, node: taker }) =>
        taker.type === 'identifier'
          ? this.variable(there, taker, depth)
          : this.#use({ module: there, node: taker }, depth),
      ) ?? false
    );
  }
}

function operatorOf(operation: PyNode): string {
  return operation.children.find((child) => !operation.named.includes(child))?.text ?? '+';
}

/** `getattr(trainer, name).append(value)`; what is called is no container, nor is a part of a module. */
function takesByText(alone: PyModule): boolean {
  return alone.words('getattr').some(({ text, parent: call }) => {
    const [object, name] = text === 'getattr' && call?.type === 'call' ? argumentsOf(call) : [];
    if (call === undefined || object === undefined || name === undefined || isCallee(call)) return false;
    return plainString(name) === undefined && qualifiedName(alone, object) === undefined;
  });
}
