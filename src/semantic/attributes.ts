import type { PyNode } from '../syntax/node.js';
import { ancestryOf, classAround, classBehind } from './definitions.js';
import type { PyModule } from './module.js';

/**
 * All values that `self.name` gets in the file, by the class, its bases, its subclasses or somebody who holds an instance;
 * undefined when one is not a plain assignment.
 */
export function attributeValues(module: PyModule, attribute: PyNode): readonly PyNode[] | undefined {
  const object = attribute.field('object');
  const name = attribute.field('attribute')?.text;
  const around = classAround(attribute);
  if (name === undefined || object?.type !== 'identifier' || object.text !== around?.self) return undefined;
  const { classes } = ancestryOf(module, around.classNode);
  const values: PyNode[] = [];
  for (const hit of module.at(`.${name}`)) {
    const place = hit.parent;
    if (hit.text !== name || place?.type !== 'attribute' || place.field('attribute') !== hit) continue;
    const written = place.parent;
    const holder = place.field('object');
    const owner = holder && classBehind(module, holder);
    const related =
      owner === undefined ||
      classes.includes(owner) ||
      ancestryOf(module, owner).classes.includes(around.classNode);
    if (!related) continue;
    if (written?.type === 'augmented_assignment' && written.field('left') === place) return undefined;
    if (written?.type === 'assignment' && written.field('left') === place) {
      const value = written.field('right');
      if (value !== undefined) values.push(value);
    } else if (written?.type === 'pattern_list' || written?.type === 'tuple_pattern') return undefined;
  }
  return values.length === 0 ? undefined : values;
}
