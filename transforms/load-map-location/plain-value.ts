import { canonical, row } from '../../src/library/library.js';
import { DEEPCOPY, LOAD } from '../../src/library/names.js';
import { isModuleClass, NAMES_DEVICE, NAMESPACES, READS_SETTINGS } from '../../src/library/paths.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { type Definition, definitionOf } from '../../src/semantic/flow.js';
import { type Part, targetOf } from '../../src/semantic/function-uses.js';
import { calledPath, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { returnsOf } from '../../src/semantic/returns.js';
import { argumentsOf, methodName, receiverOf, unparenthesized } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isCount, isUnbound, waysReaching, writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isPythonNumber } from '../../src/values/value/python-number.js';
import { ANY_DEPTH, FilledWith } from './filled-with.js';
import { isSetElsewhere, type Owner, valuesHeld, valuesSet } from './held-values.js';
import { isNeverCalled } from './never-called.js';
import { calledOf, givenTo, handsBack, ownersOf } from './owner.js';
import { isParsing, isPlainOption, optionsGiven, readsPlain } from './plain-option.js';

const LITERALS: ReadonlySet<string> = new Set(
  'concatenated_string false float integer none string true'.split(' '),
);
/** What is made of plain values is plain. */
const MADE_OF: ReadonlySet<string> = new Set(
  'binary_operator boolean_operator comparison_operator not_operator parenthesized_expression unary_operator'.split(
    ' ',
  ),
);
/** A number or a text of whatever they are given. */
const CASTS: ReadonlySet<string> = new Set('bool float int len repr str'.split(' '));
const HANDS_ON: ReadonlySet<string> = new Set('abs max min round sum'.split(' '));

const MAX_HOPS = 8;

