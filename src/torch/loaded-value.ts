import { reachingDefinitions } from '../semantic/flow.js';
import type { PyModule } from '../semantic/module.js';
import { roleOf } from '../semantic/names.js';
import { isProgram } from '../semantic/program.js';
import { argumentsOf, methodName, receiverOf } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';

/** A use of what was loaded that may depend on its device: `no` where it surely does. */
export interface Stray {
  readonly answer: 'no' | 'unknown';
  readonly node: PyNode;
  /** What is done with it: "is returned". */
  readonly does: string;
}

/** What becomes of a loaded value: the `load_state_dict` calls it ends in, and the other places it reaches. */
export interface Fate {
  readonly loads: readonly PyNode[];
  readonly strays: readonly Stray[];
}

export function fateOf(module: PyModule, loaded: PyNode): Fate {
  const flow = new Flow(module);
  flow.follow(loaded, 'mapping');
  flow.settle();
  return flow;
}

/** What a value holds: state by name, pairs of a name and state, or state alone (a tensor or anything else). */
type Holds = 'mapping' | 'pairs' | 'state';

/** Entries of a checkpoint that hold no tensor, whoever wrote it. */
const PLAIN_ENTRY =
  /^(?:(?:start|global|train|last|current|num|n|total|model|next)_)?(?:epochs?|steps?|iters?|iterations?|args|arch|config|cfg|hparams|hyper_?parameters|version|seed)$/;

const LOOKS: ReadonlySet<string> = new Set(
  'bool dir float format hasattr id int isinstance issubclass len print range repr str type'.split(' '),
);
/** Calls that hand the same tensors on in another container. */
const REPACKS: ReadonlySet<string> = new Set(
  'OrderedDict copy deepcopy defaultdict dict enumerate iter list next reversed sorted tqdm tuple'.split(' '),
);
const PLAIN_METHODS: ReadonlySet<string> = new Set(
  'clear cpu cuda dim element_size item keys ndimension numel numpy size tolist update'.split(' '),
);
/** Methods that give the same bits back, whatever the device. */
const PASSING_METHODS: ReadonlySet<string> = new Set(
  'bfloat16 clone contiguous copy detach double expand flatten float half permute repeat reshape squeeze state_dict t transpose unsqueeze view'.split(
    ' ',
  ),
);
const MODULE_METHODS: ReadonlySet<string> = new Set(
  'apply children eval forward load_state_dict modules named_modules named_parameters parameters train zero_grad'.split(
    ' ',
  ),
);
/** Methods of others that take it and keep nothing of its device. */
const TAKES: ReadonlySet<string> = new Set(
  'copy_ debug error exception format info log print warn warning write'.split(' '),
);
const PLAIN_ATTRIBUTES: ReadonlySet<string> = new Set(['dtype', 'ndim', 'requires_grad', 'shape']);
const TESTED: ReadonlySet<string> = new Set([
  'assert_statement',
  'elif_clause',
  'expression_statement',
  'if_statement',
  'interpolation',
  'not_operator',
  'while_statement',
]);
/** What makes the loaded tensor itself a part of a module. */
const MAKES_STATE =
  /(?:^|\.)(?:Parameter|Buffer|setattr|register_buffer|register_parameter|from_pretrained)$/;
const IS_MODULE = 'is a whole module';

class Flow implements Fate {
  readonly loads: PyNode[] = [];
  readonly strays: Stray[] = [];
  readonly #seen = new Set<PyNode>();
  readonly #iterated: PyNode[] = [];

  constructor(private readonly module: PyModule) {}

