import { walksModule } from '../../src/library/library.js';
import { PARAMETER } from '../../src/library/names.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { ancestryOf, classAround, methodsOf } from '../../src/semantic/definitions.js';
import { boundElsewhere, type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath, roleOf } from '../../src/semantic/names.js';
import { ask, type Question } from '../../src/semantic/question.js';
import { isCallee, methodName, receiverOf, statementOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { walkedFor } from '../../src/torch/grad/walked-parameters.js';
import { isModel } from '../../src/torch/module/model-value.js';
import { gradUseIn } from '../../src/values/effects/grad.js';
import { isMadeAt, leavesParameters } from './optimizer-uses.js';
import { isNoNetwork } from './sharing.js';

/** What every instance of a class of the project has or does, however it was made: reasons why it may be trained or looked at. */
export function* doubtsOfInstances(made: Elsewhere): Generator<Question> {
  const name = made.node.name?.text ?? '';
  for (const { module, node } of classesOf(made)) {
    for (const shared of module.memo(sharedByAll, node))
      yield ask('untrained')`Does \`${shared}\`, which every \`${name}\` has, stay untrained elsewhere?`;
    if (module.memo(handsItselfOut, node))
      yield ask('untrained')`Does a \`${name}\` stay untrained by what it gives itself to?`;
    if (/\bregister_\w*hook\b/.test(module.codeOf(node)))
      yield ask('works-without-graph')`Do the hooks of \`${name}\` work without the graph?`;
  }
}

/** A class and those of the project that it inherits from. */
function classesOf(made: Elsewhere): readonly Elsewhere[] {
  return [made, ...lineageOf(made.module, made.node).elsewhere].flatMap(({ module, node }) =>
    ancestryOf(module, node).classes.map((each) => ({ module, node: each })),
  );
}

/** The attributes by which instances of a class hold an optimizer of their own parameters; `*` where something else takes them. */
export function ownOptimizers(made: Elsewhere): readonly string[] {
  return classesOf(made).flatMap(({ module, node }) => module.memo(findOwnOptimizers, node));
}

/** Whether a class does more with such an optimizer than to make it once. */
export function usesItself(made: Elsewhere, name: string): boolean {
  // What is done with it by the network is followed there.
  const uses = classesOf(made).flatMap(({ module, node }) =>
    attributeUses(module, node, name).flatMap((use) =>
      use.node.object?.text === classAround(use.node)?.self ? [{ module, ...use }] : [],
    ),
  );
  const isPlain = (use: (typeof uses)[number]): boolean =>
    use.kind === 'write' ? isMadeAt(use.module, use.node) : leavesParameters(use.module, use.node);
  return uses.filter(({ kind }) => kind !== 'read').length !== 1 || !uses.every(isPlain);
}

function findOwnOptimizers(module: PyModule, classNode: PyNode): readonly string[] {
  return module.atWithin('parameters(', classNode).flatMap((node): readonly string[] => {
    const call = node.parent?.parent;
    const receiver = call?.type === 'call' ? receiverOf(call) : undefined;
    if (
      call === undefined ||
      receiver?.text !== classAround(node)?.self ||
      !walksModule(methodName(call) ?? '')
    )
      return [];
    const walked = walkedFor(module, call);
    if (walked === 'plain' || walked === 'frozen') return [];
    const assignment = statementOf(call).named[0];
    const target = assignment?.type === 'assignment' ? assignment.left : undefined;
    const isOwn = walked === 'trained' && target?.object?.text === receiver?.text;
    return [(isOwn ? target?.attribute?.text : undefined) ?? '*'];
  });
}

/** Objects that all instances of a class use: variables of the class or of a module that may be networks. */
function sharedByAll(module: PyModule, classNode: PyNode): readonly string[] {
  const found = new Set<string>();
  for (const statement of classNode.body?.named ?? []) {
    const assignment = statement.named[0];
    const value = assignment?.type === 'assignment' ? assignment.right : undefined;
    if (value !== undefined && mayBeNetwork(module, value)) found.add(assignment?.left?.text ?? '');
  }
  for (const method of methodsOf(classNode)) {
    if (/^__(?:new|deepcopy|copy)__$/.test(method.name?.text ?? '')) found.add(method.name?.text ?? '');
    for (const name of globalNetworks(module, method, 0)) found.add(name);
  }
  return [...found];
}

/** The variables of modules and of other classes that a function, or one that it names, may get weights from. */
function* globalNetworks(module: PyModule, functionNode: PyNode, hops: number): Generator<string> {
  for (const node of functionNode.walk()) {
    if (node.type !== 'identifier' || roleOf(node) !== 'read' || module.resolve(node) !== module.scope)
      continue;
    const user = node.parent;
    const part = user?.type === 'attribute' && user.object === node ? user.attribute?.text : undefined;
    for (const write of module.writes(module.scope, node.text)) {
      const definition = definitionOf(write);
      if (definition.kind === 'value' && mayBeNetwork(module, definition.value)) yield node.text;
      const path = importedPath(write);
      const own = /^(?:def|class)$/.test(roleOf(write) ?? '') ? write.parent : undefined;
      const named = own === undefined ? path && boundElsewhere(module, path) : { module, node: own };
      const found = named || (path && part && boundElsewhere(module, `${path}.${part}`));
      if (!found) continue;
      if (found.node.type === 'function_definition' && hops < 2)
        yield* globalNetworks(found.module, found.node, hops + 1);
      const value = found.node.type === 'class_definition' ? fieldOf(found.node, part) : found.node.right;
      if (value !== undefined && mayBeNetwork(found.module, value))
        yield part === undefined ? node.text : `${node.text}.${part}`;
    }
  }
}

/** `nn.Parameter(torch.ones(1))` of `scale = nn.Parameter(torch.ones(1))` in the body of a class. */
function fieldOf(classNode: PyNode, name: string | undefined): PyNode | undefined {
  const assignments = (classNode.body?.named ?? []).flatMap((statement) => statement.named[0] ?? []);
  return assignments.find(({ type, left }) => type === 'assignment' && left?.text === name)?.right;
}

function mayBeNetwork(module: PyModule, value: PyNode): boolean {
  if (value.type !== 'call' || isNoNetwork(module, value, 0)) return false;
  return (
    isModel(module, value) !== 'no' ||
    gradUseIn(module, value) !== undefined ||
    calledPath(module, value) === PARAMETER
  );
}

/** `registry.append(self)` in one of its methods. */
function handsItselfOut(_module: PyModule, classNode: PyNode): boolean {
  return methodsOf(classNode).some((method) =>
    [...method.walk()].some((node) => {
      if (node.type !== 'identifier' || node.text !== classAround(node)?.self || roleOf(node) !== 'read')
        return false;
      if (node.parent?.type === 'attribute' || isCallee(node)) return false;
      const callee = node.parent?.type === 'argument_list' ? node.parent.parent?.function : undefined;
      return (
        !/^(?:super|print|len|isinstance|type|id|str|repr)$/.test(callee?.text ?? '') &&
        node.parent?.type !== 'return_statement'
      );
    }),
  );
}
