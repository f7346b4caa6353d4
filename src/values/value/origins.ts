import { givesModule, packageOf, row } from '../../library/library.js';
import { CONTAINERS, PARTIAL, UNPICKLES } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { attributeValues, attributeValuesInProject } from '../../semantic/attributes.js';
import { SETS_NAMES } from '../../semantic/by-text.js';
import { methodNamed } from '../../semantic/definitions.js';
import {
  boundElsewhere,
  candidatesElsewhere,
  type Elsewhere,
  mayBeOfProject,
} from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { valuesGiven } from '../../semantic/function-uses.js';
import { placeOf } from '../../semantic/gate.js';
import { possibleNames, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { importedPath } from '../../semantic/names.js';
import { isRedefined } from '../../semantic/project-names.js';
import { returnsOf } from '../../semantic/returns.js';
import { definedAnywhere } from '../../semantic/star-imports.js';
import { isStarred } from '../../semantic/stars.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { CALLED, type Suspect } from '../effects/differentiators.js';
import { gradUseBehind } from '../effects/elsewhere.js';
import { forwardFacts } from '../effects/forward-index.js';
import { isTaker, takesAnyOf } from '../effects/taken-by-text.js';
import { isOfPython } from './plain.js';

export type Answer = 'clean' | 'unknown' | Suspect;

const MAX_HOPS = 6;

/** Follows a callable value to what made it, across the files of the project. */
export class Origins {
  readonly functions: Elsewhere[] = [];
  readonly #open = new Set<PyNode>();

  /**
   * `whenCalled`: what differentiates where some instance of the project is called. `named`: what does, and has the name in
   * which a path ends that leads to no file for certain.
   */
  constructor(
    private readonly whenCalled: (module: PyModule, made?: Elsewhere) => Suspect | undefined,
    private readonly named: (module: PyModule, path: string) => Suspect | undefined,
  ) {}

  of(module: PyModule, expression: PyNode | undefined, hops: number): Answer {
    const target = expression && unparenthesized(expression);
    if (target === undefined || hops > MAX_HOPS) return 'unknown';
    // A value that depends on itself is as good as its other origins.
    if (this.#open.has(target)) return 'clean';
    this.#open.add(target);
    const answer = this.#find(module, target, hops);
    this.#open.delete(target);
    return answer;
  }

  #find(module: PyModule, target: PyNode, hops: number): Answer {
    switch (target.type) {
      case 'none':
      case 'string':
      case 'integer':
      case 'float':
      case 'true':
      case 'false':
        return 'clean';
      case 'lambda':
        return this.#lambda(module, target, hops);
      case 'conditional_expression':
        return worst([target.named[0], target.named[2]].map((each) => this.of(module, each, hops + 1)));
      case 'boolean_operator':
        return worst(target.named.map((each) => this.of(module, each, hops + 1)));
      case 'call':
        return this.#made(module, target, hops);
      case 'identifier':
      case 'attribute':
        return this.#named(module, target, hops);
      case 'named_expression':
        return this.of(module, target.value, hops);
      case 'subscript':
        return this.#among(module, target.value, hops);
      // More may be put into a container than it is made of.
      case 'list':
      case 'tuple':
      case 'set':
      case 'dictionary':
        return worst([
          'unknown',
          ...target.named.map((each) => this.of(module, each.value ?? each, hops + 1)),
        ]);
      default:
        return 'unknown';
    }
  }

  #lambda(module: PyModule, lambda: PyNode, hops: number): Answer {
    const found = gradUseBehind({ module, node: lambda });
    this.functions.push({ module, node: lambda });
    if (found !== undefined)
      return { name: 'lambda', place: placeOf(module, lambda), clause: `which ${found.use.words}` };
    const callees = [...lambda.walk()].flatMap(({ type, function: callee }) =>
      type === 'call' && callee !== undefined && !isBuiltin(module, callee) ? callee : [],
    );
    // A method of an object is looked for by its name.
    const named = callees.filter((callee) => callee.type !== 'attribute' || qualifiedName(module, callee));
    return worst(['clean', ...named.map((callee) => this.of(module, callee, hops + 1))]);
  }

  /** What is called is an instance, or what a function hands back. */
  #made(module: PyModule, call: PyNode, hops: number): Answer {
    const callee = call.function;
    const path = callee && qualifiedName(module, callee);
    if (path === PARTIAL) return this.of(module, argumentsOf(call)[0], hops + 1);
    const any = takesAnyOf(module, call);
    if (any !== undefined && !isModule(module, any))
      return { name: any.text, place: placeOf(module, call), clause: 'any method of which this may be' };
    const receiver = path === undefined ? receiverOf(call) : undefined;
    const name = methodName(call) ?? '';
    // `Net().to(device)` is the network itself.
    if (receiver !== undefined && givesModule(name) && !isRedefined(module, name))
      return this.of(module, receiver, hops + 1);
    const definition = callee && definedAnywhere(module, callee);
    if (definition !== undefined) {
      if (definition.node.type === 'class_definition') return this.#instance(definition);
      return worst(returnsOf(definition.node).map((each) => this.of(definition.module, each, hops + 1)));
    }
    // What was written to a file may be an instance of any class.
    if (path === undefined || UNPICKLES.has(path) || mayBeOfProject(module, path)) return 'unknown';
    // Its forward may be replaced by a function of the project.
    const replaced = forwardFacts(module)?.isReplaced === false ? undefined : this.whenCalled(module);
    const isLayer = isModuleClass(path) && !CONTAINERS.has(path);
    if (!isLayer && module.memo(grown, module).some((each) => isMadeBy(module, each, call, 0)))
      return 'unknown';
    return worst([
      replaced ?? this.#unplaced(module, path),
      ...argumentsOf(call).map((each) => this.#inside(module, each, isLayer, hops)),
    ]);
  }

  /** What a library is given: numbers and texts have no code, and a layer takes nothing else but layers made on the spot. */
  #inside(module: PyModule, argument: PyNode, isLayer: boolean, hops: number): Answer {
    const value = argumentValue(argument);
    if (/^(?:list|tuple|dictionary|list_splat|pair)$/.test(value.type))
      return worst(['clean', ...value.named.map((each) => this.#inside(module, each, isLayer, hops))]);
    const answer = /^(?:binary_operator|unary_operator|comparison_operator|concatenated_string)$/.test(
      value.type,
    )
      ? 'clean'
      : this.of(module, value, hops + 1);
    return answer === 'unknown' && isLayer && value.type !== 'call' ? 'clean' : answer;
  }

  #instance(made: Elsewhere): Answer {
    for (const name of CALLED) {
      const method = methodNamed(made.module, made.node, name);
      const use = method && gradUseBehind({ module: made.module, node: method });
      if (method !== undefined && use !== undefined) {
        const owner = made.node.name?.text;
        return {
          name: `${owner}`,
          place: placeOf(made.module, method),
          clause: `whose ${name} ${use.use.words}`,
        };
      }
    }
    const own = methodNamed(made.module, made.node, '__call__');
    if (own !== undefined) this.functions.push({ module: made.module, node: own });
    // What it calls in turn is looked for in the whole project.
    return this.whenCalled(made.module, made) ?? 'clean';
  }

  #named(module: PyModule, target: PyNode, hops: number): Answer {
    const path = qualifiedName(module, target);
    if (path !== undefined && row(path)?.differentiates) return this.#path(module, path, target, hops);
    const definition = definedAnywhere(module, target);
    if (definition !== undefined) return this.#defined(definition);
    if (isTaker(module, target))
      return { name: target.text, place: placeOf(module, target), clause: 'which may give `backward`' };
    if (path !== undefined) return this.#path(module, path, target, hops);
    const paths = target.type === 'attribute' ? possibleNames(module, target) : [];
    if (paths.length > 0)
      return worst(
        paths.map((each) => (each === undefined ? 'unknown' : this.#path(module, each, target, hops))),
      );
    if (target.type === 'attribute') {
      const values = (attributeValues(module, target) ?? []).map((each) => this.of(module, each, hops + 1));
      const isAll = attributeValuesInProject(module, target) !== undefined;
      return worst(isAll ? values : [...values, 'unknown']);
    }
    const ways = waysGiven(module, target).map((way) => this.#given(module, way, hops));
    return worst(isSetUnseen(module, target) ? [...ways, 'unknown'] : ways);
  }

  #path(module: PyModule, path: string, target: PyNode, hops: number): Answer {
    if (row(path)?.differentiates)
      return { name: path, place: placeOf(module, target), clause: 'which differentiates' };
    const candidates = candidatesElsewhere(module, path);
    if (candidates.length > 0) {
      const answers = candidates.map((each) =>
        each.node.type === 'assignment'
          ? this.of(each.module, each.node.right, hops + 1)
          : this.#defined(each),
      );
      return worst(boundElsewhere(module, path) === undefined ? [...answers, 'unknown'] : answers);
    }
    return mayBeOfProject(module, path) ? 'unknown' : this.#unplaced(module, path);
  }

  /** Of another project, unless one of several files of this one is meant. */
  #unplaced(module: PyModule, path: string): Answer {
    return (
      (packageOf(path) === undefined && !path.startsWith('torch.') && this.named(module, path)) || 'clean'
    );
  }

  /** One of several: who the others are does not say which. */
  #among(module: PyModule, container: PyNode | undefined, hops: number): Answer {
    const answer = this.of(module, container, hops + 1);
    return answer === 'clean' ? 'unknown' : answer;
  }

  #given(module: PyModule, way: Definition, hops: number): Answer {
    if (way.kind === 'value') return this.of(module, way.value, hops + 1);
    if (way.kind === 'loop') return this.#among(module, way.iterable, hops);
    const { parent } = way.node;
    const path = way.kind === 'other' ? importedPath(way.node) : undefined;
    if (path !== undefined) return this.#path(module, path, way.node, hops);
    if (way.kind === 'other' && parent?.type === 'function_definition' && parent.name === way.node)
      return this.#defined({ module, node: parent });
    const owner = way.kind === 'parameter' ? enclosingFunction(way.node) : undefined;
    const given = owner && valuesGiven(module, owner, way.node);
    return given === undefined
      ? 'unknown'
      : worst(given.map((each) => this.of(each.module, each.node, hops + 1)));
  }

  #defined({ module, node }: Elsewhere): Answer {
    const called = node.type === 'class_definition' ? methodNamed(module, node, '__init__') : node;
    if (called === undefined) return 'clean';
    this.functions.push({ module, node: called });
    const use = gradUseBehind({ module, node: called });
    if (use === undefined) return 'clean';
    return {
      name: node.name?.text ?? '',
      place: placeOf(module, node),
      clause: `which ${use.use.words}`,
    };
  }
}

