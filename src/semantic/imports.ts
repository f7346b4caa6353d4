import { builtin, packageOf, row } from '../library/library.js';
import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';
import { importedPath, roleOf } from './names.js';
import type { Scope } from './scope.js';
import { handsOn, mayBring, starImports, within } from './stars.js';

/** Aliases such as `F = torch.nn.functional` are followed this far. */
const MAX_ALIAS_HOPS = 4;
/** So many files may hand on what they got by `import *`. */
const MAX_STAR_HOPS = 4;

/**
 * The dotted path an expression names through the file's imports (`th.no_grad` → `torch.no_grad`), or undefined.
 * Never a guess from the last identifier. An `except ImportError: x = None` fallback is looked past: where it applies,
 * the expression would raise anyway.
 */
export function qualifiedName(module: PyModule, expression: PyNode): string | undefined {
  return qualify(module, expression, 0);
}

/** The dotted path of what a call calls. */
export function calledPath(module: PyModule, call: PyNode): string | undefined {
  return call.function && qualifiedName(module, call.function);
}

function qualify(module: PyModule, expression: PyNode, hops: number): string | undefined {
  if (expression.type === 'attribute') {
    const object = expression.object;
    const name = expression.attribute;
    const base = object && qualify(module, object, hops);
    return base === undefined || name === undefined ? undefined : `${base}.${name.text}`;
  }
  if (expression.type === 'parenthesized_expression') {
    const inner = expression.named[0];
    return inner && qualify(module, inner, hops);
  }
  if (expression.type !== 'identifier') return undefined;
  const scope = module.resolve(expression);
  if (scope !== undefined) {
    const isStarredOver =
      scope === module.scope && starImports(module).length > 0 && module.memo(isRebound, expression.text);
    return isStarredOver ? undefined : boundPath(module, scope, expression.text, hops);
  }
  const starred = starImports(module).length === 0 ? ABSENT : module.memo(starredName, expression.text);
  return starred === UNKNOWN || starred === ABSENT ? undefined : starred;
}

/**
 * The dotted paths that an expression may name where imports bind its first name in several ways (`try: import fast as F`);
 * undefined among them for what is no import. Empty where none is.
 */
export function possibleNames(module: PyModule, expression: PyNode): readonly (string | undefined)[] {
  if (expression.type === 'attribute') {
    const { object, attribute } = expression;
    const bases = object === undefined ? [] : possibleNames(module, object);
    return bases.map((base) => base && `${base}.${attribute?.text ?? ''}`);
  }
  const scope = expression.type === 'identifier' ? module.resolve(expression) : undefined;
  if (scope === undefined) return [];
  const bindings = module.writes(scope, expression.text).filter((binding) => !isNoneFallback(binding));
  const paths = bindings.map((binding) => importedPath(binding) ?? aliasedPath(module, binding, 0));
  return paths.every((path) => path === undefined) ? [] : paths;
}

const ABSENT = Symbol('absent');
const UNKNOWN = Symbol('unknown');
type Starred = string | typeof ABSENT | typeof UNKNOWN;

function starredName(module: PyModule, name: string): Starred {
  return findStarred(module, name, []);
}

/** What a name that its file binds nowhere gets by `from x import *`, where that is a package of others or a part of one. */
function findStarred(module: PyModule, name: string, behind: Behind): Starred {
  if (name.startsWith('_') || builtin(name) !== undefined) return ABSENT;
  for (const { from, isSure } of starImports(module)) {
    const brought = broughtBy(module, from, name, behind);
    if (brought !== ABSENT) return isSure ? brought : UNKNOWN;
  }
  return ABSENT;
}

/** Whether `from x import *` of the project, below the import of a library's name, puts something else there. */
export function isRebound(module: PyModule, name: string): boolean {
  return isReboundBehind(module, name, []);
}

function isReboundBehind(module: PyModule, name: string, behind: Behind): boolean {
  const path = boundPath(module, module.scope, name, 0);
  if (path === undefined || !isPackage(path)) return false;
  const writes = module.writes(module.scope, name);
  return starImports(module).some(({ from, statement }) => {
    if (module.around.text(from) === undefined || writes.some(({ start }) => start > statement.start))
      return false;
    const brought = broughtBy(module, from, name, behind);
    return brought !== ABSENT && brought !== path;
  });
}

/** The paths of the files that are being asked for a name. */
type Behind = readonly string[];

