import { TRUE_ON_GPU } from '../library/paths.js';
import { optionDefault, switchOption } from '../semantic/command-line.js';
import { boundElsewhere, type Elsewhere, valueElsewhere } from '../semantic/elsewhere.js';
import { qualifiedName } from '../semantic/imports.js';
import { entryOf } from '../semantic/literals.js';
import { isLookedAt } from '../semantic/mapping-use.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, unparenthesized } from '../semantic/statements.js';
import { plainString } from '../semantic/strings.js';
import { readsOf, waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import { fieldDefault } from './field-default.js';
import { givenToParameter } from './parameter.js';
import { DTYPE_WORDS } from './reading.js';

/** What can be told without running anything; `null` is `None`. */
export type Plain = string | number | boolean | null | readonly string[];

export interface Told {
  readonly value: Plain;
  /** Who may say otherwise when it runs: "`--rank` is 8 by default". */
  readonly by?: string;
}

/** What a variable holds where it is read, where that can only be one thing. */
export function onlyValue(module: PyModule, identifier: PyNode): PyNode | undefined {
  const [only, ...others] = identifier.type === 'identifier' ? waysReaching(module, identifier) : [];
  return only?.kind === 'value' && others.length === 0 ? only.value : undefined;
}

/** Names of names are followed this far. */
const MAX_HOPS = 8;

/**
 * The value of an expression, as far as the project shows it; a default of the command line counts as one. `callers`: other
 * files that call functions of this one.
 */
export function valueOf(
  module: PyModule,
  expression: PyNode,
  callers: readonly PyModule[] = [],
  hops = 0,
): Told | undefined {
  if (hops > MAX_HOPS) return undefined;
  const node = unparenthesized(expression);
  const next = (inner: PyNode | undefined, home = module) =>
    inner === undefined ? undefined : valueOf(home, inner, callers, hops + 1);
  switch (node.type) {
    case 'integer':
    case 'float':
      return number(node);
    case 'true':
    case 'false':
      return { value: node.type === 'true' };
    case 'none':
      return { value: null };
    case 'list':
    case 'tuple':
    case 'set':
      return texts(node);
    case 'identifier': {
      const own = onlyValue(module, node);
      if (own !== undefined) return next(own);
      const given = givenToParameter(module, node, callers, next);
      if (given !== undefined) return given;
      const path = qualifiedName(module, node);
      const there = path === undefined ? undefined : importedValue(module, path);
      return there && next(there.node, there.module);
    }
    case 'attribute':
      return ofAttribute(module, node, next);
    case 'subscript':
      return next(entryBehind(module, node));
    case 'call':
      return ofCall(module, node, next);
    case 'conditional_expression':
      return ofChoice(node, next);
    case 'not_operator': {
      const told = next(node.argument ?? node.named[0]);
      return told && { ...told, value: !isTrue(told.value) };
    }
    case 'boolean_operator':
      return ofEither(node, next);
    case 'comparison_operator':
      return ofComparison(node, next);
    case 'binary_operator':
      return ofArithmetic(node, next);
    default: {
      const text = plainString(node);
      return text === undefined ? undefined : { value: text };
    }
  }
}

/** A number or a text stays what it is, whoever has it; a list does where nobody there changes it. */
function importedValue(module: PyModule, path: string): Elsewhere | undefined {
  const bound = boundElsewhere(module, path);
  const value = bound?.node.type === 'assignment' ? bound.node.right : undefined;
  return bound !== undefined && value !== undefined && SCALARS.has(value.type)
    ? { module: bound.module, node: value }
    : valueElsewhere(module, path);
}

const SCALARS: ReadonlySet<string> = new Set(['integer', 'float', 'true', 'false', 'none', 'string']);

type Next = (inner: PyNode | undefined, home?: PyModule) => Told | undefined;

/** As Python takes it for an answer. */
export function isTrue(value: Plain): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function number(node: PyNode): Told | undefined {
  const value = Number(node.text.replaceAll('_', ''));
  return Number.isFinite(value) ? { value } : undefined;
}

function texts(node: PyNode): Told | undefined {
  const parts = node.named.filter(({ type }) => type !== 'comment').map((child) => plainString(child));
  return parts.every((part) => part !== undefined) ? { value: parts } : undefined;
}

function ofAttribute(module: PyModule, node: PyNode, next: Next): Told | undefined {
  const path = qualifiedName(module, node);
  if (path?.startsWith('torch.')) {
    const dtype = DTYPE_WORDS.get(path.slice('torch.'.length));
    return dtype === undefined ? undefined : { value: dtype };
  }
  const switched = switchOption(module, node);
  if (switched !== undefined)
    return { value: switched.isOn, by: `\`${switched.flag}\` is ${switched.isOn ? 'on' : 'off'} by default` };
  const option = optionDefault(module, node);
  if (option !== undefined) {
    const told = next(option.value);
    return told && { ...told, by: `\`${option.flag}\` is ${shown(told.value)} by default` };
  }
  const elsewhere = path === undefined ? undefined : importedValue(module, path);
  if (elsewhere !== undefined) return next(elsewhere.node, elsewhere.module);
  const field = fieldDefault(module, node);
  const told = field && next(field.value, field.module);
  return field && told && (field.by === undefined ? told : { ...told, by: field.by });
}

/** As Python writes it. */
export function shown(value: Plain): string {
  if (value === null) return 'None';
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

/** `CONFIG["rank"]`, of a dict that stands in the code and that nobody changes. */
function entryBehind(module: PyModule, node: PyNode): PyNode | undefined {
  const holder = node.value;
  const key = node.subscript;
  const name = key && plainString(key);
  if (holder?.type === 'subscript' && name !== undefined) return entryOf(entryBehind(module, holder), name);
  if (holder?.type !== 'identifier' || name === undefined) return undefined;
  const dict = onlyValue(module, holder);
  return readsOf(module, holder).every((read) => isLookedAt(read)) ? entryOf(dict, name) : undefined;
}

function ofCall(module: PyModule, call: PyNode, next: Next): Told | undefined {
  const callee = call.function;
  const path = callee && qualifiedName(module, callee);
  if (path !== undefined && TRUE_ON_GPU.has(path)) return { value: true };
  const [first, second] = argumentsOf(call);
  const isBuiltin = callee?.type === 'identifier' && module.resolve(callee) === undefined;
  if (!isBuiltin || first === undefined || first.type === 'keyword_argument') return undefined;
  if (callee.text === 'getattr' && qualifiedName(module, first) === 'torch') {
    const told = next(second);
    const dtype = typeof told?.value === 'string' ? DTYPE_WORDS.get(told.value) : undefined;
    return told && dtype && { ...told, value: dtype };
  }
  return /^(?:int|float|str|bool|list|tuple|sorted)$/.test(callee.text) && second === undefined
    ? next(first)
    : undefined;
}

/** `a if c else b`: by its question, or where both say the same. */
function ofChoice(node: PyNode, next: Next): Told | undefined {
  const [given, question, other] = node.named;
  const asked = next(question);
  if (asked !== undefined) {
    const told = next(isTrue(asked.value) ? given : other);
    return told && { ...asked, ...told };
  }
  const [one, two] = [next(given), next(other)];
  if (one === undefined || two === undefined) return undefined;
  const isHalf = ({ value }: Told) => value === 'bf16' || value === 'fp16';
  return JSON.stringify(one.value) === JSON.stringify(two.value) || (isHalf(one) && isHalf(two))
    ? one
    : undefined;
}

function ofEither(node: PyNode, next: Next): Told | undefined {
  const left = next(node.left);
  const isOr = node.operator?.type === 'or';
  if (left === undefined) return undefined;
  if (isTrue(left.value) === isOr) return left;
  const right = next(node.right);
  return right && { ...left, ...right };
}

function ofComparison(node: PyNode, next: Next): Told | undefined {
  const [left, right, more] = node.named;
  const operator = node.text.slice((left?.end ?? 0) - node.start, (right?.start ?? 0) - node.start).trim();
  const one = next(left);
  if (/^(?:not\s+)?in$/.test(operator) && /^(?:list|tuple|set)$/.test(right?.type ?? '')) {
    const values = right?.named.map((each) => next(each)?.value);
    if (one === undefined || more !== undefined || values?.includes(undefined) !== false) return undefined;
    return { ...one, value: values.includes(one.value) === (operator === 'in') };
  }
  const two = next(right);
  if (one === undefined || two === undefined || more !== undefined) return undefined;
  const isSame = one.value === two.value;
  const by = { ...one, ...two };
  if (operator === '==' || operator === 'is') return { ...by, value: isSame };
  if (operator === '!=' || operator.replace(/\s+/, ' ') === 'is not') return { ...by, value: !isSame };
  return undefined;
}

function ofArithmetic(node: PyNode, next: Next): Told | undefined {
  const [one, two] = [next(node.left), next(node.right)];
  if (typeof one?.value !== 'number' || typeof two?.value !== 'number') return undefined;
  const by = { ...one, ...two };
  const [a, b] = [one.value, two.value];
  switch (node.operator?.text) {
    case '*':
      return { ...by, value: a * b };
    case '+':
      return { ...by, value: a + b };
    case '-':
      return { ...by, value: a - b };
    case '**':
      return { ...by, value: a ** b };
    case '//':
      return b === 0 ? undefined : { ...by, value: Math.floor(a / b) };
    default:
      return undefined;
  }
}