/** Follows a value to all that it can come from: it is plain where each of these is. */
export class Plain {
  #seen = new Map<PyNode, number>();
  readonly #filled = new FilledWith(
    (value, depth) => this.is(value, depth, 1),
    (value) => this.#attempt(value),
  );

  /** Whether something is put there that was not there before. */
  #isNew = false;

  /**
   * `key`: what is read back by it is what was saved by it. `deepest`: so many containers may be in one another there. `savedBy`: whether what
   * is saved by another key is plain.
   */
  constructor(
    private readonly key: string,
    private readonly deepest: number,
    private readonly savedBy: (key: string, depth: number) => boolean,
  ) {}

  /** Whether an entry of dictionaries is plain, by all that is put there; and where that may be a container, by what is put into it. */
  isEntry(module: PyModule, puts: readonly Elsewhere[]): boolean {
    if (!puts.every((put) => this.is(put, this.deepest, 0)) || !(this.#isNew || puts.length === 0))
      return false;
    return this.deepest === 0 || this.#filled.entry(module, this.key, this.deepest);
  }

  /** `depth`: so many containers may be in one another. */
  is(value: Elsewhere, depth: number, hops: number): boolean {
    if ((this.#seen.get(value.node) ?? Number.POSITIVE_INFINITY) <= depth || value.node.type === 'comment')
      return true;
    if (this.#isLeaf(value, depth)) return this.#found();
    // What was asked for and is not plain would be taken for plain the next time: no question may follow a no.
    return isNeverCalled(value.module, value.node) || this.#isMade(value, depth, hops);
  }

  /** Whether a value is no container; where it is not plain, nothing of what was asked for counts. */
  #attempt(value: Elsewhere, hops = 0): boolean {
    const before = { seen: new Map(this.#seen), filled: this.#filled.marks(), isNew: this.#isNew };
    if (this.is(value, 0, hops + 1)) return true;
    this.#seen = before.seen;
    this.#filled.forget(before.filled);
    this.#isNew = before.isNew;
    return false;
  }

  #found(): true {
    this.#isNew = true;
    return true;
  }

  #isLeaf({ module, node }: Elsewhere, depth: number): boolean {
    if (LITERALS.has(node.type)) return true;
    if (/^(?:dictionary|list|set)$/.test(node.type))
      return depth > 0 && node.named.every(({ type }) => type === 'comment');
    const path = /^(?:attribute|identifier)$/.test(node.type) ? qualifiedName(module, node) : undefined;
    if (path !== undefined) return CONSTANTS.test(path) || isModuleClass(path);
    if (node.type !== 'call') return false;
    if (NAMES_DEVICE.has(calledPath(module, node))) return true;
    if (isUnbound(module, node.function)) {
      const name = node.function?.text ?? '';
      if (CASTS.has(name)) return true;
      if (/^(?:dict|list|set)$/.test(name) && argumentsOf(node).length === 0) return depth > 0;
    }
    return isPythonNumber(module, node) === 'yes';
  }

  #isMade({ module, node }: Elsewhere, depth: number, hops: number): boolean {
    if (hops > MAX_HOPS) return false;
    this.#seen.set(node, depth);
    const areAll = (nodes: readonly PyNode[], at: number): boolean =>
      nodes.every((part) => this.is({ module, node: part }, at, hops));
    if (MADE_OF.has(node.type)) {
      const isText = node.type === 'binary_operator' && /string$/.test(node.left?.type ?? '');
      const isTruth = /^(?:comparison|not)_/.test(node.type);
      return isText || areAll(node.named, isTruth ? ANY_DEPTH : depth);
    }
    switch (node.type) {
      case 'conditional_expression':
        return areAll(
          node.named.filter((part) => part !== node.named[1]),
          depth,
        );
      case 'expression_list':
      case 'tuple':
        return areAll(node.named, Math.max(0, depth - 1));
      case 'dictionary':
      case 'list':
      case 'set':
        return depth > 0 && areAll(node.named, depth - 1);
      case 'dictionary_splat':
        return node.named[0] !== undefined && this.is({ module, node: node.named[0] }, depth + 1, hops);
      case 'pair':
        return node.value !== undefined && this.is({ module, node: node.value }, depth, hops);
      case 'subscript':
        return this.#element(module, node, depth, hops);
      case 'identifier':
        return this.#name(module, node, depth, hops);
      case 'attribute':
        return this.#attribute(module, node, depth, hops);
      case 'call':
        return this.#call(module, node, depth, hops);
      default:
        return false;
    }
  }

  #areAll(values: readonly (Elsewhere | undefined)[] | undefined, depth: number, hops: number): boolean {
    if (values === undefined || values.length === 0) return false;
    return values.every((value) => value !== undefined && this.is(value, depth, hops + 1));
  }

  #element(module: PyModule, subscript: PyNode, depth: number, hops: number): boolean {
    const key = subscript.subscript && plainString(subscript.subscript);
    if (key !== undefined && key === this.key) return depth >= this.deepest;
    const node = subscript.value;
    if (key !== undefined && node !== undefined && isLoaded(module, node)) return this.savedBy(key, depth);
    const isPart = subscript.subscript?.type === 'slice';
    return node !== undefined && this.is({ module, node }, isPart ? depth : depth + 1, hops + 1);
  }

  #name(module: PyModule, name: PyNode, depth: number, hops: number): boolean {
    const writes = writesOf(module, name);
    if (module.resolve(name) === module.scope && isSetElsewhere(module, name.text)) return false;
    if (writes.length === 0) return false;
    return (
      writes.every((write) => this.#definition(module, definitionOf(write), depth, hops)) &&
      (depth === 0 || this.#filled.variable(module, name, depth))
    );
  }

  #definition(module: PyModule, found: Definition, depth: number, hops: number): boolean {
    switch (found.kind) {
      case 'value':
      case 'update':
        return this.is({ module, node: found.value }, depth, hops);
      case 'loop':
        if (!counts(module, found.node, found.iterable)) return false;
        this.#isNew = true;
        return true;
      case 'part':
        return this.#part(module, found.node, found.value, depth, hops);
      case 'parameter':
        return this.#areAll(givenTo(module, found.node), depth, hops);
      default:
        return false;
    }
  }

  /** `loss, right = validate(…)` */
  #part(module: PyModule, target: PyNode, value: PyNode, depth: number, hops: number): boolean {
    const targets = target.parent?.named ?? [];
    const part = { index: targets.indexOf(target), of: targets.length };
    const isWhole = target.parent?.parent?.right === value;
    // `args, others = parser.parse_known_args()`
    if (isParsing(module, value)) return isWhole && this.is({ module, node: value }, depth + 1, hops);
    if (value.type !== 'call')
      return isWhole && this.#areAll(partsOf(module, value, part, targets), depth, hops);
    if (targetOf(value, part) !== target) return false;
    return this.#areAll(partsGiven(module, value, part, hops), depth, hops);
  }

  #attribute(module: PyModule, attribute: PyNode, depth: number, hops: number): boolean {
    const name = attribute.attribute?.text ?? '';
    const { object } = attribute;
    if (object === undefined) return false;
    if (name === '__dict__') return this.is({ module, node: object }, depth, hops + 1);
    const owners = ownersOf(module, object);
    const isOfSettings =
      owners?.every((owner) => owner.node.type === 'call' && !isPlainOption(owner.module, name)) ?? true;
    if (isOfSettings) return depth >= ANY_DEPTH && this.is({ module, node: object }, depth + 1, hops + 1);
    return owners?.every((owner) => this.#held(owner, name, depth, hops)) === true;
  }

  #held(owner: Owner, name: string, depth: number, hops: number): boolean {
    if (owner.node.type === 'call') {
      const set = isPlainOption(owner.module, name) ? valuesSet(owner, name) : undefined;
      this.#isNew ||= set !== undefined;
      return set !== undefined && (set.length === 0 || this.#areAll(set, depth, hops));
    }
    if (!this.#areAll(valuesHeld(owner, name), depth, hops)) return false;
    return depth === 0 || this.#filled.attribute(owner.module, name, depth);
  }

  /** What is parsed: a command line with plain options, a file of settings. */
  #isSettings(module: PyModule, call: PyNode, hops: number): boolean {
    const path = calledPath(module, call);
    if (READS_SETTINGS.has(path)) return readsPlain(module, call);
    if (NAMESPACES.has(path)) return argumentsOf(call).every((each) => this.#isGiven(module, each, hops));
    const options = isParsing(module, call) ? optionsGiven(module) : undefined;
    return options?.every((each) => this.is(each, ANY_DEPTH, hops + 1)) === true;
  }

  /** `name=value`, `**values`, or a value. */
  #isGiven(module: PyModule, argument: PyNode, hops: number, depth = ANY_DEPTH): boolean {
    const node = argument.type.endsWith('_splat') ? argument.named[0] : (argument.value ?? argument);
    return node !== undefined && this.is({ module, node }, depth, hops + 1);
  }

  #call(module: PyModule, call: PyNode, depth: number, hops: number): boolean {
    const callee = call.function;
    const given = argumentsOf(call).map((node) => ({ module, node: node.value ?? node }));
    if (callee !== undefined && isUnbound(module, callee)) {
      if (callee.text === 'vars')
        return given.length === 1 && given.every((each) => this.is(each, depth, hops + 1));
      // `dict(best=0, epoch=0)`, `dict(settings)`
      if (callee.text === 'dict')
        return (
          depth > 0 &&
          argumentsOf(call).every((each) =>
            each.type === 'keyword_argument'
              ? each.value !== undefined && this.is({ module, node: each.value }, depth - 1, hops)
              : this.#isGiven(module, each, hops, depth),
          )
        );
      if (callee.text === 'tuple') return given.every((each) => this.is(each, Math.max(1, depth), hops));
      if (HANDS_ON.has(callee.text))
        return given.every((each) => this.is(each, given.length === 1 ? depth + 1 : depth, hops));
    }
    if (methodName(call) === 'get' && given[0] !== undefined && plainString(given[0].node) === this.key)
      return depth >= this.deepest && given.slice(1).every((each) => this.is(each, depth, hops + 1));
    const path = calledPath(module, call);
    if (path === DEEPCOPY) return given.every((each) => this.is(each, depth, hops + 1));
    const known = path === undefined ? undefined : row(path);
    // An array may hold objects, and then be given others.
    if (known?.gives === 'plain' && (depth > 0 || !known.keepsObjects))
      return given.every((each) => this.is(each, known.keepsObjects ? depth : depth + 1, hops + 1));
    // Of what it is handed it gives numbers.
    if (known?.gives === 'array' || known?.gives === 'number') return this.#found();
    if (depth >= ANY_DEPTH && this.#isSettings(module, call, hops)) return this.#found();
    const of = path === undefined ? receiverOf(call) : undefined;
    if (of !== undefined && methodName(call) === 'copy')
      return this.is({ module, node: of }, depth, hops + 1);
    if (of !== undefined && this.#attempt({ module, node: of }, hops))
      return depth > 0 || !GIVES_TEXTS.test(methodName(call) ?? '');
    const made = calledOf(module, call);
    if (made === undefined || !handsBack(made)) return false;
    return this.#areAll(
      returnsOf(made.node).map((node) => node && { module: made.module, node }),
      depth,
      hops,
    );
  }
}

