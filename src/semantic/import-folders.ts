import type { PyNode } from '../syntax/node.js';
import { definitionOf } from './flow.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { argumentsOf } from './statements.js';
import { plainString } from './strings.js';

/**
 * The name by which an import reaches its file where the importing file puts folders of its own before all others:
 * after `sys.path.insert(0, str(Path(__file__).parent / "config"))`, `settings` is `.config.settings`.
 */
export function importedFrom(module: PyModule, dotted: string): string {
  if (dotted.startsWith('.') || !module.text.includes('sys.path')) return dotted;
  const inserted = module.alone.memo(insertedFolders, module.alone);
  const found = inserted.find((folder) => module.around.text(`${folder}${dotted}`) !== undefined);
  return found === undefined ? dotted : `${found}${dotted}`;
}

/** As relative imports begin: `.config.`, `..`. What was put in last is searched first. */
function insertedFolders(module: PyModule): readonly string[] {
  const found = module.at('sys').flatMap((name) => {
    const insert = name.parent?.parent;
    const call = insert?.parent;
    if (insert?.text !== 'sys.path.insert' || call?.type !== 'call' || call.function !== insert) return [];
    if (call.parent?.type !== 'expression_statement' || call.parent.parent?.type !== 'module') return [];
    const [position, folder] = argumentsOf(call);
    if (qualifiedName(module, insert) !== 'sys.path.insert' || position?.text !== '0') return [];
    const steps = folder && stepsTo(module, folder, 0);
    return steps === undefined || steps[0] === FILE ? [] : (asImport(steps) ?? []);
  });
  return found.reverse();
}

/** The importing file itself; everything else is seen from its folder. */
const FILE = '<file>';
const UP = '..';
const MAX_STEPS = 12;
const SAME_PATH: ReadonlySet<string> = new Set([
  'str',
  'os.fspath',
  'os.path.abspath',
  'os.path.normpath',
  'os.path.realpath',
  'pathlib.Path',
]);
const SAME_METHODS: ReadonlySet<string> = new Set(['absolute', 'as_posix', 'resolve']);

function stepsTo(module: PyModule, node: PyNode, depth: number): readonly string[] | undefined {
  if (depth > MAX_STEPS) return undefined;
  const behind = (each: PyNode | undefined) => each && stepsTo(module, each, depth + 1);
  switch (node.type) {
    case 'identifier':
      return node.text === '__file__' ? [FILE] : behind(onlyValue(module, node));
    case 'parenthesized_expression':
      return behind(node.named[0]);
    case 'binary_operator':
      return node.operator?.type === '/' ? joined(behind(node.left), [node.right]) : undefined;
    case 'attribute':
      return node.attribute?.text === 'parent' ? above(behind(node.object)) : undefined;
    case 'call': {
      const callee = node.function;
      const given = argumentsOf(node);
      const path = callee && (qualifiedName(module, callee) ?? builtin(module, callee));
      if (path === 'os.path.dirname') return above(behind(given[0]));
      if (path === 'os.path.join') return joined(behind(given[0]), given.slice(1));
      if (path !== undefined) return SAME_PATH.has(path) && given.length === 1 ? behind(given[0]) : undefined;
      const isSame = SAME_METHODS.has(callee?.attribute?.text ?? '') && given.length === 0;
      return isSame ? behind(callee?.object) : undefined;
    }
    default:
      return undefined;
  }
}

function builtin(module: PyModule, callee: PyNode): string | undefined {
  return callee.type === 'identifier' && module.resolve(callee) === undefined ? callee.text : undefined;
}

function onlyValue(module: PyModule, name: PyNode): PyNode | undefined {
  const scope = module.resolve(name);
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, name.text);
  const definition = only === undefined || others.length > 0 ? undefined : definitionOf(only);
  return definition?.kind === 'value' ? definition.value : undefined;
}

function above(steps: readonly string[] | undefined): readonly string[] | undefined {
  if (steps === undefined) return undefined;
  const last = steps.at(-1);
  return last === undefined || last === UP ? [...steps, UP] : steps.slice(0, -1);
}

function joined(
  steps: readonly string[] | undefined,
  parts: readonly (PyNode | undefined)[],
): readonly string[] | undefined {
  let at = steps?.at(-1) === FILE ? undefined : steps;
  for (const part of parts) {
    const text = part && plainString(part);
    for (const name of text?.split('/') ?? [undefined]) {
      if (at === undefined || name === undefined) return undefined;
      if (name === UP) at = above(at);
      else if (name !== '.' && name !== '') at = [...at, name];
    }
  }
  return at;
}

function asImport(steps: readonly string[]): string | undefined {
  const names = steps.filter((step) => step !== UP);
  if (!names.every((name) => /^\w+$/.test(name))) return undefined;
  return `${'.'.repeat(1 + steps.length - names.length)}${names.map((name) => `${name}.`).join('')}`;
}
