import { walksModule } from '../../src/library/library.js';
import { ancestryOf, classAround, methodsOf } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath, roleOf } from '../../src/semantic/names.js';
import { ask, type Question } from '../../src/semantic/question.js';
import { methodName, receiverOf, statementOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { walkedFor } from '../../src/torch/grad/walked-parameters.js';
import { isModel } from '../../src/torch/module/model-value.js';
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

/** The variables of modules that a function, or one that it names, may get a network from. */
function* globalNetworks(module: PyModule, functionNode: PyNode, hops: number): Generator<string> {
  for (const node of functionNode.walk()) {
    if (node.type !== 'identifier' || roleOf(node) !== 'read' || module.resolve(node) !== module.scope)
      continue;
    for (const write of module.writes(module.scope, node.text)) {
      const definition = definitionOf(write);
      if (definition.kind === 'value' && mayBeNetwork(module, definition.value)) yield node.text;
      const path = importedPath(write);
      const own =
        roleOf(write) === 'def' && write.parent !== undefined ? { module, node: write.parent } : undefined;
      const called = own ?? (path === undefined ? undefined : definedElsewhere(module, path));
      if (called?.node.type === 'function_definition' && hops < 2)
        yield* globalNetworks(called.module, called.node, hops + 1);
    }
  }
}

function mayBeNetwork(module: PyModule, value: PyNode): boolean {
  return value.type === 'call' && !isNoNetwork(module, value, 0) && isModel(module, value) !== 'no';
}

/** `registry.append(self)` in one of its methods. */
function handsItselfOut(_module: PyModule, classNode: PyNode): boolean {
  return methodsOf(classNode).some((method) =>
    [...method.walk()].some((node) => {
      if (node.type !== 'identifier' || node.text !== classAround(node)?.self || roleOf(node) !== 'read')
        return false;
      if (node.parent?.type === 'attribute') return false;
      const callee = node.parent?.type === 'argument_list' ? node.parent.parent?.function : undefined;
      return (
        !/^(?:super|print|len|isinstance|type|id|str|repr)$/.test(callee?.text ?? '') &&
        node.parent?.type !== 'return_statement'
      );
    }),
  );
}
