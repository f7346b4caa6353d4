import type { PyNode } from '../syntax/node.js';
import { definitionBehind } from './definitions.js';
import type { Elsewhere } from './elsewhere.js';
import type { PyModule } from './module.js';
import { roleOf } from './names.js';
import { definedAnywhere } from './star-imports.js';
import {
  allNodes,
  contextManagers,
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  isAsync,
  isCallee,
  wholeName,
} from './statements.js';
import { swallowingManager } from './swallowing.js';
import { usesElsewhere } from './uses-elsewhere.js';
import { isUnbound } from './variables.js';

export interface Catching {
  /** A handler in another file that may get an error of the function, and goes on without raising it again. */
  readonly handler: Elsewhere | undefined;
  /** The files that could not be looked into, as a sentence names them. */
  readonly unread: string | undefined;
}

/** Methods that an object runs when it is called. */
const CALLED: ReadonlySet<string> = new Set(['__call__', '__init__', 'forward']);

/**
 * Who in other files catches an error that a function raises. `errors` tells the classes it may be caught by. `isSure`: it is
 * raised whenever the function runs, so that who goes on after whatever error counts as well.
 */
export function caughtElsewhere(
  module: PyModule,
  functionNode: PyNode,
  errors: RegExp,
  isSure = false,
  isDirect = true,
): Catching {
  // What a function inside another one raises, whoever has that one's result gets.
  const around = enclosingFunction(functionNode);
  if (around !== undefined) return caughtElsewhere(module, around, errors, isSure, false);
  const named = functionNode.name;
  const owner = enclosingClass(functionNode);
  const name = CALLED.has(named?.text ?? '') ? owner?.name : named;
  if (name === undefined) return { handler: undefined, unread: undefined };
  const may = (text: string): boolean =>
    errors.test(text) || /\bexcept\s*:/.test(text) || (isSure && GOES_ON.test(text));
  let unread: string | undefined;
  for (const each of carriersOf(module, name)) {
    const found = usesElsewhere(module, each, { may, byName: false });
    unread ??= found.unread;
    for (const there of new Set(found.uses.map((use) => use.module))) {
      const nodes = found.uses.flatMap((use) => (use.module === there ? [use.node] : []));
      const handler = handlerAround(
        there,
        nodes,
        errors,
        isDirect && each === named && isDoneByCall(functionNode),
      );
      const place = handler ?? (isSure ? goingOn(there, errors) : undefined);
      if (place !== undefined) return { handler: { module: there, node: place }, unread };
    }
  }
  return { handler: undefined, unread };
}

/** The name, and those of the file's classes and functions that have it inside, or have one of these inside. */
function carriersOf(module: PyModule, name: PyNode): readonly PyNode[] {
  const byWord = module.alone.memo(definitionsByWord, module.alone);
  const carriers = new Set([name]);
  for (const carrier of carriers)
    for (const definition of byWord.get(carrier.text) ?? []) {
      const own = definition.name;
      if (own !== undefined && !definition.contains(name)) carriers.add(own);
    }
  return [...carriers];
}

/** The classes and functions at the top of the file, by the words that they have inside. */
function definitionsByWord(module: PyModule): ReadonlyMap<string, readonly PyNode[]> {
  const found = new Map<string, PyNode[]>();
  for (const node of module.root.named) {
    const definition = node.definition ?? node;
    if (definition.type !== 'class_definition' && definition.type !== 'function_definition') continue;
    for (const word of new Set(definition.text.match(/[\w\u0080-\uffff]+/g))) {
      const others = found.get(word);
      if (others === undefined) found.set(word, [definition]);
      else others.push(definition);
    }
  }
  return found;
}

/** The handler around a node, in its own function, that may get an error of it and goes on without raising it again. */
export function caughtHere(node: PyNode, errors: RegExp): PyNode | undefined {
  let inner = node;
  for (let at = node.parent; at !== undefined && at.type !== 'function_definition'; at = at.parent) {
    if (at.body === inner) {
      const handler = handlersOf(at).find((clause) => catches(clause, errors) && !raisesAgain(clause));
      if (handler !== undefined) return handler;
    }
    inner = at;
  }
  return undefined;
}

/** A function that raises while it is called, and in nothing that it gives. */
function isDoneByCall(functionNode: PyNode): boolean {
  return (
    enclosingClass(functionNode) === undefined &&
    !isAsync(functionNode) &&
    !/\byield\b/.test(functionNode.text)
  );
}

/** Called where it stands, and not later on. */
function isCalledHere(use: PyNode): boolean {
  const isLater = /^(?:lambda|generator)/.test(
    use.closest('lambda', 'generator_expression', 'block', 'module')?.type ?? '',
  );
  return !isLater && use.parent?.type === 'call' && use.parent.function === use;
}

