import { builtin, cutsGraph, endsInContainer, ofTensor, onlyLooks, row } from '../../library/library.js';
import {
  CPU_LIBRARIES,
  DEEPCOPY,
  LR_SCHEDULERS,
  NUMPY,
  SAVE,
  TORCH,
  TORCH_DISTRIBUTED,
} from '../../library/names.js';
import { attributeUses, plainAttributes } from '../../semantic/attribute-uses.js';
import { attributeValuesInProject } from '../../semantic/attributes.js';
import { calledDefinition, classBehind } from '../../semantic/definitions.js';
import { type Elsewhere, makerOf } from '../../semantic/elsewhere.js';
import { definitionOf, readsReached } from '../../semantic/flow.js';
import { HOLDING, READ_ONLY } from '../../semantic/holders.js';
import { qualifiedName } from '../../semantic/imports.js';
import { isFreshContainer } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { binds, namesIn, roleOf } from '../../semantic/names.js';
import { functionsNamed } from '../../semantic/project-names.js';
import {
  argumentsOf,
  isCallee,
  isTarget,
  methodName,
  receiverOf,
  sameFunction,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { attributeUsesElsewhere } from '../../semantic/uses-elsewhere.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { registrationOf } from '../../torch/module/modules.js';
import { reflectionGates } from '../../torch/module/reflection.js';
import { reachesGradUse } from '../effects/grad.js';
import { differentiatingMethod } from '../effects/unknown-code.js';
import { endsGraph } from '../value/ends-graph.js';
import { kindOf } from '../value/tensor.js';
import { parametersGetting } from './handed.js';
import { DIFFERENTIATES, REPORTING, SCHEDULE } from './report.js';

/** Where a kept value may need its graph. What only becomes a number, a text or a truth value has no fate. */
export interface Fate {
  /**
   * `differentiated`: the code shows it, or asks whether it can be. `returned`, `escapes`: somebody else gets it, with its
   * graph. `saved`: a file notes whether it requires grad. `changed`: in place, which its graph records. `gradless`: an array or a deep copy is made of it, which raises where there is a graph, so there
   * is none, or the error is part of the program.
   */
  readonly kind: 'differentiated' | 'returned' | 'escapes' | 'saved' | 'changed' | 'gradless';
  readonly node: PyNode;
}

/** From function to function, this far. */
const MAX_CALLS = 3;

/** Follows a value: arithmetic, names, containers and loops, attributes in whatever file. */
export class RecordTrace {
  readonly fates: Fate[] = [];
  readonly #seen = new Set<PyNode>();

  constructor(
    private readonly module: PyModule,
    /** The attributes that are being followed already. */
    private readonly attributes: ReadonlySet<AttributeReads> = new Set(),
    /** The parameters of functions that it was handed to. */
    private readonly open: readonly PyNode[] = [],
  ) {}

  variable(binding: PyNode): void {
    for (const place of readsOf(this.module, binding))
      if (roleOf(place) === 'read') this.#read(place, binding);
  }

  follow(place: PyNode): void {
    if (this.#seen.has(place) || kindOf(this.module, place) === 'number') return;
    this.#seen.add(place);
    let node: PyNode | undefined = place;
    while (node?.parent !== undefined) node = this.#above(node, node.parent, place);
  }

  #add(kind: Fate['kind'], node: PyNode): undefined {
    this.fates.push({ kind, node });
  }

  /** The next larger expression that may carry the graph; undefined where the way ends. */
  #above(node: PyNode, parent: PyNode, place: PyNode): PyNode | undefined {
    if (HOLDING.has(parent.type)) return parent;
    if (READ_ONLY.has(parent.type)) return undefined;
    switch (parent.type) {
      case 'attribute':
        return this.#attribute(parent);
      case 'argument_list':
        return parent.parent?.type === 'call' ? this.#argument(node, parent.parent) : parent.parent;
      case 'call':
        // `sum(x for x in losses)` has no argument list.
        return parent.arguments === node ? this.#argument(node, parent) : this.#add('escapes', place);
      case 'binary_operator':
        return isFormatting(parent) ? undefined : parent;
      case 'pair':
        return parent.value === node ? parent : undefined;
      case 'conditional_expression':
        return parent.named[1] === node ? undefined : parent;
      case 'subscript':
        if (parent.value !== node) return undefined;
        if (isTarget(parent)) return undefined;
        return isTarget(parent, true) ? this.#add('changed', parent) : parent;
      case 'return_statement':
        return this.#add(sameFunction(parent, place) ? 'returned' : 'escapes', place);
      case 'named_expression':
        this.#bind(parent.name);
        return parent;
      case 'assignment':
      case 'augmented_assignment':
        if (parent.left === node) return undefined;
        this.store(parent.left);
        return parent.parent?.type === 'assignment' ? parent : undefined;
      case 'for_statement':
      case 'for_in_clause':
        if (parent.right === node) for (const name of namesIn(parent.left)) this.#bind(name);
        return undefined;
      default:
        return this.#add('escapes', place);
    }
  }

  #attribute(attribute: PyNode): PyNode | undefined {
    const name = attribute.attribute?.text ?? '';
    if (ofTensor(name)?.asksGraph) return this.#add('differentiated', attribute);
    if (name === 'numpy') return this.#add('gradless', attribute);
    if (endsGraph(this.module, name)) return undefined;
    const call = attribute.parent;
    const called = call?.type === 'call' && call.function === attribute;
    // `losses.sort()` of a list gives nothing, `torch.stack(losses).sort()` a tensor.
    if (called && endsInContainer(name) && ofTensor(name) === undefined) return undefined;
    if (called && /[^_]_$/.test(name)) this.#add('changed', attribute);
    return called ? call : attribute;
  }

  #argument(node: PyNode, call: PyNode): PyNode | undefined {
    const callee = call.function;
    const path = callee && qualifiedName(this.module, callee);
    if (path?.startsWith(TORCH)) {
      if (row(path)?.differentiates || /grad\w*$/.test(path)) return this.#add('differentiated', call);
      // An optimizer, a module, a `Variable`: an object that holds it.
      if (/\.[A-Z]\w*$/.test(path)) this.#add('escapes', node);
      if (path === SAVE) this.#add('saved', node);
      const ends = onlyLooks(path) || (path.startsWith(TORCH_DISTRIBUTED) && !path.includes('.nn.'));
      return ends ? undefined : call;
    }
    if (path?.startsWith(NUMPY) || path === DEEPCOPY) return this.#add('gradless', call);
    if (path !== undefined && CPU_LIBRARIES.test(path)) return undefined;
    const name = (callee?.type === 'attribute' ? callee.attribute : callee)?.text ?? '';
    if (isUnbound(this.module, callee)) {
      const known = builtin(name);
      // `getattr(loss, "grad_fn")`
      const asked = name === 'getattr' ? plainString(argumentsOf(call)[1] ?? call) : '';
      if (asked === undefined || ofTensor(asked)?.asksGraph) return this.#add('differentiated', call);
      if (known !== undefined && !known.keeps) return known.graph === 'cut' ? undefined : call;
    }
    const made = calledDefinition(this.module, call);
    const trains = made?.type === 'function_definition' && reachesGradUse(this.module, made);
    const receiver = receiverOf(call);
    // A schedule makes a number of the loss that it is told; what only has its name may keep it.
    if (name === 'step' && made === undefined && receiver && SCHEDULE.test(receiver.text)) {
      if (!makerOf(this.module, receiver)?.startsWith(LR_SCHEDULERS)) this.#add('escapes', node);
      return undefined;
    }
    const isOfWorld = name === 'step' && made === undefined && receiver !== undefined;
    // `env.step(action)`: no method of this name in the project differentiates.
    if (isOfWorld && differentiatingMethod(this.module, call) === undefined)
      return this.#add('escapes', node);
    if (DIFFERENTIATES.test(name) || trains) return this.#add('differentiated', call);
    if (name === 'format' && /string$/.test(receiver?.type ?? '')) return undefined;
    if (/[^_]_$/.test(name) && receiver !== undefined && isCut(receiver))
      return call.parent?.type === 'expression_statement' ? undefined : call;
    const logs = made === undefined && REPORTING.test(name) && isOfLibrary(this.module, name);
    if (logs) return call.parent?.type === 'expression_statement' ? undefined : call;
    // A variable tells whether it is a dictionary; many other objects have an `update`.
    const isTaken = endsInContainer(name) && (name !== 'update' || receiver?.type === 'identifier');
    const isContainers = () => isOfLibrary(this.module, name) || isContainer(this.module, receiver);
    if (receiver !== undefined && isTaken && methodName(call) === name && isContainers()) {
      this.store(receiver);
      return undefined;
    }
    const handed = this.#handed(node, call);
    if (handed !== undefined) return handed ? call : undefined;
    this.#add('escapes', node);
    return call;
  }

  /**
   * A function of the project gets the value: what that does with its parameter. Whether the call may hand it back; undefined
   * where others may get it.
   */
  #handed(node: PyNode, call: PyNode): boolean | undefined {
    if (this.open.length >= MAX_CALLS) return undefined;
    const parameters = parametersGetting(this.module, call, node);
    if (parameters === undefined || parameters.some((each) => this.open.includes(each.node)))
      return undefined;
    const fates = parameters.flatMap(({ module, node: parameter }) => {
      const trace = new RecordTrace(module, this.attributes, [...this.open, parameter]);
      trace.variable(parameter);
      return trace.fates;
    });
    if (fates.some(({ kind }) => kind === 'escapes')) return undefined;
    for (const { kind } of fates) if (kind !== 'returned') this.#add(kind, call);
    return fates.some(({ kind }) => kind === 'returned');
  }

  /** Somebody's name, attribute or element now holds the value. */
  store(target: PyNode | undefined): void {
    if (target === undefined) return;
    if (target.type === 'subscript' || target.type === 'attribute') {
      const root = target.type === 'subscript' ? target.value : undefined;
      if (root?.type === 'identifier') this.#followAll(root);
      else if (root?.type === 'subscript') this.store(root);
      else if (target.type === 'attribute') this.#keep(target);
      else this.#add('escapes', target);
    } else if (target.type === 'identifier') {
      if (roleOf(target) === 'read') this.#followAll(target);
      else this.#bind(target);
    } else if (target.type === 'call') this.#add('escapes', target);
    else for (const inner of target.named) this.store(inner);
  }

  /** An attribute of an object holds the value: whoever reads it, in whatever file, may need the graph. */
  #keep(target: PyNode): void {
    const found = readsOfAttribute(this.module, target);
    // What nobody in the project reads is there for others.
    if (found.isOpen || found.reads.length === 0) this.#add('escapes', target);
    if (this.attributes.has(found)) return;
    const attributes = new Set([...this.attributes, found]);
    for (const { module, node } of found.reads) {
      const trace = new RecordTrace(module, attributes, this.open);
      trace.follow(node);
      for (const fate of trace.fates) {
        if (fate.kind === 'gradless') continue;
        const isHere = module === this.module;
        this.#add(fate.kind === 'returned' ? 'escapes' : fate.kind, isHere ? fate.node : target);
      }
    }
  }

  /** Every read of a container that took the value in. */
  #followAll(container: PyNode): void {
    const scope = this.module.resolve(container);
    if (scope === undefined || scope.kind === 'module') this.#add('escapes', container);
    if (scope === undefined) return;
    for (const place of this.module.occurrences(scope, container.text)) {
      if (place !== container && roleOf(place) === 'read') this.#read(place, container);
      if (!binds(roleOf(place)) || /^(?:update|delete|declare)$/.test(roleOf(place))) continue;
      const definition = definitionOf(place);
      if (definition.kind !== 'value' || !isFreshContainer(this.module, definition.value))
        this.#add('escapes', container);
    }
  }

  /** The reads that this binding reaches. */
  #bind(binding: PyNode | undefined): void {
    const scope = binding && this.module.resolve(binding);
    if (binding === undefined || scope === undefined) return;
    if (scope.kind === 'class' || scope !== this.module.scopeAt(binding)) this.#add('escapes', binding);
    const reads =
      scope.kind === 'comprehension'
        ? this.module.reads(scope, binding.text)
        : readsReached(this.module, scope, binding.text, [binding]);
    for (const place of reads) this.#read(place, binding);
  }

  #read(place: PyNode, from: PyNode): void {
    if (!sameFunction(place, from) && kindOf(this.module, place) !== 'number') this.#add('escapes', place);
    this.follow(place);
  }
}

