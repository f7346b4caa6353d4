import type { PyNode } from '../syntax/node.js';
import { definitionOf } from './flow.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { argumentsOf } from './statements.js';
import { plainString } from './strings.js';

/**
 * The name by which an import reaches its file where the importing file adds folders to those that Python searches: after
 * `sys.path.append(str(Path(__file__).parent / "config"))`, `settings` is `.config.settings`. Unless a folder was put before all
 * others, what is found without it is found first. Undefined where that depends on where Python is started.
 */
export function importedFrom(module: PyModule, dotted: string): string | undefined {
  if (dotted.startsWith('.') || !module.text.includes('sys.path')) return dotted;
  const { first, last } = module.alone.memo(addedFolders, module.alone);
  const placesIn = ({ steps, isFromFile }: Folder): readonly string[] => {
    // A path that does not say where it begins is seen from where Python is started: here, or in a folder above.
    const starts = isFromFile ? [''] : module.path.split('/').map((_, level) => '.'.repeat(level));
    return starts.map((dots) => `${dots}${steps}${dotted}`).filter((place) => isThere(module, place));
  };
  const [before] = first.filter(({ isFromFile }) => isFromFile).flatMap(placesIn);
  if (before !== undefined) return before;
  const doubtful = first.flatMap(placesIn);
  if (isThere(module, dotted)) return doubtful.length > 0 ? undefined : dotted;
  const places = [...doubtful, ...last.flatMap(placesIn)];
  const files = new Set(places.map((place) => module.around.module(place)?.path));
  return files.size === 1 ? places[0] : dotted;
}

function isThere(module: PyModule, place: string): boolean {
  return module.around.text(place) !== undefined;
}

interface Folder {
  /** As relative imports begin: `.config.`, `..`. */
  readonly steps: string;
  readonly isFromFile: boolean;
  readonly isFirst: boolean;
}

interface Folders {
  /** Searched before all others; what was put in last is searched first. */
  readonly first: readonly Folder[];
  /** Searched at some time after that. */
  readonly last: readonly Folder[];
}

function addedFolders(module: PyModule): Folders {
  const places = module.words('sys').flatMap(({ parent }) => (parent?.text === 'sys.path' ? [parent] : []));
  const added = places.map((place) => folderAdded(module, place));
  const first = added.flatMap((each) => (typeof each === 'object' && each.isFirst ? [each] : [])).reverse();
  const isKnown =
    !added.includes('unknown') && !module.mentions(/\bfrom sys\b|\baddsitedir\b|\bchdir\b|\bsys\.modules\[/);
  if (!isKnown) return { first: first.filter(({ isFromFile }) => isFromFile), last: [] };
  return { first, last: added.flatMap((each) => (typeof each === 'object' && !each.isFirst ? [each] : [])) };
}

/** What is done with `sys.path`: a folder of the project is added to it, nothing that matters here, or nobody knows. */
function folderAdded(module: PyModule, place: PyNode): Folder | 'nothing' | 'unknown' {
  const method = place.parent?.type === 'attribute' ? place.parent : undefined;
  const call = method?.parent;
  if (method === undefined || call?.type !== 'call' || call.function !== method)
    return place.parent?.type === 'comparison_operator' ? 'nothing' : 'unknown';
  const isInsert = method.attribute?.text === 'insert';
  const isTop = call.parent?.type === 'expression_statement' && call.parent.parent?.type === 'module';
  if (!isTop || qualifiedName(module, method) !== method.text) return 'unknown';
  if (!isInsert && method.attribute?.text !== 'append') return 'unknown';
  const [position, folder] = isInsert ? argumentsOf(call) : [undefined, ...argumentsOf(call)];
  const path = folder && plainString(folder);
  // A folder of one machine, which is not the project's.
  if (path !== undefined && /^[/~]/.test(path)) return 'nothing';
  const steps = path === undefined ? folder && stepsTo(module, folder, 0) : joined([], [folder]);
  const start = steps === undefined || steps[0] === FILE ? undefined : asImport(steps);
  if (start === undefined) return 'unknown';
  return { steps: start, isFromFile: path === undefined, isFirst: position?.text === '0' };
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
