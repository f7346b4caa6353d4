import type { PyNode } from '../syntax/node.js';
import { callsNamed } from './called-name.js';
import { calledDefinition } from './definitions.js';
import { definitionOf } from './flow.js';
import type { PyModule } from './module.js';
import {
  argumentsOf,
  hasSplat,
  keywordArgument,
  keywordValue,
  methodName,
  ownNodes,
  unparenthesized,
} from './statements.js';
import { plainString } from './strings.js';

/** An option of the file's only argparse parser, whose value is never missing. */
export interface DefaultedOption {
  /** As it is typed: `--max-length`. */
  readonly flag: string;
  /** As it is written: `2048`. */
  readonly value: PyNode;
  /** Neither `None`, nor `0`, nor empty. */
  readonly isTruthy: boolean;
}

/**
 * The default of `args.name`, where the file proves it: one parser, one option of that name with a literal default that is
 * not `None`, nothing that sets the name or the defaults elsewhere.
 */
export function defaultedOption(module: PyModule, attribute: PyNode): DefaultedOption | undefined {
  return optionBehind(module, attribute)?.defaulted;
}

/** The same for a switch: what `args.name` is where nobody types `--name`. */
export function switchOption(
  module: PyModule,
  attribute: PyNode,
): { readonly flag: string; readonly isOn: boolean } | undefined {
  return optionBehind(module, attribute)?.switch;
}

/** The same as it is written, whatever it is; nothing that the option converts it by is looked at. */
export function optionDefault(
  module: PyModule,
  attribute: PyNode,
): { readonly flag: string; readonly value: PyNode } | undefined {
  return optionBehind(module, attribute)?.written;
}

function optionBehind(module: PyModule, attribute: PyNode): Option | undefined {
  const name = attribute.attribute?.text;
  const object = attribute.object;
  if (name === undefined || object?.type !== 'identifier' || !module.memo(hasOneParser, module))
    return undefined;
  if (!holdsArguments(module, object) || isAttributeSet(module, name)) return undefined;
  const [only, ...others] = module.memo(optionsOf, module).filter((option) => option.name === name);
  return others.length === 0 ? only : undefined;
}

/** The option whose default keeps a value from ever being taken: `args.x or VALUE`, `VALUE if args.x is None else args.x`. */
export function shadowingOption(module: PyModule, value: PyNode): DefaultedOption | undefined {
  let outer = value;
  while (outer.parent?.type === 'parenthesized_expression') outer = outer.parent;
  const { parent } = outer;
  const asked = parent === undefined ? undefined : askedBefore(parent, outer);
  const attribute = asked?.type === 'comparison_operator' ? asked.named[0] : asked;
  if (attribute?.type !== 'attribute' || fallbackOf(attribute) !== unparenthesized(outer)) return undefined;
  const option = defaultedOption(module, attribute);
  return option?.isTruthy === true || asksForNone(attribute) ? option : undefined;
}

function askedBefore(parent: PyNode, value: PyNode): PyNode | undefined {
  const [first, question] = parent.named;
  if (parent.type === 'boolean_operator') return first === value ? undefined : first;
  return parent.type === 'conditional_expression' && question !== value ? question : undefined;
}

/** Whether the file makes one parser, and gives its options no value but by their own defaults and as attributes. */
function hasOneParser(module: PyModule): boolean {
  const [maker, ...others] = callsNamed(module, 'ArgumentParser').map(({ call }) => call);
  if (maker === undefined || others.length > 0) return false;
  if (hasSplat(maker) || ['parents', 'argument_default'].some((name) => keywordArgument(maker, name)))
    return false;
  const parsing = ['parse_args', 'parse_known_args', 'parse_intermixed_args'].flatMap((name) =>
    callsNamed(module, name),
  );
  return (
    parsing.every(
      ({ call }) => keywordArgument(call, 'namespace') === undefined && argumentsOf(call).length < 2,
    ) &&
    ['set_defaults', 'Namespace', 'setattr'].every((name) => callsNamed(module, name).length === 0) &&
    !module.mentions(CHANGES_DICT)
  );
}

const CHANGES_DICT = /(?:__dict__|vars\([^)]*\))\s*(?:\[|\.update|\.pop)/;

/** `x.name = …` anywhere, whoever `x` is. */
export function isAttributeSet(module: PyModule, name: string): boolean {
  return module.words(name).some(({ text, parent }) => {
    if (text !== name || parent?.type !== 'attribute') return false;
    const target = parent.parent;
    return (
      target?.type === 'delete_statement' ||
      (target?.type.endsWith('assignment') === true && target.left === parent) ||
      target?.type.endsWith('pattern') === true ||
      target?.type === 'pattern_list'
    );
  });
}

/** A variable that only ever holds what a parser gives, or a parameter that is named like it. */
function holdsArguments(module: PyModule, name: PyNode): boolean {
  const scope = module.resolve(name);
  const writes = scope === undefined ? [] : module.writes(scope, name.text);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const definition = definitionOf(write);
      if (definition.kind === 'parameter')
        return /^(?:args|opts?|flags|options|params|cli_args|parsed)$/.test(name.text);
      return (definition.kind === 'value' || definition.kind === 'part') && parses(module, definition.value);
    })
  );
}