/** A variable or an attribute that is only given lists, dictionaries and the like, so that its methods are theirs. */
function isContainer(module: PyModule, receiver: PyNode | undefined): boolean {
  const values =
    receiver?.type === 'attribute'
      ? attributeValuesInProject(module, receiver)
      : receiver && waysGiven(module, receiver).map((way) => (way.kind === 'value' ? way.value : undefined));
  return !!values?.length && values.every((value) => value !== undefined && isFreshContainer(module, value));
}

/** Nothing in the project has a function or method of this name. */
function isOfLibrary(module: PyModule, name: string): boolean {
  return functionsNamed(module, name)?.length === 0;
}

/** `x.data`, `x.detach()`: what is written into it leaves its graph with nobody but the result. */
function isCut(receiver: PyNode): boolean {
  return receiver.type === 'attribute'
    ? receiver.attribute?.text === 'data'
    : cutsGraph(methodName(receiver) ?? '');
}

/** `"%.3f" % total` */
function isFormatting(operation: PyNode): boolean {
  return operation.operator?.text === '%' && /^(?:concatenated_)?string$/.test(operation.left?.type ?? '');
}

export interface AttributeReads {
  /** There may be other reads than these. */
  readonly isOpen: boolean;
  readonly reads: readonly Elsewhere[];
}

