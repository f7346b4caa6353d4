import { basename, dirname } from 'node:path/posix';
import type { PyNode } from '../syntax/node.js';
import { isAnywhere } from './anywhere.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { importedPath, roleOf } from './names.js';
import { isProgram } from './program.js';
import { beginning } from './put-values.js';
import { argumentsOf, argumentValue, decoratorsOf } from './statements.js';

/** Whether a function may be called where no call shows it, by another name or by a text: the calls that are seen are not all. */
export function mayBeCalledUnseen(module: PyModule, functionNode: PyNode): boolean {
  const { name } = functionNode;
  // Objects are handed around, and their methods with them.
  if (name === undefined || module.resolve(name) !== module.scope) return true;
  if (decoratorsOf(functionNode).length > 0) return true;
  const home = nameOf(module);
  return (
    goesByOtherNames(module, name.text, home) ||
    isAnywhere(module, name.text, takesNames) ||
    isAnywhere(module, home, handsModule) ||
    isAnywhere(module, 'modules', takesModules) ||
    LOADERS.some((word) => isLoadedBy(module, word))
  );
}

function nameOf({ path }: PyModule): string {
  return basename(path) === '__init__.py' ? basename(dirname(path)) : basename(path, '.py');
}

/** `from evaluation import test as check` in a file that others import, or `from api import test`, which has it from there. */
function goesByOtherNames(module: PyModule, name: string, home: string): boolean {
  const { modules, unread } = module.around.naming({ word: name, beside: [] }, () => true);
  if (unread !== undefined) return true;
  const passers = new Set(modules.filter((there) => imports(there, name)).map(nameOf));
  return modules.some((there) => {
    if (isRenamed(there, name)) return true;
    const owners = [...there.words(name)].flatMap((node) => ownerOf(there, node) ?? []);
    const starred = [...there.code.matchAll(/\bfrom\s+(\S+)\s+import\s*\*/g)].map(([, from = '']) => from);
    return [...owners, ...starred]
      .map((owner) => owner.split('.').at(-1) ?? '')
      .some((owner) => owner !== home && passers.has(owner));
  });
}

function imports(there: PyModule, name: string): boolean {
  return there.words(name).some((node) => node.closest('import_from_statement') !== undefined);
}

function isRenamed(there: PyModule, name: string): boolean {
  return (
    !isProgram(there) &&
    there.words(name).some((node) => node.closest('aliased_import', 'block', 'module')?.alias !== undefined)
  );
}

function ownerOf(there: PyModule, node: PyNode): string | undefined {
  const attribute = node.parent?.attribute === node ? node.parent : undefined;
  const bound = node.closest('aliased_import', 'block', 'module')?.alias ?? node;
  const path =
    attribute === undefined
      ? roleOf(bound) === 'import' && importedPath(bound)
      : qualifiedName(there, attribute);
  return path ? path.slice(0, Math.max(0, path.lastIndexOf('.'))) : undefined;
}

function takesNames(alone: PyModule): boolean {
  return /(?<![.\w])(?:eval|exec|globals)\(|(?<![.\w])(?:vars|locals)\(\s*\)/.test(alone.code);
}

function takesModules(alone: PyModule): boolean {
  return /\bsys\.modules\b|\bimport\s+modules\b/.test(alone.code);
}

/** A module is more than asked for what its names show: `getattr(steps, kind)`, `for place in (steps, others):`. */
function handsModule(alone: PyModule, home: string): boolean {
  if (takesNames(alone)) return true;
  return alone.words(home).some((node) => {
    const bound = node.closest('aliased_import', 'block', 'module')?.alias ?? node;
    const scope = roleOf(bound) === 'import' ? alone.resolve(bound) : undefined;
    if (scope === undefined) return false;
    return alone.reads(scope, bound.text).some(({ parent, start }) => {
      if (parent?.type === 'call' && parent.function?.start === start) return false;
      return parent?.type !== 'attribute' || /^__\w+__$/.test(parent.attribute?.text ?? '');
    });
  });
}

/** What gets hold of a file, or of what is in it, by a text. */
const LOADERS = [
  ...['import_module', '__import__', 'run_path', 'run_module', 'spec_from_file_location'],
  ...['SourceFileLoader', 'load_source', 'locate', 'instantiate', 'get_method'],
];

function isLoadedBy(module: PyModule, word: string): boolean {
  const others = module.around.summaries({ word, beside: [] }, textsLoaded);
  const dotted = `.${module.path.replace(/\.py$/, '').replaceAll(/[\\/]/g, '.')}.`;
  return (
    others === undefined ||
    [textsLoaded(module.alone, word), ...others].flat().some((text) => mayLead(text, dotted))
  );
}

/** What the texts begin with. */
function textsLoaded(alone: PyModule, word: string): readonly string[] {
  return alone.words(word).flatMap((node) => {
    const callee = node.parent?.attribute === node ? node.parent : node;
    const call =
      callee.parent?.type === 'call' && callee.parent.function === callee ? callee.parent : undefined;
    const [first] = call === undefined ? [] : argumentsOf(call);
    if (call === undefined) return node.closest('import_statement', 'import_from_statement') ? [] : [''];
    return [first === undefined ? '' : beginning(argumentValue(first))];
  });
}

function mayLead(text: string, dotted: string): boolean {
  if (/[\\/]|\.py$/.test(text)) return true;
  return dotted.includes(`.${text.replace(/^\.+/, '')}`);
}
