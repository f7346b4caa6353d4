import { attributeWritesElsewhere } from '../../src/semantic/attribute-writes.js';
import { methodCallsAt } from '../../src/semantic/called-name.js';
import { calledDefinition } from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { functionsNamed } from '../../src/semantic/project-names.js';
import {
  enclosingClass,
  enclosingFunction,
  isPlainPath,
  receiverOf,
  statementOf,
} from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import { writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { lastName, networkRunBy } from '../../src/torch/grad/numeric-runs.js';
import { moduleKind } from '../../src/torch/module/modules.js';
import type { GradlessPart } from '../../src/torch/record/left-behind.js';
import { isGradOff, switchesGradOff } from '../../src/values/effects/mode.js';
import { GradTrace } from '../../src/values/value/trace.js';
import { isOurs, isTaken } from './numbers.js';
import { mayStand } from './rows.js';

/** A network that runs inside a statement which needs gradients, where only what is detached goes on. */
export interface InnerRun extends GradlessPart {
  readonly call: PyNode;
  readonly statement: PyNode;
  /** The variable that gets the result. */
  readonly name: string;
}

/** `judge(net(z).detach())`: the run gets a line of its own. */
export function innerRuns(module: PyModule): readonly InnerRun[] {
  if (switchesGradOff(module)) return [];
  return methodCallsAt(module, '.detach()').flatMap((cut) => {
    const call = receiverOf(cut);
    const model = call?.type === 'call' ? networkRunBy(module, call) : undefined;
    if (call === undefined || model === undefined || isGradOff(module, call)) return [];
    const statement = statementOf(call);
    const owner = enclosingFunction(call) ?? module.root;
    if (!mayBeMovedUp(module, owner, call, cut) || isTaken(module, statement)) return [];
    if (isTestCode(module, call) || !isOurs(module, owner)) return [];
    const run = { wrapped: [call], statements: [call], owner, models: [model], mayTrain: true as const };
    const name = newName(module, model);
    if (name === undefined || !mayStand(module, run)) return [];
    const isCut = new GradTrace(module, owner, new Set([model.text])).of(cut) === 'plain';
    return isCut ? [{ ...run, call, statement, name }] : [];
  });
}

/** Of several, a variable that nobody has a use for. */
function newName(module: PyModule, model: PyNode): string | undefined {
  // An item of a list has no name of its own.
  const own = lastName(model);
  if (!/^\w+$/.test(own)) return undefined;
  const name = `${own}_output`;
  return [name, `${name}_detached`].find((each) => !new RegExp(`\\b${each}\\b`).test(module.text));
}

/** What is evaluated whenever the statement is, and before everything else of it that does something. */
function mayBeMovedUp(module: PyModule, owner: PyNode, call: PyNode, cut: PyNode): boolean {
  const statement = statementOf(call);
  const isInClass = statement.closest('class_definition', 'function_definition')?.type === 'class_definition';
  if (isInClass) return false;
  const [only, ...others] = statement.named;
  if (only === undefined || others.length > 0 || !/^(?:expression|return)_statement$/.test(statement.type))
    return false;
  const value = only.type === 'assignment' ? only.right : only;
  // A statement of its own can be wrapped whole.
  if (value === undefined || value === cut || !value.contains(call) || call.text.includes('\n')) return false;
  if ([...call.walk()].some(({ type }) => WAITS.test(type))) return false;
  for (let at: PyNode = call; at !== value; ) {
    const { parent } = at;
    if (parent === undefined || !PASSES.test(parent.type)) return false;
    const inner = at;
    const before = parent.named.slice(0, parent.named.indexOf(inner));
    if (!before.every((each) => isInert(module, owner, each, call))) return false;
    at = parent;
  }
  return true;
}

const WAITS = /^(?:yield|await|lambda|named_expression)$/;
const PASSES =
  /^(?:argument_list|attribute|binary_operator|call|expression_list|keyword_argument|parenthesized_expression|subscript|tuple|unary_operator)$/;
const LITERALS = /^(?:integer|float|string|true|false|none|comment)$/;

/** To evaluate it does nothing, and gives the same behind the call. */
function isInert(module: PyModule, owner: PyNode, node: PyNode, call: PyNode): boolean {
  if (node.type === 'keyword_argument')
    return node.value !== undefined && isInert(module, owner, node.value, call);
  if (LITERALS.test(node.type)) return !node.named.some(({ type }) => type === 'interpolation');
  if (node.parent?.type === 'keyword_argument' && node.parent.name === node) return true;
  if (!isPlainPath(node)) return false;
  if (qualifiedName(module, node) !== undefined) return true;
  if (node.type === 'identifier') return staysBound(module, node);
  return (
    node.object !== undefined && isInert(module, owner, node.object, call) && staysSet(module, node, call)
  );
}

/** Nothing that a call runs gives the variable another value. */
function staysBound(module: PyModule, name: PyNode): boolean {
  const home = (module.resolve(name) ?? module.scope).node;
  return writesOf(module, name).every((write) => (enclosingFunction(write) ?? module.root) === home);
}

/** No property, and no network sets an attribute of this name but where it is made. */
function staysSet(module: PyModule, attribute: PyNode, call: PyNode): boolean {
  const name = attribute.attribute?.text ?? '';
  const isOwn = calledDefinition(module, call) !== undefined;
  if (isOwn || functionsNamed(module, name)?.length !== 0) return false;
  if (attributeWritesElsewhere(module, name)?.length !== 0) return false;
  return module.words(`.${name}`).every(({ parent }) => {
    const isSet = parent?.parent?.left === parent || /pattern/.test(parent?.parent?.type ?? '');
    if (parent?.attribute?.text !== name || !isSet) return true;
    const classNode = enclosingClass(enclosingFunction(parent) ?? parent);
    const isMaking = enclosingFunction(parent)?.name?.text === '__init__';
    return isMaking || (classNode !== undefined && moduleKind(module, classNode).isModule === 'no');
  });
}
