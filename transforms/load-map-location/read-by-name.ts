import { basename, dirname } from 'node:path/posix';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { importsProgram, isInstallable, isOfProgramOnly, isProgram } from '../../src/semantic/program.js';
import { argumentsOf, enclosingFunction, statementOf } from '../../src/semantic/statements.js';
import { isUnbound } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { placeOf, spelledOut } from './place.js';
import { isScript } from './script.js';

/** They give all variables of a place, or run a text that may read them. */
const READERS = ['eval', 'exec', 'globals', 'locals', 'vars'];

const IMPORTS = ['import_from_statement', 'import_statement'] as const;

/** The variables of whoever called. */
export const FRAMES =
  /\b(?:f_locals|f_globals|f_back|currentframe|_getframe|_current_frames|getargvalues)\b|\binspect\.(?:stack|trace|getinnerframes|getouterframes)\b/;

/**
 * Whether some code may read the variable that gets a value by its name, as a text. What a function binds for itself is out of
 * reach of those that do not stand in it.
 */
export function mayBeReadByName(module: PyModule, value: PyNode): boolean {
  if (module.mentions(FRAMES)) return true;
  const around = enclosingFunction(value);
  const isLocal = around !== undefined && !bindsOutside(module, value);
  return READERS.some((name) =>
    module.words(name).some((node) => {
      const call = node.parent?.type === 'call' && node.parent.function === node ? node.parent : undefined;
      if (call === undefined || node.text !== name || !isUnbound(module, node)) return false;
      if (name === 'globals') return !isLocal;
      if (name === 'vars' && call.arguments?.named.length !== 0) return false;
      if (isLocal && !around.contains(call)) return false;
      return name !== 'eval' || !readsImport(module, call);
    }),
  );
}

/** `global state`, or an attribute or element of something. */
function bindsOutside(module: PyModule, value: PyNode): boolean {
  const statement = statementOf(value);
  const [assignment] = statement.type === 'expression_statement' ? statement.named : [];
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  if (target === undefined) return false;
  return target.type !== 'identifier' || module.resolve(target) === module.scope;
}

