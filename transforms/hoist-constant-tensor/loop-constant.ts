import { isExact, type Row, row } from '../../src/library/library.js';
import { DEVICE, TENSOR_TYPES } from '../../src/library/names.js';
import { everywhere } from '../../src/semantic/companions.js';
import { calledDefinition } from '../../src/semantic/definitions.js';
import { definedElsewhere } from '../../src/semantic/elsewhere.js';
import { placeOf as placeInWords } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import type { Scope } from '../../src/semantic/scope.js';
import {
  argumentsOf,
  contextManagers,
  enclosingFunction,
  enclosingLoops,
  enclosingWiths,
  hasSplat,
  isCallee,
  methodName,
  statementOf,
  unparenthesized,
  wholeName,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';

/** `torch.tensor([1.0, 2.0]).view(1, 2).to(device)`: numbers written in the code, in a tensor. */
export interface Constant {
  readonly value: PyNode;
  /** What it is without its last move; the same as `value` where there is none. */
  readonly made: PyNode;
  /** The maker's own call. */
  readonly maker: PyNode;
  /** Where it is moved, or made; undefined for the host and for the current GPU. */
  readonly device: PyNode | undefined;
  /** Its numbers are copied from the host to that device. */
  readonly copied: boolean;
  /** Made from a list of numbers; other makers fill the tensor where it lies, which costs next to nothing. */
  readonly fromHost: boolean;
  /** The variable that it is all of, where its statement is such an assignment. */
  readonly name: PyNode | undefined;
  readonly statement: PyNode;
}

const OPTIONS: ReadonlySet<string> = new Set(['dtype', 'device', 'requires_grad']);

/** The constant that starts with this maker's name, when nothing but literals goes into it. */
export function constantAt(module: PyModule, hit: PyNode): Constant | undefined {
  const callee = hit.parent?.type === 'attribute' ? hit.parent : hit;
  const maker = callee.parent;
  if (maker?.type !== 'call' || maker.function !== callee) return undefined;
  const path = qualifiedName(module, callee);
  const known = path === undefined ? undefined : row(path);
  if (known === undefined || !makesConstant(known) || !isLiteralCall(module, maker)) return undefined;
  let made = maker;
  while (isExactMethod(module, methodCallOn(made))) made = methodCallOn(made) ?? made;
  const move = methodCallOn(made);
  const moved = move === undefined ? 'nowhere' : moveOf(module, move);
  const given = keywordValue(maker, 'device');
  if (moved === 'other' || (given !== undefined && moved !== 'nowhere')) return undefined;
  const value = moved === 'nowhere' ? made : (move ?? made);
  const fromHost = /tensor$/.test(known.path);
  const copied = moved !== 'nowhere' || (given !== undefined && fromHost);
  const device = moved === 'nowhere' ? given : moved === 'cuda' ? undefined : moved;
  return { value, made, maker, device, copied, fromHost, ...placeOf(value) };
}

function placeOf(value: PyNode): Pick<Constant, 'name' | 'statement'> {
  const assignment = value.parent;
  const [left, statement] = [assignment?.left, statementOf(value)];
  const whole =
    assignment?.type === 'assignment' &&
    assignment.parent === statement &&
    assignment.right === value &&
    assignment.field('type') === undefined &&
    left?.type === 'identifier';
  return { name: whole ? left : undefined, statement };
}

/** `value.method(…)` */
function methodCallOn(value: PyNode): PyNode | undefined {
  const call = value.parent?.type === 'attribute' ? value.parent.parent : undefined;
  return call?.type === 'call' && call.function === value.parent ? call : undefined;
}

function isExactMethod(module: PyModule, call: PyNode | undefined): boolean {
  return (
    call !== undefined &&
    isExact(methodName(call) ?? '') &&
    argumentsOf(call).every((argument) => isLiteral(module, argument))
  );
}

type Move = PyNode | 'nowhere' | 'cuda' | 'other';

/** The device of `….to(device)`, or `cuda` for `….cuda()`; `other` for moves that say more. */
function moveOf(module: PyModule, call: PyNode): Move {
  const name = methodName(call) ?? '';
  const [only, ...others] = argumentsOf(call);
  if (name === 'cuda') return only === undefined ? 'cuda' : 'other';
  if (name !== 'to') return 'nowhere';
  const value = only?.type === 'keyword_argument' ? only.value : only;
  if (value === undefined || others.length > 0 || (only !== value && only?.name?.text !== 'device'))
    return 'other';
  // Where nothing says what `dev` is, it is one thing for all iterations, or moves between devices.
  const answer = valueOf(module, value).isDevice;
  return answer === 'yes' || (answer === 'unknown' && value.text === 'dev') ? value : 'other';
}

function isLiteralCall(module: PyModule, call: PyNode): boolean {
  if (hasSplat(call) || call.arguments?.type !== 'argument_list') return false;
  return argumentsOf(call).every((argument) => {
    if (argument.type !== 'keyword_argument') return isLiteral(module, argument);
    const [key, value] = [argument.name?.text ?? '', argument.value];
    if (value === undefined) return false;
    if (!OPTIONS.has(key)) return isLiteral(module, value);
    return key !== 'requires_grad' || value.type === 'false';
  });
}

/** More than a few thousand numbers, which were freed after their statement. */
export function isLarge(maker: PyNode): boolean {
  const sizes = [...maker.walk()].flatMap(({ type, text }) => (type === 'integer' ? [Number(text)] : []));
  return !/tensor$/.test(maker.function?.text ?? '') && sizes.reduce((a, b) => a * (b || 1), 1) > 65536;
}

/** Numbers, and lists and tuples of them. */
function isLiteral(module: PyModule, expression: PyNode): boolean {
  const node = unparenthesized(expression);
  switch (node.type) {
    case 'integer':
    case 'float':
    case 'true':
    case 'false':
      return true;
    case 'list':
    case 'tuple':
      return node.named.every((item) => isLiteral(module, item));
    case 'unary_operator':
      return isLiteral(module, node.argument ?? node);
    case 'binary_operator':
      return [node.left, node.right].every((side) => side !== undefined && isLiteral(module, side));
    case 'attribute':
      return /^math\.(?:pi|e|inf|tau|nan)$/.test(qualifiedName(module, node) ?? '');
    default:
      return false;
  }
}

export function keywordValue(call: PyNode, name: string): PyNode | undefined {
  return argumentsOf(call).find(
    (argument) => argument.type === 'keyword_argument' && argument.name?.text === name,
  )?.value;
}

/** Whether an expression has the same value before the loop as in each of its iterations. */
export function isInvariant(module: PyModule, expression: PyNode, loop: PyNode): boolean {
  const node = unparenthesized(expression);
  const each = (parts: readonly (PyNode | undefined)[]): boolean =>
    parts.every((part) => part !== undefined && isInvariant(module, part, loop));
  switch (node.type) {
    case 'integer':
    case 'none':
      return true;
    case 'string':
      return node.named.every(
        (part) => part.type !== 'interpolation' || each([part.expression ?? part.named[0]]),
      );
    case 'identifier':
      return isSettled(module, node, loop);
    case 'conditional_expression':
      return each(node.named);
    case 'attribute': {
      if (qualifiedName(module, node) !== undefined) return true;
      const object = node.object;
      // A tensor stays where it is; what another object says may change with any call.
      const fixed = ['device', 'dtype'].includes(node.attribute?.text ?? '');
      return fixed && object?.type === 'identifier' && isTensorName(module, object) && each([object]);
    }
    case 'call': {
      const callee = node.function;
      return callee !== undefined && qualifiedName(module, callee) === DEVICE && each(argumentsOf(node));
    }
    default:
      return false;
  }
}

/** A variable that has its value when the loop starts, and that neither the loop nor a function called there writes. */
function isSettled(module: PyModule, identifier: PyNode, loop: PyNode): boolean {
  if (qualifiedName(module, identifier) !== undefined) return true;
  const scope = module.resolve(identifier);
  if (scope === undefined) return false;
  const writes = module.writes(scope, identifier.text);
  const own = scope === module.scopeAt(loop);
  return (
    writes.every((write) => !loop.contains(write) && module.scopeAt(write) === scope) &&
    (!own || writes.some((write) => write.start < loop.start))
  );
}

function isTensorName(module: PyModule, identifier: PyNode): boolean {
  if (['tensor', 'scalar-tensor'].includes(valueOf(module, identifier).kind)) return true;
  const scope = module.resolve(identifier);
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, identifier.text);
  if (only === undefined || others.length > 0 || roleOf(only) !== 'parameter') return false;
  const annotation = only.closest('typed_parameter', 'typed_default_parameter')?.field('type');
  const type = annotation?.named[0];
  return type !== undefined && TENSOR_TYPES.has(qualifiedName(module, type) ?? '');
}

