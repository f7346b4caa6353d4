import { builtin, canonical, cutsGraph, ofTensor, row } from '../../src/library/library.js';
import { DATA_LOADER, NUMPY, TORCH } from '../../src/library/names.js';
import { isModuleClass } from '../../src/library/paths.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { READS_NAMES } from '../../src/semantic/by-text.js';
import { classBehind } from '../../src/semantic/definitions.js';
import { boundElsewhere, type Elsewhere } from '../../src/semantic/elsewhere.js';
import { type Definition, definitionOf, reachingDefinitions } from '../../src/semantic/flow.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import { shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { isOwnMember } from '../../src/semantic/instance.js';
import type { PyModule } from '../../src/semantic/module.js';
import { passOf } from '../../src/semantic/passes.js';
import { isRedefined } from '../../src/semantic/project-names.js';
import { ask } from '../../src/semantic/question.js';
import {
  argumentsOf,
  enclosingFunction,
  keywordValue,
  methodName,
  ownNodes,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type GradDoubt, no, unknown } from '../../src/torch/grad/doubts.js';
import { passesForModel } from '../../src/torch/module/model-value.js';
import { valueOf } from '../../src/values/index.js';
import { recordsNoGraph } from '../../src/values/value/gradient.js';
import { isPlainParameter, putInto } from '../../src/values/value/parts.js';
import { isPlainAttribute } from '../../src/values/value/plain.js';
import { classOf, definitionCalled, functionsGiven } from './called.js';
import {
  asksForGradient,
  doubtOfLoader,
  first,
  type Given,
  givenInside,
  isAsked,
  isLoader,
  isLoss,
  valueWritten,
  withoutGradient,
} from './inputs.js';
import { valuesGivenToInstances } from './instance-calls.js';
import { isSetting, isSettingPath } from './sharing.js';
import { givenByTrainer } from './trainer.js';

const MAX_DEPTH = 24;
const MAX_STEPS = 3000;
/** Of torch, what may give anything. */
const LEADS_ON = /^torch\.(?:load|hub|jit|compile|func|vmap|distributions|autograd\.(?!Variable$))/;
const HANDS_ON = /^(?:random\.(?:sample|choice|choices)|collections\.deque|copy\.\w+|itertools\.\w+)$/;

/** Whether values carry a graph, apart from one that leads to networks which nobody trains. */
export class Graphless {
  /** The networks that were taken to be trained by nobody. */
  readonly relied = new Map<string, PyNode>();
  readonly #open = new Set<PyNode>();
  #steps = 0;

  constructor(
    /** The file of the statement. */
    private readonly module: PyModule,
    /** The networks, as written, that may be so. */
    private readonly networks: ReadonlySet<string>,
    /** Those that are trained, as written: what they compute certainly has a graph. */
    private readonly trained: ReadonlySet<string>,
  ) {}

  /** Why a value may carry a graph; undefined where it does not. */
  doubt(value: PyNode): GradDoubt | undefined {
    return this.#of(this.module, value, undefined, 0);
  }