/** How many uses are followed. */
const MAX_USES = 60;
const OPEN: AttributeReads = { isOpen: true, reads: [] };

/** Every read of an attribute that `self.name = …` sets, in this file and in the others of the project: one object per class and name. */
export function readsOfAttribute(module: PyModule, target: PyNode): AttributeReads {
  const object = target.object;
  const name = target.attribute?.text;
  const classNode = object && classBehind(module, object);
  if (classNode === undefined || name === undefined) return OPEN;
  const known = module.memo(findReads, classNode);
  const found = known.get(name) ?? look(module, classNode, name);
  known.set(name, found);
  return found;
}

/** By name. */
function findReads(): Map<string, AttributeReads> {
  return new Map();
}

function look(module: PyModule, classNode: PyNode, name: string): AttributeReads {
  const uses = attributeUses(module, classNode, name);
  if (uses.length > MAX_USES || plainAttributes(module, classNode, name).answer !== 'yes') return OPEN;
  if (!['none', 'buffer'].includes(registrationOf(module, classNode, name))) return OPEN;
  if (reflectionGates(module, classNode, name).some(({ answer }) => answer !== 'yes')) return OPEN;
  const read = new RegExp(`\\.\\s*${name}\\b`);
  const elsewhere = attributeUsesElsewhere(module, classNode, name, {
    may: (text) => read.test(text),
    byName: true,
  });
  if (elsewhere.unread !== undefined) return OPEN;
  // What is called by that name is somebody else's method: the attribute holds a value.
  const here = uses.filter(({ kind }) => kind === 'read').map(({ node }) => ({ module, node }));
  return { isOpen: false, reads: [...here, ...elsewhere.uses.filter(({ node }) => !isCallee(node))] };
}
