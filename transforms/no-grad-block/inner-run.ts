import { methodCallsAt } from '../../src/semantic/called-name.js';
import type { PyModule } from '../../src/semantic/module.js';
import { enclosingFunction, isPlainPath, receiverOf, statementOf } from '../../src/semantic/statements.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import type { PyNode } from '../../src/syntax/node.js';
import { lastName, networkRunBy } from '../../src/torch/grad/numeric-runs.js';
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
    if (!mayBeMovedUp(call, cut, statement) || isTaken(module, statement)) return [];
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
  const name = `${lastName(model)}_output`;
  return [name, `${name}_detached`].find((each) => !new RegExp(`\\b${each}\\b`).test(module.text));
}

/** What is evaluated whenever the statement is, and before everything else of it that does something. */
function mayBeMovedUp(call: PyNode, cut: PyNode, statement: PyNode): boolean {
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
    if (!before.every(isInert)) return false;
    at = parent;
  }
  return true;
}

const WAITS = /^(?:yield|await|lambda|named_expression)$/;
const PASSES =
  /^(?:argument_list|attribute|binary_operator|call|expression_list|keyword_argument|parenthesized_expression|subscript|tuple|unary_operator)$/;
const LITERALS = /^(?:integer|float|string|true|false|none|comment)$/;

/** To evaluate it does nothing. */
function isInert(node: PyNode): boolean {
  if (node.type === 'keyword_argument') return node.value !== undefined && isInert(node.value);
  return LITERALS.test(node.type) || isPlainPath(node);
}
