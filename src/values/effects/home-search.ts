import { DEEPCOPY, WRAPS_MODULE } from '../../library/names.js';
import {
  ancestryOf,
  calledDefinition,
  classAround,
  methodNamed,
  methodsOf,
  selfName,
} from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf, makerOf } from '../../semantic/elsewhere.js';
import { callGiven } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { argumentsByName } from '../../semantic/parameters.js';
import { functionsNamed, isMethodOfProject } from '../../semantic/project-names.js';
import { definedAnywhere } from '../../semantic/star-imports.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  isCallee,
  isTarget,
  receiverOf,
  wholeName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { memberGives } from './member-gives.js';

/** Where something may be, whole or as a part of something else. */
export interface Homes {
  /** Attributes, functions, classes and variables of files, by their names. */
  readonly names: ReadonlySet<string>;
  /** Variables of functions. */
  readonly variables: ReadonlySet<string>;
}

/** A variable of a function, by which it is the same wherever it is read. */
export function variableKey(module: PyModule, name: PyNode, scope = module.resolve(name)): string {
  return `${module.path} ${scope?.node.start} ${name.text}`;
}

/** What is named in more places than this is not followed. */
const MOST_PLACES = 400;
const MOST_FILES = 40;

/** Follows values through the files of a project. Each of its questions is answered by false where something gets out of sight. */
export class Search implements Homes {
  readonly names = new Set<string>();
  readonly variables = new Set<string>();
  readonly #seen = new Set<PyNode>();
  readonly #attributes = new Set<string>();
  readonly #classes = new Set<string>();

  constructor(private readonly module: PyModule) {}

  ofClass(name: string): boolean {
    if (this.#classes.has(name)) return true;
    this.#classes.add(name);
    return this.#named(
      name,
      (alias) => this.ofClass(alias),
      (there, word) => this.#classNamed(there, wholeName(word)),
    );
  }

