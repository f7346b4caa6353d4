import type { PyNode } from '../syntax/node.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import type { Answer } from './answer.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { enclosingFunction } from './statements.js';

/**
 * A program rather than something that others import: it reads its command line, or asks whether it is the program. The
 * variables of a notebook are there for whoever types the next line.
 */
export function isProgram({ path, text, code }: Pick<PyModule, 'path' | 'text' | 'code'>): boolean {
  if (isNotebook({ path })) return false;
  const isStarted = text.startsWith('#!') || /\.parse_args\(|\b__name__\s*==/.test(code);
  return isStarted && !/(?:^|[\\/])__init__\.py$/.test(path);
}

/** `sys.argv`, outside of all functions: whoever would import it has other ones. */
export function readsArguments(alone: PyModule): boolean {
  return alone.words('argv').some((node) => {
    const whole = node.parent?.attribute === node ? node.parent : node;
    return qualifiedName(alone, whole) === 'sys.argv' && enclosingFunction(node) === undefined;
  });
}

/** Whether others may install a file, so that code outside of the project may call its functions. */
export function isInstallable(module: PyModule): boolean {
  return isInstalledBySetup(module) || isInstalledByProject(module);
}

/** What else than packages, with the folders that hold their `__init__.py`, a setup script may install. */
const OTHER_PARTS = /\bpy_modules\b|\bpackage_dir\b|\bfind_namespace|\bscripts\s*=|\bpackages\s*=\s*\[/;

function isInstalledBySetup(module: PyModule): boolean {
  const script = module.around.file('setup.py')?.text ?? '';
  if (!/\bsetup\s*\(/.test(script)) return false;
  const takesPackages = /\bfind_packages\s*\(/.test(script) && !OTHER_PARTS.test(script);
  return !takesPackages || module.around.text('.') !== undefined;
}

function isInstalledByProject(module: PyModule): boolean {
  const project = module.around.file('pyproject.toml')?.text ?? '';
  if (!/^\[(?:project|tool\.poetry|build-system)\]/m.test(project)) return false;
  const poetry = /^\[tool\.poetry\][^[]*/m.exec(project)?.[0];
  if (poetry === undefined || /^\[project\]/m.test(project)) return true;
  if (/^package-mode\s*=\s*false\b/m.test(poetry)) return false;
  if (/^(?:packages|include)\s*=/m.test(poetry)) return true;
  const name = /^name\s*=\s*["']([\w.-]+)["']/m.exec(poetry)?.[1];
  // Poetry takes the folder or file of the project's name, and nothing where there is none.
  return name === undefined || module.around.text(name.replace(/[-.]/g, '_').toLowerCase()) !== undefined;
}

/** Below `if __name__ == "__main__":`, where whoever imports the file never comes, and nobody asks for the program by name. */
export function isForProgramOnly(module: PyModule, node: PyNode): boolean {
  if (isNotebook(module)) return false;
  for (const around of node.ancestors()) {
    const isGuard = around.type === 'if_statement' && IS_PROGRAM.test(around.condition?.text ?? '');
    if (!isGuard || around.consequence?.contains(node) !== true) continue;
    const others = module.around.summaries({ word: '__main__', beside: [] }, importsProgram);
    return others !== undefined && !others.includes(true) && !importsProgram(module.alone);
  }
  return false;
}

/** A variable of the file that only the program sets: whoever imports the file finds none. */
export function isOfProgramOnly(module: PyModule, name: string): boolean {
  return module.writes(module.scope, name).every((write) => isForProgramOnly(module, write));
}

const IS_PROGRAM = /^\(?\s*__name__\s*==\s*(["'])__main__\1\s*\)?$/;

/** `import __main__`, also by text; what is in a comparison is no import. */
export function importsProgram(alone: PyModule): boolean {
  return /\b(?:import|from)[ \t]+__main__\b|(?:[([,]|(?<![=!])=)\s*["']__main__["']/.test(alone.text);
}

/** Whether its variables are there for whoever has it open, after every cell. */
export function isNotebook({ path }: Pick<PyModule, 'path'>): boolean {
  return isNotebookName(path);
}

/** Whether names that the file binds are its own affair: `no` where it exports one, `unknown` where others may import it. */
export function isPrivate(module: PyModule, bound: readonly PyNode[]): Answer {
  const outer = bound.filter((name) => module.resolve(name) === module.scope);
  const exported = /^__all__\b[^\n]*(?:\n[^\n\]]*)*/m.exec(module.text)?.[0] ?? '';
  if (outer.some(({ text }) => exported.includes(`"${text}"`) || exported.includes(`'${text}'`))) return 'no';
  return outer.every(({ text }) => text.startsWith('_')) || isProgram(module) ? 'yes' : 'unknown';
}

/** In a handler, or under a test of versions: what stands there is for an older library. */
export function isOlderBranch(node: PyNode): boolean {
  for (const ancestor of node.ancestors()) {
    if (ancestor.type === 'except_clause') return true;
    const condition = ancestor.type === 'conditional_expression' ? ancestor.named[1] : ancestor.condition;
    if (
      condition !== undefined &&
      /version|hasattr\(\s*(?:torch|transformers)|torch\.amp\b|TORCH_/i.test(condition.text)
    )
      return true;
  }
  return false;
}

const IMPORTS: ReadonlySet<string> = new Set([
  'import_statement',
  'import_from_statement',
  'future_import_statement',
]);

/** The last of the imports that stand above everything the module does, guarded ones included. */
export function lastOfImports({ root }: PyModule): PyNode | undefined {
  const first = root.named.findIndex((statement, index) => {
    if (IMPORTS.has(statement.type)) return false;
    if (statement.type === 'try_statement') return !onlyImports(statement);
    if (
      index > 0 &&
      statement.named[0]?.type === 'call' &&
      /^sys\.path\.(?:append|insert)\(/.test(statement.text)
    )
      return false;
    const isText = statement.named.length === 1 && statement.named[0]?.type === 'string';
    return !(index === 0 && statement.type === 'expression_statement' && isText);
  });
  return root.named.slice(0, Math.max(0, first)).findLast(({ type }) => type !== 'expression_statement');
}

/** `try: import x` with a handler: what its blocks hold is imports and plain assignments. */
function onlyImports(statement: PyNode): boolean {
  const bodies = [statement.body, ...statement.named.flatMap((part) => part.childrenOfType('block'))];
  return bodies.every((body) =>
    (body?.named ?? []).every(
      (each) =>
        IMPORTS.has(each.type) || each.type === 'pass_statement' || each.named[0]?.type === 'assignment',
    ),
  );
}

/** Statements that surely run before this one: those above it in its block, and in the blocks around it up to its function. */
export function* statementsAbove(statement: PyNode): Generator<PyNode> {
  for (let at: PyNode | undefined = statement; at !== undefined; at = at.parent) {
    const block: PyNode | undefined = at.parent;
    if (at !== statement && /^(?:function|class)_definition$/.test(at.type)) return;
    // The clauses of a `match` are alternatives: none runs before another.
    if (at.type === 'case_clause' || (block?.type !== 'block' && block?.type !== 'module')) continue;
    for (const above of block.named) {
      if (above === at) break;
      yield above;
    }
  }
}
