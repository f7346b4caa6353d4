import type { PyNode } from '../syntax/node.js';
import { definitionOf } from './flow.js';
import { isFreshContainer } from './literals.js';
import type { PyModule } from './module.js';
import { argumentsOf, isCallee, methodName, unparenthesized } from './statements.js';

/** What `TABLE[key]` and `TABLE.get(key)` of a dictionary may give, where that is written down and nobody changes it. */
export function entriesOf(module: PyModule, taken: PyNode): readonly PyNode[] | undefined {
  const holder =
    taken.type === 'subscript'
      ? taken.value
      : methodName(taken) === 'get'
        ? taken.function?.object
        : undefined;
  const table = holder && unparenthesized(holder);
  const written = table?.type === 'identifier' ? writtenOnce(module, table) : table;
  if (written?.type !== 'dictionary') return undefined;
  const given = written.named.filter(({ type }) => type !== 'comment').map((pair) => pair.value);
  // `TABLE.get(key, other)`
  const entries = taken.type === 'call' ? [...given, ...argumentsOf(taken).slice(1)] : given;
  return entries.length > 0 && entries.every((each) => each !== undefined) ? entries : undefined;
}

/** What `opts[key]` may give of a dictionary or a list that begins empty, and that only its own file is seen to fill: `opts[key] = value`. */
export function filledWith(module: PyModule, { value: holder }: PyNode): readonly PyNode[] | undefined {
  const scope = holder?.type === 'identifier' ? module.resolve(holder) : undefined;
  if (holder === undefined || scope === undefined) return undefined;
  const writes = module.writes(scope, holder.text);
  const isEmptied = writes.every((write) => {
    const way = definitionOf(write);
    return way.kind === 'value' && EMPTY.test(way.value.text) && isFreshContainer(module, way.value);
  });
  const uses = module.occurrences(scope, holder.text).filter((use) => !writes.includes(use));
  const filled = uses.map((use) => valuePut(use));
  const isOpen = !uses.every((use, at) => filled[at] !== undefined || looksUp(use));
  return isOpen || !isEmptied ? undefined : filled.filter((each) => each !== undefined);
}

const EMPTY = /^(?:\{\s*\}|\[\s*\]|(?:dict|list)\(\s*\))$/;

/** `value` of `opts[key] = value` and `opts.append(value)`. */
function valuePut(use: PyNode): PyNode | undefined {
  const { parent } = use;
  const assignment = parent?.type === 'subscript' && parent.value === use ? parent.parent : undefined;
  if (assignment?.type === 'assignment' && assignment.left === parent)
    return assignment.parent?.type === 'assignment' ? undefined : assignment.right;
  const call = parent?.type === 'attribute' ? parent.parent : undefined;
  const isAppended = parent?.attribute?.text === 'append' && call?.type === 'call' && isCallee(parent);
  return isAppended ? argumentsOf(call)[0] : undefined;
}

/** The value of a variable that is bound once, and whose every use looks something up. */
function writtenOnce(module: PyModule, name: PyNode): PyNode | undefined {
  const scope = module.resolve(name);
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, name.text);
  if (scope === undefined || only === undefined || others.length > 0) return undefined;
  const isOpen =
    scope === module.scope &&
    module.around.summaries({ word: name.text, beside: [] }, changes)?.includes(true) !== false;
  if (isOpen || !module.occurrences(scope, name.text).every((use) => use === only || looksUp(use)))
    return undefined;
  const definition = definitionOf(only);
  return definition.kind === 'value' ? definition.value : undefined;
}

/** Whether a file does more with what has this name than to import it and to look something up in it. */
function changes(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    const whole = node.parent?.attribute === node ? node.parent : node;
    return (
      node.text === name &&
      whole.closest('import_statement', 'import_from_statement', 'block')?.type.startsWith('import') !==
        true &&
      !looksUp(whole)
    );
  });
}

const ASKS: ReadonlySet<string> = new Set(['get', 'items', 'keys', 'values', 'copy']);

/** `TABLE[key]`, `key in TABLE`, `for key in TABLE`, `TABLE.keys()`, `list(TABLE)`. */
function looksUp(use: PyNode): boolean {
  const { parent } = use;
  if (parent?.type === 'subscript')
    return (
      parent.value === use &&
      parent.parent?.left !== parent &&
      !/pattern|^delete_statement$/.test(parent.parent?.type ?? '')
    );
  if (/^(?:comparison_operator|for_statement|for_in_clause)$/.test(parent?.type ?? '')) return true;
  if (parent?.type === 'attribute') return ASKS.has(parent.attribute?.text ?? '') && isCallee(parent);
  const callee = parent?.type === 'argument_list' ? parent.parent?.function : undefined;
  return callee !== undefined && /^(?:len|list|sorted|tuple|print)$/.test(callee.text);
}
