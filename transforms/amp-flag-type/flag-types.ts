import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import {
  argumentsOf,
  keywordArgument,
  keywordValue,
  methodName,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';

/** A comparison of an expression with string literals: `x == "a"`, `x in ("a", "b")`. */
export interface StringComparison {
  readonly node: PyNode;
  /** What is compared. */
  readonly subject: PyNode;
  /** `==`, `!=`, `in`, `not in`. */
  readonly operator: string;
  readonly words: readonly string[];
}

/** The comparisons with literals out of `words`, and with nothing else. */
export function comparisonsWith(module: PyModule, words: readonly string[]): readonly StringComparison[] {
  const found = new Map<PyNode, StringComparison>();
  for (const { index } of module.text.matchAll(new RegExp(`(["'])(?:${words.join('|')})\\1`, 'g'))) {
    const node = module.root.descendantAt(index + 1).closest('comparison_operator', 'call', 'block');
    if (node?.type !== 'comparison_operator' || node.named.length !== 2 || found.has(node)) continue;
    const [left, right] = node.named.map(unparenthesized);
    if (left === undefined || right === undefined || node.closest('string') !== undefined) continue;
    const operator = operatorOf(node);
    const [subject, given] = isLiteral(right) ? [left, right] : [right, left];
    const said = literals(given);
    if (said?.every((word) => words.includes(word))) {
      found.set(node, { node, subject, operator, words: said });
    }
  }
  return [...found.values()];
}

function operatorOf(comparison: PyNode): string {
  return comparison.children
    .filter(({ isNamed }) => !isNamed)
    .map(({ text }) => text)
    .join(' ');
}

function isLiteral(node: PyNode): boolean {
  return literals(node) !== undefined;
}

function literals(node: PyNode): readonly string[] | undefined {
  const items = ['tuple', 'list', 'set'].includes(node.type) ? node.named : [node];
  const words = items.map(plainString);
  return words.length > 0 && words.every((word) => word !== undefined) ? words : undefined;
}

/** Where the file declares a setting of this name, and whether every declaration makes it a boolean. */
export interface FlagDeclaration {
  readonly node: PyNode;
  readonly isBoolean: boolean;
}

/** The declarations of a variable, or of an attribute or key by its name: fields, parsed arguments, assignments. */
export function flagDeclarations(module: PyModule, subject: PyNode): readonly FlagDeclaration[] {
  if (subject.type === 'identifier') {
    const scope = module.resolve(subject);
    return scope === undefined ? [] : module.writes(scope, subject.text).map(ofVariable);
  }
  const key = subject.type === 'subscript' ? subject.subscript : undefined;
  const name = key === undefined ? subject.attribute?.text : plainString(key);
  return name === undefined ? [] : module.memo(declarationsNamed, name);
}

function declarationsNamed(module: PyModule, name: string): readonly FlagDeclaration[] {
  return [...fields(module, name), ...parsed(module, name), ...entries(module, name)];
}

function ofVariable(write: PyNode): FlagDeclaration {
  if (roleOf(write) === 'parameter') {
    const type = write.parent?.field('type')?.text;
    return { node: write, isBoolean: type === 'bool' };
  }
  const definition = definitionOf(write);
  return { node: write, isBoolean: definition.kind === 'value' && isBooleanValue(definition.value) };
}

function isBooleanValue(value: PyNode): boolean {
  return ['true', 'false', 'not_operator', 'comparison_operator'].includes(unparenthesized(value).type);
}

/** `name: bool = True` in a class, `self.name = True`. */
function fields(module: PyModule, name: string): readonly FlagDeclaration[] {
  return module.at(name).flatMap((node): readonly FlagDeclaration[] => {
    if (node.text !== name) return [];
    const target = node.parent?.type === 'attribute' ? node.parent : node;
    const isTarget = target === node || target.attribute === node;
    const assignment = target.parent;
    if (!isTarget || assignment?.type !== 'assignment' || assignment.left !== target) return [];
    if (target === node && module.scopeAt(node).kind !== 'class') return [];
    const type = assignment.field('type')?.text;
    const value = assignment.right;
    const isBoolean = type === undefined ? value !== undefined && isBooleanValue(value) : type === 'bool';
    return [{ node, isBoolean }];
  });
}

/** `add_argument("--name", action="store_true")`. */
function parsed(module: PyModule, name: string): readonly FlagDeclaration[] {
  const written = new RegExp(`["']--${name.replaceAll('_', '[-_]')}["']`, 'g');
  return [...module.text.matchAll(written)].flatMap(({ index }): readonly FlagDeclaration[] => {
    const call = module.root.descendantAt(index + 1).closest('call');
    if (call === undefined || !/^add_(?:argument|option)$|^option$/.test(methodName(call) ?? '')) return [];
    const action = keywordValue(call, 'action')?.text ?? '';
    const type = keywordValue(call, 'type')?.text;
    const isFlag = /store_(?:true|false)|BooleanOptionalAction/.test(action);
    const isBoolean = isFlag || type === 'bool' || keywordArgument(call, 'is_flag')?.text.endsWith('True');
    return [{ node: argumentsOf(call)[0] ?? call, isBoolean: isBoolean === true }];
  });
}

/** `{"name": True}`, `dict(name=True)`, `Config(name="bf16")`. */
function entries(module: PyModule, name: string): readonly FlagDeclaration[] {
  const keywords = module.at(name).flatMap((node) => {
    const given = node.parent;
    return given?.type === 'keyword_argument' && given.name === node ? [given] : [];
  });
  const pairs = [...module.text.matchAll(new RegExp(`["']${name}["']\\s*[:\\]]`, 'g'))].flatMap(
    ({ index }) => {
      const entry = module.root.descendantAt(index + 1).closest('pair', 'subscript', 'block');
      if (entry?.type === 'pair') return [entry];
      const assignment = entry?.type === 'subscript' ? entry.parent : undefined;
      return assignment?.type === 'assignment' && assignment.left === entry ? [assignment] : [];
    },
  );
  return [...keywords, ...pairs].flatMap((entry) => {
    const value = entry.value ?? entry.right;
    return value === undefined ? [] : [{ node: entry, isBoolean: isBooleanValue(value) }];
  });
}
