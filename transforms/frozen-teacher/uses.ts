import { builtin, givesModule, isOfModule, walksModule } from '../../src/library/library.js';
import { classBehind } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { subclassesElsewhere } from '../../src/semantic/project-names.js';
import { argumentsOf, enclosingFunction, keywordArgument } from '../../src/semantic/statements.js';
import {
  attributeUsesElsewhere,
  type UseElsewhere,
  usesElsewhere,
} from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isModuleClass } from '../../src/torch/catalog.js';
import { isModelMaker } from '../../src/torch/catalog-modules.js';
import { shown } from '../../src/torch/gate.js';
import type { GradDoubt } from '../../src/torch/grad/doubts.js';
import { isOfKnownPackage, isPlainAttribute } from '../../src/torch/grad/values.js';
import { trainedIn, walkedFor } from '../../src/torch/grad/walked-parameters.js';
import { attributeUses, familyOf, moduleKind } from '../../src/torch/module/modules.js';
import { reflectionIn } from '../../src/torch/module/reflection.js';
import { definitionCalled, parameterGetting } from './called.js';
import { givesParameters } from './gives-parameters.js';

const MAX_HOPS = 8;
const DEEP_COPY = 'copy.deepcopy';
const LOOKED_AT = /^(?:print|len|isinstance|type|id|repr|str|hasattr|callable|bool)$/;

/** All that the project does with a network; where it comes from is the business of a subclass. */
export abstract class NetworkUses {
  isTrained = false;
  isFrozen = false;
  readonly doubts: GradDoubt[] = [];
  readonly #used = new Set<string>();
  /** Whether the use that is looked at is one of this network, and not of another that goes by the same name. */
  #isCertain = true;
  /** Its attributes that the project reads by the network: `net.optimizer`. */
  protected readonly parts = new Set<string>();
  /** Functions that make the network, or are given it, and hand it back. */
  protected readonly factories = new Set<PyNode>();

  constructor(protected readonly name: string) {}

  /** What an expression gives: where it comes from, and who else has it. */
  abstract object(module: PyModule, expression: PyNode | undefined, hops: number): undefined;

  protected doubt(answer: GradDoubt['answer'], words: string): undefined {
    const certain = this.#isCertain ? answer : 'unknown';
    if (!this.doubts.some((each) => each.words === words)) this.doubts.push({ answer: certain, words });
  }

  protected unknown(words: string): undefined {
    this.doubt('unknown', words);
  }

