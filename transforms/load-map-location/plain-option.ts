import { DEVICE } from '../../src/library/names.js';
import { READS_SETTINGS } from '../../src/library/paths.js';
import { definitionNamed } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../src/semantic/elsewhere.js';
import { definitionOf } from '../../src/semantic/flow.js';
import { calledPath, qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { givesReturned, returnsOf } from '../../src/semantic/returns.js';
import {
  argumentsOf,
  hasSplat,
  keywordValue,
  methodName,
  receiverOf,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isUnbound, writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

const PARSER = 'argparse.ArgumentParser';
const TYPES = /^(?:str|int|float|bool)$/;
const LITERAL = /^(?:string|integer|float|true|false|none|concatenated_string|unary_operator)$/;

/** Whether an option of a file's command line, by its name, is a text or a number, and nobody sets it by a text. */
export function isPlainOption(module: PyModule, name: string): boolean {
  if (optionsNamed(module, name).length === 0 || mayBeOther(module.alone, name)) return false;
  return module.around.summaries({ word: name, beside: [] }, mayBeOther)?.includes(true) === false;
}

/** Whether a file gives an option of this name another value, or may: also one that is handed a parser. */
function mayBeOther(alone: PyModule, name: string): boolean {
  return (
    !optionsNamed(alone, name).every(isPlainArgument) ||
    setsByText(alone) ||
    alone.mentions(/\bset_defaults\(|\bconflict_handler\b/)
  );
}

/** `setattr(args, key, value)`, `vars(args)[key] = value`; to look at all of them, or to print them, sets none. */
export function setsByText(alone: PyModule): boolean {
  return alone.mentions(SETS);
}

/**
 * How names begin that a file gives to objects by a text, which are no options (`settings = vars(args)`): `net` of
 * `setattr(self, "net" + kind, value)`, and nothing where any name may come.
 */
export function beginningsSet(alone: PyModule): readonly string[] {
  if (!setsByText(alone)) return [];
  const ofOptions = alone.words('vars').flatMap(({ parent: call }) => {
    const [object] = call?.type === 'call' && call.function?.text === 'vars' ? argumentsOf(call) : [];
    return call !== undefined && object !== undefined && isOptions(alone, object) ? [call] : [];
  });
  const begun = alone.words('setattr').flatMap(({ parent: call }) => {
    const key = call?.type === 'call' && call.function?.text === 'setattr' ? argumentsOf(call)[1] : undefined;
    const beginning = key && beginningOf(key);
    return call === undefined || beginning === undefined ? [] : [{ call, beginning }];
  });
  let code = alone.code;
  for (const { start, end } of [...ofOptions, ...begun.flatMap(({ call }) => call.function ?? [])])
    code = code.slice(0, start) + '_'.repeat(end - start) + code.slice(end);
  return SETS.test(code) ? [''] : begun.map(({ beginning }) => beginning);
}

/** What a text that is put together begins with. */
function beginningOf(key: PyNode): string | undefined {
  if (key.type === 'binary_operator') return key.left && beginningOf(key.left);
  const whole = key.type === 'string' ? plainString(key) : undefined;
  return whole?.split(/[%{]/)[0];
}

const SETS =
  /setattr(?:__)?\(|__getattribute__|(?<![.\w]|\*\*|(?:callable|print|dict|sorted|len|str|dumps?|pformat|pprint)\(|\bconfig=|\bin )(?:vars\([^()]*\)|(?:[\w.]+|[)\]])\.__dict__)(?!\.(?:items|keys|values|get)\(|\[[^\]\n]*\]\()/;

/** The options of a command line, as they are parsed or in a variable that holds nothing else. */
export function isOptions(alone: PyModule, object: PyNode): boolean {
  return isParsing(alone, object) || isParsed(alone, object);
}

function isParsed(alone: PyModule, variable: PyNode): boolean {
  const writes = writesOf(alone, variable);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const found = definitionOf(write);
      return (found.kind === 'value' || found.kind === 'part') && isParsing(alone, found.value);
    })
  );
}

/** `parser.parse_args()` */
export function isParsing(module: PyModule, call: PyNode): boolean {
  if (call.type !== 'call' || !/^parse(?:_known)?_args$/.test(methodName(call) ?? '')) return false;
  if (keywordValue(call, 'namespace') !== undefined || argumentsOf(call).length > 1) return false;
  const parser = receiverOf(call);
  return parser !== undefined && isParser(module, parser);
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
    // A list of them may be given something else later.
    ['const', 'nargs'].every((name) => keywordValue(call, name) === undefined)
  );
}

/**
 * What the options of the project's command lines are made of, beside texts: of whichever parser they are. Undefined where one may be made
 * of more than that.
 */
export function optionsGiven(module: PyModule): readonly Elsewhere[] | undefined {
  const values: Elsewhere[] = [];
  for (const word of ['add_argument', 'set_defaults']) {
    const { modules, unread } = module.around.naming({ word, beside: [] }, () => true);
    if (unread !== undefined) return undefined;
    for (const there of [module, ...modules])
      for (const node of there.words(word)) {
        const call = node.parent?.parent;
        if (node.text !== word || node.type !== 'identifier') continue;
        const made = call?.type === 'call' && call.function === node.parent ? madeOf(there, call) : undefined;
        if (made === undefined) return undefined;
        values.push(...made);
      }
  }
  return values;
}

function madeOf(module: PyModule, call: PyNode): readonly Elsewhere[] | undefined {
  if (hasSplat(call)) return undefined;
  if (methodName(call) === 'set_defaults')
    return argumentsOf(call).map((each) => ({ module, node: each.value ?? each }));
  const action = keywordValue(call, 'action');
  if (action !== undefined && !ACTIONS.test(action.text)) return undefined;
  const given = ['const', 'default'].flatMap((name) => keywordValue(call, name) ?? []);
  const type = keywordValue(call, 'type');
  const made = type === undefined ? [] : madeByType(module, type);
  return made && [...given.map((node) => ({ module, node })), ...made];
}

const ACTIONS =
  /^(?:["'](?:append|append_const|count|extend|help|store|store_const|store_false|store_true|version)["']|argparse\.BooleanOptionalAction)$/;

/** What a type of an option gives, beside texts and numbers. */
function madeByType(module: PyModule, type: PyNode): readonly Elsewhere[] | undefined {
  if (isUnbound(module, type)) return TYPES.test(type.text) ? [] : undefined;
  const path = qualifiedName(module, type);
  if (path === DEVICE || path === 'pathlib.Path' || READS_SETTINGS.has(path)) return [];
  if (type.type === 'lambda') return type.body && [{ module, node: type.body }];
  const found = path === undefined ? definitionNamed(module, type) : undefined;
  const made = found === undefined ? path && definedElsewhere(module, path) : { module, node: found };
  if (made === undefined || made === '' || made.node.type !== 'function_definition') return undefined;
  if (!givesReturned(made.node)) return undefined;
  const returned = returnsOf(made.node);
  return returned.includes(undefined)
    ? undefined
    : returned.flatMap((node) => (node === undefined ? [] : [{ module: made.module, node }]));
}

/** `json.load(file)`, without a function that makes objects of what is read. */
export function readsPlain(module: PyModule, call: PyNode): boolean {
  const hooks = ['cls', 'object_hook', 'object_pairs_hook', 'parse_constant', 'parse_float'];
  if (hasSplat(call) || hooks.some((hook) => keywordValue(call, hook) !== undefined)) return false;
  const isElsewhere = (word: string) =>
    module.around.summaries({ word, beside: [] }, addsMakers)?.includes(true) !== false;
  return !addsMakers(module.alone) && !['yaml', 'YAMLObject'].some(isElsewhere);
}

function addsMakers({ code }: PyModule): boolean {
  return ADDS_MAKERS.test(code);
}

const ADDS_MAKERS = /\badd_(?:multi_)?constructor\b|\b(?:UnsafeLoader|YAMLObject)\b/;