/** What runs a function apart from its caller. */
const APART = /\b(?:Thread|Process|create_task|gather|submit|(?:apply|map|starmap)_async)$/;
/** Files that may go on after an error without naming it. */
const GOES_ON =
  /\bfinally\s*:|^[ \t]*(?:@|with\b)|\b(?:Thread|Process|create_task|gather|submit|(?:apply|map|starmap)_async)\(/m;

function handlerAround(
  module: PyModule,
  uses: readonly PyNode[],
  errors: RegExp,
  isByCall: boolean,
): PyNode | undefined {
  const held = isByCall ? uses.filter((use) => !isCalledHere(use)) : uses;
  const names = namesReached(module, uses, held);
  const words = ['except', 'finally', SUPPRESS].flatMap((word) => module.at(word));
  return words.flatMap((word) => {
    const statement = word.closest('try_statement', 'with_statement');
    const body = statement?.body;
    const clause = statement && handlersOf(statement).find((each) => each.contains(word));
    if (clause === undefined || body === undefined || !catches(clause, errors) || raisesAgain(clause))
      return [];
    const reaches = [...body.walk()].some(
      (node) => uses.includes(node) || (node.type === 'identifier' && names.has(node.text)),
    );
    return reaches ? [clause] : [];
  })[0];
}

/** Where a file goes on after errors: by a handler, in a thread or a task, in a block that swallows them, or by `@guarded`. */
function goingOn(module: PyModule, errors: RegExp): PyNode | undefined {
  const nodes = [...allNodes(module.root)];
  const handler = nodes.flatMap(handlersOf).find((clause) => catches(clause, errors) && !raisesAgain(clause));
  const apart = nodes.find(({ type, function: callee }) => type === 'call' && APART.test(callee?.text ?? ''));
  const catching = nodes
    .flatMap((node) => (node.type === 'function_definition' ? decoratorsOf(node) : []))
    .find((each) => {
      const found = definedAnywhere(module, each.type === 'call' ? (each.function ?? each) : each);
      return found !== undefined && /\bexcept\b|\bsuppress\(/.test(found.module.codeOf(found.node));
    });
  return handler ?? apart ?? catching ?? swallowingManager(module, module.root);
}

/** What holds a used thing, or something made of it, and the functions that use it: by name, wherever in the file. */
function namesReached(
  module: PyModule,
  uses: readonly PyNode[],
  held: readonly PyNode[],
): ReadonlySet<string> {
  const names = new Set<string>();
  const functions = uses.flatMap((use) => enclosingFunction(use)?.name?.text ?? []);
  for (const each of functions) names.add(each);
  const assignments = [...allNodes(module.root)].filter(({ type }) => type === 'assignment');
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const assignment of assignments) {
      const value = assignment.right;
      const target = assignment.left;
      const reached = [...(value?.walk() ?? [])].some(
        (node) => held.includes(node) || (node.type === 'identifier' && names.has(node.text)),
      );
      if (reached)
        for (const node of target?.walk() ?? [])
          if (node.type === 'identifier' && node.text !== 'self') names.add(node.text);
    }
  }
  return names;
}

const SUPPRESS = 'suppress(';

/** The `except` clauses of a `try`, and a `finally` that leaves; `suppress(…)` in the head of a `with`. */
function handlersOf(statement: PyNode): readonly PyNode[] {
  if (statement.type === 'try_statement')
    return [
      ...statement.childrenOfType('except_clause'),
      ...statement
        .childrenOfType('finally_clause')
        .filter(({ text }) => /\b(?:return|break|continue)\b/.test(text)),
    ];
  if (statement.type !== 'with_statement') return [];
  return contextManagers(statement).filter(({ text }) => text.includes(SUPPRESS));
}

function catches(clause: PyNode, errors: RegExp): boolean {
  if (clause.type === 'finally_clause') return true;
  if (clause.type !== 'except_clause') return errors.test(clause.text);
  const head = clause.text.slice(0, clause.text.indexOf(':'));
  return errors.test(/^except\s*$/.test(head) ? 'BaseException' : head);
}

/** Whatever a handler does, it ends by raising the error that it caught: `raise`, `raise error`. */
function raisesAgain(clause: PyNode): boolean {
  const block = clause.childOfType('block');
  const last = block?.named.at(-1);
  if (block === undefined || last?.type !== 'raise_statement') return false;
  const [raised, ...more] = last.named;
  if (raised !== undefined && (more.length > 0 || raised.text !== nameOfError(clause))) return false;
  const isRaised = ({ type, text }: PyNode): boolean => type === 'identifier' && text === raised?.text;
  return ![...block.walk()].some(
    (node) => LEAVES.test(node.type) || (isRaised(node) && !/^(?:read|none)$/.test(roleOf(node))),
  );
}

const LEAVES = /^(?:return|break|continue)_statement$/;