  /** Of a variable: every read, in this file and, at the top of a module, in others. */
  protected usesOf(module: PyModule, name: PyNode, hops: number): undefined {
    const scope = module.resolve(name);
    const key = `${module.path} ${scope?.node.start} ${scope?.kind} ${name.text}`;
    if (scope === undefined || this.#used.has(key)) return;
    this.#used.add(key);
    for (const read of module.reads(scope, name.text)) this.#use(module, read, hops);
    const [write] = scope === module.scope ? module.writes(scope, name.text) : [];
    if (write === undefined) return;
    const { uses, unread } = usesElsewhere(module, write, { may: () => true, byName: false });
    if (unread !== undefined) this.unknown(`that \`${name.text}\` is not trained in ${unread}`);
    for (const each of uses) this.#use(each.module, each.node, hops + 1);
  }

  protected usesOfAttribute(module: PyModule, classNode: PyNode, name: string, hops: number): undefined {
    const key = `${module.path} ${classNode.start} .${name}`;
    if (this.#used.has(key)) return;
    this.#used.add(key);
    const owner = classNode.field('name')?.text ?? '';
    if (moduleKind(module, classNode).isModule !== 'no') {
      this.unknown(
        `that no optimizer gets all parameters of \`${owner}\`, which may hold \`${name}\` as a part`,
      );
      this.unknown(
        `that \`DistributedDataParallel\` does not wait for gradients of \`${name}\` in \`${owner}\``,
      );
    }
    const subclasses = subclassesElsewhere(module, owner);
    if (subclasses?.every(({ bases }) => bases.length === 1) !== true)
      this.unknown(`that no subclass of \`${owner}\` is a module, with \`${name}\` as a part`);
    const reflected = reflectionIn(module, name, familyOf(module, classNode), false);
    if (reflected !== undefined)
      this.unknown(`that \`${shown(reflected)}\` does not reach \`.${name}\` of \`${owner}\``);
    for (const use of attributeUses(module, classNode, name))
      if (use.kind === 'read') this.#use(module, use.node, hops);
    const { uses, unread } = attributeUsesElsewhere(module, classNode, name, {
      may: () => true,
      byName: true,
    });
    if (unread !== undefined) this.unknown(`that nobody trains a \`.${name}\` in ${unread}`);
    for (const each of uses) {
      const assignment = each.node.parent;
      if (assignment?.type === 'assignment' && assignment.field('left') === each.node)
        this.object(each.module, assignment.field('right'), hops + 1);
      else this.#perhaps(each, hops + 1);
    }
  }

  /** A use by an object that may be another one. */
  #perhaps({ module, node, isCertain }: UseElsewhere, hops: number): undefined {
    const before = this.#isCertain;
    this.#isCertain &&= isCertain;
    this.#use(module, node, hops);
    this.#isCertain = before;
  }

  /** One place where the network stands. */
  #use(module: PyModule, node: PyNode, hops: number): undefined {
    const holder = node.parent;
    if (hops > MAX_HOPS) return this.unknown(`what becomes of \`${shown(node)}\``);
    switch (holder?.type) {
      case 'call':
      case 'expression_statement':
      case 'comparison_operator':
      case 'not_operator':
      case 'if_statement':
      case 'elif_clause':
      case 'assert_statement':
      case 'delete_statement':
      case 'interpolation':
        return;
      case 'parenthesized_expression':
      case 'conditional_expression':
      case 'boolean_operator':
        return this.#use(module, holder, hops);
      case 'attribute':
        return this.#member(module, node, holder, hops);
      case 'argument_list':
        return this.#argument(module, node, node, holder.parent, hops);
      case 'keyword_argument':
        return this.#argument(module, node, holder, holder.parent?.parent, hops);
      case 'assignment':
        return this.#assigned(module, holder.field('left'), hops);
      case 'list':
      case 'pair':
      case 'dictionary':
        if (isGivenToModule(module, holder)) return this.#use(module, holder, hops + 1);
        break;
      case 'expression_list':
      case 'tuple':
        return this.#unpacked(module, node, holder, hops);
      case 'return_statement': {
        const owner = enclosingFunction(node);
        if (owner !== undefined && this.factories.has(owner)) return;
        return this.unknown(`that nobody trains what \`${owner?.field('name')?.text}\` returns`);
      }
      default:
    }
    this.unknown(`that nobody trains \`${shown(node)}\` in \`${shown(holder ?? node)}\``);
  }

