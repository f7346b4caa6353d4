import { givesModule } from '../../src/library/library.js';
import { CONTAINERS, WRAPS_MODULE } from '../../src/library/names.js';
import { isLibraryModel, isModuleClass, isPeftModelMaker } from '../../src/library/paths.js';
import { isAnywhere } from '../../src/semantic/anywhere.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { setsByText } from '../../src/semantic/attribute-writes.js';
import { classBehind } from '../../src/semantic/definitions.js';
import { boundElsewhere, type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { isReachedByText, valuesGiven } from '../../src/semantic/function-uses.js';
import { placeOf, shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath, roleOf } from '../../src/semantic/names.js';
import { isInstallable, isNotebook, isProgram } from '../../src/semantic/program.js';
import { ask, type Question } from '../../src/semantic/question.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingFunction,
  isAsync,
  ownNodes,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { entriesOf } from '../../src/semantic/tables.js';
import type { PyNode } from '../../src/syntax/node.js';
import type { GradDoubt } from '../../src/torch/grad/doubts.js';
import { classOf, definitionCalled, definitionOfValue, valuesCalled } from './called.js';
import { callsOfInstances } from './instance-calls.js';
import { doubtsOfInstances, ownOptimizers, usesItself } from './instances.js';
import { ownNetwork, sharedBy } from './sharing.js';
import { NetworkUses } from './uses.js';

/** An optimizer that a network has of its own parameters, and all that the project does with it. */
interface OwnOptimizer {
  /** The first of them. */
  readonly trainer: Elsewhere;
  readonly uses: readonly Elsewhere[];
}

/** Who has a network, and its parameters, as far as the project shows. */
export interface Fate {
  /** An optimizer of torch certainly gets its parameters. */
  readonly isTrained: boolean;
  /** Its gradients are switched off for good. */
  readonly isFrozen: boolean;
  /** What compiles it, for the grad mode in which it runs. */
  readonly compiler: string | undefined;
  /** What speaks against saying that nobody trains it, nor reads the gradients of its parameters. */
  readonly doubts: readonly GradDoubt[];
  readonly own: readonly OwnOptimizer[];
}

export function fateOf(module: PyModule, network: PyNode): Fate {
  return module.memo(findFate, holderOf(module, network));
}

/** One node for all places where the same variable or attribute stands. */
function holderOf(module: PyModule, network: PyNode): PyNode {
  if (network.type === 'identifier') {
    const scope = module.resolve(network);
    return (scope && module.writes(scope, network.text)[0]) ?? network;
  }
  const owner = network.type === 'attribute' && classBehind(module, network.object ?? network);
  const [first] = owner ? attributeUses(module, owner, network.attribute?.text ?? '') : [];
  return first?.node ?? network;
}

function findFate(module: PyModule, network: PyNode): Fate {
  return new Follower(shown(network)).follow(module, network);
}

const MAX_HOPS = 8;
const DEEP_COPY = 'copy.deepcopy';
/** What it gives has the parts of what it is given. */
const SHARES = /^copy\.copy$|^torchvision\.models\.feature_extraction\.|\.convert_sync_batchnorm$/;
const COMPILED = /^torch\.(?:compile|jit\.\w+)$/;
/** Each call gives an object of its own, whatever it is given. */
const MAKES = /^torch\.(?:load|jit\.load|hub\.load)$/;

/** Follows a network to where it was made, and to all that the project does with it. */
class Follower extends NetworkUses implements Fate {
  compiler: string | undefined;
  readonly #made = new Set<string>();
  /** What is open where a function that others may import is given the network. */
  #outer: Question | undefined;
  #isClosed = false;
  /** Attributes by which it holds optimizers of its own parameters, and whether its class uses them as well. */
  readonly #own = new Map<string, boolean>();
  readonly own: OwnOptimizer[] = [];

  /** The network as it is known at one place. */
  follow(module: PyModule, network: PyNode): this {
    this.object(module, network, 0);
    if (this.#outer !== undefined && !this.#isClosed) this.unknown(this.#outer);
    for (const [name, isHidden] of this.#own) {
      const part = this.usesOfPart(name);
      if (part === undefined) continue;
      this.isTrained = true;
      const [trainer] = part.isCertain && !isHidden ? part.uses : [];
      this.refute(`\`${this.name}.${name}\` is an optimizer of its parameters, and is used`, trainer);
      if (trainer !== undefined) this.own.push({ trainer, uses: part.uses });
    }
    if (this.#own.has('*'))
      this.unknown(
        ask(
          'untrained',
        )`Does \`${this.name}\`, whose class does something with its own parameters, stay untrained?`,
      );
    return this;
  }

  protected override isFollowed(module: PyModule, classNode: PyNode): boolean {
    return callsOfInstances(module, classNode) !== undefined;
  }

  /** What an expression gives: where it comes from, and who else has it. */
  object(module: PyModule, expression: PyNode | undefined, hops: number): undefined {
    const node = expression && unparenthesized(expression);
    if (node === undefined || hops > MAX_HOPS)
      return this.unknown(ask('untrained')`Does \`${this.name}\` stay untrained where it comes from?`);
    switch (node.type) {
      case 'none':
        return;
      case 'identifier':
        return this.#variable(module, node, hops);
      case 'attribute':
        return this.#attribute(module, node, hops);
      case 'call':
        return this.#call(module, node, hops);
      case 'assignment':
        this.assigned(module, node.left, hops + 1);
        return this.object(module, node.right, hops + 1);
      case 'conditional_expression':
        this.object(module, node.named[0], hops + 1);
        return this.object(module, node.named[2], hops + 1);
      default:
        return this.unknown(ask('untrained')`Does \`${shown(node)}\` stay untrained?`);
    }
  }

  #variable(module: PyModule, name: PyNode, hops: number): undefined {
    const scope = module.resolve(name);
    const key = `${module.path} ${scope?.node.start} ${scope?.kind} ${name.text}`;
    if (this.#made.has(key)) return;
    this.#made.add(key);
    const writes = scope === undefined ? [] : module.writes(scope, name.text);
    if (writes.length === 0) return this.unknown(untrainedAtOrigin(name));
    for (const write of writes) this.#origin(module, write, hops);
    this.usesOf(module, name, hops);
  }

  #origin(module: PyModule, write: PyNode, hops: number): undefined {
    const definition = definitionOf(write);
    if (definition.kind === 'value') {
      this.#otherTargets(module, write, hops);
      return this.object(module, definition.value, hops + 1);
    }
    if (definition.kind === 'parameter') return this.#given(module, write, hops);
    const path = roleOf(write) === 'import' ? importedPath(write) : undefined;
    const bound = path === undefined ? undefined : boundElsewhere(module, path);
    if (bound?.node.type === 'assignment') return this.object(bound.module, bound.node.left, hops + 1);
    this.unknown(untrainedAtOrigin(write));
  }

  /** `student` of `student = teacher = Net()` */
  #otherTargets(module: PyModule, write: PyNode, hops: number): void {
    for (let at = write.closest('assignment')?.parent; at?.type === 'assignment'; at = at.parent)
      this.assigned(module, at.left, hops + 1);
  }

  #given(module: PyModule, parameter: PyNode, hops: number): undefined {
    const owner = enclosingFunction(parameter);
    const name = owner?.name?.text;
    const given = owner && valuesGiven(module, owner, parameter);
    if (owner === undefined || given === undefined || given.length === 0 || isReachedByText(module, owner))
      return this.unknown(
        ask(
          'untrained',
        )`Does the \`${parameter.text}\` that \`${name}\` is given stay untrained by its callers?`,
      );
    this.#outer ??= ask(
      'untrained',
    )`Does the \`${parameter.text}\` that \`${name}\` is given stay untrained in code outside this project, too?`;
    const isClosed = (each: PyModule) => isProgram(each) || !(isNotebook(each) || isInstallable(each));
    this.#isClosed ||= [module, ...given.map((each) => each.module)].some(isClosed);
    for (const each of given) this.object(each.module, each.node, hops + 1);
  }

  #attribute(module: PyModule, node: PyNode, hops: number): undefined {
    const name = node.attribute?.text ?? '';
    const object = node.object;
    if (name === 'module') return this.object(module, object, hops + 1);
    const classNode = object && classBehind(module, object);
    // A part of a network is trained where the whole is.
    if (classNode === undefined) return this.object(module, object, hops + 1);
    const key = `${module.path} ${classNode.start} .${name}`;
    if (this.#made.has(key)) return;
    this.#made.add(key);
    const uses = attributeUses(module, classNode, name);
    if (isAnywhere(module, name, setsByText)) this.unknown(untrainedAtOrigin(node));
    if (uses.every(({ kind }) => kind === 'read')) {
      this.unknown(untrainedAtOrigin(node));
      if (hops === 0) this.#askBases(module, classNode, name);
    }
    for (const use of uses) {
      if (use.kind === 'read') continue;
      const assignment = use.node.parent;
      const value = assignment?.left === use.node ? assignment.right : undefined;
      if (use.kind === 'write' && value !== undefined) {
        this.#otherTargets(module, use.node, hops);
        this.object(module, value, hops + 1);
      } else this.unknown(ask('untrained')`Does what \`${shown(use.node)}\` becomes stay untrained?`);
    }
    this.usesOfAttribute(module, classNode, name, hops);
  }

  /** A base class of another file made it: whether that trains it is heard, by a look of its own that proves nothing else. */
  #askBases(module: PyModule, classNode: PyNode, name: string): void {
    for (const base of lineageOf(module, classNode).elsewhere) {
      const there = new Follower(this.name);
      there.usesOfAttribute(base.module, base.node, name, 1);
      this.doubts.push(...there.doubts.filter(({ answer }) => answer === 'no'));
    }
  }

  /** What made it: an object of its own, unless it is given a part of another. */
  #call(module: PyModule, call: PyNode, hops: number): undefined {
    const callee = call.function;
    const path = callee && qualifiedName(module, callee);
    const receiver = receiverOf(call);
    const name = callee?.type === 'attribute' ? (callee.attribute?.text ?? '') : '';
    const isOfOther =
      path !== undefined && (WRAPS_MODULE.has(path) || SHARES.test(path) || isPeftModelMaker(path));
    if (COMPILED.test(path ?? '')) this.compiler ??= path;
    if (isOfOther) return this.object(module, argumentsOf(call)[0], hops + 1);
    if (path === DEEP_COPY) {
      const copied = classOf(module, argumentsOf(call)[0]);
      if (copied !== undefined) this.#instance(copied);
      else if (copiesItsOwnWay(module)) this.unknown(ownNetwork(`\`${shown(call)}\``));
      return;
    }
    if (MAKES.test(path ?? '') || isLibraryModel(path ?? '')) return;
    if (path !== undefined && isModuleClass(path)) {
      if (CONTAINERS.has(path)) for (const each of argumentsOf(call)) this.object(module, each, hops + 1);
      return;
    }
    const makers = callee && entriesOf(module, callee);
    if (makers) {
      for (const node of makers) this.#maker({ module, node }, module, call, hops + 1);
      return;
    }
    const found = definitionCalled(module, call);
    if (!found && receiver !== undefined && givesModule(name)) return this.object(module, receiver, hops + 1);
    if (callee !== undefined && isOfTorchvision(module, callee)) return;
    if (found) return this.#definition(found, module, call, hops);
    const given = callee === undefined ? [] : valuesCalled(module, callee);
    if (given.length === 0) this.unknown(ownNetwork(`\`${shown(callee ?? call)}\``));
    for (const each of given) this.#maker(each, module, call, hops + 1);
  }

  /** A function that something else gave: `lambda: Net(3)`, `Net`, `build`. */
  #maker({ module: there, node }: Elsewhere, module: PyModule, call: PyNode, hops: number): undefined {
    if (node.type === 'lambda') return this.object(there, node.body, hops + 1);
    const path = qualifiedName(there, node) ?? '';
    if (MAKES.test(path) || isLibraryModel(path)) return;
    const found = definitionOfValue(there, node);
    if (found === undefined) return this.unknown(ownNetwork(`\`${shown(node)}\``));
    this.#definition(found, module, call, hops);
  }

  #definition(found: Elsewhere, module: PyModule, call: PyNode, hops: number): undefined {
    if (found.node.type !== 'class_definition') return this.#factory(found, hops);
    this.#instance(found);
    for (const question of sharedBy(found, module, call)) this.unknown(question);
  }

  /** What a class does with each of its instances. */
  #instance(made: Elsewhere): undefined {
    for (const name of ownOptimizers(made))
      this.#own.set(name, this.#own.get(name) === true || usesItself(made, name));
    for (const question of doubtsOfInstances(made)) this.unknown(question);
  }

  #factory({ module, node }: Elsewhere, hops: number): undefined {
    const own = [...ownNodes(node)];
    const returned = own.filter(({ type }) => type === 'return_statement');
    const isPlain =
      decoratorsOf(node).length === 0 && !isAsync(node) && !own.some(({ type }) => type === 'yield');
    if (!isPlain || returned.length === 0)
      return this.unknown(ownNetwork(`the function at ${placeOf(module, node)}`));
    this.factories.add(node);
    for (const each of returned) this.object(module, each.named[0], hops + 1);
  }
}

