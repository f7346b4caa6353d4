import type { PyNode } from '../syntax/node.js';
import { calledDefinition, classAround, classBehind, kinOf } from './definitions.js';
import { makerOf } from './elsewhere.js';
import { definitionOf, definitionsOf, reachingDefinitions } from './flow.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { settersElsewhere } from './project-names.js';
import {
  enclosingFunction,
  isInExpressionScope,
  ownNodes,
  rootOf,
  statementOf,
  unparenthesized,
} from './statements.js';
import { writesOf } from './variables.js';

/**
 * All values that `self.name` gets in the file, by the class, its bases, its subclasses or somebody who holds an instance;
 * undefined when one is not a plain assignment, or is a method or a property.
 */
export function attributeValues(module: PyModule, attribute: PyNode): readonly PyNode[] | undefined {
  const object = attribute.object;
  const name = attribute.attribute?.text;
  const around = classAround(attribute);
  if (name === undefined || object?.type !== 'identifier' || object.text !== around?.self) return undefined;
  const places = relatedPlaces(module, name, around.classNode);
  const shared = kinOf(module, around.classNode).flatMap((each) => module.scopeOf(each).bindings(name));
  if (places.length === 0 || shared.some((each) => roleOf(each) === 'def')) return undefined;
  const values = shared.map(definitionOf).flatMap((found) => (found.kind === 'value' ? [found.value] : []));
  for (const place of places) {
    const written = place.parent;
    if (written?.type === 'augmented_assignment' && written.left === place) return undefined;
    if (written?.type === 'assignment' && written.left === place) {
      const value = written.right;
      if (value !== undefined) values.push(value);
    } else if (written?.type === 'pattern_list' || written?.type === 'tuple_pattern') {
      const value = valueAcross(written, place);
      if (value === undefined) return undefined;
      values.push(value);
    }
  }
  return values.length === 0 ? undefined : values;
}

/** The class, or one beside it in the file, gives its attributes as it likes. */
export function givesOtherwise(module: PyModule, attribute: PyNode): boolean {
  const around = classAround(attribute);
  if (around === undefined) return false;
  return kinOf(module, around.classNode).some((each) =>
    ['__getattr__', '__getattribute__'].some((name) => module.scopeOf(each).bindings(name).length > 0),
  );
}

/** `b` of `self.x, self.y = a, b`, for `self.y`. */
function valueAcross(pattern: PyNode, target: PyNode): PyNode | undefined {
  const right = pattern.parent?.type === 'assignment' ? pattern.parent.right : undefined;
  if (right?.type !== 'expression_list' && right?.type !== 'tuple') return undefined;
  const [targets, values] = [pattern.named, right.named];
  const isEven =
    targets.length === values.length && ![...targets, ...values].some(({ type }) => /splat/.test(type));
  return isEven ? values[targets.indexOf(target)] : undefined;
}

/** Whether `self.name` or `parts["name"]` may get another value between two places of a function that read it. */
export function isSetBetween(module: PyModule, one: PyNode, other: PyNode): boolean {
  const around = enclosingFunction(one) ?? module.root;
  const [first, last] = one.start < other.start ? [one, other] : [other, one];
  const sets = (node: PyNode): boolean =>
    /^(?:augmented_)?assignment$/.test(node.type) && node.left?.text === one.text;
  return ownNodes(around).some((node) => {
    if (node.start < first.end || node.end > last.start) return false;
    const run = node.type === 'call' ? calledDefinition(module, node) : undefined;
    return sets(node) || (run?.type === 'function_definition' && ownNodes(run).some(sets));
  });
}

/** What leads into a block, and runs it at most once. */
const ENTERED: ReadonlySet<string> = new Set([
  'else_clause',
  'if_statement',
  'try_statement',
  'with_statement',
]);

/**
 * The value that the function has just given to `self.name`: nothing between the assignment and this place touches the
 * object, so that it holds whatever class inherits the method.
 */
export function valueJustSet(attribute: PyNode): PyNode | undefined {
  const self = attribute.object;
  if (self?.type !== 'identifier' || isInExpressionScope(attribute)) return undefined;
  const touches = new RegExp(`\\b${self.text}\\b`);
  let statement = statementOf(attribute);
  for (let block = statement.parent; block !== undefined; block = statement.parent) {
    for (const before of block.named.slice(0, block.named.indexOf(statement)).toReversed()) {
      const assignment = before.type === 'expression_statement' ? before.named[0] : undefined;
      if (assignment?.type === 'assignment' && assignment.left?.text === attribute.text)
        return assignment.right;
      if (touches.test(before.text)) return undefined;
    }
    const entered = block.parent;
    if (entered === undefined || !ENTERED.has(entered.type)) return undefined;
    statement = statementOf(entered);
    if (touches.test(statement.text.slice(0, block.start - statement.start))) return undefined;
  }
  return undefined;
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
  const places = module.memo(placesOf, name);
  return [undefined, ...kinOf(module, classNode)]
    .flatMap((owner) => places.get(owner) ?? [])
    .sort((a, b) => a.start - b.start);
}

