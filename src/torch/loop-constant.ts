import { qualifiedName } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { roleOf } from '../semantic/names.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  hasSplat,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { CONSTANT_MAKERS, DEVICE, TENSOR_TYPES } from './catalog.js';
import { isDevice } from './device-value.js';
import { kindOf } from './tensor.js';

/** `name = torch.tensor([1.0, 2.0]).view(1, 2).to(device)`: numbers written in the code, in a tensor. */
export interface Constant {
  readonly name: PyNode;
  readonly statement: PyNode;
  /** The whole right side. */
  readonly value: PyNode;
  /** What it is without its last move; the same as `value` where there is none. */
  readonly made: PyNode;
  /** The maker's own call. */
  readonly maker: PyNode;
  /** Where it is moved, or made; undefined for the host and for the current GPU. */
  readonly device: PyNode | undefined;
  /** Its numbers are copied from the host to that device. */
  readonly copied: boolean;
}

/** Give the same on every device. */
const EXACT_METHODS: ReadonlySet<string> = new Set(
  'bool double flatten float half int long reshape squeeze unsqueeze view'.split(' '),
);
const OPTIONS: ReadonlySet<string> = new Set(['dtype', 'device', 'requires_grad']);

/** The assignment whose value starts with this maker's name, when nothing but literals goes into it. */
export function constantAt(module: PyModule, hit: PyNode): Constant | undefined {
  const callee = hit.parent?.type === 'attribute' ? hit.parent : hit;
  const maker = callee.parent;
  if (maker?.type !== 'call' || maker.field('function') !== callee) return undefined;
  const path = qualifiedName(module, callee);
  if (path === undefined || !CONSTANT_MAKERS.has(path) || !isLiteralCall(module, maker)) return undefined;
  let value = maker;
  while (value.parent?.type === 'attribute' && value.parent.parent?.type === 'call') {
    if (value.parent.parent.field('function') !== value.parent) return undefined;
    value = value.parent.parent;
  }
  const assignment = value.parent;
  const [name, statement] = [assignment?.field('left'), assignment?.parent];
  if (assignment?.type !== 'assignment' || assignment.field('right') !== value) return undefined;
  if (name?.type !== 'identifier' || statement?.type !== 'expression_statement') return undefined;
  if (assignment.field('type') !== undefined) return undefined;
  const moved = moveOf(module, value);
  if (moved === 'other') return undefined;
  const made = moved === 'nowhere' ? value : (receiverOf(value) ?? value);
  for (let at = made; at !== maker; ) {
    const receiver = receiverOf(at);
    if (receiver?.type !== 'call' || !EXACT_METHODS.has(methodName(at) ?? '')) return undefined;
    if (!argumentsOf(at).every((argument) => isLiteral(module, argument))) return undefined;
    at = receiver;
  }
  const given = keywordValue(maker, 'device');
  if (given !== undefined && moved !== 'nowhere') return undefined;
  const copied = moved !== 'nowhere' || (given !== undefined && path.endsWith('tensor'));
  const device = moved === 'nowhere' ? given : moved === 'cuda' ? undefined : moved;
  return { name, statement, value, made, maker, device, copied };
}

type Move = PyNode | 'nowhere' | 'cuda' | 'other';

/** The device of `….to(device)`, or `cuda` for `….cuda()`; `other` for moves that say more. */
function moveOf(module: PyModule, call: PyNode): Move {
  const name = methodName(call) ?? '';
  const [only, ...others] = argumentsOf(call);
  if (name === 'cuda') return only === undefined ? 'cuda' : 'other';
  if (name !== 'to') return 'nowhere';
  const value = only?.type === 'keyword_argument' ? only.field('value') : only;
  if (value === undefined || others.length > 0 || (only !== value && only?.field('name')?.text !== 'device'))
    return 'other';
  return isDevice(module, value) === 'yes' ? value : 'other';
}

function isLiteralCall(module: PyModule, call: PyNode): boolean {
  if (hasSplat(call) || call.field('arguments')?.type !== 'argument_list') return false;
  return argumentsOf(call).every((argument) => {
    if (argument.type !== 'keyword_argument') return isLiteral(module, argument);
    const [key, value] = [argument.field('name')?.text ?? '', argument.field('value')];
    if (value === undefined) return false;
    if (!OPTIONS.has(key)) return isLiteral(module, value);
    return key !== 'requires_grad' || value.type === 'false';
  });
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
      return isLiteral(module, node.field('argument') ?? node);
    case 'binary_operator':
      return [node.field('left'), node.field('right')].every(
        (side) => side !== undefined && isLiteral(module, side),
      );
    case 'attribute':
      return /^math\.(?:pi|e|inf|tau|nan)$/.test(qualifiedName(module, node) ?? '');
    default:
      return false;
  }
}

export function keywordValue(call: PyNode, name: string): PyNode | undefined {
  return argumentsOf(call)
    .find((argument) => argument.type === 'keyword_argument' && argument.field('name')?.text === name)
    ?.field('value');
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
        (part) => part.type !== 'interpolation' || each([part.field('expression') ?? part.named[0]]),
      );
    case 'identifier':
      return isSettled(module, node, loop);
    case 'conditional_expression':
      return each(node.named);
    case 'attribute': {
      if (qualifiedName(module, node) !== undefined) return true;
      const object = node.field('object');
      // A tensor stays where it is; what another object says may change with any call.
      const fixed = ['device', 'dtype'].includes(node.field('attribute')?.text ?? '');
      return fixed && object?.type === 'identifier' && isTensorName(module, object) && each([object]);
    }
    case 'call': {
      const callee = node.field('function');
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
  if (['tensor', 'scalar-tensor'].includes(kindOf(module, identifier))) return true;
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
export function changesModes(loop: PyNode): boolean {
  return MODES.test((enclosingFunction(loop) ?? loop).text);
}

/** The outermost loop that the statement can stand before: each loop directly inside the next. */
export function loopToLeave(statement: PyNode, may: (loop: PyNode) => boolean): PyNode | undefined {
  let found: PyNode | undefined;
  let at = statement;
  for (const loop of enclosingLoops(statement)) {
    if (at.parent !== loop.field('body') || !may(loop)) break;
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

/** A move that always runs with its statement, and could as well run right before it. */
export function runsFirst(move: PyNode, device: PyNode): boolean {
  const statement = statementOf(move);
  for (const around of move.ancestors()) {
    if (!PLAIN.has(around.type)) return false;
    if (around === statement) break;
  }
  const pure = [...device.walk()].every(({ type }) => ['attribute', 'identifier', '.'].includes(type));
  const whole = statement.named[0]?.field('right') === move;
  return !move.text.includes('\n') && (pure || whole);
}