/** `models.__dict__[name](…)`, `getattr(models, name)(…)` of `torchvision.models`. */
function isOfTorchvision(module: PyModule, callee: PyNode): boolean {
  const dictionary = callee.type === 'subscript' ? callee.value : undefined;
  const isGot = callee.type === 'call' && callee.function?.text === 'getattr';
  const holder =
    dictionary?.type === 'attribute' && dictionary.attribute?.text === '__dict__'
      ? dictionary.object
      : isGot
        ? argumentsOf(callee)[0]
        : undefined;
  return holder !== undefined && /^torchvision\.models(?:\.|$)/.test(qualifiedName(module, holder) ?? '');
}

/** A class of the project says itself what a copy of it is, or hooks are copied with it that look at gradients. */
function copiesItsOwnWay(module: PyModule): boolean {
  return SPECIAL.some((word) => {
    const elsewhere = module.around.summaries({ word, beside: [] }, names);
    return names(module, word) || elsewhere === undefined || elsewhere.includes(true);
  });
}

const SPECIAL: readonly string[] = ['__deepcopy__', 'register_full_backward_hook', 'register_backward_hook'];

function untrainedAtOrigin(node: PyNode): Question {
  return ask('untrained')`Does \`${shown(node)}\` stay untrained where it comes from?`;
}

function names(module: PyModule, word: string): boolean {
  return module.words(word).length > 0;
}
