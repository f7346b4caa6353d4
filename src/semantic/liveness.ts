import type { PyNode } from '../syntax/node.js';
import { cellWith } from '../text/notebook/notebook.js';
import { stringValue } from './attribute-uses.js';
import { controlFlowOf } from './cfg.js';
import { Events } from './cfg-search.js';
import { isAtOnce, replaces } from './flow.js';
import { shown } from './gate.js';
import type { PyModule } from './module.js';
import { binds, roleOf } from './names.js';
import { isNotebook } from './program.js';
import { argumentsOf, enclosingFunction, isOwnNode } from './statements.js';

const REFLECTION: ReadonlySet<string> = new Set(['eval', 'exec', 'globals', 'locals']);

/**
 * Why a variable that a loop sets in each pass is, or may be, needed after the end of the loop's body; undefined where it
 * is proven to be bound there and never read again before it is set anew, so that `del` is possible.
 * The words complete "because …". What other files read of a module is not seen.
 */
export function neededAfter(module: PyModule, body: PyNode, name: string): string | undefined {
  const scope = module.scopeAt(body);
  const owner = enclosingFunction(body) ?? module.root;
  if (owner === module.root && isNotebook(module))
    return `whoever has the notebook open may still look at \`${name}\``;
  if (scope.node !== owner) return `\`${name}\` is a member of a class`;
  if (module.lookup(name, scope) !== scope) return `\`${name}\` belongs to code outside the function`;
  const reflection = module.alone.memo(readerOfVariables, owner);
  if (reflection !== undefined) return `${readerNamed(module, reflection)} looks at all variables`;
  const uses = module.occurrences(scope, name).filter((use) => roleOf(use) !== 'declare');
  if (!uses.every((use) => isAtOnce(module, use, scope))) return `code that may run later uses \`${name}\``;

  const flow = controlFlowOf(module, owner);
  const bindings = uses.filter((use) => binds(roleOf(use)) && roleOf(use) !== 'parameter');
  const suites = flow.suitesOf(body);
  const starts = suites.map(({ entry }) => ({ block: entry, index: -1 }));
  const ends = suites.map(({ end }) => end);
  const { events: last } = new Events(flow, bindings, replaces, {
    marks: new Map([[body, starts]]),
  }).beforePoints(ends);
  if (!ends.some(({ block }) => block.isReachable)) return "the end of the loop's body is never reached";
  if (last.has(body)) return `\`${name}\` is not set in every pass`;
  if ([...last].some((use) => roleOf(use) === 'delete')) return `\`${name}\` is deleted already`;
  if ([...last].some(isHandlerName)) return `\`${name}\` is bound in a way that may unbind it`;

  const fromEnd = new Events(flow, bindings, replaces, { marks: new Map([[body, ends]]) });
  const read = module.reads(scope, name).find((use) => fromEnd.before(use).events.has(body));
  if (read === undefined) return undefined;
  return body.contains(read)
    ? `\`${name}\` is read before it is set, in the next pass`
    : `\`${name}\` is used outside the loop`;
}

/** The call in a function of something in the project that looks at the variables of its callers, by name; the function itself, where too many files do so. */
export function frameReader(module: PyModule, owner: PyNode): PyNode | undefined {
  const others = module.around.summaries({ word: FRAME, beside: [] }, frameReadersIn);
  if (others === undefined) return owner;
  const names = new Set([...frameReadersIn(module.alone, FRAME), ...others.flat()]);
  if (names.size === 0) return undefined;
  for (const { type, text, parent } of owner.walk())
    if (type === 'identifier' && names.has(text) && parent !== undefined && parent !== owner) return parent;
  return undefined;
}

const FRAME = 'f_locals';

function frameReadersIn(alone: PyModule, word: string): readonly string[] {
  return alone.words(word).flatMap((node) => enclosingFunction(node)?.name?.text ?? []);
}

/** `except E as name`: Python unbinds it at the end of the handler. */
function isHandlerName(use: PyNode): boolean {
  return (
    use.parent?.type === 'as_pattern_target' &&
    use.closest('with_item', 'except_clause')?.type === 'except_clause'
  );
}

const MAY_REFLECT = /(?<![\w.\u0080-\uffff])(?:dir|eval|exec|globals|locals|vars)(?![\w\u0080-\uffff])/g;

/** The call in a function, or at the top of a module, that reads its variables by their names: `locals()`. Found by its word: a function may be long. */
export function readerOfVariables(module: PyModule, owner: PyNode): PyNode | undefined {
  for (const { index } of owner.text.matchAll(MAY_REFLECT)) {
    const call = module.root.descendantAt(owner.start + index).parent;
    if (call !== undefined && isOwnNode(owner, call) && readsVariables(module, call)) return call;
  }
  return undefined;
}

/** The same for who may see a variable that is bound at a place: inside of its function, or anywhere in the file. */
export function readerOfVariable(module: PyModule, binding: PyNode): PyNode | undefined {
  const owner = enclosingFunction(binding) ?? module.root;
  return module.alone.memo(readerWithin, owner);
}

function readerWithin(module: PyModule, owner: PyNode): PyNode | undefined {
  for (const { index } of owner.text.matchAll(MAY_REFLECT)) {
    const call = module.root.descendantAt(owner.start + index).parent;
    if (call !== undefined && readsVariables(module, call)) return call;
  }
  return undefined;
}

/** What reads variables by their names anywhere in a file, in a sentence. */
export function readerInFile(module: PyModule): string {
  const reader = module.alone.memo(readerWithin, module.root);
  return reader === undefined
    ? 'the `globals()`, `locals()` or `eval()` of this file'
    : readerNamed(module, reader);
}

const MASKED = /^[^\n]*#:+magic \d+\.$/m;

/** What reads variables by their names, in a sentence: of a notebook, the magic or the cell that nobody can read. */
export function readerNamed(module: PyModule, reader: PyNode): string {
  const rest = module.text.slice(reader.end, module.text.indexOf('\n', reader.end));
  if (!isNotebook(module) || !MASKED.test(rest)) return `\`${shown(reader)}\``;
  const cell = `cell ${cellWith(module.text, reader.start)?.number}`;
  const magic = stringValue(argumentsOf(reader)[0]) ?? '';
  return magic === '' ? `${cell}, which is not valid Python,` : `\`${magic}\` in ${cell}`;
}

/** `locals()`, `eval(…)`; `vars(x)` and `dir(x)` look at `x` alone. */
export function readsVariables(module: PyModule, node: PyNode): boolean {
  const callee = node.type === 'call' ? node.function : undefined;
  if (callee?.type !== 'identifier') return false;
  const looks =
    REFLECTION.has(callee.text) || (/^(?:vars|dir)$/.test(callee.text) && argumentsOf(node).length === 0);
  return looks && module.resolve(callee) === undefined;
}
