import type { PyNode } from '../syntax/node.js';

const DEFINITIONS: readonly string[] = ['function_definition', 'lambda', 'class_definition'];
const LOOPS: readonly string[] = ['for_statement', 'while_statement'];
const EXPRESSION_SCOPES: readonly string[] = [
  'lambda',
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
];

/** The function a node runs in, if any; a class body in between does not count as one. */
export function enclosingFunction(node: PyNode): PyNode | undefined {
  let at = node.parent;
  while (at !== undefined && at.type !== 'function_definition') at = at.parent;
  return at;
}

/** The class whose body directly holds this function. */
export function enclosingClass(functionNode: PyNode): PyNode | undefined {
  const holder = functionNode.parent?.type === 'decorated_definition' ? functionNode.parent : functionNode;
  const block = holder.parent;
  return block?.parent?.type === 'class_definition' ? block.parent : undefined;
}

/** The class, or else the function, that code is written in; a definition is of itself, or of its class. */
export function ownerOf(node: PyNode): PyNode | undefined {
  if (node.type === 'class_definition') return node;
  const around = node.type === 'function_definition' ? node : enclosingFunction(node);
  return enclosingClass(around ?? node) ?? around;
}

/** The statement a node belongs to: the innermost child of a block or of the module that holds it. */
export function statementOf(node: PyNode): PyNode {
  let child = node;
  for (const ancestor of node.ancestors()) {
    if (ancestor.type === 'block' || ancestor.type === 'module') return child;
    child = ancestor;
  }
  return child;
}

/** Within its statement the node runs later or several times: in a lambda or a comprehension. */
export function isInExpressionScope(node: PyNode): boolean {
  const owner = node.closest(...EXPRESSION_SCOPES, 'block', 'module');
  return owner !== undefined && EXPRESSION_SCOPES.includes(owner.type);
}

/** The loops around a node within its own function, innermost first. The `else` of a loop is not in the loop. */
export function enclosingLoops(node: PyNode): readonly PyNode[] {
  const loops: PyNode[] = [];
  let child = node;
  for (const ancestor of node.ancestors()) {
    if (DEFINITIONS.includes(ancestor.type)) break;
    if (LOOPS.includes(ancestor.type) && ancestor.body === child) loops.push(ancestor);
    child = ancestor;
  }
  return loops;
}

/** The `with` statements around a node within its own function, innermost first. */
export function enclosingWiths(node: PyNode): readonly PyNode[] {
  const found: PyNode[] = [];
  for (const ancestor of node.ancestors()) {
    if (DEFINITIONS.includes(ancestor.type)) break;
    if (ancestor.type === 'with_statement' && ancestor.body?.contains(node)) found.push(ancestor);
  }
  return found;
}

/** The expressions after `with`, without their `as` targets. */
export function contextManagers(withStatement: PyNode): readonly PyNode[] {
  const items = withStatement.childOfType('with_clause')?.childrenOfType('with_item') ?? [];
  return items.flatMap((item) => {
    const value = item.value ?? item.named[0];
    if (value === undefined) return [];
    if (value.type === 'as_pattern') return value.named.slice(0, 1);
    return value.type === 'tuple' ? value.named : [value];
  });
}

/** A `with` after which the program goes on though its block was left by an error. */
export function swallowsErrors(node: PyNode): boolean {
  return (
    node.type === 'with_statement' &&
    contextManagers(node).some(({ text }) => /suppress|raises|ignor|catch|swallow/i.test(text))
  );
}

/** The decorator expressions of a function or class, outermost first. */
export function decoratorsOf(definition: PyNode): readonly PyNode[] {
  const holder = definition.parent;
  if (holder?.type !== 'decorated_definition') return [];
  return holder.childrenOfType('decorator').flatMap((decorator) => decorator.named.slice(0, 1));
}

export function isAsync(functionNode: PyNode): boolean {
  return functionNode.children[0]?.type === 'async';
}

/**
 * Nodes that run as part of this function itself, in source order: nested functions, lambdas and classes are left out. Many
 * ask about the same function, so they are collected once.
 */
export function ownNodes(functionNode: PyNode): readonly PyNode[] {
  const body = functionNode.body ?? functionNode;
  let found = nodesOfBodies.get(body);
  if (found === undefined) {
    found = [...body.walk((node) => !DEFINITIONS.includes(node.type))];
    nodesOfBodies.set(body, found);
  }
  return found;
}

const nodesOfBodies = new WeakMap<PyNode, readonly PyNode[]>();

