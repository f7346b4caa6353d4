import { builtin, givesModule, isOfModule, walksModule } from '../../src/library/library.js';
import { PARAMETRIZE } from '../../src/library/names.js';
import { isModelMaker, isModuleClass } from '../../src/library/paths.js';
import { attributeUses, familyOf } from '../../src/semantic/attribute-uses.js';
import { classBehind } from '../../src/semantic/definitions.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { subclassesElsewhere } from '../../src/semantic/project-names.js';
import { ask, type Question } from '../../src/semantic/question.js';
import { reflectionIn } from '../../src/semantic/reflection.js';
import { argumentsOf, enclosingFunction, isCallee, keywordArgument } from '../../src/semantic/statements.js';
import {
  attributeUsesElsewhere,
  type UseElsewhere,
  usesElsewhere,
} from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type GradDoubt, no, unknown } from '../../src/torch/grad/doubts.js';
import { trainedIn, walkedFor } from '../../src/torch/grad/walked-parameters.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import { isOfKnownPackage, isPlainAttribute } from '../../src/values/value/plain.js';
import { definitionCalled, isReturned, parameterGetting } from './called.js';
import { givesParameters } from './gives-parameters.js';
import { leavesParameters } from './optimizer-uses.js';
import { isTrainedBy } from './trainer.js';
import { isGivenToModule, mayBeTakenWhole, mayBeWrapped } from './whole-module.js';

const MAX_HOPS = 8;
const DEEP_COPY = 'copy.deepcopy';
const LOOKED_AT = /^(?:print|len|isinstance|type|id|repr|str|hasattr|callable|bool)$/;

/** The uses of an attribute of a network, and whether they are of no other. */
export interface Part {
  readonly uses: readonly Elsewhere[];
  readonly isCertain: boolean;
}

/** All that the project does with a network; where it comes from is the business of a subclass. */
export abstract class NetworkUses {
  isTrained = false;
  isFrozen = false;
  readonly doubts: GradDoubt[] = [];
  readonly #used = new Set<string>();
  /** Whether the use that is looked at is one of this network, and not of another that goes by the same name. */
  #isCertain = true;
  /** Its attributes that the project reads by the network, and does more with than to save them: `net.optimizer`. */
  readonly #parts = new Map<string, Elsewhere[]>();
  /** Those that may be of another network there. */
  readonly #uncertain = new Set<string>();
  /** Functions that make the network, or are given it, and hand it back. */
  protected readonly factories = new Set<PyNode>();

  constructor(protected readonly name: string) {}

  /** What an expression gives: where it comes from, and who else has it. */
  abstract object(module: PyModule, expression: PyNode | undefined, hops: number): undefined;

  /** All objects of a class are followed by themselves, and nothing takes their parameters. */
  protected isFollowed(_module: PyModule, _classNode: PyNode): boolean {
    return false;
  }

  /** It runs here. */
  protected called(_module: PyModule, _call: PyNode): undefined {}

  /** A function gets each of its parts. */
  protected applied(_call: PyNode): undefined {}

  /** A copy has parameters of its own. */
  protected copied(_module: PyModule, _call: PyNode, _hops: number): undefined {}

  /** What a library makes of it has it inside. */
  protected wrapped(module: PyModule, call: PyNode, _path: string, hops: number): undefined {
    return this.use(module, call, hops + 1);
  }

