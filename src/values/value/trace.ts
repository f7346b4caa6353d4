import { builtin, givesHeld, givesModule, isPlainMethod, row, walksModule } from '../../library/library.js';
import { isHandedIn } from '../../semantic/attributes.js';
import { calledDefinition, selfName } from '../../semantic/definitions.js';
import { type Elsewhere, makerOf } from '../../semantic/elsewhere.js';
import { type Definition, isDefinedOrConstant, reachingDefinitions } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import { readsVariables } from '../../semantic/liveness.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { functionsNamed, isRedefined } from '../../semantic/project-names.js';
import { returnedBy } from '../../semantic/returns.js';
import { functionElsewhere, starredFunction } from '../../semantic/star-imports.js';
import { decoratorsOf, givenTo, methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { isCount, isUnbound, livesIn, waysGiven, writesOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isCertainlyPlain, putIntoValues } from './arrays.js';
import { definitionsRun } from './called.js';
import { resultOfLibrary } from './library-result.js';
import { COLLECTS } from './names.js';
import * as parts from './parts.js';
import * as known from './plain.js';
import { computedByProperty, mayBeField } from './properties.js';
import { valuesPutInto } from './put-into.js';
import { isRenamed } from './renamed.js';
import { isFloating, kindOf } from './tensor.js';
import {
  type Given,
  givenAs,
  mayCarryGraph,
  operation,
  type Premises,
  type Trace,
  upToWorst,
  withoutPlain,
  worst,
} from './trace-kinds.js';

/** Expressions and calls are followed this far; what is beyond may carry a graph. */
const [MAX_STEPS, MAX_CALLS] = [4000, 4];

/** The values of one function, as seen from inside it. */
export class GradTrace {
  /** What is being followed, and how deep that stands. */
  readonly #open = new Map<PyNode, number>();
  readonly #known = new Map<PyNode, Trace>();
  readonly #putInto = new Map<string, readonly PyNode[]>();
  /** The least depth whose answer was taken for granted since then; below all of them where it was too far to follow. */
  #granted = Infinity;
  #steps = 0;

  constructor(
    private readonly module: PyModule,
    private readonly functionNode: PyNode,
    /** Texts of the expressions that are the evaluated networks. */
    private readonly models: ReadonlySet<string> = new Set(),
    /** What its parameters are given; those that are not among them come from outside. */
    readonly parameters: Given = new Map(),
    private readonly depth = 0,
    readonly premises?: Premises,
    /** What functions of the file hand back, by what they are given. */
    private readonly results = new Map<string, Trace>(),
  ) {}

  readonly of = (expression: PyNode): Trace => {
    const node = unparenthesized(expression);
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const around = this.#open.get(node);
    if (around !== undefined) {
      // A value that depends on itself is as good as its other origins.
      this.#granted = Math.min(this.#granted, around);
      return 'plain';
    }
    if (++this.#steps > MAX_STEPS) {
      this.#granted = -1;
      return 'graph';
    }
    const depth = this.#open.size;
    const before = this.#granted;
    this.#granted = Infinity;
    this.#open.set(node, depth);
    const trace = this.#compute(node);
    this.#open.delete(node);
    // What rests on nothing that is still open holds for good, and so does the worst: all else could only make it worse.
    const holds = this.#granted >= depth || (trace === 'graph' && this.#granted >= 0);
    if (holds) this.#known.set(node, trace);
    this.#granted = holds ? before : Math.min(before, this.#granted);
    if (depth === 0) {
      this.#steps = 0;
      this.#granted = Infinity;
    }
    return trace;
  };

  /** Whether an expression may carry a graph out; what a network keeps of its forward (`model.aux_loss`) may as well. */
  mayCarryGraph(expression: PyNode): boolean {
    const trace = this.of(expression);
    if (mayCarryGraph(trace)) return true;
    return (
      trace === 'network' &&
      this.models.size > 0 &&
      !this.models.has(unparenthesized(expression).text) &&
      !/\.module$/.test(expression.text)
    );
  }

  /** Whether an expression has a graph where what came in from outside had one. */
  readonly isDerived = (expression: PyNode): boolean => this.of(expression) === 'derived';

  /** Up to the worst: behind it, nothing matters. */
  #all(nodes: readonly (PyNode | undefined)[]): readonly Trace[] {
    return upToWorst(nodes, (node) => (node === undefined ? 'graph' : this.of(node)));
  }

  #compute(node: PyNode): Trace {
    // Numbers have no graph, nor have tensors of whole ones.
    if (kindOf(this.module, node) === 'number' || isFloating(this.module, node) === 'no') return 'plain';
    const said = this.premises?.expression(this.module, node);
    if (said !== undefined) return said;
    const called = this.depth > 0 ? this.functionNode : undefined;
    if (this.models.has(node.text) && !isRenamed(this.module, node, this.models, called)) return 'network';
    if (parts.PLAIN.test(node.type)) return 'plain';
    if (parts.HOLDS_ALL.test(node.type)) return worst(this.#all(node.named));
    switch (node.type) {
      case 'lambda':
        return this.#captured(node);
      case 'pair':
      case 'keyword_argument':
      case 'named_expression':
        return worst(this.#all([node.value]));
      case 'conditional_expression':
        return worst(this.#all([node.named[0], node.named[2]]));
      case 'unary_operator':
        return operation(this.#all(node.named));
      case 'binary_operator':
        if (parts.isOfText(this.module, node)) return 'plain';
        return operation(this.#all([node.left, node.right]));
      case 'subscript':
        return parts.takenBy(this.module, node)(this.#all([node.value]));
      case 'attribute':
        return this.#attribute(node);
      case 'identifier':
        return this.#name(node);
      case 'call':
        return this.#call(node);
      default:
        return parts.GATHERS.test(node.type) ? worst(this.#all([node.body])) : 'graph';
    }
  }

  #attribute(node: PyNode): Trace {
    const name = node.attribute?.text ?? '';
    const object = node.object;
    if (qualifiedName(this.module, node) !== undefined) return 'plain';
    const computed = object && this.#property(node);
    if (computed !== undefined) return computed;
    if (known.isPlainAttribute(name) && !(object && mayBeField(this.module, node, this.of))) return 'plain';
    return this.depth === 0 && isHandedIn(this.module, node) ? 'given' : worst(this.#all([object]));
  }

  /** What a property of the project computes with a graph, where reading the attribute may run one. */
  #property(node: PyNode): Trace | undefined {
    if (this.functionNode.name?.text === node.attribute?.text) return undefined;
    const gives = ({ module, node: property }: Elsewhere, self: Trace) =>
      this.#handedBack(property, new Map([[selfName(property) ?? 'self', self]]), module);
    return computedByProperty(this.module, node, this.of, this.depth < MAX_CALLS && gives);
  }

  #name(identifier: PyNode): Trace {
    if (!livesIn(this.module, identifier, this.functionNode)) {
      if (isDefinedOrConstant(writesOf(this.module, identifier))) return 'plain';
      return worst(['outside', this.#held(identifier)]);
    }
    const reaching = reachingDefinitions(this.module, identifier) ?? [];
    const found = reaching.length > 0 ? reaching : waysGiven(this.module, identifier);
    const origin = worst(upToWorst(found, (definition) => this.defined(definition)));
    if (origin === 'graph') return origin;
    return worst([origin, this.#held(identifier, putIntoValues(this.module, identifier, reaching))]);
  }

  /** What was put into an object. A tensor does not hold a parameter but what was computed with it. */
  #held(identifier: PyNode, puts = this.#puts(identifier)): Trace {
    const held = worst(this.#all(puts));
    return held === 'network' && kindOf(this.module, identifier).endsWith('tensor') ? 'graph' : held;
  }

  /** What a binding gives to its name. */
  defined(definition: Definition): Trace {
    const said = this.premises?.definition(this.module, definition);
    if (said !== undefined) return said;
    switch (definition.kind) {
      case 'value':
      case 'with':
        return this.of(definition.value);
      case 'update':
        return operation([this.of(definition.value)]);
      case 'part':
        return parts.givesIndices(definition.node, definition.value) ? 'plain' : this.of(definition.value);
      case 'loop':
        return isCount(this.module, definition.node, definition.iterable)
          ? 'plain'
          : this.of(definition.iterable);
      case 'parameter':
        return this.#parameter(definition.node);
      default:
        return this.#bound(definition.node);
    }
  }

  #bound(name: PyNode): Trace {
    const role = roleOf(name);
    if (role === 'def' && name.parent !== undefined) return this.#captured(name.parent);
    return role === 'class' || role === 'import' ? 'plain' : 'outside';
  }

  /** A nested function runs later, but holds on to the variables that it reads, and to its defaults. */
  #captured(nested: PyNode): Trace {
    const reads = parts.readsInside(this.module, nested, this.functionNode);
    return reads.some((read) => mayCarryGraph(this.of(read))) ? 'graph' : 'plain';
  }

  #parameter(node: PyNode): Trace {
    const owner = node.closest('function_definition', 'lambda');
    // Hooks and callbacks are handed whatever the network computes.
    if (owner !== this.functionNode) return 'graph';
    const given = givenAs(this.parameters, node.text, parts.isPlainParameter(node));
    if (given !== undefined) return given;
    return this.depth === 0 && node.text !== selfName(this.functionNode) ? 'given' : 'outside';
  }

  /** What the function puts into an object by its methods, items and attributes, wherever it does. */
  #puts(identifier: PyNode): readonly PyNode[] {
    const { text } = identifier;
    const scope = this.module.resolve(identifier);
    const key = `${text}@${scope?.node.start}:${scope?.kind}`;
    const known = this.#putInto.get(key);
    if (known !== undefined) return known;
    const uses = scope === undefined ? this.module.words(text) : this.module.occurrences(scope, text);
    const found = uses
      .filter((use) => this.functionNode.contains(use))
      .flatMap((use) => valuesPutInto(this.module, use));
    this.#putInto.set(key, found);
    return found;
  }

  #call(call: PyNode): Trace {
    const callee = call.function;
    if (callee === undefined || this.models.has(callee.text)) return 'graph';
    if (givenAs(this.parameters, callee.text) === 'network') return 'graph';
    return parts.makesWhole(this.module, call) ? 'plain' : this.#given(call, callee);
  }

  #given(call: PyNode, callee: PyNode): Trace {
    const path = qualifiedName(this.module, callee);
    const given = givenTo(call);
    if (readsVariables(this.module, call)) return 'graph';
    if (isUnbound(this.module, callee)) {
      const fact = builtin(callee.text);
      if (fact?.graph === 'cut') return 'plain';
      if (fact?.gives === 'arguments' || known.isException(callee.text)) return worst(this.#all(given));
      if (fact?.dtype === 'promoted') return operation(this.#all(given));
    }
    const definition = calledDefinition(this.module, call);
    if (definition?.type === 'function_definition') {
      const run = definitionsRun(this.module, call, definition);
      const results = [...upToWorst(run ?? [definition], (each) => this.#returned(each, call))];
      return run === undefined ? operation([...results, ...this.#all(given), 'unknown']) : worst(results);
    }
    if (definition?.type === 'class_definition')
      return (parts.computesWhenMade(this.module, definition) ? operation : worst)(this.#all(given));
    const result =
      path === undefined ? undefined : resultOfLibrary(this.module, path, given, (nodes) => this.#all(nodes));
    if (result !== undefined) return result;
    const found =
      path === undefined ? starredFunction(this.module, callee) : functionElsewhere(this.module, callee);
    if (found !== undefined) return this.#returned(found.node, call, found.module);
    const receiver = receiverOf(call);
    const name = methodName(call) ?? callee.text;
    if (receiver !== undefined && path === undefined) return this.#method(name, receiver, given);
    const traces = this.#all(given);
    return operation(/^[A-Z]/.test(name) ? traces : [...traces, 'unknown']);
  }

  #method(name: string, receiver: PyNode, given: readonly PyNode[]): Trace {
    if (walksModule(name)) return 'network';
    const from = this.of(receiver);
    const isOwn = () => isRedefined(this.module, name);
    if (isPlainMethod(name) && !(mayCarryGraph(from) && isOwn())) return 'plain';
    if (name === 'sample' && row(makerOf(this.module, receiver) ?? '')?.draws === 'cut') return 'plain';
    if (from !== 'network' && known.takesForm(name) && !isOwn()) return operation([from]);
    const traces = this.#all(given);
    if (traces.includes('graph') && !givesModule(name)) return 'graph';
    if (from === 'network') return givesModule(name) ? 'network' : 'graph';
    if (givesHeld(name)) return worst([from, ...traces]);
    // `accelerator.gather(x)`; `logits.gather(1, actions)` is tensor math.
    if (COLLECTS.test(name) && !mayCarryGraph(from) && functionsNamed(this.module, name)?.length === 0)
      return worst(traces);
    return operation([from, ...traces]);
  }

  /** The values of a function of the file that a call runs; undefined where that is too deep to follow. */
  insideOf(definition: PyNode, call: PyNode): GradTrace | undefined {
    return this.depth >= MAX_CALLS ? undefined : this.#inside(definition, this.#givenTo(definition, call));
  }

  /** In another file, the networks go by other names. */
  #inside(definition: PyNode, given: Given, module = this.module): GradTrace {
    const [models, results] = module === this.module ? [this.models, this.results] : [];
    return new GradTrace(module, definition, models, given, this.depth + 1, this.premises, results);
  }

  #givenTo(definition: PyNode, call: PyNode): Given {
    const given = argumentsByParameter(this.module, definition, call);
    if (given === undefined) return worst(this.#all(givenTo(call)));
    const traces = new Map([...given].map(([name, value]) => [name, this.of(value)]));
    const made = parts.objectMadeIn(this.module, this.functionNode, definition, call);
    const held = made && this.of(made.object);
    if (made !== undefined && (held === 'graph' || (held === 'plain' && made.isMeter)))
      traces.set(made.self, held);
    return traces;
  }

  /** What a call gives, where it is `plain` only as far as that is certain. */
  #certainlyGivenTo(definition: PyNode, call: PyNode): Given {
    const given = argumentsByParameter(this.module, definition, call);
    const isCertain = (name: string): boolean => isCertainlyPlain(this.module, given?.get(name), this);
    return withoutPlain(this.#givenTo(definition, call), isCertain);
  }

  /** What a function hands back, given what it is given. */
  #returned(definition: PyNode, call: PyNode, module = this.module): Trace {
    const isHere = module === this.module;
    if (this.depth >= MAX_CALLS || (!isHere && decoratorsOf(definition).length > 0)) return 'graph';
    const isInside = isHere && this.functionNode.contains(definition);
    if (isInside && this.#captured(definition) === 'graph') return 'graph';
    return this.#handedBack(definition, this.#certainlyGivenTo(definition, call), module);
  }

  #handedBack(definition: PyNode, given: Given, module: PyModule): Trace {
    const shape = typeof given === 'string' ? given : [...given].flat().join(' ');
    const key = `${module.path} ${definition.start} ${shape} ${this.depth}`;
    const known = this.results.get(key);
    if (known !== undefined) return known;
    const result = worst(upToWorst(returnedBy(definition), this.#inside(definition, given, module).of));
    this.results.set(key, result);
    return result;
  }
}