  follow(value: PyNode, holds: Holds): void {
    const { parent } = value;
    if (parent === undefined || this.#seen.has(value)) return;
    this.#seen.add(value);
    switch (parent.type) {
      case 'parenthesized_expression':
      case 'boolean_operator':
      case 'dictionary':
      case 'dictionary_comprehension':
      case 'dictionary_splat':
        this.follow(parent, parent.type === 'dictionary_splat' ? 'mapping' : holds);
        return;
      case 'pair':
        if (parent.field('value') === value) this.follow(parent, 'mapping');
        return;
      case 'conditional_expression':
        if (parent.named[1] !== value) this.follow(parent, holds);
        return;
      case 'comparison_operator':
        if (!/ (?:not )?in | is /.test(` ${parent.text} `)) this.#stray(value, 'is compared');
        return;
      case 'named_expression':
        this.#bind(parent.field('name'), holds);
        this.follow(parent, holds);
        return;
      case 'assignment':
        if (parent.field('left') !== value) this.#assign(parent, holds);
        return;
      case 'augmented_assignment':
        if (parent.field('left') !== value || !parent.text.includes('|='))
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
        if (parent.named[0]?.type !== 'string' && parent.named[0]?.type !== 'concatenated_string')
          this.#stray(value, 'is used in a computation', 'no');
        return;
      case 'call':
        this.#stray(value, IS_MODULE, 'no');
        return;
      case 'return_statement':
      case 'expression_list':
      case 'tuple':
        this.#stray(value, isReturned(parent) ? 'is returned' : 'is used here too');
        return;
      default:
        if (!TESTED.has(parent.type)) this.#stray(value, 'is used here too');
    }
  }

  /** What is iterated by itself gives names only if it is a mapping, as what is loaded whole is. */
  settle(): void {
    const whole = new Set(this.loads.map((call) => argumentsOf(call)[0]?.text));
    for (const value of this.#iterated) if (!whole.has(value.text)) this.#stray(value, 'is iterated');
  }

  #stray(node: PyNode, does: string, answer: 'no' | 'unknown' = 'unknown'): void {
    this.strays.push({ node, does, answer });
  }

  #assign(assignment: PyNode, holds: Holds): void {
    const target = assignment.field('left');
    if (target?.type === 'identifier') this.#bind(target, holds);
    else if (target?.type === 'subscript') this.#store(target);
    else if (target !== undefined)
      this.#stray(target, 'is kept', target.text.endsWith('.data') ? 'no' : 'unknown');
    if (assignment.parent?.type === 'assignment') this.#assign(assignment.parent, holds);
  }