/** Whether a node is one of them. */
export function isOwnNode(functionNode: PyNode, node: PyNode): boolean {
  const body = functionNode.body ?? functionNode;
  for (const ancestor of node.ancestors()) {
    if (ancestor === body) return true;
    if (DEFINITIONS.includes(ancestor.type)) return false;
  }
  return false;
}

/** Nested functions, lambdas and classes included. */
export function allNodes(node: PyNode): IterableIterator<PyNode> {
  return (node.body ?? node).walk();
}

/** The node is what a call calls. */
export function isCallee(node: PyNode): boolean {
  return node.parent?.type === 'call' && node.parent.function === node;
}

/** The node is what an assignment sets, alone; with `+=` and the like where `updates` says so. */
export function isTarget(node: PyNode, updates = false): boolean {
  const { parent } = node;
  if (parent?.left !== node) return false;
  return parent.type === 'assignment' || (updates && parent.type === 'augmented_assignment');
}

/** The arguments of a call, comments left out; empty for a bare generator argument's call. */
export function argumentsOf(call: PyNode): readonly PyNode[] {
  return call.arguments?.named ?? [];
}

/** The arguments without a keyword. */
export function positionalArguments(call: PyNode): readonly PyNode[] {
  return argumentsOf(call).filter(({ type }) => type !== 'keyword_argument');
}

export function keywordArgument(call: PyNode, name: string): PyNode | undefined {
  return argumentsOf(call).find((node) => node.type === 'keyword_argument' && node.name?.text === name);
}

/** The value that a call gives by a keyword. */
export function keywordValue(call: PyNode, name: string): PyNode | undefined {
  return keywordArgument(call, name)?.value;
}

export function hasSplat(call: PyNode): boolean {
  return argumentsOf(call).some((node) => node.type === 'list_splat' || node.type === 'dictionary_splat');
}

/** The method name of `receiver.method(…)`. */
export function methodName(call: PyNode): string | undefined {
  const callee = call.function;
  return callee?.type === 'attribute' ? callee.attribute?.text : undefined;
}

export function receiverOf(call: PyNode): PyNode | undefined {
  const callee = call.function;
  return callee?.type === 'attribute' ? callee.object : undefined;
}

/** The expression inside any parentheses around it. */
export function unparenthesized(node: PyNode): PyNode {
  let inner = node;
  while (
    inner.type === 'parenthesized_expression' &&
    inner.named.length === 1 &&
    inner.named[0] !== undefined
  ) {
    inner = inner.named[0];
  }
  return inner;
}

const COMPREHENSION = /^(?:list|set|dictionary)_comprehension$/;
/** Builtins that are done with a generator when they return. */
const CONSUMERS: ReadonlySet<string> = new Set([
  'all',
  'any',
  'dict',
  'frozenset',
  'list',
  'max',
  'min',
  'set',
  'sorted',
  'sum',
  'tuple',
]);

/** Of what opens a scope, a comprehension, or a generator that is used up where it is (`sum(x for x in y)`): nothing of it runs later. */
export function runsAtOnce(node: PyNode): boolean {
  if (node.type !== 'generator_expression') return COMPREHENSION.test(node.type);
  const call = node.parent?.type === 'call' && node.parent.arguments === node ? node.parent : undefined;
  return CONSUMERS.has(call?.function?.text ?? '');
}

/** `while True`, `while 1`. */
export function isTruthy(node: PyNode | undefined): boolean {
  return node?.type === 'true' || (node?.type === 'integer' && /[1-9]/.test(node.text));
}

/** `case _` and `case name`. */
export function isIrrefutable([pattern, ...others]: readonly PyNode[]): boolean {
  const [only, ...more] = pattern?.children ?? [];
  if (only === undefined || others.length + more.length > 0) return false;
  return only.type === '_' || (only.type === 'dotted_name' && only.named.length === 1);
}

/** What an argument gives, without its keyword. */
export function argumentValue(argument: PyNode): PyNode {
  return argument.type === 'keyword_argument' ? (argument.value ?? argument) : argument;
}

/** `f` of `f(…)`, and of `f` itself: what a decorator or a context manager is, with arguments or without. */
export function calleeOf(expression: PyNode): PyNode {
  return expression.type === 'call' ? (expression.function ?? expression) : expression;
}

/** `a.b` of its `b`: the whole of what a word names. */
export function wholeName(word: PyNode): PyNode {
  const { parent } = word;
  return parent?.type === 'attribute' && parent.attribute === word ? parent : word;
}

