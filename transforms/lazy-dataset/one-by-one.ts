import { calledDefinition } from '../../src/semantic/definitions.js';
import { shown } from '../../src/semantic/gate.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { passOf } from '../../src/semantic/passes.js';
import { argumentsOf, methodName, receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** A loop that appends one value per entry, which depends on nothing but the entry and what stays the same. */
export interface OneByOne {
  readonly loop: PyNode;
  /** What it goes over, progress bars taken off. */
  readonly data: PyNode;
  readonly item: PyNode;
  /** The last statement of its body, and what it appends. */
  readonly append: PyNode;
  readonly value: PyNode;
  /** Where its body reads what the function around it had before. */
  readonly given: readonly PyNode[];
  /** What it calls that came in from outside, and is no tokenizer: perhaps a model. */
  readonly stranger: string | undefined;
}

/** `list`: to which it appends, as written; `self`: the name of the object. A sentence where entries cannot be told apart. */
export function oneByOne(module: PyModule, loop: PyNode, list: string, self: string): OneByOne | string {
  const pass = passOf(module, loop);
  if (pass?.item?.type !== 'identifier' || pass.counter !== undefined || loop.childOfType('else_clause'))
    return 'its loop counts or unpacks the entries';
  const append = loop.body?.named.at(-1);
  const call = append?.type === 'expression_statement' ? append.named[0] : undefined;
  const [value, ...more] = call?.type === 'call' ? argumentsOf(call) : [];
  const appends = call?.type === 'call' && methodName(call) === 'append' && receiverOf(call)?.text === list;
  if (append === undefined || !appends || value === undefined || more.length > 0)
    return 'its loop does not append exactly one item per entry';
  const given = givenTo(module, loop);
  const problem = bodyProblem(module, loop, list, pass.item, self, new Set(given.map(({ text }) => text)));
  const stranger = strangerCalled(module, loop, given, self);
  return problem ?? { loop, data: pass.data, item: pass.item, append, value, given, stranger };
}

function strangerCalled(
  module: PyModule,
  loop: PyNode,
  given: readonly PyNode[],
  self: string,
): string | undefined {
  for (const node of loop.body?.walk() ?? []) {
    const callee = node.type === 'call' ? node.function : undefined;
    const isOwn = callee?.type === 'attribute' && callee.object?.text === self;
    if (callee === undefined || !(isOwn || given.includes(callee)) || /token/i.test(callee.text)) continue;
    if (calledDefinition(module, node) === undefined) return callee.text;
  }
  return undefined;
}

/** Reads of names that are bound before the loop only, parameters among them. */
function givenTo(module: PyModule, loop: PyNode): readonly PyNode[] {
  const scope = module.scopeAt(loop);
  return [...(loop.body?.walk() ?? [])].filter(
    (node) =>
      node.type === 'identifier' &&
      roleOf(node) === 'read' &&
      module.resolve(node) === scope &&
      module.writes(scope, node.text).every(({ start }) => start < loop.start),
  );
}

const RANDOM = /rand|shuffle|choice|\bsample\(|permutation|uuid|time\(/;
const CHANGES = /^(?:add|append|clear|extend|insert|pop|popitem|remove|setdefault|sort|update|write)$/;

/** Why one entry cannot be processed apart from the others, each time that it is asked for. */
function bodyProblem(
  module: PyModule,
  loop: PyNode,
  list: string,
  item: PyNode,
  self: string,
  given: ReadonlySet<string>,
): string | undefined {
  const body = loop.body;
  const nodes = body === undefined ? [] : [...body.walk()];
  const own = new Set<string>([item.text]);
  const isShared = (text: string) => {
    const root = rootOf(text);
    return root === self || root === item.text || given.has(root);
  };
  for (const node of nodes) {
    if (/^(?:continue|break|return|global|nonlocal)_statement$|^yield$|^await$/.test(node.type))
      return `a \`${node.type.replace('_statement', '')}\` may leave entries out`;
    if (node.type === 'call' && CHANGES.test(methodName(node) ?? '')) {
      const receiver = receiverOf(node)?.text ?? '';
      if (receiver !== list && isShared(receiver))
        return `\`${shown(node)}\` changes what the next entry sees`;
    }
    const called = node.type === 'call' ? calledDefinition(module, node) : undefined;
    if (
      called !== undefined &&
      new RegExp(`\\b${self}\\.[\\w.]+(?:\\[.*\\])?\\s*[-+*/|]?=(?!=)`).test(called.text)
    )
      return `\`${shown(node)}\` changes what the next entry sees`;
    if (/^(?:augmented_)?assignment$|^delete_statement$/.test(node.type)) {
      const target = node.left ?? node.named[0];
      const isName = target?.type === 'identifier' || target?.type === 'pattern_list';
      if (!isName && isShared(target?.text ?? ''))
        return `\`${shown(node)}\` changes what the next entry sees`;
    }
    if (node.type !== 'identifier' || module.scopeAt(node) !== module.scopeAt(loop)) continue;
    const role = roleOf(node);
    if (role === 'write' || role === 'loop') own.add(node.text);
    else if (node.text === list && !isAppended(node)) return `\`${list}\` is used for more than appending`;
    else if (role === 'update' && !own.has(node.text)) return `\`${node.text}\` counts across entries`;
    else if (
      role === 'read' &&
      !own.has(node.text) &&
      !given.has(node.text) &&
      module.resolve(node) === module.scopeAt(loop) &&
      node.text !== list &&
      node.text !== self
    )
      return `\`${node.text}\` is carried from one entry to the next`;
  }
  return RANDOM.test(body?.text ?? '')
    ? 'it draws random numbers, which would be drawn anew each time'
    : undefined;
}

function isAppended(node: PyNode): boolean {
  return node.parent?.type === 'attribute' && node.parent.attribute?.text === 'append';
}

function rootOf(text: string): string {
  return /^\w+/.exec(text)?.[0] ?? '';
}
