import type { PyNode } from '../syntax/node.js';
import { definitionNamed } from './definitions.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { argumentsOf, receiverOf } from './statements.js';

/** A lambda or a function of the file that a variable or an attribute is given: `cb = lambda m: fit(m)`, `hooks.append(fit)`. */
interface HeldFunction {
  readonly functionNode: PyNode;
  /** The variable that holds it; an attribute and a keyword have only their name. */
  readonly variable?: PyNode | undefined;
}

/** By the name of what holds them. */
export function heldFunctions(module: PyModule): ReadonlyMap<string, readonly HeldFunction[]> {
  return module.alone.memo(findHeld, module.alone);
}

/** The names by which a function is held. */
export function namesHolding(module: PyModule, functionNode: PyNode): readonly string[] {
  return [...heldFunctions(module)].flatMap(([name, held]) =>
    held.some((each) => each.functionNode === functionNode) ? name : [],
  );
}

/** What an identifier that is read, or the attribute of that name, may hold. */
export function heldBy(module: PyModule, identifier: PyNode): readonly PyNode[] {
  const held = heldFunctions(module).get(identifier.text) ?? [];
  if (held.length === 0) return [];
  const isAttribute = identifier.parent?.attribute === identifier;
  if (!isAttribute && roleOf(identifier) !== 'read') return [];
  const scope = isAttribute ? undefined : module.resolve(identifier);
  return held.flatMap(({ functionNode, variable }) => {
    const isSame = isAttribute || (variable !== undefined && module.resolve(variable) === scope);
    return isSame ? functionNode : [];
  });
}

function findHeld(module: PyModule): ReadonlyMap<string, readonly HeldFunction[]> {
  const found = new Map<string, HeldFunction[]>();
  for (const { value, functionNode } of functionValues(module)) {
    for (const { name, variable } of holdersOf(value))
      found.set(name, [...(found.get(name) ?? []), { functionNode, variable }]);
  }
  return found;
}

function* functionValues(module: PyModule): Generator<{ value: PyNode; functionNode: PyNode }> {
  for (const { parent } of module.words('lambda'))
    if (parent?.type === 'lambda') yield { value: parent, functionNode: parent };
  const { text } = module;
  const defined = new Set(
    Array.from(text.matchAll(/\bdef[\s\\]+([\w\u0080-\uffff]+)/g), ([, name = '']) => name),
  );
  const isValue = (end: number): boolean => !/^[\s\\]*\(/.test(text.slice(end, end + 8));
  for (const node of module.identifiersIn(module.root, defined, isValue)) {
    if (node.parent?.attribute === node || roleOf(node) !== 'read') continue;
    const functionNode = definitionNamed(module, node);
    if (functionNode?.type === 'function_definition') yield { value: node, functionNode };
  }
}

const PARTS =
  /^(?:argument_list|keyword_argument|parenthesized_expression|conditional_expression|boolean_operator|list|tuple|set|dictionary|pair|list_splat|dictionary_splat|expression_list|(?:list|set|dictionary)_comprehension|generator_expression)$/;

interface Holder {
  readonly name: string;
  readonly variable?: PyNode;
}

/** The variables, attributes and keywords that get a value, or what it is a part of. */
function* holdersOf(value: PyNode): Generator<Holder> {
  for (let node = value, above = node.parent; above !== undefined; node = above, above = node.parent) {
    if (above.type === 'keyword_argument') {
      yield { name: above.name?.text ?? '' };
    } else if (above.type === 'assignment' || above.type === 'named_expression') {
      if (above.type === 'assignment' && above.right !== node) return;
      yield* named(above.left ?? above.name);
      if (above.parent?.type !== 'assignment' && above.type === 'assignment') return;
    } else if (above.type === 'call') {
      // What is called is run, and its result goes on.
      if (above.function === node) return;
      yield* named(receiverOf(above));
      const text = above.function?.text === 'setattr' ? argumentsOf(above)[1]?.text : undefined;
      if (text !== undefined) yield { name: text.replace(/^\w*["']+|["']+$/g, '') };
    } else if (!PARTS.test(above.type)) return;
  }
}

/** `a`, `b` and `c` of `a, self.b, c[0]`. */
function* named(target: PyNode | undefined): Generator<Holder> {
  if (target?.type === 'identifier') yield { name: target.text, variable: target };
  else if (target?.type === 'attribute') yield { name: target.attribute?.text ?? '' };
  else if (target?.type === 'subscript') yield* named(target.value);
  else if (/^(?:pattern_list|tuple_pattern|list_pattern)$/.test(target?.type ?? ''))
    for (const each of target?.named ?? []) yield* named(each);
}