function worst(answers: readonly Answer[]): Answer {
  return (
    answers.find((answer) => typeof answer === 'object') ??
    (answers.length === 0 || answers.includes('unknown') ? 'unknown' : 'clean')
  );
}

/** A variable of the file that other code may set: `from nets import *`, `%run nets.py`. */
function isSetUnseen(module: PyModule, name: PyNode): boolean {
  if (module.resolve(name) !== module.scope) return false;
  return module.mentions(SETS_NAMES) || isStarred(module, name.text);
}

/** By a path that leads to a file, or to a package: it has functions, which are looked for by themselves. */
function isModule(module: PyModule, value: PyNode): boolean {
  const path = qualifiedName(module, value);
  return path !== undefined && (module.around.text(path) !== undefined || !mayBeOfProject(module, path));
}

export function isBuiltin(module: PyModule, callee: PyNode): boolean {
  return isUnbound(module, callee) && isOfPython(callee.text);
}

/** `blocks.append(…)`, `blocks[0] = …`: what is put into something after it was made. */
function grown(module: PyModule): readonly PyNode[] {
  return [...module.root.walk()].flatMap((node) => {
    if (node.type === 'call') return GROWS.test(methodName(node) ?? '') ? (receiverOf(node) ?? []) : [];
    return node.type === 'assignment' && node.left?.type === 'subscript' ? (node.left.value ?? []) : [];
  });
}

const GROWS = /^(?:add_module|append|extend|insert|register_module|update|__setitem__|__iadd__)$/;

/** Whether a name may hold what a call made. */
function isMadeBy(module: PyModule, name: PyNode, call: PyNode, hops: number): boolean {
  const values =
    name.type === 'attribute'
      ? (attributeValues(module, name) ?? [])
      : name.type === 'identifier'
        ? waysGiven(module, name).flatMap((way) => (way.kind === 'value' ? way.value : []))
        : [];
  return values.some((value) => {
    let at = unparenthesized(value);
    for (
      let inner = receiverOf(at);
      at !== call && inner && givesModule(methodName(at) ?? '');
      inner = receiverOf(at)
    )
      at = inner;
    return at === call || (hops < MAX_HOPS && isMadeBy(module, at, call, hops + 1));
  });
}