/** By the class where it shows. */
function placesOf(module: PyModule, name: string): Places {
  const places = new Map<PyNode | undefined, PyNode[]>();
  for (const hit of module.words(`.${name}`)) {
    const place = hit.parent;
    if (hit.text !== name || place?.type !== 'attribute' || place.attribute !== hit) continue;
    if (!WRITING.has(place.parent?.type ?? '')) continue;
    const holder = place.object;
    const owner = holder && classBehind(module, holder);
    const known = places.get(owner);
    if (known === undefined) places.set(owner, [place]);
    else known.push(place);
  }
  return places;
}

/** What the body of the class gives to the name of `self.name`. */
export function classValues(module: PyModule, attribute: PyNode): readonly PyNode[] {
  const around = classAround(attribute);
  const name = attribute.attribute?.text;
  if (around === undefined || name === undefined || attribute.object?.text !== around.self) return [];
  return module
    .scopeOf(around.classNode)
    .bindings(name)
    .map(definitionOf)
    .flatMap((found) => (found.kind === 'value' ? [found.value] : []));
}

/** The values of `self.name`, where no other file of the project gives it another or changes what it holds. */
export function attributeValuesInProject(module: PyModule, attribute: PyNode): readonly PyNode[] | undefined {
  const values = attributeValues(module, attribute);
  const classNode = classAround(attribute)?.classNode;
  const name = attribute.attribute?.text ?? '';
  if (values === undefined || classNode === undefined) return undefined;
  return settersElsewhere(module, classNode, name)?.length === 0 ? values : undefined;
}

/** The same variable, attribute or element, which nothing has set in between. */
export function isSameValue(module: PyModule, one: PyNode, other: PyNode): boolean {
  const [a, b] = [unparenthesized(one), unparenthesized(other)];
  if (a.text !== b.text || !/^(?:identifier|attribute|subscript)$/.test(a.type)) return false;
  if (a.type !== 'identifier' && isSetBetween(module, a, b)) return false;
  const [from, to] = [sourcesOf(module, a), sourcesOf(module, b)];
  return from.length > 0 && from.length === to.length && from.every((binding) => to.includes(binding));
}

/** What gives a variable its value, or the one whose attribute or element a node is. */
export function sourcesOf(module: PyModule, expression: PyNode): readonly PyNode[] {
  const root = rootOf(expression);
  if (root.type !== 'identifier') return [];
  return (reachingDefinitions(module, root) ?? []).flatMap(({ kind, node }) =>
    kind === 'update' ? [] : [node],
  );
}

/** The calls that made the object an expression stands for, when all of its assignments are calls. */
export function instancesBehind(module: PyModule, expression: PyNode): readonly PyNode[] {
  const target = unparenthesized(expression);
  if (target.type === 'call') return [target];
  const values =
    target.type === 'identifier'
      ? definitionsOf(module, target)?.map((found) => (found.kind === 'value' ? found.value : undefined))
      : target.type === 'attribute'
        ? attributeValuesInProject(module, target)
        : undefined;
  const calls = values?.flatMap((value) => (value === undefined ? [] : [unparenthesized(value)])) ?? [];
  return calls.length === values?.length && calls.every(({ type }) => type === 'call') ? calls : [];
}

/** `self.loader`, which holds an argument of the constructor. */
export function isHandedIn(module: PyModule, attribute: PyNode): boolean {
  const values = attributeValues(module, attribute) ?? [];
  const isParameter = (value: PyNode): boolean => {
    const writes = writesOf(module, value);
    return writes.length > 0 && writes.every((write) => roleOf(write) === 'parameter');
  };
  return values.length > 0 && values.every(isParameter);
}

/** The dotted names of what made an object, or all that `self.name` is given; undefined for what no import made. */
export function makersOf(module: PyModule, object: PyNode): readonly (string | undefined)[] {
  const values = object.type === 'attribute' ? attributeValues(module, object) : undefined;
  return (values ?? [object]).map((value) => makerOf(module, value));
}
