import { calledDefinition } from '../../src/semantic/definitions.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { returnsOf } from '../../src/semantic/returns.js';
import {
  argumentsOf,
  hasSplat,
  keywordValue,
  methodName,
  receiverOf,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

const PARSER = 'argparse.ArgumentParser';
const TYPES = /^(?:str|int|float|bool)$/;
const LITERAL = /^(?:string|integer|float|true|false|none|concatenated_string|unary_operator|list|tuple)$/;

/** Whether `args.name` is an option of the file's command line that is a text or a number, and nobody sets it by a text. */
export function isPlainOption(module: PyModule, attribute: PyNode): boolean {
  const name = attribute.attribute?.text ?? '';
  const object = attribute.object;
  if (object?.type !== 'identifier' || !isParsed(module, object)) return false;
  const options = optionsNamed(module, name);
  if (options.length === 0 || !options.every((call) => isPlainArgument(call))) return false;
  if (setsByText(module.alone) || module.mentions(/\bset_defaults\(/)) return false;
  return module.around.summaries({ word: name, beside: [] }, setsByText)?.includes(true) === false;
}

/** `setattr(args, key, value)`, `vars(args)[key] = value`; to look at all of them, or to print them, sets none. */
export function setsByText(alone: PyModule): boolean {
  return alone.mentions(
    /setattr(?:__)?\(|__getattribute__|(?<![.\w]|\*\*|(?:print|dict|sorted|len|str|dumps?|pformat|pprint)\(|\bconfig=|\bin )(?:vars\([^()]*\)|(?:[\w.]+|[)\]])\.__dict__)(?!\.(?:items|keys|values|get)\()/,
  );
}

function isParsed(module: PyModule, variable: PyNode): boolean {
  const writes = writesOf(module, variable);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const found = definitionOf(write);
      return (found.kind === 'value' || found.kind === 'part') && parses(module, found.value);
    })
  );
}

/** `parser.parse_args()`, or a function of the file that returns that. */
function parses(module: PyModule, value: PyNode): boolean {
  if (value.type === 'identifier') return isParsed(module, value);
  if (value.type !== 'call') return false;
  if (/^parse(?:_known)?_args$/.test(methodName(value) ?? '')) {
    if (keywordValue(value, 'namespace') !== undefined || argumentsOf(value).length > 1) return false;
    const parser = receiverOf(value);
    return parser !== undefined && isParser(module, parser);
  }
  const own = value.function?.type === 'identifier' ? calledDefinition(module, value) : undefined;
  if (own?.type !== 'function_definition') return false;
  const returned = returnsOf(own);
  return returned.length > 0 && returned.every((each) => each !== undefined && parses(module, each));
}

function isParser(module: PyModule, parser: PyNode): boolean {
  const writes = writesOf(module, parser);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const found = definitionOf(write);
      return (
        found.kind === 'value' && found.value.type === 'call' && calledPath(module, found.value) === PARSER
      );
    })
  );
}

function optionsNamed(module: PyModule, name: string): readonly PyNode[] {
  return module.at('add_argument').flatMap((node) => {
    const call = node.parent?.parent;
    if (node.text !== 'add_argument' || call?.type !== 'call') return [];
    const dest = keywordValue(call, 'dest');
    const flags = argumentsOf(call).flatMap((argument) => plainString(argument) ?? []);
    const names =
      dest === undefined
        ? flags.map((flag) => flag.replace(/^-+/, '').replaceAll('-', '_'))
        : [plainString(dest)];
    return names.includes(name) || names.includes(undefined) ? [call] : [];
  });
}

function isPlainArgument(call: PyNode): boolean {
  const type = keywordValue(call, 'type');
  const value = keywordValue(call, 'default');
  const action = keywordValue(call, 'action');
  return (
    !hasSplat(call) &&
    (type === undefined || TYPES.test(type.text)) &&
    (value === undefined || LITERAL.test(value.type)) &&
    (action === undefined || /^["']store(?:_true|_false)?["']$/.test(action.text)) &&
    keywordValue(call, 'const') === undefined
  );
}
