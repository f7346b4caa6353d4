import { isOfModule } from '../../src/library/library.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { argumentsOf, isTarget, methodName, receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';
import { isMappingThere } from './known-mapping.js';
import {
  areNames,
  copiesNumbers,
  type Fate,
  fillsState,
  HOLDS_VALUE,
  type Holds,
  isDeviceMove,
  isLeft,
  isLookedFor,
  isNamed,
  isPlainHere,
  isPlainIndex,
  isReturned,
  keepsValues,
  looksOnly,
  MAKES_STATE,
  MAX_HANDED,
  REPACKS,
  readsOf,
  registersBuffer,
  repacked,
  SETTINGS_ENTRY,
  type Stray,
  showsTensor,
  stateOfLoop,
  TESTED,
  takesOnly,
  tellsNoDevice,
  unpackedTo,
} from './loaded-use.js';
import { MovedFlow } from './moved-value.js';
import { parameterGiven } from './parameter-given.js';
import { isReadElsewhere } from './read-by-name.js';
import { isWithNumber, kindOfEntry, numberByName, unprovenNumber } from './saved-number.js';
import { takesSize } from './size-taker.js';

const IS_MODULE = 'is a whole module';
export const OF_CALLER = 'is handed to the caller';

export class Flow implements Fate {
  readonly loads: Elsewhere[] = [];
  isCopied = false;
  /** Whether the function that was given it gives it back. */
  isReturned = false;
  readonly strays: Stray[] = [];
  /** What the function that loads it returns. */
  readonly returned: PyNode[] = [];
  readonly #seen = new Set<PyNode>();
  readonly #numbers = new Set<PyNode>();
  /** What is done that fits a mapping, and not each tensor. */
  readonly #asked: { readonly value: PyNode; readonly does: string; readonly part?: PyNode }[] = [];
  /** Entries with names that are used where a number may be, and a tensor may not. */
  readonly #doubtful: (readonly [value: PyNode, name: string])[] = [];
  readonly #open: PyNode[] = [];
  readonly #moved: MovedFlow;

  constructor(
    private readonly module: PyModule,
    private readonly hops = 0,
    /** Entries, and parameters of functions, that are looked at already. */
    private readonly tried = new Set<PyNode>(),
  ) {
    const onLoad = (call: PyNode) => this.#load(call);
    this.#moved = new MovedFlow(module, this.strays, onLoad, (subscript) => this.#write(subscript));
  }

  through(values: readonly PyNode[]): this {
    for (const value of values)
      if (value.type === 'identifier' && roleOf(value) !== 'read') this.#bind(value, 'mapping');
      else this.follow(value, 'mapping');
    this.#settle();
    return this;
  }

  follow(value: PyNode, holds: Holds): void {
    const { parent } = value;
    const seen = holds === 'number' ? this.#numbers : this.#seen;
    if (parent === undefined || seen.has(value)) return;
    seen.add(value);
    if (holds === 'number') this.#number(value, parent);
    else this.#follow(value, parent, holds);
  }