/** `torch.load(path)`, or a variable that holds nothing else where it is read. */
function isLoaded(module: PyModule, node: PyNode): boolean {
  const loads = (value: PyNode): boolean =>
    value.type === 'call' && canonical(calledPath(module, value) ?? '') === LOAD;
  if (node.type !== 'identifier') return loads(node);
  const ways = waysReaching(module, node);
  return ways.length > 0 && ways.every((way) => way.kind === 'value' && loads(way.value));
}

/** What methods of a text or a number give is one as well, or a list of texts. */
const GIVES_TEXTS = /^(?:r?partition|r?split|splitlines|as_integer_ratio)$/;

const CONSTANTS = /^(?:math|numpy|sys)\.(?:[NP]?INF|NAN|Inf|Infinity|NaN|e|inf|maxsize|nan|pi)$/;

/** What a pair, or one of two pairs, gives in one of so many places. */
function partsOf(
  module: PyModule,
  value: PyNode | undefined,
  part: Part,
  targets: readonly PyNode[],
): readonly (Elsewhere | undefined)[] {
  const given = value && unparenthesized(value);
  if (given?.type === 'conditional_expression')
    return [given.named[0], given.named[2]].flatMap((each) => partsOf(module, each, part, targets));
  const isEven =
    /^(?:expression_list|tuple)$/.test(given?.type ?? '') &&
    given?.named.length === part.of &&
    ![...targets, ...given.named].some(({ type }) => type.includes('splat'));
  const node = isEven ? given.named[part.index] : undefined;
  return [node && { module, node }];
}