function nameOfError(clause: PyNode): string | undefined {
  const caught = clause.named[0];
  return caught?.type === 'as_pattern' ? caught.named.at(-1)?.text : undefined;
}

/** What torch says of a graph is a `RuntimeError`; a handler of these alone does not hear it. */
const OTHER_ERRORS =
  /^(?:Assertion|Attribute|EOF|FileExists|FileNotFound|Import|Index|IO|Key|ModuleNotFound|Name|OS|Permission|Timeout|Type|UnboundLocal|Unicode(?:Decode|Encode)?|Value|ZeroDivision)Error$|^(?:KeyboardInterrupt|Stop(?:Async)?Iteration|SystemExit)$/;

/** In the body of a `try` of the same function that may go on without what torch refuses, and in another way. */
export function isTried(module: PyModule, node: PyNode): boolean {
  let inner = node;
  for (let at = node.parent; at !== undefined && at.type !== 'function_definition'; at = at.parent) {
    const { body } = at;
    if (body !== undefined && body === inner) {
      if (at.type === 'with_statement' && contextManagers(at).some((each) => mayCatch(module, each)))
        return true;
      if (handlersOf(at).some((clause) => hearsTorch(module, clause) && !repeats(clause, body))) return true;
    }
    inner = at;
  }
  return false;
}

/** `with forgiving():` of a function or a class of the file that has a way to go on. */
function mayCatch(module: PyModule, manager: PyNode): boolean {
  const callee = manager.type === 'call' ? manager.function : manager;
  const definition = callee && definitionBehind(module, callee);
  return (
    definition !== undefined &&
    /\bexcept\b|\bdef[\s\\]+__exit__\b[\s\S]*\breturn\b/.test(module.codeOf(definition))
  );
}

/**
 * Where somebody goes on without what torch refuses at a place: there, where a decorator of its function does, or where
 * the function is called, also by others of the file.
 */
export function placesTried(module: PyModule, node: PyNode, seen = new Set<PyNode>()): readonly PyNode[] {
  if (isTried(module, node)) return [node];
  const home = node.closest('function_definition', 'lambda');
  if (home === undefined || seen.has(home)) return [];
  seen.add(home);
  if (decoratorsOf(home).some((each) => mayCatch(module, each))) return [node];
  const calls = namesCalled(module, home).flatMap((name) => module.words(name).map(wholeName));
  return calls.filter((each) => isCallee(each)).flatMap((each) => placesTried(module, each, seen));
}

/** By which a function is called: its own, that of a lambda's variable, or those of the objects that run it when they are called. */
function namesCalled(module: PyModule, home: PyNode): readonly string[] {
  const name = home.name?.text ?? boundTo(home);
  const owner = name !== undefined && CALLED.has(name) ? enclosingClass(home)?.name?.text : undefined;
  if (owner === undefined) return name === undefined ? [] : [name];
  return module.words(owner).flatMap((each) => boundTo(each.closest('call') ?? each) ?? []);
}

/** The last name of what a value is assigned to. */
function boundTo({ parent }: PyNode): string | undefined {
  return parent?.type === 'assignment' ? /\w+$/.exec(parent.left?.text ?? '')?.[0] : undefined;
}

function hearsTorch(module: PyModule, clause: PyNode): boolean {
  if (clause.type !== 'except_clause') return true;
  const [errors] = clause.named;
  const head = errors?.type === 'as_pattern' ? errors.named[0] : errors;
  if (head === undefined || head.type === 'block') return true;
  const names = head.type === 'tuple' ? head.named : [head];
  return names.some((name) => !OTHER_ERRORS.test(name.text) || !isUnbound(module, name));
}

/** `except: x = x.detach().numpy()` after `try: x = x.numpy()`: the same, whichever runs. */
function repeats(clause: PyNode, body: PyNode): boolean {
  const plain = (text: string): string =>
    text.replace(/\.detach\(\)|\.data\b(?!\()/g, '').replace(/\s+/g, ' ');
  const again = clause.childOfType('block');
  return again !== undefined && body.named.length === 1 && plain(again.text) === plain(body.text);
}

/** `assert not y.requires_grad`, `if y.requires_grad: raise …`: what passes with gradients on passes without. */
export function isDenied(asked: PyNode): boolean {
  const denial = asked.parent;
  if (denial?.type === 'if_statement' && denial.condition === asked)
    return denial.consequence?.named[0]?.type === 'raise_statement';
  const isFalse = denial?.type === 'comparison_operator' && /(?:is|==)\s+False$/.test(denial.text);
  if (denial === undefined || !(isFalse || denial.type === 'not_operator')) return false;
  const whole = denial.parent?.type === 'parenthesized_expression' ? denial.parent : denial;
  return whole.parent?.type === 'assert_statement';
}
