import { ancestryOf, classAround, methodsOf } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { enclosingFunction } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

/**
 * Whether an object may be an instance of a class of the file: not where the code around it asks the same object for
 * something that the class does not have. `self.model.train()` beside `self.model.eval()` is no call of a trainer's `train`.
 */
export function mayBeInstance(module: PyModule, object: PyNode, classNode: PyNode): boolean {
  const around = classAround(object);
  if (object.text === around?.self) return true;
  const { classes, imported, unknown } = ancestryOf(module, classNode);
  if (unknown || imported.length > 0) return true;
  const known = module.memo(membersOf, classNode);
  const isOfSelf = around !== undefined && object.text.startsWith(`${around.self}.`);
  const place = isOfSelf ? around.classNode : (enclosingFunction(object) ?? module.root);
  return askedOf(place.text, object.text).every(
    (name) => known.has(name) || classes.some((each) => each.text.includes(`.${name} =`)),
  );
}

/** What a class of the file and its bases there have: methods, and attributes that are set on `self`. */
function membersOf(module: PyModule, classNode: PyNode): ReadonlySet<string> {
  const { classes } = ancestryOf(module, classNode);
  return new Set(
    classes.flatMap((each) => [
      ...methodsOf(each).map((method) => method.field('name')?.text ?? ''),
      ...Array.from(each.text.matchAll(/^[ \t]+(\w+)\s*(?::[^=\n]+)?=(?!=)/gm), ([, name = '']) => name),
      ...Array.from(each.text.matchAll(/\bself\.(\w+)\s*(?::[^=\n]+)?=(?!=)/g), ([, name = '']) => name),
    ]),
  );
}

/** The attributes that a text asks an object for; calling it asks for `__call__`. */
function askedOf(text: string, object: string): readonly string[] {
  const escaped = object.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const uses = text.matchAll(new RegExp(`(?<![\\w.])${escaped}[ \\t]*(?:\\.[ \\t]*(\\w+)|(\\())`, 'g'));
  return Array.from(uses, ([, name]) => name ?? '__call__');
}
