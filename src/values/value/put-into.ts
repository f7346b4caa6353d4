import { changesTensor, isPlainMethod, mayShare, ofTensor } from '../../library/library.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsByParameter } from '../../semantic/parameters.js';
import { remembered, rememberedFrom } from '../../semantic/remembered.js';
import { functionElsewhere } from '../../semantic/star-imports.js';
import { givenTo } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { keepsGiven } from './names.js';

/**
 * `use.method(value)`, `use[key] = value`, `row = use[0]; row += value`, `fill(use, value)`: the values that end up in an
 * object, or in the memory of a tensor, by one use of its name.
 */
export const valuesPutInto = remembered((module: PyModule, use: PyNode): readonly PyNode[] =>
  new Puts(module).by(use, false),
);

/** The same by several uses. */
export function putInto(module: PyModule, uses: readonly PyNode[]): readonly PyNode[] {
  return uses.flatMap((use) => valuesPutInto(module, use));
}

/** What is put into an object that these definitions of the name made, and not into what had the name before. */
export function putIntoMade(module: PyModule, name: PyNode, made: readonly Definition[]): readonly PyNode[] {
  const scope = module.resolve(name);
  const nodes = new Set(made.map(({ node }) => node));
  const uses = scope === undefined ? [] : module.occurrences(scope, name.text);
  return uses
    .filter((use) => {
      const found = reachingDefinitions(module, use) ?? [];
      return found.length === 0 || found.some(({ node }) => nodes.has(node));
    })
    .flatMap((use) => valuesPutInto(module, use));
}

class Puts {
  readonly #seen = new Set<PyNode>();

  constructor(private readonly module: PyModule) {}

  /** `isAlias`: another name for it, or for a part of it, of which `+=` changes the whole. */
  by(use: PyNode, isAlias: boolean): readonly PyNode[] {
    const found: PyNode[] = [];
    for (let at = use, user = at.parent; user !== undefined; at = user, user = at.parent) {
      if (PASSES.test(user.type)) continue;
      if (user.type === 'attribute' ? user.object === at : user.type === 'subscript' && user.value === at)
        continue;
      if (user.type === 'call') {
        if (user.function !== at || at.type !== 'attribute') break;
        const name = at.attribute?.text ?? '';
        if (isPlainMethod(name)) break;
        // A method whose result is used computes it from what it is given; one that is called for its effect keeps it.
        const isEffect = user.parent?.type === 'expression_statement';
        if (isEffect || keepsGiven(name) || changesTensor(name) || /^__\w+__$/.test(name))
          found.push(...givenTo(user));
        if (!changesTensor(name) && !mayShare(ofTensor(name))) break;
        continue;
      }
      if (user.type === 'argument_list' || user.type === 'keyword_argument') {
        const call = user.closest('call');
        if (call === undefined) break;
        found.push(...this.#byCalled(call, at));
        const callee = call.function;
        if (callee === undefined || !isUnbound(this.module, callee) || !GIVES_ITEMS.test(callee.text)) break;
        user = call;
        continue;
      }
      found.push(...this.#byStatement(user, at, at !== use || isAlias));
      break;
    }
    return found;
  }

  #byStatement(statement: PyNode, at: PyNode, isPart: boolean): readonly PyNode[] {
    const { type, left, right } = statement;
    if (/^(?:augmented_)?assignment$/.test(type) && left === at)
      return isPart && right !== undefined && (type !== 'assignment' || at.type !== 'identifier')
        ? [right]
        : [];
    if (right !== at || left === undefined || !/^assignment$|^for_/.test(type)) return [];
    // What is put into `pair = [a, b]` is not put into `a`.
    if (
      /^(?:list|tuple|expression_list)$/.test(at.type) &&
      left.type === 'identifier' &&
      type === 'assignment'
    )
      return [];
    return [...left.walk()].flatMap((target) => this.#byAlias(target));
  }

  #byAlias(target: PyNode): readonly PyNode[] {
    const scope = target.type === 'identifier' ? this.module.resolve(target) : undefined;
    if (scope === undefined || target.parent?.type === 'attribute' || this.#seen.has(target)) return [];
    this.#seen.add(target);
    return this.module.occurrences(scope, target.text).flatMap((use) => {
      const reaching = use === target ? [] : (reachingDefinitions(this.module, use) ?? []);
      return reaching.some(({ node }) => node === target) ? this.by(use, true) : [];
    });
  }

  /** What a function puts into something that it is given. */
  #byCalled(call: PyNode, at: PyNode): readonly PyNode[] {
    const others = givenTo(call).filter((each) => !each.contains(at));
    const callee = call.function;
    if (callee === undefined || others.length === 0) return [];
    if (callee.text === 'setattr' && isUnbound(this.module, callee)) return others.slice(-1);
    const path = calledPath(this.module, call);
    const isOut = at.parent?.type === 'keyword_argument' && at.parent.name?.text === 'out';
    if (path !== undefined && (isOut || changesTensor(path) || /^(?:heapq|bisect|operator)\./.test(path)))
      return others;
    const own = calledDefinition(this.module, call);
    const called =
      own === undefined ? functionElsewhere(this.module, callee) : { module: this.module, node: own };
    if (called?.node.type !== 'function_definition') return [];
    const changed = changedBy(called.module, called.node);
    if (changed.size === 0) return [];
    const given = argumentsByParameter(this.module, called.node, call);
    const name = given && [...given].find(([, value]) => value.contains(at))?.[0];
    return given === undefined || (name !== undefined && changed.has(name)) ? others : [];
  }
}

/** What is a part of these holds it, or is it. */
const PASSES = /^(?:list|tuple|expression_list|(?:parenthesized|conditional)_expression)$/;

/** What these give has the items of what they are given. */
const GIVES_ITEMS = /^(?:enumerate|iter|list|next|reversed|sorted|tuple|zip)$/;

/** The parameters into whose objects a function puts something. One that runs itself on the way adds nothing. */
const changedBy = rememberedFrom(new Set<string>(), (module, functionNode): ReadonlySet<string> => {
  const scope = module.scopeOf(functionNode);
  const names = (functionNode.parameters?.named ?? []).flatMap((each) => /\w+/.exec(each.text)?.[0] ?? []);
  const isChanged = (name: string): boolean =>
    module.occurrences(scope, name).some((use) => new Puts(module).by(use, true).length > 0);
  return new Set(names.filter(isChanged));
});
