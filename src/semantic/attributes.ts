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
interface Places {
  /** Of who knows what. */
  readonly unowned: readonly PyNode[];
  /** Of instances of a class. */
  readonly of: ReadonlyMap<PyNode, readonly PyNode[]>;
  /** Of instances of a class or its subclasses. */
  readonly below: ReadonlyMap<PyNode, readonly PyNode[]>;
}

/** Those of the class, of its bases, of its subclasses, and those that may be, in source order. */
function relatedPlaces(module: PyModule, name: string, classNode: PyNode): readonly PyNode[] {
  const known = module.memo(placesByName, module);
  const places = known.get(name) ?? placesOf(module, name);
  known.set(name, places);
  const related = new Set([...places.unowned, ...(places.below.get(classNode) ?? [])]);
  for (const base of ancestryOf(module, classNode).classes)
    for (const place of places.of.get(base) ?? []) related.add(place);
  return [...related].sort((a, b) => a.start - b.start);
}

function placesByName(): Map<string, Places> {
  return new Map();
}

function placesOf(module: PyModule, name: string): Places {
  const unowned: PyNode[] = [];
  const own = new Map<PyNode, PyNode[]>();
  const below = new Map<PyNode, PyNode[]>();
  for (const hit of module.words(`.${name}`)) {
    const place = hit.parent;
    if (hit.text !== name || place?.type !== 'attribute' || place.field('attribute') !== hit) continue;
    if (!WRITING.has(place.parent?.type ?? '')) continue;
    const holder = place.field('object');
    const owner = holder && classBehind(module, holder);
    if (owner === undefined) unowned.push(place);
    else {
      add(own, owner, place);
      for (const base of ancestryOf(module, owner).classes) add(below, base, place);
    }
  }
  return { unowned, of: own, below };
}

function add(places: Map<PyNode, PyNode[]>, classNode: PyNode, place: PyNode): void {
  const known = places.get(classNode);
  if (known === undefined) places.set(classNode, [place]);
  else known.push(place);
}
