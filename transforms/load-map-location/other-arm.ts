import { NAMES_DEVICE } from '../../src/library/paths.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isMethodOfProject } from '../../src/semantic/project-names.js';
import { isPlainPath, keywordArgument, rootOf, statementOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** An `if` of which both branches do the same once a load in one of them goes to the CPU. */
interface Arms {
  readonly statement: PyNode;
  /** What the other branch does. */
  readonly line: string;
}

const CPU = /^(?:(?:torch\.device\()?["']cpu["']\)?|lambda (\w+), ?\w+: ?\1)$/;

/**
 * `if cuda: state = torch.load(path)`, `else: state = torch.load(path, map_location="cpu")`: the second branch is all that is
 * left to do, in any case. Not where it has comments, or the condition does more than look.
 */
export function armsAlike(module: PyModule, load: PyNode): Arms | undefined {
  const own = statementOf(load);
  const clause = own.parent?.parent;
  const statement = clause?.type === 'else_clause' ? clause.parent : clause;
  const [orElse, ...others] = statement?.named.filter(({ type }) => type.endsWith('_clause')) ?? [];
  if (statement?.type !== 'if_statement' || orElse?.type !== 'else_clause' || others.length > 0)
    return undefined;
  if ([...statement.walk()].some(({ type }) => type === 'comment') || !onlyLooks(module, statement.condition))
    return undefined;
  const blocks = [statement.consequence, orElse.body];
  const [only, ...more] = blocks.find((block) => block !== own.parent)?.named ?? [];
  if (!blocks.includes(own.parent) || own.parent?.named.length !== 1 || only === undefined || more.length > 0)
    return undefined;
  const [place, ...further] = [...only.walk()].flatMap((node) =>
    node.type === 'call' ? (keywordArgument(node, 'map_location') ?? []) : [],
  );
  if (place === undefined || further.length > 0 || !CPU.test(place.value?.text ?? '')) return undefined;
  const isSame = tokensOf(only, place) === tokensOf(own, keywordArgument(load, 'map_location'));
  return isSame && !only.text.includes('\n') ? { statement, line: only.text } : undefined;
}

/** The code without one argument, however it is laid out. */
function tokensOf(statement: PyNode, besides?: PyNode): string {
  return [...statement.walk((node) => node !== besides)]
    .filter((node) => node.children.length === 0 && node !== besides)
    .map(({ text }) => text)
    .filter((text, index, all) => text !== ',' || all[index + 1] !== ')')
    .join('\n');
}

/** `use_cuda`, `not args.cpu`, `torch.cuda.is_available()`. */
function onlyLooks(module: PyModule, condition: PyNode | undefined): boolean {
  if (condition === undefined) return false;
  if (condition.type === 'not_operator') return condition.named.every((each) => onlyLooks(module, each));
  const callee = condition.type === 'call' ? condition.function : undefined;
  if (callee !== undefined) return NAMES_DEVICE.has(qualifiedName(module, callee));
  if (!isPlainPath(condition) || module.resolve(rootOf(condition)) === undefined) return false;
  // A dictionary may make what it is asked for.
  if ([...condition.walk()].some(({ type }) => type === 'subscript')) return false;
  return condition.type !== 'attribute' || !isMethodOfProject(module, condition.attribute?.text ?? '');
}