/** The value of `target = value`, for a target that stands alone. */
export function assignedValue(target: PyNode): PyNode | undefined {
  return isTarget(target) ? target.parent?.right : undefined;
}

/** `a` of `a.b[0].c`: what attributes and elements are taken from. */
export function rootOf(expression: PyNode): PyNode {
  let root = unparenthesized(expression);
  while (root.type === 'attribute' || root.type === 'subscript') {
    const inner = root.type === 'attribute' ? root.object : root.value;
    if (inner === undefined) return root;
    root = inner;
  }
  return root;
}

/** What a call is given; a bare generator is its only argument. */
export function givenTo(call: PyNode): readonly PyNode[] {
  const given = call.arguments;
  return given?.type === 'generator_expression' ? [given] : (given?.named ?? []);
}

export function sameFunction(a: PyNode, b: PyNode): boolean {
  const around = (node: PyNode): PyNode | undefined => node.parent?.closest('function_definition', 'lambda');
  return around(a) === around(b);
}

/** Names, attributes and items by a constant or a name: the same text is the same object. */
export function isPlainPath(node: PyNode): boolean {
  if (node.type === 'identifier') return true;
  if (node.type === 'attribute') return isPlainPath(node.object ?? node.children[0] ?? node);
  if (node.type !== 'subscript') return false;
  const value = node.value;
  const keys = node.named.slice(1);
  return (
    value !== undefined &&
    isPlainPath(value) &&
    keys.every((key) => /^(?:string|integer|identifier)$/.test(key.type))
  );
}

/** The calls of a statement, without those of what it only defines. */
export function* ownCalls(statement: PyNode): Generator<PyNode> {
  for (const node of statement.walk(({ type }) => !/_definition$|^lambda$/.test(type)))
    if (node.type === 'call') yield node;
}

/** `self.name[key]` of `self.name`, where that is assigned. */
export function elementSet(attribute: PyNode | undefined): PyNode | undefined {
  const element = attribute?.parent;
  const isSet = /^(?:augmented_)?assignment$/.test(element?.parent?.type ?? '');
  const isElement = element?.type === 'subscript' && element.value === attribute;
  return isElement && isSet && element.parent?.left === element ? element : undefined;
}

/** In a method other than `__init__`, not in a function inside one. */
export function isMethodBody(node: PyNode): boolean {
  const owner = enclosingFunction(node);
  return owner !== undefined && enclosingClass(owner) !== undefined && owner.name?.text !== '__init__';
}

/** The keywords that a call gives. */
export function keywordNames(call: PyNode): readonly string[] {
  return argumentsOf(call).flatMap((node) =>
    node.type === 'keyword_argument' ? (node.name?.text ?? []) : [],
  );
}

/** The names that a loop gives what stands at this place of a `zip`; all of them where that does not show. */
export function targetsAt(target: PyNode, position: number | undefined): readonly PyNode[] {
  const inner =
    position === undefined || !/pattern|tuple/.test(target.type) ? target : target.named[position];
  return inner === undefined ? [] : [...inner.walk()].filter(({ type }) => type === 'identifier');
}

/** `best` of `best = loss`. */
export function aliasGiven({ parent, text }: PyNode): PyNode | undefined {
  const [left, right] = [parent?.left, parent?.right];
  return parent?.type === 'assignment' && right?.text === text && left?.type === 'identifier'
    ? left
    : undefined;
}

/** What an assignment or a loop gives to each of its targets: to several, the value at the same place, or the whole where that does not show. */
export function valuesAssigned({
  type,
  left,
  right,
}: Pick<PyNode, 'type' | 'left' | 'right'>): readonly Assigned[] {
  if (left === undefined || right === undefined) return [];
  if (!/pattern|tuple|list/.test(left.type)) return [{ target: left, values: [right] }];
  const values = /^(?:tuple|list|expression_list)$/.test(right.type) ? right.named : undefined;
  const isPaired = values?.length === left.named.length && !left.named.some(({ type }) => /splat/.test(type));
  return left.named.flatMap((target, at) =>
    valuesAssigned({ type, left: target, right: isPaired && !type.startsWith('for') ? values?.[at] : right }),
  );
}

export interface Assigned {
  readonly target: PyNode;
  readonly values: readonly PyNode[];
}

/** `values` of `values = made()`: by `values = kept = made()`, another name has the same. */
export function isOnlyTarget(write: PyNode): boolean {
  const { parent } = write;
  return parent?.right?.type !== 'assignment' && parent?.parent?.type === 'expression_statement';
}
