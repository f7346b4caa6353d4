import { everywhere, TAKES_MORE } from '../../semantic/companions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { isCallee } from '../../semantic/statements.js';
import { ofNetworks, ofPython, takesObjects } from '../../semantic/unpickled.js';
import { isOfKnownPackage } from '../value/plain.js';

/** Whether some file may get a class by a name that it computes: out of a module, or by a text that it runs. */
export function findsByName(module: PyModule): boolean {
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
