import { calledDefinition } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  hasSplat,
  keywordArgument,
  methodName,
  ownNodes,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';

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
  const name = attribute.field('attribute')?.text;
  const object = attribute.field('object');
  if (name === undefined || object?.type !== 'identifier' || !module.memo(hasOneParser, module))
    return undefined;
  if (!holdsArguments(module, object) || isSet(module, name)) return undefined;
  const options = module.memo(optionsOf, module).filter((option) => option.name === name);
  const [only] = options;
  return options.length === 1 ? only?.defaulted : undefined;
}

/** Ways to give an option a value without naming it as an attribute. */
const SET_ELSEWHERE =
  /set_defaults|argument_default|parents\s*=|namespace\s*=|Namespace\s*\(|setattr|(?:__dict__|vars\([^)]*\))\s*(?:\[|\.update|\.pop)/;

function hasOneParser(module: PyModule): boolean {
  const made = module.at('ArgumentParser').filter(({ text, parent }) => {
    const call = parent?.type === 'attribute' ? parent.parent : parent;
    return text === 'ArgumentParser' && call?.type === 'call';
  });
  return made.length === 1 && !module.mentions(SET_ELSEWHERE);
}

/** `x.name = …` anywhere, whoever `x` is. */
function isSet(module: PyModule, name: string): boolean {
  return module.words(name).some(({ text, parent }) => {
    if (text !== name || parent?.type !== 'attribute') return false;
    const target = parent.parent;
    return (
      target?.type === 'delete_statement' ||
      (target?.type.endsWith('assignment') === true && target.field('left') === parent) ||
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
  const returned = [...ownNodes(called)].filter(({ type }) => type === 'return_statement');
  return (
    returned.length > 0 && returned.every(({ named: [value] }) => value !== undefined && gives(module, value))
  );
}

function gives(module: PyModule, value: PyNode): boolean {
  return value.type === 'identifier' ? holdsArguments(module, value) : parses(module, value);
}

function optionsOf(
  module: PyModule,
): readonly { readonly name: string; readonly defaulted: DefaultedOption | undefined }[] {
  return module.at('add_argument').flatMap((node) => {
    const call = node.parent?.parent;
    if (node.text !== 'add_argument' || call?.type !== 'call') return [];
    const flags = argumentsOf(call).flatMap((argument) => plainString(argument) ?? []);
    const flag = flags.find((each) => each.startsWith('--')) ?? flags[0];
    const dest = keywordArgument(call, 'dest')?.field('value');
    const name = (dest && plainString(dest)) ?? flag?.replace(/^-+/, '').replaceAll('-', '_');
    if (flag === undefined || name === undefined) return [];
    const value = keywordArgument(call, 'default')?.field('value');
    const isPlain =
      flag.startsWith('-') &&
      !hasSplat(call) &&
      ['nargs', 'action', 'const'].every((each) => keywordArgument(call, each) === undefined);
    // argparse runs `type` over a default that is a string: `"none"` may become None there.
    const isConverted =
      value?.type === 'string' && (keywordArgument(call, 'type')?.field('value')?.text ?? 'str') !== 'str';
    const isTruthy = value && !isConverted ? truthOf(value) : undefined;
    const defaulted =
      isPlain && value !== undefined && isTruthy !== undefined ? { flag, value, isTruthy } : undefined;
    return [{ name, defaulted }];
  });
}

/** Of a literal that is not `None`; undefined for everything else. */
function truthOf(value: PyNode): boolean | undefined {
  const text = plainString(value);
  if (text !== undefined) return text !== '';
  if (value.type === 'true' || value.type === 'false') return value.type === 'true';
  if (value.type === 'integer' || value.type === 'float') return !/^[0._eE+-]*$/.test(value.text);
  return undefined;
}