  #assigned(module: PyModule, target: PyNode | undefined, hops: number): undefined {
    if (target?.type === 'identifier') return this.usesOf(module, target, hops + 1);
    const object = target?.type === 'attribute' ? target.field('object') : undefined;
    const classNode = object && classBehind(module, object);
    if (classNode !== undefined && target !== undefined)
      return this.usesOfAttribute(module, classNode, target.field('attribute')?.text ?? '', hops + 1);
    this.unknown(`that nobody trains \`${target === undefined ? this.name : shown(target)}\``);
  }

  /** `student, teacher = student.cuda(), teacher.cuda()` */
  #unpacked(module: PyModule, node: PyNode, values: PyNode, hops: number): undefined {
    const assignment = values.parent;
    const targets = assignment?.type === 'assignment' ? assignment.field('left')?.named : undefined;
    if (assignment?.field('right') === values && targets?.length === values.named.length)
      return this.#assigned(module, targets[values.named.indexOf(node)], hops);
    this.unknown(`that nobody trains \`${shown(node)}\` in \`${shown(values)}\``);
  }

  /** `net.eval()`, `net.parameters()`, `net.encoder`, `net.fc = …`. */
  #member(module: PyModule, node: PyNode, attribute: PyNode, hops: number, isPart = false): undefined {
    const name = attribute.field('attribute')?.text ?? '';
    const call =
      attribute.parent?.type === 'call' && attribute.parent.field('function') === attribute
        ? attribute.parent
        : undefined;
    if (call === undefined) return this.#part(module, attribute, hops);
    if (name === 'requires_grad_' && argumentsOf(call)[0]?.type === 'false' && !isPart && this.#isCertain)
      this.isFrozen = true;
    if (name === 'state_dict' && keywordArgument(call, 'keep_vars') !== undefined)
      return this.unknown(`what becomes of the parameters that \`${shown(call)}\` gives`);
    if (walksModule(name)) return this.#walked(module, call, isPart);
    if (givesModule(name)) return this.#use(module, call, hops);
    if (/hook|^add_module$|^register_/.test(name))
      return this.unknown(`that \`${shown(attribute)}\` does not need the graph`);
    if (isOfModule(name) || name === 'forward') return;
    const doubt = givesParameters(module, name);
    if (doubt !== undefined)
      this.unknown(
        `that \`${shown(attribute)}\` leaves the parameters of \`${shown(node)}\` alone: ${doubt}`,
      );
  }

  #walked(module: PyModule, call: PyNode, isPart: boolean): undefined {
    const found = walkedFor(module, call);
    if (found === 'frozen' && !isPart && this.#isCertain) this.isFrozen = true;
    if (found === 'trained' && this.#isCertain) this.isTrained = true;
    if (found === 'trained') this.doubt('no', `an optimizer gets \`${shown(call)}\``);
    if (found === 'taken') this.doubt('no', `\`${shown(call)}\` is used, for what does not show`);
  }

  /** `net.module`, `net.encoder(x)`, `net.fc.in_features`; what is set there may be shared with another network. */
  #part(module: PyModule, attribute: PyNode, hops: number): undefined {
    const name = attribute.field('attribute')?.text ?? '';
    if (name === 'module') return this.#use(module, attribute, hops);
    this.parts.add(name);
    if (isPlainAttribute(name)) return;
    const holder = attribute.parent;
    if (holder?.type === 'assignment' && holder.field('left') === attribute) {
      if (/^(?:true|false|none|integer|float|string)$/.test(holder.field('right')?.type ?? '')) return;
      return this.unknown(`that \`${shown(holder)}\` shares nothing with a network that is trained`);
    }
    if (holder?.type === 'call' && holder.field('function') === attribute) return;
    if (holder?.type === 'attribute') return this.#member(module, attribute, holder, hops, true);
    if (
      /^(?:comparison_operator|interpolation|binary_operator|expression_statement)$/.test(holder?.type ?? '')
    )
      return;
    if (trainedIn(module, attribute)) return this.doubt('no', `an optimizer gets \`${shown(attribute)}\``);
    this.unknown(`what becomes of \`${shown(attribute)}\`, a part of \`${this.name}\``);
  }

  #argument(
    module: PyModule,
    node: PyNode,
    argument: PyNode,
    call: PyNode | undefined,
    hops: number,
  ): undefined {
    const callee = call?.field('function');
    if (call === undefined || callee === undefined) return this.unknown(`what becomes of \`${shown(node)}\``);
    const isFree = callee.type === 'identifier' && module.resolve(callee) === undefined;
    if (isFree && LOOKED_AT.test(callee.text) && builtin(callee.text) !== undefined) return;
    const path = qualifiedName(module, callee);
    if (path === DEEP_COPY) return;
    const found = path !== undefined && isModuleClass(path) ? undefined : definitionCalled(module, call);
    if (found !== undefined) return this.#handed(found, module, argument, call, hops);
    // What a library makes of it may hold it, and has its parameters among its own then.
    if (path !== undefined && (isModelMaker(path) || isOfKnownPackage(path)))
      return this.#use(module, call, hops + 1);
    this.unknown(`that \`${shown(callee)}\`, which gets \`${shown(node)}\`, does not train it`);
  }

  /** To a function or a class of the project: what that does with its parameter, and what becomes of what gives it back. */
  #handed(found: Elsewhere, module: PyModule, argument: PyNode, call: PyNode, hops: number): undefined {
    const { module: there, node } = found;
    const value = argument.type === 'keyword_argument' ? argument.field('value') : argument;
    const parameter = parameterGetting(found, module, value, call);
    const callee = shown(call.field('function') ?? call);
    if (parameter === undefined) return this.unknown(`that \`${callee}\` does not train \`${this.name}\``);
    const isHeld = node.type === 'class_definition' && moduleKind(there, node).isModule !== 'no';
    if (isHeld || isReturned(there, node, parameter)) this.#use(module, call, hops + 1);
    this.factories.add(node);
    this.usesOf(there, parameter, hops + 1);
  }
}

/** `nn.ModuleList([student, teacher])`, `nn.ModuleDict({"teacher": teacher})`: a literal in the parentheses of a module. */
function isGivenToModule(module: PyModule, literal: PyNode): boolean {
  let at = literal;
  while (/^(?:list|pair|dictionary)$/.test(at.parent?.type ?? '')) at = at.parent ?? at;
  const callee = at.parent?.type === 'argument_list' ? at.parent.parent?.field('function') : undefined;
  return callee !== undefined && isModuleClass(qualifiedName(module, callee) ?? '');
}

/** `return net`, as a function hands back what it is given. */
function isReturned(module: PyModule, functionNode: PyNode, parameter: PyNode): boolean {
  return module
    .reads(module.scopeOf(functionNode), parameter.text)
    .some(({ parent }) => parent?.type === 'return_statement');
}