/** `parser.parse_args()`, or a function of the file that returns it. */
function parses(module: PyModule, value: PyNode): boolean {
  const call = unparenthesized(value);
  if (call.type !== 'call') return false;
  if (/^parse(?:_known|_intermixed)?_args$/.test(methodName(call) ?? '')) return true;
  const called = calledDefinition(module, call);
  if (called?.type !== 'function_definition') return false;
  const returned = ownNodes(called).filter(({ type }) => type === 'return_statement');
  return (
    returned.length > 0 && returned.every(({ named: [value] }) => value !== undefined && gives(module, value))
  );
}

function gives(module: PyModule, value: PyNode): boolean {
  return value.type === 'identifier' ? holdsArguments(module, value) : parses(module, value);
}

interface Option {
  readonly name: string;
  readonly defaulted: DefaultedOption | undefined;
  readonly written: { readonly flag: string; readonly value: PyNode } | undefined;
  readonly switch: { readonly flag: string; readonly isOn: boolean } | undefined;
}

function optionsOf(module: PyModule): readonly Option[] {
  return module.at('add_argument').flatMap((node) => {
    const call = node.parent?.parent;
    if (node.text !== 'add_argument' || call?.type !== 'call') return [];
    const flags = argumentsOf(call).flatMap((argument) => plainString(argument) ?? []);
    const flag = flags.find((each) => each.startsWith('--')) ?? flags[0];
    const dest = keywordValue(call, 'dest');
    const name = (dest && plainString(dest)) ?? flag?.replace(/^-+/, '').replaceAll('-', '_');
    if (flag === undefined || name === undefined) return [];
    const value = keywordValue(call, 'default');
    const isPlain =
      flag.startsWith('-') &&
      !hasSplat(call) &&
      ['nargs', 'action', 'const'].every((each) => keywordArgument(call, each) === undefined);
    // argparse runs `type` over a default that is a string: `"none"` may become None there.
    const isConverted = value?.type === 'string' && (keywordValue(call, 'type')?.text ?? 'str') !== 'str';
    const isTruthy = value && !isConverted ? truthOf(value) : undefined;
    const defaulted =
      isPlain && value !== undefined && isTruthy !== undefined ? { flag, value, isTruthy } : undefined;
    const isOption = flag.startsWith('-') && !hasSplat(call);
    const isOn = isOption ? switchedBy(call) : undefined;
    const written = isOption && value !== undefined ? { flag, value } : undefined;
    return [{ name, defaulted, written, switch: isOn === undefined ? undefined : { flag, isOn } }];
  });
}

/** `action="store_true"` without a default of its own, `action=BooleanOptionalAction` with one. */
function switchedBy(call: PyNode): boolean | undefined {
  const action = keywordValue(call, 'action');
  const value = keywordValue(call, 'default');
  const isPlain = value === undefined || value.type === 'true' || value.type === 'false';
  if (action === undefined || !isPlain) return undefined;
  const word = plainString(action);
  if (word === 'store_true' || word === 'store_false')
    return value === undefined ? word === 'store_false' : value.type === 'true';
  return /(?:^|\.)BooleanOptionalAction$/.test(action.text) && value !== undefined
    ? value.type === 'true'
    : undefined;
}

/** Of a literal that is not `None`; undefined for everything else. */
function truthOf(value: PyNode): boolean | undefined {
  const text = plainString(value);
  if (text !== undefined) return text !== '';
  if (value.type === 'true' || value.type === 'false') return value.type === 'true';
  if (value.type === 'integer' || value.type === 'float') return !/^[0._eE+-]*$/.test(value.text);
  return undefined;
}

const QUESTIONS: readonly string[] = [
  'if_statement',
  'elif_clause',
  'while_statement',
  'assert_statement',
  'not_operator',
  'boolean_operator',
  'conditional_expression',
  'if_clause',
];

/** `args.x is None` lets zero and the empty string through; `or` and a bare `if` do not. */
export function asksForNone(attribute: PyNode): boolean {
  return attribute.parent?.type === 'comparison_operator';
}

/** What stands in for an attribute that has no value. */
export function fallbackOf(attribute: PyNode): PyNode | undefined {
  const whole = attribute.parent;
  return whole?.type === 'boolean_operator' ? afterOr(attribute, whole) : whole && otherwise(attribute);
}

function afterOr(attribute: PyNode, operator: PyNode): PyNode | undefined {
  if (operator.operator?.type !== 'or' || operator.left !== attribute) return undefined;
  let whole = operator;
  while (whole.parent?.type === 'parenthesized_expression') whole = whole.parent;
  const right = operator.right;
  return QUESTIONS.includes(whole.parent?.type ?? '') || right === undefined
    ? undefined
    : unparenthesized(right);
}

/** `C if args.x is None else args.x`, `args.x if args.x is not None else C`, `args.x if args.x else C`. */
function otherwise(attribute: PyNode): PyNode | undefined {
  const asked = asksForNone(attribute) ? attribute.parent : attribute;
  const whole = asked?.parent;
  const [given, test, other] = whole?.type === 'conditional_expression' ? whole.named : [];
  if (test !== asked || given === undefined || other === undefined) return undefined;
  const isKeptFirst = asked === attribute || /\bis\s+not\s+None$/.test(asked?.text ?? '');
  const [kept, fallback] = isKeptFirst ? [given, other] : [other, given];
  return kept.text === attribute.text ? unparenthesized(fallback) : undefined;
}