  #of(module: PyModule, expression: PyNode | undefined, given: Given, depth: number): GradDoubt | undefined {
    if (expression === undefined)
      return unknown(ask('input-without-gradient')`Is the input of the network a tensor without a gradient?`);
    const node = unparenthesized(expression);
    if (depth > MAX_DEPTH || ++this.#steps > MAX_STEPS) return withoutGradient(node);
    // A value that depends on itself is as good as its other origins.
    if (this.#open.has(node) || isSetting(module, node)) return undefined;
    this.#open.add(node);
    const found = this.#find(module, node, given, depth);
    this.#open.delete(node);
    return found;
  }

  #find(module: PyModule, node: PyNode, given: Given, depth: number): GradDoubt | undefined {
    const of = (inner: PyNode | undefined): GradDoubt | undefined =>
      this.#of(module, inner, given, depth + 1);
    switch (node.type) {
      case 'string':
      case 'concatenated_string':
      case 'integer':
      case 'float':
      case 'none':
      case 'true':
      case 'false':
      case 'comparison_operator':
      case 'not_operator':
      case 'slice':
      case 'ellipsis':
        return undefined;
      case 'list':
      case 'tuple':
      case 'set':
      case 'dictionary':
      case 'expression_list':
      case 'boolean_operator':
      case 'list_splat':
      case 'dictionary_splat':
        return first(node.named, of);
      case 'pair':
      case 'keyword_argument':
      case 'subscript':
      case 'named_expression':
        return of(node.value);
      case 'unary_operator':
        return of(node.argument);
      case 'binary_operator':
        return first([node.left, node.right], of);
      case 'conditional_expression':
        return first([node.named[0], node.named[2]], of);
      case 'list_comprehension':
      case 'set_comprehension':
      case 'dictionary_comprehension':
      case 'generator_expression':
        return of(node.body);
      case 'identifier':
        return this.#name(module, node, given, depth);
      case 'attribute':
        return this.#attribute(module, node, given, depth);
      case 'call':
        return this.#call(module, node, given, depth);
      default:
        return withoutGradient(node);
    }
  }

  #name(module: PyModule, name: PyNode, given: Given, depth: number): GradDoubt | undefined {
    if (valueOf(module, name).kind === 'number' || valueOf(module, name).isFloating === 'no')
      return undefined;
    const scope = module.resolve(name);
    const definitions =
      reachingDefinitions(module, name) ??
      (scope === undefined ? [] : module.writes(scope, name.text).map(definitionOf));
    if (definitions.length === 0) return withoutGradient(name);
    if (asksForGradient(module, name)) return no(`\`${name.text}\` is asked for its gradient`);
    const puts = scope === undefined ? [] : putInto(module, module.occurrences(scope, name.text));
    return (
      first(definitions, (each) => this.#defined(module, each, given, depth)) ??
      this.#put(module, puts, given, depth)
    );
  }