function broughtBy(module: PyModule, from: string, name: string, behind: Behind): Starred {
  if (behind.length > MAX_STAR_HOPS) return UNKNOWN;
  if (module.around.text(from) === undefined) {
    if (row(within(from, name)) !== undefined) return within(from, name);
    return isPackage(from) ? ABSENT : UNKNOWN;
  }
  if (!mayBring(module, from, name)) return ABSENT;
  const other = module.around.module(from);
  const handed = other && handsOn(other, name);
  if (other === undefined || handed === undefined) return UNKNOWN;
  if (!handed) return ABSENT;
  // In a circle, a file gets back what it has by an import of its own; of what it only hands on, either may be first.
  if (behind.includes(other.path)) return other.scope.has(name) ? ABSENT : UNKNOWN;
  const further = [...behind, other.path];
  if (!other.scope.has(name)) return findStarred(other, name, further);
  const path =
    behind.length < MAX_STAR_HOPS && isReboundBehind(other, name, further)
      ? undefined
      : boundPath(other, other.scope, name, 0);
  return path !== undefined && isPackage(path) ? path : UNKNOWN;
}

function isPackage(path: string): boolean {
  return /^torch(?:\.|$)/.test(path) || packageOf(path) !== undefined;
}

/** What a variable of a scope stands for, when every binding of it is an import (or alias) of the same path. */
function boundPath(module: PyModule, scope: Scope, name: string, hops: number): string | undefined {
  if (hops > MAX_ALIAS_HOPS) return undefined;
  const byHops = module.alone.memo(noPathsYet, scope.node);
  byHops[hops] ??= new Map();
  const known = byHops[hops];
  if (known.has(name)) return known.get(name);
  const path = findBoundPath(module, scope, name, hops);
  known.set(name, path);
  return path;
}

/** Of the variables of a scope, by their names. */
function noPathsYet(): Map<string, string | undefined>[] {
  return [];
}

function findBoundPath(module: PyModule, scope: Scope, name: string, hops: number): string | undefined {
  let path: string | undefined;
  for (const binding of module.writes(scope, name)) {
    if (isNoneFallback(binding)) continue;
    const bound = importedPath(binding) ?? aliasedPath(module, binding, hops);
    if (bound === undefined || (path !== undefined && path !== bound)) return undefined;
    path = bound;
  }
  return path;
}

function aliasedPath(module: PyModule, binding: PyNode, hops: number): string | undefined {
  const assignment = binding.parent;
  if (assignment?.type !== 'assignment' || assignment.left !== binding) return undefined;
  const value = assignment.right;
  if (value?.type !== 'attribute' && value?.type !== 'identifier') return undefined;
  if (value.type === 'identifier' && value.text === binding.text) return undefined;
  // What is bound is known to all that see the file, so that nothing around it may count.
  return qualify(module.alone, value, hops + 1);
}

function isNoneFallback(binding: PyNode): boolean {
  const assignment = binding.parent;
  return (
    assignment?.type === 'assignment' &&
    assignment.right?.type === 'none' &&
    assignment.closest('except_clause') !== undefined
  );
}

/**
 * The text by which `path` can be written at a node, e.g. `th.cuda.empty_cache`; undefined unless the binding is certain:
 * imported unconditionally, never rebound, not shadowed there, and already executed when the node runs.
 */
export function nameFor(module: PyModule, path: string, at: PyNode): string | undefined {
  const from = module.scopeAt(at);
  let best: { readonly name: string; readonly path: string } | undefined;
  for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.parent) {
    if (scope.kind === 'class' || scope.kind === 'comprehension') continue;
    for (const [name, paths] of importedNames(module, scope)) {
      // What leads elsewhere is not looked up.
      const mayLead = paths.some((each) => isPrefix(each, path));
      const bound = mayLead ? certainImport(module, scope, name, at) : undefined;
      if (bound === undefined || !isPrefix(bound, path)) continue;
      if (module.lookup(name, from) !== scope) continue;
      if (best === undefined || bound.length > best.path.length) best = { name, path: bound };
    }
  }
  return best === undefined ? starredAt(module, path, at) : best.name + path.slice(best.path.length);
}

/** `torch.no_grad` itself, where `torch` comes by `from x import *` before it. */
function starredAt(module: PyModule, path: string, at: PyNode): string | undefined {
  const [name = path] = path.split('.');
  const stars = starImports(module);
  if (stars.length === 0 || module.lookup(name, module.scopeAt(at)) !== undefined) return undefined;
  const areBefore = stars.every(({ statement }) => runsBefore(module, statement, at, module.scope));
  return areBefore && module.memo(starredName, name) === name ? path : undefined;
}

/** The names that imports in a scope bind there, each with the dotted paths that they give it. */
export function importedNames(module: PyModule, scope: Scope): ReadonlyMap<string, readonly string[]> {
  return module.alone.memo(namesImportedBy, scope.node);
}

