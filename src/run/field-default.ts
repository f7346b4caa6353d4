import { callsNamed } from '../semantic/called-name.js';
import { isAttributeSet } from '../semantic/command-line.js';
import { ancestryOf, attributeOfSelf, definitionBehind } from '../semantic/definitions.js';
import { definedElsewhere } from '../semantic/elsewhere.js';
import { qualifiedName } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, hasSplat, keywordValue, methodName, unparenthesized } from '../semantic/statements.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';

/** What a field of a settings object has where nobody gives it another value. */
interface FieldDefault {
  readonly module: PyModule;
  readonly value: PyNode;
  /** Who may give it another one. */
  readonly by: string | undefined;
}

/** The class of a settings object, and the call that made it where one did. */
interface Settings {
  readonly module: PyModule;
  readonly classNode: PyNode;
  readonly call?: PyNode;
  /** `script_args.rank`, which the command line may set: `--rank`. */
  readonly isParsed: boolean;
}

const MAX_HOPS = 4;

/** `config.rank`: by the class of `config`, where the project has it and nothing in this file sets the field. */
export function fieldDefault(module: PyModule, attribute: PyNode): FieldDefault | undefined {
  const name = attribute.attribute?.text;
  const object = attribute.object;
  if (name === undefined || object === undefined || isAttributeSet(module, name)) return undefined;
  const settings = settingsBehind(module, object, 0);
  if (settings === undefined) return undefined;
  const { call, classNode, isParsed } = settings;
  const own = call && keywordValue(call, name);
  if (own !== undefined) return { module, value: own, by: undefined };
  const [positional] = call === undefined ? [] : argumentsOf(call);
  if (call !== undefined && (hasSplat(call) || (positional && positional.type !== 'keyword_argument')))
    return undefined;
  const value = classFields(settings.module, classNode, name);
  const said = classNode.name?.text ?? 'its class';
  const by = isParsed ? `\`--${name}\` on the command line goes first` : `the default of \`${said}\``;
  return value && { module: settings.module, value, by: call === undefined ? by : undefined };
}

function settingsBehind(module: PyModule, object: PyNode, hops: number): Settings | undefined {
  const node = unparenthesized(object);
  if (hops > MAX_HOPS) return undefined;
  const own = classNamed(module, node);
  if (own !== undefined) return { ...own, isParsed: false };
  if (node.type === 'call') {
    const callee = node.function;
    const made = callee && classNamed(module, callee);
    return made && { ...made, call: node, isParsed: false };
  }
  if (node.type === 'subscript') {
    const at = Number(node.subscript?.text ?? Number.NaN);
    return node.value && parsedClass(module, node.value, at);
  }
  if (node.type === 'attribute') {
    const set = assignedToSelf(module, node);
    return set && settingsBehind(module, set, hops + 1);
  }
  const ways = node.type === 'identifier' ? waysReaching(module, node) : [];
  const [only, ...others] = ways;
  if (only === undefined) return undefined;
  if (others.length > 0) {
    // `parse_json_file(…)` in one branch and `parse_args_into_dataclasses()` in the other.
    const found = ways.map((way) =>
      way.kind === 'part'
        ? parsedClass(module, way.value, way.node.parent?.named.indexOf(way.node) ?? -1)
        : undefined,
    );
    return found.every((each) => each !== undefined && each.classNode === found[0]?.classNode)
      ? found[0]
      : undefined;
  }
  if (only.kind === 'value') return settingsBehind(module, only.value, hops + 1);
  if (only.kind === 'part') {
    const at = only.node.parent?.named.indexOf(only.node) ?? -1;
    return parsedClass(module, only.value, at);
  }
  const type = only.kind === 'parameter' ? only.node.parent?.childOfType('type')?.named[0] : undefined;
  const annotated = type && classNamed(module, type);
  return annotated && { ...annotated, isParsed: false };
}

/** The class that an expression names, here or in another file of the project. */
function classNamed(
  module: PyModule,
  expression: PyNode,
): { readonly module: PyModule; readonly classNode: PyNode } | undefined {
  if (expression.type !== 'identifier' && expression.type !== 'attribute') return undefined;
  const here = definitionBehind(module, expression);
  if (here !== undefined) return here.type === 'class_definition' ? { module, classNode: here } : undefined;
  const path = qualifiedName(module, expression);
  const there = path === undefined ? undefined : definedElsewhere(module, path);
  return there?.node.type === 'class_definition'
    ? { module: there.module, classNode: there.node }
    : undefined;
}

/** Of `HfArgumentParser((ModelArguments, DataArguments)).parse_args_into_dataclasses()`, the class at a place. */
function parsedClass(module: PyModule, value: PyNode, at: number): Settings | undefined {
  const call = unparenthesized(value);
  if (
    call.type !== 'call' ||
    !/^parse_(?:args_into_dataclasses|args_and_config|json_file|yaml_file|dict)$/.test(methodName(call) ?? '')
  )
    return undefined;
  const makers = ['HfArgumentParser', 'TrlParser'].flatMap((name) => callsNamed(module, name));
  const [only, ...others] = makers;
  const given = only && (keywordValue(only.call, 'dataclass_types') ?? argumentsOf(only.call)[0]);
  if (given === undefined || others.length > 0) return undefined;
  const kinds = given.type === 'tuple' || given.type === 'list' ? given.named : [given];
  const kind = kinds[at];
  const found = kind && classNamed(module, kind);
  return found && { ...found, isParsed: true };
}

/** What `self.config` is given, where one line of the class does. */
function assignedToSelf(module: PyModule, attribute: PyNode): PyNode | undefined {
  const own = attributeOfSelf(attribute);
  if (own === undefined) return undefined;
  const targets = module.words(own.name).flatMap(({ parent }) => {
    const assignment = parent?.type === 'attribute' ? parent.parent : undefined;
    const isTarget = assignment?.type === 'assignment' && assignment.left === parent;
    return isTarget && own.classNode.contains(assignment) ? [assignment.right] : [];
  });
  return targets.length === 1 ? targets[0] : undefined;
}

/** The value of a field that the class, or a class of its file that it derives from, writes down. */
function classFields(module: PyModule, classNode: PyNode, name: string): PyNode | undefined {
  for (const each of ancestryOf(module, classNode).classes) {
    const writes = module.scopeOf(each).bindings(name);
    const [only] = writes;
    const assignment = only?.parent;
    if (writes.length !== 1 || assignment?.type !== 'assignment') continue;
    return assignment.right && defaultIn(assignment.right);
  }
  return undefined;
}

/** `8`, `field(default=8)`, `Field(8)`, `field(default_factory=lambda: ["q_proj"])`. */
function defaultIn(value: PyNode): PyNode | undefined {
  const isField = value.type === 'call' && /^(?:\w+\.)?[fF]ield$/.test(value.function?.text ?? '');
  if (!isField) return value;
  const made = keywordValue(value, 'default_factory');
  if (made !== undefined) return made.type === 'lambda' ? made.body : undefined;
  const [first] = argumentsOf(value);
  return keywordValue(value, 'default') ?? (first?.type === 'keyword_argument' ? undefined : first);
}
