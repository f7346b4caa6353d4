import { row } from '../../src/library/library.js';
import { attributeValues } from '../../src/semantic/attributes.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { functionsNamed, mayBeSubclass } from '../../src/semantic/project-names.js';
import {
  decoratorsOf,
  enclosingFunction,
  methodName,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import { isUnbound, readsOf, waysGiven, writesOf } from '../../src/semantic/variables.js';
import { type CodeLine, isWithin, linesOf } from '../../src/syntax/code-text.js';
import type { PyNode } from '../../src/syntax/node.js';
import { networkOf } from '../../src/torch/grad/evaluation.js';
import { networkRunBy } from '../../src/torch/grad/numeric-runs.js';
import { IN_FILE, runsNetwork } from '../../src/torch/grad/runs.js';
import type { GradlessPart } from '../../src/torch/record/left-behind.js';
import { gradUseIn, gradUsesIn } from '../../src/values/effects/grad.js';
import { isGradOff, onlyRunsGradOff, switchesGradOff } from '../../src/values/effects/mode.js';

/** A loop, or some statements of a function, that train where a flag says so, and evaluate with gradients on where not. */
export interface FlaggedPart extends GradlessPart {
  /** What `torch.set_grad_enabled()` is to be told. */
  readonly flag: string;
  /** The same as it is written. */
  readonly condition: PyNode;
}

/** Where a gradient is computed. */
const BACKWARD = '.backward(';
const GRAD_MODE = /no_?grad|inference_?mode|grad_enabled|enable_?grad/i;
const IF = /^(?:el)?if\b/;

/** Whether a function may do both, going by its code. */
export function mayChooseMode(code: string): boolean {
  if (GRAD_MODE.test(code)) return false;
  const isChosen = (line: CodeLine) => line.text.includes(BACKWARD) && isWithin(line, IF);
  return code.includes(BACKWARD) && linesOf(code).some(isChosen);
}

export function flaggedParts(module: PyModule): readonly FlaggedPart[] {
  if (switchesGradOff(module)) return [];
  const found = new Map<PyNode, FlaggedPart>();
  for (const node of module.atWhere(BACKWARD, mayChooseMode)) {
    const around = node.closest('for_statement', 'function_definition', 'lambda');
    if (around === undefined || around.type === 'lambda' || found.has(around)) continue;
    const isLoop = around.type === 'for_statement';
    for (const guard of guardsOf(node, [around])) {
      const part = partOf(module, isLoop ? [around] : rowAround(module, guard), guard);
      if (part === undefined) continue;
      found.set(around, part);
      break;
    }
  }
  return [...found.values()];
}

/** The statements from the first forward in the block of a guard to the last one that it guards. */
function rowAround(module: PyModule, guard: PyNode): readonly PyNode[] {
  const flag = conditionOf(guard)?.text ?? '';
  const siblings = guard.parent?.named ?? [];
  const isRun = (statement: PyNode) =>
    withoutGuarded(statement, flag).some((part) => networksCalled(module, [...part.walk()]).length > 0);
  const first = siblings.slice(0, siblings.indexOf(guard)).findIndex(isRun);
  const last = siblings.findLastIndex(
    (each) => conditionOf(each)?.text === flag && gradUseIn(module, each) !== undefined,
  );
  return first === -1 ? [] : siblings.slice(first, last + 1);
}

function partOf(module: PyModule, wrapped: readonly PyNode[], guard: PyNode): FlaggedPart | undefined {
  const [first] = wrapped;
  const condition = conditionOf(guard);
  if (first === undefined || condition === undefined || !isSteady(module, condition, wrapped))
    return undefined;
  const owner = enclosingFunction(first) ?? module.root;
  if (isTestCode(module, first) || decoratorsOf(owner).length > 0) return undefined;
  if (isGradOff(module, first) || (owner !== module.root && onlyRunsGradOff(module, owner))) return undefined;
  const parts = wrapped.flatMap((each) => withoutGuarded(each, condition.text));
  const isGuarded = (node: PyNode) =>
    guardsOf(node, wrapped).some((each) => conditionOf(each)?.text === condition.text);
  if (!wrapped.flatMap((each) => gradUsesIn(module, each)).every(({ node }) => isGuarded(node)))
    return undefined;
  const calls = parts.flatMap((part) => [...part.walk(({ type }) => !/_definition$|^lambda$/.test(type))]);
  const runs = (model: PyNode) =>
    calls.some(
      (call) =>
        call.type === 'call' && runsNetwork(module, call, model.text, IN_FILE) && !isGradOff(module, call),
    );
  const switched = networksSwitchedIn(owner).filter(runs);
  // Where the mode is the caller's business, by what is called.
  const models = switched.length > 0 ? switched : networksCalled(module, calls);
  if (models.length === 0 || mayAnswerAnew(module, condition)) return undefined;
  if (isSeenTo(module, owner, condition)) return undefined;
  return {
    ...{ statements: parts, wrapped, owner, models, condition, flag: asBoolean(module, condition) },
    ...(switched.length === 0 && { mayTrain: true }),
  };
}

/** Whoever calls the function for anything but training does so with gradients off, or nobody does: then nothing is recorded in vain. */
function isSeenTo(module: PyModule, owner: PyNode, condition: PyNode): boolean {
  const names = [condition, ...condition.named].filter(({ type }) => type === 'identifier');
  const [parameter, ...others] = names.flatMap((name) => writesOf(module, name));
  if (parameter === undefined || others.length > 0 || roleOf(parameter) !== 'parameter') return false;
  const given = valuesGiven(module, owner, parameter);
  if (given === undefined || given.length === 0) return false;
  return given.every(({ module: there, node }) => {
    if (isOn(condition, node)) return true;
    const caller = enclosingFunction(node);
    // A default stands for calls that are not looked at.
    if (node.closest('parameters') !== undefined) return false;
    return isGradOff(there, node) || (caller !== undefined && onlyRunsGradOff(there, caller));
  });
}

/** Whether a condition holds for a value, as both are written. */
function isOn(condition: PyNode, value: PyNode): boolean {
  if (condition.type === 'identifier') return value.type === 'true';
  if (condition.type === 'not_operator') return value.type === 'false';
  const [left, right] = condition.type === 'comparison_operator' ? condition.named : [];
  const constant = left?.type === 'identifier' ? right : left;
  const text = constant && plainString(constant);
  return text !== undefined && /==/.test(condition.text) && plainString(value) === text;
}

/** The `if` statements among some, or inside them, whose body a node is in. */
function guardsOf(node: PyNode, wrapped: readonly PyNode[]): readonly PyNode[] {
  const found: PyNode[] = [];
  for (const at of node.ancestors()) {
    if (at.type === 'if_statement' && at.consequence?.contains(node)) found.push(at);
    if (wrapped.includes(at)) break;
  }
  return found;
}

function conditionOf(guard: PyNode): PyNode | undefined {
  const condition = guard.condition;
  return condition && unparenthesized(condition);
}

/** A flag, its opposite, a comparison with a constant, or several of them, of variables that the statements do not change. */
function isSteady(module: PyModule, condition: PyNode, wrapped: readonly PyNode[]): boolean {
  if (condition.type === 'boolean_operator')
    return condition.named.every((each) => isSteady(module, unparenthesized(each), wrapped));
  const operands =
    condition.type === 'comparison_operator' || condition.type === 'not_operator'
      ? condition.named
      : [condition];
  if (operands.length > 2 || !operands.some(({ type }) => type === 'identifier')) return false;
  return operands.every((operand) =>
    operand.type === 'identifier'
      ? isLocal(module, operand, wrapped) && (isFixed(condition) || staysAsItIs(module, operand, wrapped))
      : /^(?:string|none|true|false|integer)$/.test(operand.type),
  );
}

/** Classes of the project decide what such a question to one of their objects gives, each time anew. */
function mayAnswerAnew(module: PyModule, condition: PyNode): boolean {
  if (condition.type === 'boolean_operator')
    return condition.named.some((each) => mayAnswerAnew(module, unparenthesized(each)));
  const isCompared = condition.type === 'comparison_operator';
  if (isCompared && /\bis\b/.test(condition.text)) return false;
  return functionsNamed(module, isCompared ? '__eq__' : '__bool__')?.length !== 0;
}

/** Only the function around them binds the variable, and not there. */
function isLocal(module: PyModule, name: PyNode, wrapped: readonly PyNode[]): boolean {
  const owner = wrapped.map(enclosingFunction)[0] ?? module.root;
  const scope = module.resolve(name);
  if (scope === undefined || scope !== module.scopeOf(owner)) return false;
  const writes = module.writes(scope, name.text);
  return (
    writes.length > 0 &&
    writes.every(
      (write) =>
        !wrapped.some((each) => each.contains(write)) && (enclosingFunction(write) ?? module.root) === owner,
    )
  );
}

/** `optimizer is not None`, `phase == "train"`: whatever is put into an object, the answer is the same. */
function isFixed(condition: PyNode): boolean {
  const isCompared = condition.type === 'comparison_operator';
  return isCompared && condition.named.some(({ type }) => /^(?:string|none|true|false)$/.test(type));
}

/** It is a truth, or nothing is done with it there but to ask for it: a list could be filled. */
function staysAsItIs(module: PyModule, name: PyNode, wrapped: readonly PyNode[]): boolean {
  const writes = writesOf(module, name);
  if (writes.some((write) => roleOf(write) === 'parameter' && isGivenWhatMayChange(module, write)))
    return false;
  if (writes.every(isTruth)) return true;
  return readsOf(module, name).every(
    (read) =>
      !wrapped.some((each) => each.contains(read)) ||
      ASKING.test(read.parent?.type ?? '') ||
      read.parent?.condition === read ||
      (read.parent?.type === 'conditional_expression' && read.parent.named[1] === read),
  );
}

/** Somebody calls with a list, a tensor or the like, which others may fill meanwhile: a loader, a hook. */
function isGivenWhatMayChange(module: PyModule, parameter: PyNode): boolean {
  const owner = enclosingFunction(parameter);
  const given = owner === undefined ? [] : (valuesGiven(module, owner, parameter) ?? []);
  return given.some(({ module: there, node }) =>
    [
      ...[node, ...(attributeValues(there, node) ?? [])],
      ...waysGiven(there, node).flatMap((way) => (way.kind === 'value' ? [way.value] : [])),
    ].some((value) => isContainer(there, unparenthesized(value))),
  );
}

/** Whether a class of the project, or one above it, says how many it holds: then so many make it true. */
function hasLength(module: PyModule, path: string): boolean {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const sized = functionsNamed(module, '__len__');
  return sized === undefined || sized.some(({ owner }) => owner && mayBeSubclass(module, name, owner.name));
}

/** `[]`, `{}`, `deque()`, `torch.zeros(1)`, `Phases()` */
function isContainer(module: PyModule, value: PyNode): boolean {
  if (value.type !== 'call') return /^(?:list|dictionary|set)(?:_comprehension)?$/.test(value.type);
  const path = calledPath(module, value);
  if (hasLength(module, path ?? value.function?.text ?? '')) return true;
  if (path !== undefined) return row(path)?.gives === 'tensor' || path.startsWith('collections.');
  return (
    value.function !== undefined &&
    isUnbound(module, value.function) &&
    /^(?:list|dict|set)$/.test(value.function.text)
  );
}

const ASKING = /^(?:boolean|comparison|not)_operator$/;

/** `train: bool`, `train=True`, `train = epoch > 0` */
function isTruth(write: PyNode): boolean {
  const holder = write.parent;
  if (holder?.field('type')?.text === 'bool') return true;
  const value = roleOf(write) === 'parameter' ? holder?.value : holder?.right;
  return /^(?:true|false|comparison_operator|not_operator)$/.test(value?.type ?? '');
}

/** The parts of a statement that also run where the flag is off. */
function withoutGuarded(statement: PyNode, flag: string): readonly PyNode[] {
  const isGuard = statement.type === 'if_statement' && conditionOf(statement)?.text === flag;
  const holds = [...statement.walk()].some(
    (node) => node !== statement && node.type === 'if_statement' && conditionOf(node)?.text === flag,
  );
  if (!isGuard && !holds) return [statement];
  const skipped = isGuard ? statement.consequence : undefined;
  return statement.named.flatMap((child) => {
    if (child === skipped) return [];
    return /^(?:block|elif_clause|else_clause|except_clause|finally_clause|case_clause)$/.test(child.type)
      ? child.named
          .flatMap((each) => (each.type === 'block' ? each.named : [each]))
          .flatMap((each) => withoutGuarded(each, flag))
      : [child];
  });
}

/** The networks whose mode a function sets. */
function networksSwitchedIn(owner: PyNode): readonly PyNode[] {
  const found = new Map<string, PyNode>();
  for (const node of owner.walk()) {
    if (node.type !== 'call' || !/^(?:eval|train)$/.test(methodName(node) ?? '')) continue;
    const model = networkOf(node);
    if (model !== undefined) found.set(model.text, model);
  }
  return [...found.values()];
}

/** The networks that some calls run with gradients on. */
function networksCalled(module: PyModule, nodes: readonly PyNode[]): readonly PyNode[] {
  const found = new Map<string, PyNode>();
  for (const node of nodes) {
    const model = node.type === 'call' && !isGradOff(module, node) ? networkRunBy(module, node) : undefined;
    if (model !== undefined) found.set(model.text, model);
  }
  return [...found.values()];
}

/** `set_grad_enabled()` takes nothing but a boolean. */
function asBoolean(module: PyModule, condition: PyNode): string {
  // `a and b` gives one of the two.
  if (condition.type === 'boolean_operator')
    return condition.named.every(({ type }) => /^(?:comparison|not)_operator$/.test(type))
      ? condition.text
      : `bool(${condition.text})`;
  if (condition.type !== 'identifier') return condition.text;
  const isBoolean = writesOf(module, condition).every(
    (write) => roleOf(write) !== 'parameter' && isTruth(write),
  );
  return isBoolean ? condition.text : `bool(${condition.text})`;
}