function namesImportedBy(module: PyModule, node: PyNode): ReadonlyMap<string, readonly string[]> {
  const scope = module.scopeOf(node);
  const found = new Map<string, string[]>();
  for (const keyword of module.ownWords('import', node)) {
    const statement = keyword.parent;
    if (statement?.type !== 'import_statement' && statement?.type !== 'import_from_statement') continue;
    for (const inner of statement.walk()) {
      const path = inner.type === 'identifier' ? importedPath(inner) : undefined;
      if (path === undefined || module.scopeAt(inner) !== scope) continue;
      const paths = found.get(inner.text);
      if (paths === undefined) found.set(inner.text, [path]);
      else paths.push(path);
    }
  }
  return found;
}

function isPrefix(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}.`);
}

function certainImport(module: PyModule, scope: Scope, name: string, at: PyNode): string | undefined {
  if (!scope.bindings(name).some((binding) => roleOf(binding) === 'import')) return undefined;
  let path: string | undefined;
  let certain = false;
  for (const binding of module.writes(scope, name)) {
    const bound = importedPath(binding);
    if (bound === undefined || (path !== undefined && path !== bound)) return undefined;
    path = bound;
    certain ||= isUnconditional(binding, scope) && runsBefore(module, binding, at, scope);
  }
  return certain ? path : undefined;
}

/** A statement directly in the scope's body, not under `if`, `try` or a loop. */
function isUnconditional(binding: PyNode, scope: Scope): boolean {
  const statement = binding.closest('import_statement', 'import_from_statement');
  const body = scope.kind === 'module' ? scope.node : scope.node.body;
  return statement !== undefined && statement.parent === body;
}

/** Inside a function of that scope the import has run by the time of the call; otherwise the text order decides. */
function runsBefore(module: PyModule, binding: PyNode, at: PyNode, scope: Scope): boolean {
  for (
    let inner: Scope | undefined = module.scopeAt(at);
    inner !== undefined && inner !== scope;
    inner = inner.parent
  ) {
    if (inner.kind === 'function' || inner.kind === 'lambda') return true;
  }
  return binding.start < at.start;
}

/**
 * The last name of a `from <package> import …` of the module that has certainly run before a node: one more name can stand
 * behind it.
 */
export function extendableImport(module: PyModule, packageName: string, at: PyNode): PyNode | undefined {
  const names = module.root.named.flatMap((statement) => {
    if (statement.type !== 'import_from_statement') return [];
    if (statement.module_name?.text !== packageName) return [];
    const last = statement.named.at(-1);
    return last === undefined || last.type === 'wildcard_import' ? [] : [last];
  });
  return names.find((name) => runsBefore(module, name, at, module.scope));
}

/** Whether the file's code could bind `name` at `at` at all, certainly or not. */
export function isNameTaken(module: PyModule, name: string, at: PyNode): boolean {
  return (
    module.lookup(name, module.scopeAt(at)) !== undefined || module.scope.has(name) || hasStarImport(module)
  );
}

export function hasStarImport(module: PyModule): boolean {
  return module.alone.memo(findStarImport, module.alone);
}

function findStarImport(module: PyModule): boolean {
  return module.at('*').some((node) => node.closest('wildcard_import') !== undefined);
}

/** Whether `from x import *` of the project brings a file this package, by its own name. */
export function getsPackage(module: PyModule, name: string): boolean {
  return starImports(module).length > 0 && !module.scope.has(name) && module.memo(starredName, name) === name;
}

/** Whether some import of the file, wherever it stands, is of this package or of a part of it. */
export function importsPackage(module: PyModule, name: string): boolean {
  const answers = module.memo(emptyAnswers, module);
  let answer = answers.get(name);
  if (answer === undefined) {
    answer = findsImportOf(module, name);
    answers.set(name, answer);
  }
  return answer;
}

function emptyAnswers(): Map<string, boolean> {
  return new Map();
}

/** By the text, so that nothing else is read: the path stands on the line of its keyword, or behind a backslash. */
function findsImportOf({ root, text }: PyModule, name: string): boolean {
  const [first = name] = name.split('.');
  for (const match of text.matchAll(/(?:^|[;:])[ \t\f]*(?:import|from)\b(?=([^\n]*))/gm)) {
    const { index, 0: start, 1: rest = '' } = match;
    if (!rest.includes(first) && !rest.includes('\\')) continue;
    const statement = root.descendantAt(index + start.search(/import|from/)).parent;
    if (statement?.type === 'import_from_statement') {
      if (isPart(statement.module_name, name)) return true;
    } else if (statement?.type === 'import_statement') {
      if (statement.named.some((each) => isPart(each.name ?? each, name))) return true;
    }
  }
  return false;
}

function isPart(path: PyNode | undefined, name: string): boolean {
  return path !== undefined && isPrefix(name, path.text.replace(/[\s\\]/g, ''));
}