  /** The network is trained, as `because` says; where that may be another network, it is asked about. */
  protected refute(because: string, trainer?: Elsewhere): undefined {
    if (this.#isCertain) this.doubts.push(no(because, trainer));
    else this.unknown(ask('another-network')`Is it another network than \`${this.name}\` where ${because}?`);
  }

  protected unknown(question: Question): undefined {
    const isKnown = this.doubts.some(
      (each) => each.answer === 'unknown' && each.otherwise.text === question.text,
    );
    if (!isKnown) this.doubts.push(unknown(question));
  }

  /** Where an attribute is used by the network. */
  protected usesOfPart(name: string): Part | undefined {
    const uses = this.#parts.get(name);
    return uses && { uses, isCertain: !this.#uncertain.has(name) };
  }

  /** Of a variable: every read, in this file and, at the top of a module, in others. */
  protected usesOf(module: PyModule, name: PyNode, hops: number): undefined {
    const scope = module.resolve(name);
    const key = `${module.path} ${scope?.node.start} ${scope?.kind} ${name.text}`;
    if (scope === undefined || this.#used.has(key)) return;
    this.#used.add(key);
    for (const read of module.reads(scope, name.text)) this.use(module, read, hops);
    const [write] = scope === module.scope ? module.writes(scope, name.text) : [];
    if (write === undefined) return;
    const { uses, unread } = usesElsewhere(module, write, { may: () => true, byName: false });
    if (unread !== undefined)
      this.unknown(ask('untrained')`Does \`${name.text}\` stay untrained in ${unread}?`);
    for (const each of uses) this.use(each.module, each.node, hops + 1);
  }

  protected usesOfAttribute(module: PyModule, classNode: PyNode, name: string, hops: number): undefined {
    const key = `${module.path} ${classNode.start} .${name}`;
    if (this.#used.has(key)) return;
    this.#used.add(key);
    const owner = classNode.name?.text ?? '';
    if (isTrainedBy(module, classNode, name)) this.refute(`\`${owner}\` trains its \`${name}\``);
    if (moduleKind(module, classNode).isModule !== 'no') {
      const isOpen = !this.isFollowed(module, classNode);
      if (isOpen && mayBeTakenWhole(module, classNode))
        this.unknown(
          ask(
            'optimizer-without-part',
          )`Does every optimizer of \`${owner}\` leave out the parameters of its part \`${name}\`?`,
        );
      if (isOpen && mayBeWrapped(module, classNode))
        this.unknown(
          ask(
            'ddp-without-part',
          )`Does \`${owner}\` train without a \`DistributedDataParallel\` that waits for gradients of \`${name}\`?`,
        );
    }
    const subclasses = subclassesElsewhere(module, owner);
    if (subclasses?.every(({ bases }) => bases.length === 1) !== true)
      this.unknown(
        ask(
          'plain-subclasses',
        )`Is every subclass of \`${owner}\` something other than a module with \`${name}\` in it?`,
      );
    const reflected = reflectionIn(module, name, familyOf(module, classNode), false);
    if (reflected !== undefined)
      this.unknown(
        ask('unreached-attribute')`Is \`.${name}\` of \`${owner}\` out of reach of \`${shown(reflected)}\`?`,
      );
    for (const use of attributeUses(module, classNode, name))
      if (use.kind === 'read') this.use(module, use.node, hops);
    const { uses, unread } = attributeUsesElsewhere(module, classNode, name, {
      may: () => true,
      byName: true,
    });
    if (unread !== undefined) this.unknown(ask('untrained')`Does \`.${name}\` stay untrained in ${unread}?`);
    for (const each of uses) {
      const assignment = each.node.parent;
      if (assignment?.type === 'assignment' && assignment.left === each.node)
        this.object(each.module, assignment.right, hops + 1);
      else this.#perhaps(each, hops + 1);
    }
  }

  /** A use by an object that may be another one. */
  #perhaps({ module, node, isCertain }: UseElsewhere, hops: number): undefined {
    const before = this.#isCertain;
    this.#isCertain &&= isCertain;
    this.use(module, node, hops);
    this.#isCertain = before;
  }

  /** One place where the network stands. */
  protected use(module: PyModule, node: PyNode, hops: number): undefined {
    const holder = node.parent;
    if (hops > MAX_HOPS) return this.unknown(untrained(shown(node)));
    switch (holder?.type) {
      case 'call':
        return this.called(module, holder);
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
        return this.use(module, holder, hops);
      case 'attribute':
        return this.#member(module, node, holder, hops);
      case 'argument_list':
        return this.#argument(module, node, node, holder.parent, hops);
      case 'keyword_argument':
        return this.#argument(module, node, holder, holder.parent?.parent, hops);
      case 'assignment':
        this.assigned(module, holder.left, hops);
        // `net = teacher = Net()`
        return holder.parent?.type === 'assignment' ? this.use(module, holder, hops) : undefined;
      case 'list':
      case 'pair':
      case 'dictionary':
        if (isGivenToModule(module, holder)) return this.use(module, holder, hops + 1);
        break;
      case 'expression_list':
      case 'tuple':
        return this.#unpacked(module, node, holder, hops);
      case 'return_statement': {
        const owner = enclosingFunction(node);
        // What is not the function's own, its other callers get as well.
        const isOwn = owner !== undefined && module.resolve(node) === module.scopeOf(owner);
        if (isOwn && this.factories.has(owner)) return;
        return this.unknown(ask('untrained')`Does what \`${owner?.name?.text}\` returns stay untrained?`);
      }
      default:
    }
    this.unknown(untrained(shown(node), holder ?? node));
  }

  protected assigned(module: PyModule, target: PyNode | undefined, hops: number): undefined {
    if (target?.type === 'identifier') return this.usesOf(module, target, hops + 1);
    const object = target?.type === 'attribute' ? target.object : undefined;
    const classNode = object && classBehind(module, object);
    if (classNode !== undefined && target !== undefined)
      return this.usesOfAttribute(module, classNode, target.attribute?.text ?? '', hops + 1);
    this.unknown(untrained(target === undefined ? this.name : shown(target)));
  }

  /** `student, teacher = student.cuda(), teacher.cuda()` */
  #unpacked(module: PyModule, node: PyNode, values: PyNode, hops: number): undefined {
    const assignment = values.parent;
    const targets = assignment?.type === 'assignment' ? assignment.left?.named : undefined;
    if (assignment?.right === values && targets?.length === values.named.length)
      return this.assigned(module, targets[values.named.indexOf(node)], hops);
    this.unknown(untrained(shown(node), values));
  }

  /** `net.eval()`, `net.parameters()`, `net.encoder`, `net.fc = …`. */
  #member(module: PyModule, node: PyNode, attribute: PyNode, hops: number, isPart = false): undefined {
    const name = attribute.attribute?.text ?? '';
    const call = isCallee(attribute) ? attribute.parent : undefined;
    if (call === undefined) return this.#part(module, attribute, hops);
    if (name === 'requires_grad_' && argumentsOf(call)[0]?.type === 'false' && !isPart && this.#isCertain)
      this.isFrozen = true;
    if (name === 'state_dict' && keywordArgument(call, 'keep_vars') !== undefined)
      return this.unknown(ask('untrained')`Do the parameters that \`${shown(call)}\` gives stay untrained?`);
    if (walksModule(name)) return this.#walked(module, call, isPart);
    if (name === 'apply') this.applied(call);
    if (givesModule(name)) return this.use(module, call, hops);
    if (/hook|^add_module$|^register_/.test(name))
      return this.unknown(
        ask('works-without-graph')`Does what \`${shown(attribute)}\` registers work without the graph?`,
      );
    if (name === 'forward' || name === '__call__') return this.called(module, call);
    if (isOfModule(name)) return;
    const doubt = givesParameters(module, name);
    if (doubt !== undefined)
      this.unknown(
        ask(
          'leaves-parameters',
        )`Does \`${shown(attribute)}\` leave the parameters of \`${shown(node)}\` alone (${doubt})?`,
      );
  }

  #walked(module: PyModule, call: PyNode, isPart: boolean): undefined {
    const found = walkedFor(module, call);
    if (found === 'frozen' && !isPart && this.#isCertain) this.isFrozen = true;
    if (found === 'trained' && this.#isCertain) this.isTrained = true;
    if (found === 'trained')
      this.refute(`an optimizer gets \`${shown(call)}\``, isPart ? undefined : { module, node: call });
    if (found === 'taken') this.refute(`\`${shown(call)}\` is used, for what does not show`);
  }

  /** `net.module`, `net.encoder(x)`, `net.fc.in_features`; what is set there may be shared with another network. */
  #part(module: PyModule, attribute: PyNode, hops: number): undefined {
    const name = attribute.attribute?.text ?? '';
    if (name === 'module') return this.use(module, attribute, hops);
    if (!leavesParameters(module, attribute)) {
      this.#parts.set(name, [...(this.#parts.get(name) ?? []), { module, node: attribute }]);
      if (!this.#isCertain) this.#uncertain.add(name);
    }
    if (isPlainAttribute(name)) return;
    const holder = attribute.parent;
    const isWritten = holder?.type === 'assignment' && holder.left === attribute;
    if (name === 'grad' && !isWritten) return this.refute(`\`${shown(attribute)}\` is read`);
    if (isWritten) {
      if (/^(?:true|false|none|integer|float|string)$/.test(holder.right?.type ?? '')) return;
      return this.unknown(
        ask('shares-nothing')`Does \`${shown(holder)}\` set something that no trained network shares?`,
      );
    }
    if (holder?.type === 'call' && holder.function === attribute) return;
    if (holder?.type === 'attribute') return this.#member(module, attribute, holder, hops, true);
    if (
      /^(?:comparison_operator|interpolation|binary_operator|expression_statement)$/.test(holder?.type ?? '')
    )
      return;
    if (trainedIn(module, attribute)) return this.refute(`an optimizer gets \`${shown(attribute)}\``);
    this.unknown(ask('untrained')`Does \`${shown(attribute)}\`, a part of \`${this.name}\`, stay untrained?`);
  }

  #argument(
    module: PyModule,
    node: PyNode,
    argument: PyNode,
    call: PyNode | undefined,
    hops: number,
  ): undefined {
    const callee = call?.function;
    if (call === undefined || callee === undefined) return this.unknown(untrained(shown(node)));
    const isFree = callee.type === 'identifier' && module.resolve(callee) === undefined;
    if (isFree && LOOKED_AT.test(callee.text) && builtin(callee.text) !== undefined) return;
    const path = qualifiedName(module, callee);
    if (path === DEEP_COPY) return this.copied(module, call, hops);
    if (path === `${PARAMETRIZE}.register_parametrization`)
      return this.unknown(
        ask('shares-nothing')`Does \`${shown(call)}\` set something that no trained network shares?`,
      );
    const found = path !== undefined && isModuleClass(path) ? undefined : definitionCalled(module, call);
    if (found !== undefined) return this.#handed(found, module, argument, call, hops);
    // What a library makes of it may hold it, and has its parameters among its own then.
    if (path !== undefined && (isModelMaker(path) || isOfKnownPackage(path)))
      return this.wrapped(module, call, path, hops);
    this.unknown(
      ask('untrained-by')`Does \`${shown(callee)}\`, which gets \`${shown(node)}\`, leave it untrained?`,
    );
  }

  /** To a function or a class of the project: what that does with its parameter, and what becomes of what gives it back. */
  #handed(found: Elsewhere, module: PyModule, argument: PyNode, call: PyNode, hops: number): undefined {
    const { module: there, node } = found;
    const value = argument.type === 'keyword_argument' ? argument.value : argument;
    const parameter = parameterGetting(found, module, value, call);
    const callee = shown(call.function ?? call);
    if (parameter === undefined)
      return this.unknown(ask('untrained-by')`Does \`${callee}\` leave \`${this.name}\` untrained?`);
    const isHeld = node.type === 'class_definition' && moduleKind(there, node).isModule !== 'no';
    if (isHeld || isReturned(there, node, parameter)) this.use(module, call, hops + 1);
    this.factories.add(node);
    this.usesOf(there, parameter, hops + 1);
  }
}

function untrained(network: string, within?: PyNode): Question {
  const where = within === undefined ? '' : `, in \`${shown(within)}\`,`;
  return ask('untrained')`Does \`${network}\`${where} stay untrained?`;
}
