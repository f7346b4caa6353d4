import type { PyNode } from '../syntax/node.js';
import { classAround, classBehind, kinOf } from './definitions.js';
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
  const values: PyNode[] = [];
  for (const place of relatedPlaces(module, name, around.classNode)) {
    const written = place.parent;
    if (written?.type === 'augmented_assignment' && written.field('left') === place) return undefined;
    if (written?.type === 'assignment' && written.field('left') === place) {
      const value = written.field('right');
      if (value !== undefined) values.push(value);
    } else if (written?.type === 'pattern_list' || written?.type === 'tuple_pattern') return undefined;
  }
  return values.length === 0 ? undefined : values;
}

const WRITING: ReadonlySet<string> = new Set([
  'assignment',
  'augmented_assignment',
  'pattern_list',
  'tuple_pattern',
]);

/** Where attributes of some name are written: found once, since a file may have many classes with the same attributes. */
type Places = ReadonlyMap<PyNode | undefined, readonly PyNode[]>;

/** Those of whatever an instance of the class may be, and those of who knows what, in source order. */
function relatedPlaces(module: PyModule, name: string, classNode: PyNode): readonly PyNode[] {
  const known = module.memo(placesByName, module);
  const places = known.get(name) ?? placesOf(module, name);
  known.set(name, places);
  return [undefined, ...kinOf(module, classNode)]
    .flatMap((owner) => places.get(owner) ?? [])
    .sort((a, b) => a.start - b.start);
}

function placesByName(): Map<string, Places> {
  return new Map();
}

/** By the class where it shows. */
function placesOf(module: PyModule, name: string): Places {
  const places = new Map<PyNode | undefined, PyNode[]>();
  for (const hit of module.words(`.${name}`)) {
    const place = hit.parent;
    if (hit.text !== name || place?.type !== 'attribute' || place.field('attribute') !== hit) continue;
    if (!WRITING.has(place.parent?.type ?? '')) continue;
    const holder = place.field('object');
    const owner = holder && classBehind(module, holder);
    const known = places.get(owner);
    if (known === undefined) places.set(owner, [place]);
    else known.push(place);
  }
  return places;
}
