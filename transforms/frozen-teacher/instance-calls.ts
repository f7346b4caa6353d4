import { WRAPS_MODULE } from '../../src/library/names.js';
import { ancestryOf, classAround, methodNamed } from '../../src/semantic/definitions.js';
import { type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { isReachedByText } from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsByName } from '../../src/semantic/parameters.js';
import { ask, type Question } from '../../src/semantic/question.js';
import { remembered } from '../../src/semantic/remembered.js';
import { enclosingClass, isCallee } from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import { doubtsOfInstances } from './instances.js';
import { NetworkUses } from './uses.js';
import { mayBeTakenUnseen } from './whole-module.js';

/** All calls of the objects that a class of modules makes; undefined where one of them may go where it is not followed. */
export const callsOfInstances = remembered(
  (module: PyModule, classNode: PyNode): readonly Elsewhere[] | undefined => {
    const { name } = classNode;
    const forward = methodNamed(module, classNode, 'forward');
    if (name === undefined || forward === undefined || moduleKind(module, classNode).isModule !== 'yes')
      return undefined;
    // A base of the project may run the forward by `self`, and so may the class.
    if (ancestryOf(module, classNode).classes.length > 1 || lineageOf(module, classNode).elsewhere.length > 0)
      return undefined;
    if (methodNamed(module, classNode, '__call__') !== undefined || isReachedByText(module, forward))
      return undefined;
    if (mayBeTakenUnseen(module)) return undefined;
    if (module.atWithin('.forward', classNode).some((node) => node.text === 'forward')) return undefined;
    if (!doubtsOfInstances({ module, node: classNode }).next().done) return undefined;
    const scope = module.resolve(name);
    const { uses, unread } = usesElsewhere(module, name, { may: () => true, byName: false });
    if (scope === undefined || unread !== undefined) return undefined;
    const own = module.reads(scope, name.text).filter((read) => !isOfSuper(read, classNode));
    const all = [...own.map((node) => ({ module, node })), ...uses];
    const calls = new InstanceCalls(name.text);
    for (const { module: there, node } of all) {
      if (!isCallee(node) || node.parent === undefined) return undefined;
      calls.follow(there, node.parent);
    }
    return calls.doubts.length > 0 ? undefined : calls.found;
  },
);

/** `super(Net, self)` in the class itself. */
function isOfSuper(read: PyNode, classNode: PyNode): boolean {
  const call = read.parent?.type === 'argument_list' ? read.parent.parent : undefined;
  return call?.function?.text === 'super' && classAround(read)?.classNode === classNode;
}

class InstanceCalls extends NetworkUses {
  readonly found: Elsewhere[] = [];

  /** What becomes of the object that a call makes. */
  follow(module: PyModule, made: PyNode): undefined {
    return this.use(module, made, 0);
  }

  protected override called(module: PyModule, call: PyNode): undefined {
    this.found.push({ module, node: call });
  }

  protected override applied(call: PyNode): undefined {
    this.unknown(untrainedIn(this.name, call.text));
  }

  protected override copied(module: PyModule, call: PyNode, hops: number): undefined {
    return this.use(module, call, hops + 1);
  }

  /** `nn.DataParallel(criterion)` is called as what it wraps; another may be called otherwise. */
  protected override wrapped(module: PyModule, call: PyNode, path: string, hops: number): undefined {
    if (WRAPS_MODULE.has(path)) return this.use(module, call, hops + 1);
    this.unknown(untrainedIn(this.name, path));
  }

  /** Another object at the same place adds its calls, and hides none. */
  object(): undefined {}
}

function untrainedIn(name: string, code: string): Question {
  return ask('untrained')`Does \`${name}\` stay untrained in \`${code}\`?`;
}

/** What the calls of all objects of a class give to a parameter of its forward; undefined where that does not show. */
export function valuesGivenToInstances(
  module: PyModule,
  forward: PyNode,
  parameter: PyNode,
): readonly Elsewhere[] | undefined {
  const classNode = forward.name?.text === 'forward' ? enclosingClass(forward) : undefined;
  const calls = classNode && callsOfInstances(module, classNode);
  const values = calls?.map((call): Elsewhere | undefined => {
    const value = argumentsByName(call.module, forward, call.node)?.get(parameter.text);
    return value && { module: call.module, node: value };
  });
  return values?.every((each) => each !== undefined) === true ? values : undefined;
}