  /** `new[name] = tensor`: from here on the container holds it. */
  #store(target: PyNode): void {
    const container = target.field('value');
    if (container?.type === 'identifier') this.#bind(container, 'mapping');
    else this.#stray(target, 'is kept');
  }

  /** Follows the reads of a variable that holds it: those that this very binding reaches, where the flow shows it. */
  #bind(name: PyNode | undefined, holds: Holds): void {
    const scope = name && this.module.resolve(name);
    if (name === undefined || scope === undefined) return;
    if (scope.kind === 'class' || (scope.kind === 'module' && !isProgram(this.module)))
      this.#stray(name, 'can be read by other modules');
    const given = roleOf(name) === 'read';
    if (given && scope.bindings(name.text).some((binding) => roleOf(binding) === 'parameter'))
      this.#stray(name, 'is handed to the caller');
    for (const read of this.module.reads(scope, name.text)) {
      if (roleOf(read) === 'delete' || read === name) continue;
      const traced = !given && scope.kind !== 'comprehension';
      const reaching = traced ? reachingDefinitions(this.module, read) : undefined;
      if (reaching === undefined || reaching.some(({ node }) => node === name)) this.follow(read, holds);
    }
  }

  #lookUp(subscript: PyNode, value: PyNode): void {
    if (subscript.field('value') !== value) {
      this.#stray(value, 'is used as an index');
      return;
    }
    const { parent } = subscript;
    const isWritten = parent?.type === 'assignment' && parent.field('left') === subscript;
    if (isWritten || parent?.type === 'delete_statement') return;
    if (!isPlainEntry(subscript.field('subscript')) || isUsedAsTensor(subscript))
      this.follow(subscript, 'mapping');
  }

  #attribute(attribute: PyNode, value: PyNode, holds: Holds): void {
    const name = attribute.field('attribute')?.text ?? '';
    const call = attribute.parent;
    if (call?.type !== 'call' || call.field('function') !== attribute) {
      if (name === 'data') this.follow(attribute, holds);
      else if (!PLAIN_ATTRIBUTES.has(name)) this.#stray(value, `has its \`${name}\` read`);
      return;
    }
    if (PLAIN_METHODS.has(name)) return;
    if (name === 'items') this.follow(call, 'pairs');
    else if (name === 'values') this.follow(call, 'state');
    else if (name === 'get' || name === 'pop' || name === 'setdefault') {
      if (!isPlainEntry(argumentsOf(call)[0]) || isUsedAsTensor(call)) this.follow(call, 'mapping');
    } else if (name === 'to') {
      if (!/device|cuda|cpu/.test(call.field('arguments')?.text ?? '')) this.follow(call, holds);
    } else if (PASSING_METHODS.has(name)) this.follow(call, holds);
    else if (MODULE_METHODS.has(name)) this.#stray(value, IS_MODULE, 'no');
    else this.#stray(value, `is used by \`.${name}()\``);
  }

  #argument(call: PyNode | undefined, argument: PyNode, holds: Holds): void {
    if (call?.type !== 'call') {
      this.#stray(argument, 'is used here too');
      return;
    }
    const method = methodName(call);
    const name = method ?? call.field('function')?.text ?? '';
    if (method === 'load_state_dict') {
      const first = argumentsOf(call)[0] === argument || argument.field('name')?.text === 'state_dict';
      if (first) this.loads.push(call);
      else this.#stray(argument, 'is used here too');
      return;
    }
    if (method === undefined ? LOOKS.has(name) : TAKES.has(name)) return;
    if (REPACKS.has(name)) {
      const rebuilt = holds === 'pairs' && (name === 'dict' || name === 'OrderedDict');
      this.follow(call, rebuilt ? 'mapping' : holds);
      return;
    }
    const receiver = receiverOf(call);
    if (method === 'update' && receiver?.type === 'identifier') {
      this.#bind(receiver, 'mapping');
      return;
    }
    this.#stray(argument, `is handed to \`${name}\``, MAKES_STATE.test(name) ? 'no' : 'unknown');
    this.follow(call, 'mapping');
  }

  /** `for name, tensor in pairs`, in a statement or a comprehension. Names alone are strings. */
  #loop(loop: PyNode, value: PyNode, holds: Holds): void {
    const target = loop.field('left');
    if (loop.field('right') !== value || target === undefined) return;
    if (holds === 'pairs') {
      const bound = target.named.at(-1);
      if (target.type === 'identifier') this.#stray(target, 'is used here too');
      else if (bound?.type === 'identifier') this.#bind(bound, 'state');
      else for (const inner of bound?.named.slice(-1) ?? []) this.#bind(inner, 'state');
    } else if (holds === 'state') {
      if (target.type === 'identifier') this.#bind(target, 'state');
      else this.#stray(target, 'is used here too');
    } else this.#iterated.push(value);
  }
}

function isReturned(node: PyNode): boolean {
  return node.closest('return_statement', 'block')?.type === 'return_statement';
}

function isPlainEntry(key: PyNode | undefined): boolean {
  return key?.type === 'string' && PLAIN_ENTRY.test(key.text.replace(/^["']|["']$/g, ''));
}

/** Against what its name says: changed in place, or computed with the result of a call. */
function isUsedAsTensor({ parent }: PyNode): boolean {
  if (parent?.type === 'attribute') return parent.field('attribute')?.text.endsWith('_') ?? false;
  return parent?.type === 'binary_operator' && parent.named.some(({ type }) => type === 'call');
}