  #follow(value: PyNode, parent: PyNode, holds: Holds): void {
    if (HOLDS_VALUE.test(parent.type)) {
      this.follow(parent, parent.type === 'dictionary_splat' ? 'mapping' : holds);
      return;
    }
    switch (parent.type) {
      case 'pair':
        if (parent.value === value) this.follow(parent, 'mapping');
        return;
      case 'conditional_expression':
        if (parent.named[1] !== value) this.follow(parent, holds);
        return;
      case 'comparison_operator':
        if (!isLookedFor(parent, value)) this.#stray(value, 'is compared');
        return;
      case 'named_expression':
        this.#bind(parent.name, holds);
        this.follow(parent, holds);
        return;
      case 'assignment':
        if (parent.left !== value) this.#assign(parent, holds);
        return;
      case 'augmented_assignment':
        if (parent.left !== value || !parent.text.includes('|='))
          this.#stray(value, 'is used in a computation', 'no');
        return;
      case 'subscript':
        this.#lookUp(parent, value);
        return;
      case 'attribute':
        this.#attribute(parent, value, holds);
        return;
      case 'argument_list':
        this.#argument(parent.parent, value, holds);
        return;
      case 'keyword_argument':
        this.#argument(parent.parent?.parent, parent, holds);
        return;
      case 'for_statement':
      case 'for_in_clause':
        this.#loop(parent, value, holds);
        return;
      case 'binary_operator':
      case 'unary_operator':
        if (/string$/.test(parent.named[0]?.type ?? '')) return;
        if (isWithNumber(this.module, parent, value)) this.follow(parent, holds);
        else this.#stray(value, 'is used in a computation', 'no');
        return;
      case 'call':
        this.#stray(value, IS_MODULE, 'no');
        return;
      case 'return_statement':
        if (this.hops > 0) this.isReturned = true;
        else this.returned.push(value);
        return;
      case 'expression_list':
      case 'tuple': {
        const target = unpackedTo(parent, value);
        if (target !== undefined) this.#bind(target, holds);
        else if (this.hops === 0 && parent.parent?.type === 'return_statement') this.returned.push(value);
        else this.#stray(value, isReturned(parent) ? 'is returned' : 'is used here too');
        return;
      }
      default:
        if (!TESTED.has(parent.type)) this.#stray(value, 'is used here too');
    }
  }

  /** A mapping, as what is loaded whole is, gives names when it is iterated, and its entries can be replaced. */
  #settle(): void {
    // The project is not asked where nothing is loaded.
    const isWorthIt = this.loads.length > 0 || this.isCopied || this.hops > 0;
    for (const [value, name] of this.#doubtful) {
      const is = isWorthIt ? kindOfEntry(this.module, value, name) : numberByName(name);
      if (is === 'plain') continue;
      if (is !== 'number' && SETTINGS_ENTRY.test(name)) {
        if (!isLeft(this.module, value)) this.#stray(value, 'may hold tensors');
        continue;
      }
      if (is === 'likely') this.strays.push(unprovenNumber(value));
      this.follow(value, is === undefined ? 'mapping' : 'number');
    }
    for (const name of this.#open)
      if (!isWorthIt || isReadElsewhere(this.module, name)) this.#stray(name, 'can be read by other modules');
    const own = this.loads.flatMap(({ module, node }) => (module === this.module ? [node] : []));
    for (const { value, does, part } of this.#asked)
      if (!isMappingThere(this.module, value, part, own)) this.#stray(value, does);
  }

  /** A number, or a tensor of one: only what shows more of it counts. */
  #number(value: PyNode, parent: PyNode): void {
    const target = parent.type === 'assignment' ? parent.left : undefined;
    if (target?.type === 'identifier') this.#bind(target, 'number');
    else if (target?.type === 'attribute' && registersBuffer(this.module, target))
      this.#stray(target, 'is a buffer', 'no');
    else if (showsTensor(this.module, parent)) this.#follow(value, parent, 'state');
  }

  #stray(node: PyNode, does: string, answer: 'no' | 'unknown' = 'unknown'): void {
    this.strays.push({ node, does, answer, matter: 'device' });
  }

  #assign(assignment: PyNode, holds: Holds): void {
    const target = assignment.left;
    if (target?.type === 'identifier') this.#bind(target, holds);
    else if (target?.type === 'subscript') this.#store(target);
    else if (target !== undefined && areNames(target))
      for (const name of target.named) this.#bind(name, 'mapping');
    else if (target !== undefined)
      this.#stray(target, 'is kept', target.text.endsWith('.data') ? 'no' : 'unknown');
    if (assignment.parent?.type === 'assignment') this.#assign(assignment.parent, holds);
  }

  /** `new[name] = tensor`: from here on the container holds it. */
  #store(target: PyNode): void {
    const container = target.value;
    // The numbers go into a tensor that is there, wherever that is.
    if (container !== undefined && valueOf(this.module, container).isTensor) return;
    if (container?.type !== 'identifier') this.#stray(target, 'is kept');
    else {
      this.#write(target);
      this.#bind(container, 'mapping');
    }
  }

  /** `value[key] = …` replaces an entry of a mapping; that of a tensor it changes in place, on its device. */
  #write(subscript: PyNode): void {
    const container = subscript.value;
    if (container !== undefined && !isNamed(subscript.subscript))
      this.#asked.push({ value: container, does: 'has its elements written' });
  }

  /** Follows the reads of a variable that holds it: those that this very binding reaches, where the flow shows it. */
  #bind(name: PyNode | undefined, holds: Holds): void {
    const scope = name && this.module.resolve(name);
    if (name === undefined || scope === undefined) return;
    if ((scope.kind === 'class' || scope.kind === 'module') && holds !== 'number') this.#open.push(name);
    const given = roleOf(name) === 'read';
    if (given && scope.bindings(name.text).some((binding) => roleOf(binding) === 'parameter'))
      this.#stray(name, OF_CALLER);
    for (const read of readsOf(this.module, name)) this.follow(read, holds);
  }

  #lookUp(subscript: PyNode, value: PyNode): void {
    if (subscript.value !== value) {
      this.#stray(value, 'is used as an index');
      return;
    }
    if (isTarget(subscript)) this.#write(subscript);
    else if (subscript.parent?.type !== 'delete_statement') {
      if (!subscript.named.slice(1).every(isPlainIndex))
        this.#asked.push({ value, does: 'is indexed by what may be on the GPU', part: subscript });
      this.#entry(subscript, subscript.subscript);
    }
  }

  #entry(value: PyNode, key: PyNode | undefined): void {
    const name = key?.type === 'string' ? key.text.replace(/^["']|["']$/g, '') : '';
    if (!SETTINGS_ENTRY.test(name) && (name === '' || this.#isFine(value))) this.follow(value, 'mapping');
    else this.#doubtful.push([value, name]);
  }

  /** Whether it may be a tensor, or anything else. */
  #isFine(value: PyNode): boolean {
    if (this.tried.has(value)) return true;
    this.tried.add(value);
    const trial = new Flow(this.module, this.hops, this.tried);
    trial.follow(value, 'mapping');
    trial.#settle();
    return trial.strays.length + trial.returned.length === 0;
  }

  #attribute(attribute: PyNode, value: PyNode, holds: Holds): void {
    const name = attribute.attribute?.text ?? '';
    const call = attribute.parent;
    if (call?.type !== 'call' || call.function !== attribute) {
      if (name === 'data') this.follow(attribute, holds);
      else if (call?.type !== 'delete_statement' && !isPlainHere(name))
        this.#stray(value, `has its \`${name}\` read`);
      return;
    }
    if (tellsNoDevice(call, name)) return;
    if (isDeviceMove(call)) this.#moved.follow(call);
    else if (name === 'items') this.follow(call, 'pairs');
    else if (name === 'values') this.follow(call, 'state');
    else if (name === 'get' || name === 'pop' || name === 'setdefault')
      this.#entry(call, argumentsOf(call)[0]);
    else if (keepsValues(name)) this.follow(call, holds);
    else if (name === 'forward' || isOfModule(name)) this.#stray(value, IS_MODULE, 'no');
    else this.#stray(value, `is used by \`.${name}()\``);
  }

  #load(node: PyNode): void {
    if (!this.loads.some((load) => load.node === node)) this.loads.push({ module: this.module, node });
  }

  /** A function of the project that loads it, looks at it or hands it back: what becomes of it there. */
  #handed(call: PyNode, argument: PyNode, holds: Holds): boolean {
    const parameter = this.hops < MAX_HANDED ? parameterGiven(this.module, call, argument) : undefined;
    if (parameter === undefined) return false;
    // A function that hands it on to itself.
    if (this.tried.has(parameter.node)) {
      this.follow(call, holds);
      return true;
    }
    const reads = readsOf(parameter.module, parameter.node);
    const tried = new Set([...this.tried, parameter.node]);
    const inner = new Flow(parameter.module, this.hops + 1, tried).through(reads);
    if (inner.strays.length > 0) return false;
    for (const load of inner.loads) this.loads.push(load);
    this.isCopied ||= inner.isCopied;
    if (inner.isReturned) this.follow(call, holds);
    return true;
  }

  #argument(call: PyNode | undefined, argument: PyNode, holds: Holds): void {
    if (call?.type !== 'call') {
      this.#stray(argument, 'is used here too');
      return;
    }
    const method = methodName(call);
    const name = method ?? call.function?.text ?? '';
    if (method === 'load_state_dict') {
      if (argumentsOf(call)[0] === argument || argument.name?.text === 'state_dict') this.#load(call);
      else this.#stray(argument, 'is used here too');
      return;
    }
    if (copiesNumbers(this.module, call)) {
      this.isCopied ||= fillsState(this.module, call);
      return;
    }
    if (method === undefined ? looksOnly(this.module, call) : takesOnly(name)) return;
    const receiver = receiverOf(call);
    // `state.get("model", state)` gives one or the other.
    const isOneOf = (name === 'get' || name === 'pop') && receiver?.text === argument.text;
    if (REPACKS.has(name)) this.follow(call, repacked(name, holds));
    else if (method === 'update' && receiver?.type === 'identifier') this.#bind(receiver, 'mapping');
    else if (isOneOf) this.follow(call, 'mapping');
    else if (holds !== 'pairs' && takesSize(this.module, call, argument)) return;
    else if (!this.#handed(call, argument, holds)) {
      this.#stray(argument, `is handed to \`${name}\``, MAKES_STATE.test(name) ? 'no' : 'unknown');
      this.follow(call, 'mapping');
    }
  }

  /** `for name, tensor in pairs`, in a statement or a comprehension. Names alone are strings. */
  #loop(loop: PyNode, value: PyNode, holds: Holds): void {
    const target = loop.left;
    if (loop.right !== value || target === undefined) return;
    if (holds === 'mapping') this.#asked.push({ value, does: 'is iterated', part: loop });
    else {
      const bound = stateOfLoop(target, holds);
      if (bound === undefined) this.#stray(target, 'is used here too');
      for (const name of bound ?? []) this.#bind(name, 'state');
    }
  }
}