  /** What is put into an object: `batch["x"] = net(z)`, `found.append(net(z))`. */
  #put(module: PyModule, values: readonly PyNode[], given: Given, depth: number): GradDoubt | undefined {
    return first(values, (each) =>
      recordsNoGraph(module, each) ? undefined : this.#of(module, each, given, depth + 1),
    );
  }

  #defined(module: PyModule, definition: Definition, given: Given, depth: number): GradDoubt | undefined {
    const { node } = definition;
    if (definition.kind !== 'parameter' && recordsNoGraph(module, node)) return undefined;
    switch (definition.kind) {
      case 'value':
      case 'part':
      case 'update':
        return this.#of(module, definition.value, given, depth + 1);
      case 'loop':
        return this.#element(module, node, definition.iterable, given, depth);
      case 'parameter':
        return this.#parameter(module, node, given, depth);
      default:
        return withoutGradient(node);
    }
  }

  #parameter(module: PyModule, node: PyNode, given: Given, depth: number): GradDoubt | undefined {
    if (isPlainParameter(node)) return undefined;
    const known = given?.get(node.text);
    if (known === undefined && given?.has(node.text)) return undefined;
    if (known !== undefined) return this.#of(known.module, known.node, undefined, depth + 1);
    if (givenByTrainer(module, node) === 'batch') return undefined;
    const owner = enclosingFunction(node);
    const values = owner && (valuesGivenToInstances(module, owner, node) ?? valuesGiven(module, owner, node));
    if (values === undefined || values.length === 0)
      return unknown(
        ask(
          'input-without-gradient',
        )`Does the \`${node.text}\` that \`${owner?.name?.text}\` is given come without a gradient?`,
      );
    return first(values, (each) => this.#of(each.module, each.node, undefined, depth + 1));
  }

  /** What a loop gives: batches of a loader, or the elements of something that is followed. */
  #element(
    module: PyModule,
    target: PyNode,
    iterable: PyNode,
    given: Given,
    depth: number,
  ): GradDoubt | undefined {
    const loop = target.closest('for_statement', 'for_in_clause');
    const data = loop === undefined ? iterable : (passOf(module, loop)?.data ?? iterable);
    if (!isLoader(module, data, given, depth)) return this.#of(module, data, given, depth + 1);
    return doubtOfLoader(module, data, this.module, this.trained);
  }

  #attribute(module: PyModule, node: PyNode, given: Given, depth: number): GradDoubt | undefined {
    const name = node.attribute?.text ?? '';
    const object = node.object;
    if (isPlainAttribute(name) && !isOwnMember(module, object, name)) return undefined;
    const path = qualifiedName(module, node);
    if (path !== undefined) return this.#ofModule(module, node, path, depth);
    const own = object && classBehind(module, object);
    const made = own === undefined ? classOf(module, object) : { module, node: own };
    const uses = made === undefined ? [] : attributeUses(made.module, made.node, name);
    if (made === undefined || (own === undefined && uses.length === 0))
      return this.#of(module, object, given, depth + 1);
    if (uses.some((use) => isAsked(use.node))) return no(`\`${shown(node)}\` is asked for its gradient`);
    const writes = uses.filter(({ kind }) => kind !== 'read');
    const puts = uses.flatMap(({ node: use }) => putInto(made.module, [use]));
    const values = writes.map(({ node: write }) => valueWritten(write));
    if (values.length === 0) return withoutGradient(node);
    return (
      first(values, (each) => this.#of(made.module, each, undefined, depth + 1)) ??
      this.#put(made.module, puts, undefined, depth)
    );
  }

  /** `torch.float32`, `settings.SCALE`. */
  #ofModule(module: PyModule, node: PyNode, path: string, depth: number): GradDoubt | undefined {
    const bound = boundElsewhere(module, path);
    if (bound?.node.type === 'assignment')
      return this.#of(bound.module, bound.node.right, undefined, depth + 1);
    return path.startsWith(TORCH) || isSettingPath(path) ? undefined : withoutGradient(node);
  }

  #call(module: PyModule, call: PyNode, given: Given, depth: number): GradDoubt | undefined {
    const callee = call.function;
    const all = (): GradDoubt | undefined =>
      first(argumentsOf(call), (each) => this.#of(module, each, given, depth + 1));
    if (callee === undefined) return withoutGradient(call);
    if (valueOf(module, call).kind === 'number') return undefined;
    const path = qualifiedName(module, callee);
    if (path?.startsWith(NUMPY)) return undefined;
    if (canonical(path ?? '') === DATA_LOADER) return undefined;
    if (path?.startsWith(TORCH)) {
      const asked = keywordValue(call, 'requires_grad');
      if (asked !== undefined && asked.type !== 'false')
        return asked.type === 'true' ? no(`\`${shown(call)}\` needs a gradient`) : withoutGradient(call);
      if (path.endsWith('.Parameter') || (isModuleClass(path) && row(path)?.is !== 'loss'))
        return no(`\`${shown(call)}\` needs a gradient`);
      if (LEADS_ON.test(path)) return withoutGradient(call);
      return row(path)?.graph === 'cut' ? undefined : all();
    }
    const network = module === this.module ? this.#networkRun(callee) : undefined;
    if (network !== undefined) {
      this.relied.set(`${network.text} ${enclosingFunction(network)?.start}`, network);
      return all();
    }
    const found = definitionCalled(module, call);
    if (found !== undefined && found.node.type === 'function_definition') {
      const doubt = this.#returned(found, module, call, given, depth);
      return doubt && this.#isOfTrained(callee) ? this.#lost(call) : doubt;
    }
    const makers = found === undefined ? functionsGiven(module, callee) : [];
    if (makers.length > 0)
      return first(makers, (each) => this.#returned(each, module, call, given, depth + 1));
    const isFree = callee.type === 'identifier' && module.resolve(callee) === undefined;
    if (isFree && builtin(callee.text) !== undefined)
      return builtin(callee.text)?.graph === 'cut' ? undefined : all();
    if (isLoss(module, callee) || HANDS_ON.test(path ?? '')) return all();
    return this.#method(module, call, given, depth);
  }

  /** `teacher` of `teacher(x)`, `teacher.encode(x)` and `teacher.module(x)`. */
  #networkRun(callee: PyNode): PyNode | undefined {
    return ownersOf(callee).find(({ text }) => this.networks.has(text));
  }

  #isOfTrained(callee: PyNode): boolean {
    return ownersOf(callee).some(({ text }) => this.trained.has(text));
  }

  #lost(call: PyNode): GradDoubt {
    return no(`the gradient of \`${shown(call)}\`, which is trained, would be lost`);
  }

  #method(module: PyModule, call: PyNode, given: Given, depth: number): GradDoubt | undefined {
    const receiver = receiverOf(call);
    const name = methodName(call) ?? '';
    if (this.#isOfTrained(call.function ?? call)) return cutsGraph(name) ? undefined : this.#lost(call);
    const isOfTensor = receiver !== undefined && valueOf(module, receiver).kind.endsWith('tensor');
    if (!isOfTensor && (receiver === undefined || ofTensor(name) === undefined || isRedefined(module, name)))
      return this.#unknownCall(module, call, given, depth);
    if (name === 'requires_grad_' && argumentsOf(call)[0]?.type !== 'false')
      return no(`\`${shown(call)}\` needs a gradient`);
    if (cutsGraph(name)) return undefined;
    // The form, the device or the type of what it is likened to, and no value of it.
    const operands = /^to$|_as$|^type$/.test(name) ? [receiver] : [receiver, ...argumentsOf(call)];
    return first(operands, (each) => this.#of(module, each, given, depth + 1));
  }

  /** What is called is not known: a network mostly hands on a gradient, and so does what gets a value that needs one. */
  #unknownCall(module: PyModule, call: PyNode, given: Given, depth: number): GradDoubt | undefined {
    const callee = call.function ?? call;
    const owner = callee.type === 'attribute' ? callee.object : undefined;
    if ([callee, owner].some((each) => each !== undefined && passesForModel(module, each) !== 'no'))
      return {
        answer: 'no',
        otherwise: `the gradient of \`${shown(call)}\`, which may be trained, would be lost`,
      };
    const doubt = first(argumentsOf(call), (each) => this.#of(module, each, given, depth + 1));
    return doubt?.answer === 'no' ? doubt : withoutGradient(call);
  }

  /** What a function of the project hands back, given what it is given. */
  #returned(
    found: Elsewhere,
    module: PyModule,
    call: PyNode,
    given: Given,
    depth: number,
  ): GradDoubt | undefined {
    const { module: there, node } = found;
    const inside = givenInside(module, node, call);
    const returned = ownNodes(node).filter(({ type }) => type === 'return_statement' || type === 'yield');
    if (inside === undefined || returned.length === 0) return withoutGradient(call);
    // Its values are followed to what it is given, unless it asks for that by its name.
    const asked = READS_NAMES.test(there.codeOf(node)) ? [...inside.values()] : [];
    const doubt = first(asked, (each) => each && this.#of(module, each.node, given, depth + 1));
    if (doubt !== undefined) return doubt;
    return first(
      returned.flatMap(({ named }) => named),
      (each) => this.#of(there, each, inside, depth + 1),
    );
  }
}

/** `a.b.c`, `a.b`, `a` */
function ownersOf(path: PyNode): readonly PyNode[] {
  const object = path.type === 'attribute' ? path.object : undefined;
  return object === undefined ? [path] : [path, ...ownersOf(object)];
}