/** What a call gives in one of so many places, also where its function hands on what another gives. */
function partsGiven(
  module: PyModule,
  call: PyNode,
  part: Part,
  hops: number,
): readonly (Elsewhere | undefined)[] | undefined {
  const made = calledOf(module, call);
  if (made === undefined || !handsBack(made) || hops > MAX_HOPS) return undefined;
  return returnsOf(made.node).flatMap((returned) => {
    if (returned?.type === 'call') return partsGiven(made.module, returned, part, hops + 1) ?? [undefined];
    const isEven =
      /^(?:expression_list|tuple)$/.test(returned?.type ?? '') && returned?.named.length === part.of;
    const node = isEven ? returned?.named[part.index] : undefined;
    return [node && { module: made.module, node }];
  });
}

/** A loop over `range(…)`, or the count of `enumerate(…)`. */
function counts(module: PyModule, target: PyNode, iterable: PyNode): boolean {
  if (isCount(module, target, iterable)) return true;
  const callee = iterable.function;
  if (callee === undefined || target.parent?.left !== target) return false;
  const [first] = argumentsOf(iterable);
  const isOfRange = first !== undefined && first.function !== undefined && counts(module, target, first);
  if (isUnbound(module, callee)) return callee.text === 'range' || (callee.text === 'list' && isOfRange);
  const path = qualifiedName(module, callee) ?? '';
  if (/^tqdm\.(?:\w+\.)*(?:tn?range|trange)$/.test(path) || path === 'itertools.count') return true;
  // `tqdm(range(n))`
  return isOfRange && (path.startsWith('tqdm.') || path.startsWith('rich.'));
}