/** `eval("models." + name)` begins with the import that it reads. */
function readsImport(module: PyModule, call: PyNode): boolean {
  const root = /^eval\(\s*["'](\w+)\./.exec(call.text)?.[1];
  const bound = root === undefined ? [] : module.scope.bindings(root);
  return bound.length > 0 && bound.every((name) => roleOf(name) === 'import');
}

/**
 * Whether another file of the project may read a variable of this one's module: as an attribute, by an import, or by a star
 * and a name that it binds nowhere. What can be installed, anybody may read.
 */
export function isReadElsewhere(module: PyModule, variable: PyNode): boolean {
  if (module.resolve(variable) !== module.scope) return true;
  const isStarted = isProgram(module.alone);
  if (!isStarted && isInstallable(module)) return true;
  const asked = (word: string, look: (alone: PyModule, word: string) => boolean) =>
    module.around.summaries({ word, beside: [] }, look)?.includes(true) !== false;
  const home = basename(module.path, '.py').replace(/^__init__$/, basename(dirname(module.path)));
  const own = placeOf(module.path).replace(/\.__init__$/, '');
  const mayBeOwn = (dotted: string) => `.${dotted}`.endsWith(own) || own.endsWith(`.${dotted}`);
  const named = module.around.summaries({ word: home, beside: [] }, importsWith)?.flat();
  const isRead = () => asked(variable.text, mayRead) || asked(home, looksThrough);
  if (isStarted) return named?.some(mayBeOwn) === true && isRead() && !isOfProgramOnly(module, variable.text);
  // Who reads a file that no program of the project leads to, nobody knows.
  if (
    !isScript(module.alone) &&
    module.around.summaries({ word: 'import', beside: [] }, isScript)?.includes(true) !== true
  )
    return true;
  // They give the variables of a file by names that are texts.
  if (['runpy', 'SourceFileLoader', 'spec_from_file_location'].some((word) => asked(word, getsByText)))
    return true;
  const isImported =
    named === undefined || named.some(mayBeOwn) || BY_TEXT.some((word) => asked(word, getsByText));
  // Without an import, another file has it only where one of them is run as a text, in the place of another.
  if (!isImported)
    return (
      asked(variable.text, readsUnbound) &&
      RUNS_TEXT.some((word) => runsText(module.alone, word) || asked(word, runsText))
    );
  return isRead() || ['import_module', '__import__', 'modules'].some((word) => asked(word, looksThroughAny));
}

/** They get at a file that no import names. */
const BY_TEXT = ['__import__', '__main__', 'import_module', 'modules'];

const RUNS_TEXT = 'exec execfile eval compile builtins __builtins__ get_ipython'.split(' ');

/** `net.eval()` and `re.compile(…)` run none. */
function runsText(alone: PyModule, word: string): boolean {
  const isOften = word === 'eval' || word === 'compile';
  return alone
    .words(word)
    .some((node) => node.type === 'identifier' && !(isOften && node.parent?.attribute === node));
}

/** But for that of the file itself, which `sys.modules[__name__]` is. */
const OTHER_MODULES =
  /\bsys\.modules\b(?!\[__name__\])|\bfrom[ \t]+sys[ \t]+import\b|\bimport[ \t]+sys[ \t]+as\b/;

function getsOthers(alone: PyModule): boolean {
  if (alone.mentions(OTHER_MODULES)) return true;
  const isAsked = alone.mentions(/\bsys\.modules\b/);
  return isAsked && alone.words('__name__').some((node) => binds(roleOf(node)));
}

function getsByText(alone: PyModule, word: string): boolean {
  if (word === '__main__') return importsProgram(alone);
  return word !== 'modules' || getsOthers(alone);
}

/** Whether it gets at names in modules of which nothing tells which they are. */
function looksThroughAny(alone: PyModule): boolean {
  const isAny = alone.mentions(/\b(?:import_module|__import__)\b/) || getsOthers(alone);
  return isAny && alone.mentions(/(?<![.\w])(?:dir|vars|getattr)\(|__dict__/);
}

/** Whether a file imports a module, and gets at the names in it otherwise than by writing them. */
function looksThrough(alone: PyModule, home: string): boolean {
  if (importsWith(alone, home).length === 0) return false;
  // Who gets them from a package is not looked for.
  if (basename(alone.path) === '__init__.py' && alone.mentions(/\bimport[ \t]*\*/)) return true;
  if (alone.mentions(/(?<![.\w])(?:globals|locals|eval|exec|dir|vars)\(|__dict__/)) return true;
  return alone.words('getattr').some(({ parent: call }) => {
    const [object] = call?.type === 'call' ? argumentsOf(call) : [];
    return object !== undefined && qualifiedName(alone, object) !== undefined;
  });
}

/** The dotted names that a file imports, or imports from, up to this word in them; `.lib.nets` for a relative import. */
function importsWith(alone: PyModule, home: string): readonly string[] {
  return alone.words(home).flatMap((node) => {
    const statement = node.closest(...IMPORTS, 'block', 'module');
    if (!/^import/.test(statement?.type ?? '')) return [];
    const from = statement?.module_name;
    const name = node.closest('dotted_name')?.text ?? node.text;
    const base = from?.text.startsWith('.') ? spelledOut(placeOf(alone.path), from.text) : from?.text;
    const names = [...(base?.split('.') ?? []), ...(from?.contains(node) ? [] : name.split('.'))];
    return names.slice(0, names.lastIndexOf(home) + 1).join('.');
  });
}

/** Whether a file reads a name that it binds nowhere: another one may be run in its place. */
function readsUnbound(alone: PyModule, name: string): boolean {
  return alone
    .words(name)
    .some(
      (node) =>
        node.type === 'identifier' &&
        node.text === name &&
        roleOf(node) === 'read' &&
        node.parent?.attribute !== node &&
        alone.resolve(node) === undefined,
    );
}

function mayRead(alone: PyModule, name: string): boolean {
  return (
    alone.words(name).some((node) => {
      if (node.type !== 'identifier' || node.text !== name) return false;
      if (node.parent?.type === 'attribute' && node.parent.attribute === node)
        return (
          node.parent.object?.text !== 'self' &&
          !/^(?:torch|numpy)\./.test(qualifiedName(alone, node.parent) ?? '')
        );
      if (node.parent?.type === 'keyword_argument' && node.parent.name === node) return false;
      if (node.closest('import_from_statement', 'block', 'module')?.type === 'import_from_statement')
        return true;
      return false;
    }) || readsUnbound(alone, name)
  );
}