/** What makes the same call give another tensor, in a loop. */
const MODES =
  /\b(?:set_default_dtype|set_default_device|set_default_tensor_type|set_device|locals|globals|exec)\s*\(/;

/** The loop switches what tensors are made of or where, or looks at its variables by other ways than their names. */
export function changesModes(module: PyModule, loop: PyNode): boolean {
  const around = enclosingFunction(loop) ?? loop;
  if (MODES.test(module.codeOf(around))) return true;
  return [...around.walk()].some((node) => {
    const callee = node.type === 'call' ? node.function : undefined;
    if (callee === undefined) return false;
    const path = qualifiedName(module, callee);
    const here = calledDefinition(module, node);
    const called = here !== undefined ? { module, node: here } : path && definedElsewhere(module, path);
    return called !== undefined && called !== '' && MODES.test(called.module.codeOf(called.node));
  });
}

/**
 * Where a function of the project switches them, which the loop may come to run: a callback, a dataset, a network. Between two
 * rounds of a loop that yields, any other code may run.
 */
export function switchingFunction(module: PyModule, loop: PyNode): string | undefined {
  const look = /\byield\b/.test(module.codeOf(loop)) ? switchAnywhereIn : switchIn;
  for (const word of SWITCHES) {
    const found = everywhere(module, word, look);
    const place = found === undefined ? `one of the many files with \`${word}\`` : found.find((each) => each);
    if (place !== undefined) return place;
  }
  return undefined;
}

const SWITCHES: readonly string[] = ['set_default_dtype', 'set_default_device', 'set_default_tensor_type'];

function switchIn(alone: PyModule, word: string): string | undefined {
  const found = switches(alone, word).find((node) => enclosingFunction(node) !== undefined);
  return found && placeInWords(alone, found);
}

function switchAnywhereIn(alone: PyModule, word: string): string | undefined {
  const [found] = switches(alone, word);
  return found && placeInWords(alone, found);
}

function switches(alone: PyModule, word: string): readonly PyNode[] {
  return alone.words(word).filter((node) => isCallee(wholeName(node)));
}

/** The outermost loop that the statement can stand before: each loop directly inside the next. */
export function loopToLeave(statement: PyNode, may: (loop: PyNode) => boolean): PyNode | undefined {
  let found: PyNode | undefined;
  let at = statement;
  for (const loop of enclosingLoops(statement)) {
    if (at.parent !== loop.body || !may(loop)) break;
    found = loop;
    at = loop;
  }
  return found;
}

/** What evaluates all of its parts, always. */
const PLAIN: ReadonlySet<string> = new Set(
  'argument_list assignment attribute augmented_assignment binary_operator call comparison_operator expression_statement keyword_argument list parenthesized_expression return_statement subscript tuple unary_operator'.split(
    ' ',
  ),
);

/** An expression on one line that always runs with its statement. */
export function alwaysRuns(expression: PyNode): boolean {
  const statement = statementOf(expression);
  for (const around of expression.ancestors()) {
    if (!PLAIN.has(around.type)) return false;
    if (around === statement) break;
  }
  return !expression.text.includes('\n');
}

/** A move that could as well run right before its statement. */
function runsFirst(move: PyNode, device: PyNode): boolean {
  const pure = [...device.walk()].every(({ type }) => ['attribute', 'identifier', '.'].includes(type));
  const statement = statementOf(move);
  // A walrus on the way may bind what the device is read from.
  if ([...statement.walk()].some(({ type }) => type === 'named_expression')) return false;
  return alwaysRuns(move) && (pure || statement.named[0]?.right === move);
}

/** A `with` between the two may be `torch.inference_mode()`: its tensors are of no use to autograd. */
function entersInference(module: PyModule, place: PyNode, outside: PyNode): boolean {
  return enclosingWiths(place).some(
    (around) =>
      !around.contains(outside) &&
      contextManagers(around).some((manager) => {
        const callee = manager.type === 'call' ? (manager.function ?? manager) : manager;
        return /inference_mode$/.test(qualifiedName(module, callee) ?? 'inference_mode');
      }),
  );
}

/**
 * `name.to(device)` in loops that the constant stands above, when all uses of it are moves; none where one of them could
 * not be preceded by a statement, or where a function, a condition or a comprehension may skip it.
 */
export function movesInLoops(
  module: PyModule,
  { name, statement, device, copied }: Constant,
  scope: Scope,
): readonly PyNode[] {
  if (name === undefined || device !== undefined || copied || scope.kind !== 'function') return [];
  const moves: PyNode[] = [];
  for (const place of module.occurrences(scope, name.text)) {
    if (place === name) continue;
    const call = place.parent?.parent;
    if (roleOf(place) !== 'read' || call?.type !== 'call' || methodName(call) !== 'to') return [];
    const [only, ...others] = argumentsOf(call);
    if (only === undefined || others.length > 0 || valueOf(module, only).isDevice !== 'yes') return [];
    const inLoop = enclosingLoops(call).some((loop) => !loop.contains(statement));
    if (module.scopeAt(place) !== scope) return [];
    if (!inLoop) continue;
    // What is made there cannot be saved for a backward elsewhere.
    if (!runsFirst(call, only) || entersInference(module, call, statement)) return [];
    if (moves.some((other) => statementOf(other) === statementOf(call))) return [];
    moves.push(call);
  }
  return moves;
}

/** A maker that gives the same numbers every time it is given the same. */
function makesConstant(known: Row): boolean {
  return known.makes !== undefined && known.makes !== 'like' && !known.random && !known.uninitialised;
}