  ofFunction(name: string): boolean {
    return this.#named(
      name,
      (alias) => this.names.has(alias) || this.ofFunction(alias),
      (there, word) => this.#functionNamed(there, word),
    );
  }

  /** All places of a name, in imports by other names too. */
  #named(
    name: string,
    byAlias: (alias: string) => boolean,
    isInSight: (there: PyModule, word: PyNode) => boolean,
  ): boolean {
    this.names.add(name);
    const quoted = new RegExp(`(["'])(?:[\\w.:/-]*[.:/])?${name}\\1`);
    const files = this.#filesNaming(name)?.filter((there) => there.words(name).length > 0);
    return (
      files?.every(
        (there) =>
          !quoted.test(there.text) &&
          there.words(name).every((word) => {
            if (word.type !== 'identifier') return true;
            const alias = word.closest('aliased_import', 'block', 'module')?.alias;
            if (alias !== undefined && alias !== word) return byAlias(alias.text);
            const isNoValue = word.closest('import_statement', 'import_from_statement', 'type') !== undefined;
            return isNoValue || isInSight(there, word);
          }),
      ) ?? false
    );
  }

  #functionNamed(there: PyModule, word: PyNode): boolean {
    const { parent } = word;
    const isKeyword = parent?.type === 'keyword_argument' && parent.name === word;
    if (isKeyword || roleOf(word) === 'parameter') return true;
    if (parent?.type === 'function_definition' && parent.name === word)
      return decoratorsOf(parent).every(isPlain);
    const value = wholeName(word);
    return isTarget(value) || this.#value({ module: there, node: value });
  }

  #filesNaming(word: string): readonly PyModule[] | undefined {
    const { around } = this.module;
    const { modules, unread } = around.naming({ word, beside: [] }, () => true);
    return unread === undefined && modules.length <= MOST_FILES ? [this.module, ...modules] : undefined;
  }

  #definition(there: PyModule, classNode: PyNode): boolean {
    if (decoratorsOf(classNode).length > 0) return false;
    const here = ancestryOf(there, classNode).classes.map((node) => ({ module: there, node }));
    const family = [...here, ...lineageOf(there, classNode).elsewhere];
    return family.every(({ module, node }) => this.#methods(module, node));
  }

  #methods(there: PyModule, classNode: PyNode): boolean {
    return methodsOf(classNode).every((method) => {
      const self = selfName(method);
      if (self === undefined) return true;
      const isOfClass = decoratorsOf(method).some(({ text }) => text === 'classmethod');
      return there
        .reads(there.scopeOf(method), self)
        .every((node) => (isOfClass ? this.#classNamed(there, node) : this.#value({ module: there, node })));
    });
  }

  /** `Net`, `nets.Net` */
  #classNamed(there: PyModule, name: PyNode): boolean {
    const { parent } = name;
    if (parent?.type === 'class_definition' && parent.name === name) return this.#definition(there, parent);
    const heir = parent?.parent;
    if (heir?.type === 'class_definition' && heir.superclasses === parent)
      return this.ofClass(heir.name?.text ?? '');
    if (parent?.type === 'call' && parent.function === name)
      return this.#value({ module: there, node: parent });
    if (parent?.type === 'argument_list')
      return /^(?:isinstance|issubclass|super)$/.test(heir?.function?.text ?? '');
    if (parent?.type === 'keyword_argument') return isAction(there, parent);
    const member = parent?.type === 'attribute' && parent.object === name ? parent : undefined;
    if (member === undefined) return false;
    // `Net.load(path)`
    if (isCallee(member))
      return member.parent !== undefined && this.#value({ module: there, node: member.parent });
    return !isMethodOfProject(there, member.attribute?.text ?? '');
  }

  /** An expression that gives one. */
  #value(at: Elsewhere): boolean {
    const { module, node } = at;
    if (this.#seen.has(node)) return true;
    this.#seen.add(node);
    if (this.#seen.size > MOST_PLACES) return false;
    const { parent } = node;
    const up = (): boolean => parent !== undefined && this.#value({ module, node: parent });
    switch (parent?.type) {
      case 'expression_statement':
      case 'comparison_operator':
      case 'not_operator':
      case 'assert_statement':
      case 'interpolation':
      case 'delete_statement':
        return true;
      case 'if_statement':
      case 'elif_clause':
      case 'while_statement':
        return parent.condition === node;
      case 'parenthesized_expression':
      case 'boolean_operator':
        return up();
      case 'conditional_expression':
        return parent.named[1] === node || up();
      case 'attribute':
        return this.#member(at, parent);
      case 'call':
        return parent.function === node;
      case 'assignment':
        return parent.right === node ? this.#assigned(module, parent) : parent.left === node;
      case 'argument_list':
      case 'keyword_argument':
        return this.#given(module, callGiven(node), node);
      case 'return_statement':
        return this.#returned(module, enclosingFunction(node));
      default:
        return false;
    }
  }

  #member({ module }: Elsewhere, member: PyNode): boolean {
    const gives = memberGives(module, member);
    const whole = isCallee(member) ? member.parent : member;
    if (gives === 'parts' || whole === undefined) return false;
    if (whole !== member && member.attribute?.text === 'apply' && !this.#applied(module, whole)) return false;
    return gives === 'other' || this.#value({ module, node: whole });
  }

  /** `net.apply(reset)`: the function gets each part. */
  #applied(module: PyModule, call: PyNode): boolean {
    const [given] = argumentsOf(call);
    const taker = given && definedAnywhere(module, given);
    const parameter =
      taker?.node.type === 'function_definition' ? taker.node.parameters?.named[0] : undefined;
    if (taker === undefined || parameter?.type !== 'identifier') return false;
    return this.#parameter(taker.module, taker.node, parameter.text);
  }

  #parameter(module: PyModule, functionNode: PyNode, name: string): boolean {
    const scope = module.scopeOf(functionNode);
    this.variables.add(`${module.path} ${scope.node.start} ${name}`);
    return module.reads(scope, name).every((node) => this.#value({ module, node }));
  }

  #assigned(module: PyModule, assignment: PyNode): boolean {
    const { parent } = assignment;
    // `a = b = Net()`
    if (parent?.type === 'assignment' && !this.#assigned(module, parent)) return false;
    const target = assignment.left;
    if (target?.type === 'identifier') return this.#variable(module, target);
    if (target?.type !== 'attribute') return false;
    const around = classAround(target);
    const owner = target.object?.text === around?.self ? around?.classNode.name?.text : undefined;
    return owner !== undefined && this.ofClass(owner) && this.#attribute(target.attribute?.text ?? '');
  }

  #variable(module: PyModule, target: PyNode): boolean {
    const scope = module.resolve(target);
    const classNode = scope?.kind === 'class' ? scope.node : undefined;
    if (classNode !== undefined)
      return this.ofClass(classNode.name?.text ?? '') && this.#attribute(target.text);
    if (scope === undefined) return false;
    if (scope === module.scope) this.names.add(target.text);
    else this.variables.add(variableKey(module, target, scope));
    const { uses, unread } =
      scope === module.scope
        ? usesElsewhere(module, target, { may: () => true, byName: true })
        : { uses: [], unread: undefined };
    if (unread !== undefined) return false;
    const own = module.reads(scope, target.text).every((node) => this.#value({ module, node }));
    return own && uses.every((use) => this.#value(use));
  }

  /** Of whatever object: others may have one of the name. */
  #attribute(name: string): boolean {
    if (this.#attributes.has(name)) return true;
    this.#attributes.add(name);
    this.names.add(name);
    const files = this.#filesNaming(name);
    return (
      files?.every(
        (there) =>
          !isTakenByText(there, name) &&
          there.words(`.${name}`).every((word) => {
            const place = word.parent;
            if (place?.type !== 'attribute' || place.attribute !== word || isTarget(place)) return true;
            return this.#value({ module: there, node: place });
          }),
      ) ?? false
    );
  }

  #given(module: PyModule, call: PyNode | undefined, given: PyNode): boolean {
    const callee = call?.function;
    if (call === undefined || callee === undefined) return false;
    if (isUnbound(module, callee)) {
      const [, name] = argumentsOf(call);
      return (
        ASKS.has(callee.text) && (callee.text !== 'getattr' || (name && plainString(name)) !== undefined)
      );
    }
    const path = qualifiedName(module, callee);
    if (path !== undefined && (WRAPS_MODULE.has(path) || path === DEEPCOPY))
      return this.#value({ module, node: call });
    const own = calledDefinition(module, call);
    const taker = path === undefined ? own && { module, node: own } : definedElsewhere(module, path);
    if (taker === undefined) return false;
    const isClass = taker.node.type === 'class_definition';
    const functionNode = isClass ? methodNamed(taker.module, taker.node, '__init__') : taker.node;
    const names = functionNode && argumentsByName(module, functionNode, call);
    const name = [...(names ?? [])].find(([, value]) => value === given)?.[0];
    if (functionNode === undefined || name === undefined) return false;
    // Another class may have a method of the name.
    const isMethod = !isClass && enclosingClass(functionNode) !== undefined;
    if (isMethod && functionsNamed(module, functionNode.name?.text ?? '')?.length !== 1) return false;
    return this.#parameter(taker.module, functionNode, name);
  }

  /** Whoever calls the function has one. */
  #returned(module: PyModule, functionNode: PyNode | undefined): boolean {
    const name = functionNode?.name;
    if (functionNode === undefined || name === undefined) return false;
    // Python and torch run these by themselves.
    if (decoratorsOf(functionNode).length > 0 || /^(?:forward|__\w+__)$/.test(name.text)) return false;
    this.names.add(name.text);
    const isCalled = (use: Elsewhere): boolean => {
      const callee = wholeName(use.node);
      const call = callee.parent;
      if (use.node.closest('import_statement', 'import_from_statement') || roleOf(use.node) === 'def')
        return true;
      return (
        call?.type === 'call' && call.function === callee && this.#value({ module: use.module, node: call })
      );
    };
    if (enclosingClass(functionNode) !== undefined) {
      const files = this.#filesNaming(name.text);
      return (
        files?.every(
          (there) =>
            !isTakenByText(there, name.text) &&
            there
              .words(name.text)
              .every((node) => node.type !== 'identifier' || isCalled({ module: there, node })),
        ) ?? false
      );
    }
    const scope = module.resolve(name);
    if (scope === undefined) return false;
    const { uses, unread } = usesElsewhere(module, name, { may: () => true, byName: true });
    const own = module.reads(scope, name.text).map((node) => ({ module, node }));
    return unread === undefined && [...own, ...uses].every(isCalled);
  }
}

/** `parser.add_argument("--set", action=Pairs)`: the parser makes one, and calls it. */
function isAction(module: PyModule, { name, parent }: PyNode): boolean {
  const receiver = name?.text === 'action' && parent?.parent ? receiverOf(parent.parent) : undefined;
  return receiver !== undefined && makerOf(module, receiver)?.startsWith('argparse.') === true;
}

/** `getattr(trainer, "critic")` */
function isTakenByText({ code }: PyModule, name: string): boolean {
  return /\b(?:getattr|attrgetter|methodcaller)\b/.test(code) && new RegExp(`["']${name}["']`).test(code);
}

function isPlain({ text }: PyNode): boolean {
  return /^(?:staticmethod|classmethod|(?:torch\.)?no_grad\(\))$/.test(text);
}

/** Functions of Python that only look at an object. */
const ASKS: ReadonlySet<string> = new Set(
  'bool callable getattr hasattr id isinstance len print repr str super'.split(' '),
);
