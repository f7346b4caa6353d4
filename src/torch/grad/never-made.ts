import { everywhere, isRunByProgram, TAKES_MORE } from '../../semantic/companions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { isInstallable } from '../../semantic/program.js';
import { remembered } from '../../semantic/remembered.js';
import { decoratorsOf, isCallee } from '../../semantic/statements.js';
import { ofNetworks, ofPython, takesObjects } from '../../semantic/unpickled.js';
import { isOfKnownPackage } from '../../values/value/plain.js';

/**
 * Whether the programs of a project make no object of a class: no file names it, or a class below it, but to define or import it, and none
 * may find it otherwise. Then no network has one among its parts, whatever that is.
 */
export const isNeverMade = remembered((module: PyModule, owner: string): boolean => {
  if (!isRunByProgram(module) || isInstallable(module)) return false;
  const names = new Set([owner]);
  let definitions = 0;
  for (const name of names) {
    const files = everywhere(module, name, heirsOrUse);
    if (files === undefined) return false;
    for (const found of files) {
      if (found === USED) return false;
      for (const each of found) names.add(each);
      if (name === owner && found.includes(owner)) definitions++;
    }
  }
  return definitions > 0 && !module.memo(findsByName, module);
});

const USED = 'used';

/** The class of a file that has this name, and those below it, where it does no more with that. */
function heirsOrUse(alone: PyModule, name: string): typeof USED | readonly string[] {
  if (new RegExp(`(["'])(?:[\\w.:/-]*[.:/])?${name}\\1`).test(alone.text)) return USED;
  const classes = new Set<string>();
  for (const node of alone.words(name)) {
    const { parent } = node;
    const around = node.closest('import_from_statement', 'class_definition');
    if (node.type !== 'identifier' || parent?.attribute === node) return USED;
    if (around?.type === 'import_from_statement') {
      if (parent?.parent?.type === 'aliased_import') return USED;
      continue;
    }
    const owner = parent?.type === 'class_definition' ? parent : parent?.parent;
    if (owner?.type === 'class_definition' && (parent === owner || owner.superclasses === parent)) {
      const heir = owner.name?.text;
      if (heir === undefined || decoratorsOf(owner).length > 0) return USED;
      classes.add(heir);
      continue;
    }
    // In its own methods, which somebody has to call by its name or of an object.
    const isOwn = [...node.ancestors()].some(
      (each) => each.type === 'class_definition' && each.name?.text === name,
    );
    if (!isOwn || node.closest('function_definition') === undefined) return USED;
  }
  return [...classes];
}

/** Whether some file may get a class by a name that it computes: out of a module, or by a text that it runs. */
function findsByName(module: PyModule): boolean {
  const files = everywhere(module, 'import', modulesHeld);
  if (files === undefined) return true;
  const places = new Set(files.flatMap((found) => found?.places ?? []));
  const renamed = files.flatMap((found) => found?.renamed ?? []);
  for (let known = 0; known < places.size; ) {
    known = places.size;
    for (const [name, alias] of renamed) if (places.has(name)) places.add(alias);
  }
  return files.some((found) => found === undefined || found.held.some((each) => places.has(each)));
}

/** The last names of what a file imports and uses as a value, and what a module is called that it is, or is in. */
interface Held {
  readonly held: readonly string[];
  readonly places: readonly string[];
  /** `parts` and `box` of `from . import parts as box`. */
  readonly renamed: readonly (readonly [name: string, alias: string])[];
}

/** Undefined where it may take what it does not name. */
function modulesHeld(alone: PyModule): Held | undefined {
  if (alone.mentions(TAKES_MORE) || alone.mentions(OTHER_WAYS)) return undefined;
  if (takesObjects(alone, ofNetworks) || takesObjects(alone, ofPython)) return undefined;
  const places = alone.path.replace(/\.\w+$/, '').split(/[\\/]/);
  const held = new Set<string>();
  const hasStar = /\bimport\s*\*/.test(alone.code);
  for (const node of alone.root.walk(({ type }) => !/^import/.test(type))) {
    if (node.type !== 'identifier' || roleOf(node) !== 'read') continue;
    let whole = node;
    while (whole.parent?.type === 'attribute' && whole.parent.object === whole) whole = whole.parent;
    // `parts.__dict__`, `parts.__getattribute__(name)`
    const isReflected = whole.attribute?.text.startsWith('__') === true;
    if (isReflected) whole = whole.object ?? whole;
    else if (isCallee(whole)) continue;
    const path = qualifiedName(alone, whole);
    if (path === undefined) {
      if (hasStar && whole === node && alone.resolve(node) === undefined) held.add(node.text);
    } else if (!isOfKnownPackage(path)) held.add(path.slice(path.lastIndexOf('.') + 1));
  }
  const renamed = [...alone.code.matchAll(RENAMED)].map(
    ([, name = '', alias = '']) => [name, alias] as const,
  );
  return { held: [...held], places, renamed };
}

const RENAMED = /(\w+)\s+as\s+(\w+)/g;

/** The classes below one, modules by their names, and the variables of a file, of a function or of a caller. */
const OTHER_WAYS =
  /\bsys\.modules\b|\b(?:__subclasses__|__init_subclass__|metaclass|__globals__|f_globals|f_back|get_objects|globals|locals)\b|(?<![.\w])vars\(\s*\)/;
