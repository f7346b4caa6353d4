import type { PyNode } from '../syntax/node.js';
import type { Answer } from './answer.js';
import { READS_NAMES } from './by-text.js';
import { keywordsNamed, type MayMatter } from './keyword-places.js';
import type { PyModule } from './module.js';
import { argumentsOf, keywordArgument } from './statements.js';
import { plainString } from './strings.js';
import { type Taker, takerOf } from './taken-by-name.js';
import { isTestFile } from './test-code.js';
import { usesElsewhere } from './uses-elsewhere.js';

/** A named setting, where the file writes it, and the calls that receive it as a keyword. */
export interface Given {
  /** `x` of `f(x=1)`, `"x"` of `{"x": 1}`. */
  readonly name: PyNode;
  readonly value: PyNode;
  /** The keyword argument or the pair of the dict. */
  readonly entry: PyNode;
  /** The call it stands in, or every call into which its dict is spread. */
  readonly calls: readonly PyNode[];
  /** The calls that read this one setting out of its dict and take it under the same name. */
  readonly takers: readonly Taker[];
  /** The modules of those calls that stand in other files. */
  readonly homes: ReadonlyMap<PyNode, PyModule>;
  /** What else the file does with its dict; undefined for a keyword written in the call itself. */
  readonly dict: SettingsDict | undefined;
}

/** A dict of settings: a literal or `dict(…)`, as it stands in the code. */
export interface SettingsDict {
  readonly node: PyNode;
  /** The variable that holds it, if it is not spread on the spot. */
  readonly variable: PyNode | undefined;
  /** The keys that lead from the variable to the setting. */
  readonly path: readonly string[];
  /** Code outside this file can hold it: a variable of the module, an attribute, an argument. */
  readonly isShared: boolean;
  /** Places that read this setting out of the dict by its name. */
  readonly reads: readonly PyNode[];
  /** Places that change the dict or this setting, or that may. */
  readonly changes: readonly PyNode[];
  /** Places that take the whole dict, or a setting whose name is not written. */
  readonly unseen: readonly PyNode[];
}

/**
 * Every place of the file that writes a setting of this name, as a keyword or as an entry of a dict. Functions with none
 * that `may` matter are not parsed for their keywords.
 */
export function givenIn(module: PyModule, name: string, may?: MayMatter): readonly Given[] {
  return [...keywords(module, name, may), ...entries(module, name)].sort(
    (a, b) => a.entry.start - b.entry.start,
  );
}

/** The same, where a dict of the module also reaches the calls of other files that import it; they are asked about what is wanted. */
export function givenAcross(
  module: PyModule,
  name: string,
  isWanted: (given: Given) => boolean = () => true,
  may?: MayMatter,
): readonly Given[] {
  return givenIn(module, name, may)
    .filter(isWanted)
    .map((given) => acrossFiles(module, given));
}

/** The files that have a say in a setting: its own, and those of the calls that receive or take it. */
export function filesOf(module: PyModule, { homes }: Given): readonly PyModule[] {
  return [...new Set([module, ...homes.values()])];
}

function acrossFiles(module: PyModule, given: Given): Given {
  const { dict } = given;
  const variable = dict?.variable;
  if (dict === undefined || variable === undefined || module.resolve(variable) !== module.scope) return given;
  // Nobody imports the settings of a test.
  if (isTestFile(module.path, module.text)) return given;
  const { uses } = usesElsewhere(module, variable, { may: () => true, byName: false });
  const found = noUses();
  const homes = new Map<PyNode, PyModule>();
  for (const { module: there, node, isCertain } of uses) {
    if (isCertain) sortUse(node, dict.path, found);
    else found.unseen.push(node);
    for (const call of [...found.calls, ...found.takers.map((taker) => taker.call)])
      if (!homes.has(call)) homes.set(call, there);
  }
  return {
    ...given,
    calls: [...given.calls, ...found.calls],
    takers: [...given.takers, ...found.takers],
    homes,
    dict: {
      ...dict,
      reads: [...dict.reads, ...found.reads],
      changes: [...dict.changes, ...found.changes],
      unseen: [...dict.unseen, ...found.unseen],
    },
  };
}

function keywords(module: PyModule, name: string, may: MayMatter | undefined): readonly Given[] {
  return keywordsNamed(module, name, may).flatMap(
    (node) => (node.parent && givenBy(module, node.parent)) ?? [],
  );
}

function entries(module: PyModule, name: string): readonly Given[] {
  const found: Given[] = [];
  if (!module.text.includes(`"${name}"`) && !module.text.includes(`'${name}'`)) return found;
  for (const { index } of module.text.matchAll(new RegExp(`(["'])${name}\\1\\s*:`, 'g'))) {
    const key = module.root.descendantAt(index + 1).closest('string');
    const entry = key?.parent;
    if (entry?.type !== 'pair' || entry.key !== key) continue;
    const given = givenBy(module, entry);
    if (given !== undefined) found.push(given);
  }
  return found;
}

/** What a keyword argument, or an entry of a dict, gives to whom; undefined where its name is not written out. */
export function givenBy(module: PyModule, entry: PyNode): Given | undefined {
  const value = entry.value;
  const holder = entry.parent;
  if (value === undefined || holder === undefined || entry.closest('string') !== undefined) return undefined;
  if (entry.type === 'pair') {
    const key = entry.key;
    const name = key && plainString(key);
    if (key === undefined || name === undefined || holder.type !== 'dictionary') return undefined;
    return ofDict(module, { name: key, value, entry }, holder, name);
  }
  const name = entry.name;
  const call = holder.parent;
  if (name === undefined || call?.type !== 'call') return undefined;
  if (isBuiltinDict(module, call)) return ofDict(module, { name, value, entry }, call, name.text);
  return { name, value, entry, calls: [call], takers: [], homes: NOWHERE_ELSE, dict: undefined };
}

function isBuiltinDict(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  return callee?.type === 'identifier' && callee.text === 'dict' && module.resolve(callee) === undefined;
}

/** The entry of the same dict or call with this name. */
export function siblingOf({ entry }: Given, name: string): { entry: PyNode; value: PyNode } | undefined {
  for (const each of entry.parent?.named ?? []) {
    const key = each.name ?? each.key;
    const value = each.value;
    if (key === undefined || value === undefined) continue;
    const written = key.type === 'string' ? plainString(key) : key.text;
    if (written === name) return { entry: each, value };
  }
  return undefined;
}

/** Whether a setting of this name reaches the same calls as well, from the same place or beside it. */
export function isGivenBeside(given: Given, name: string): boolean {
  return (
    siblingOf(given, name) !== undefined ||
    given.calls.some((call) => keywordArgument(call, name) !== undefined)
  );
}

/** Whether something else is spread into one of its calls, which may hold any setting. */
export function spreadsMore({ calls, dict }: Given): boolean {
  const own = dict === undefined ? 0 : 1;
  return calls.some((call) => argumentsOf(call).filter(({ type }) => type.endsWith('_splat')).length > own);
}

/** Whether the settings that stand in the code are those that arrive: nothing spread beside it, nothing that changes the dict. */
export function arrives({ entry, dict }: Given): Answer {
  if (dict === undefined) return 'yes';
  if (dict.changes.length > 0) return 'no';
  const beside = (entry.parent?.named ?? []).filter((each) => each !== entry).map(nameOf);
  // Of two entries of one name, the last one counts.
  if (beside.includes(nameOf(entry))) return 'no';
  return dict.isShared || dict.unseen.length > 0 || beside.includes(undefined) ? 'unknown' : 'yes';
}

/** The name of an entry, where it is written out. */
function nameOf(entry: PyNode): string | undefined {
  const key = entry.key;
  return key === undefined ? entry.name?.text : plainString(key);
}

function ofDict(
  module: PyModule,
  written: Pick<Given, 'name' | 'value' | 'entry'>,
  node: PyNode,
  name: string,
): Given {
  const holder = node.parent;
  const path = [name];
  const alone = { node, variable: undefined, path, reads: [], changes: [], unseen: [] };
  const call = holder?.type === 'dictionary_splat' ? receiver(holder) : undefined;
  if (call !== undefined)
    return {
      ...written,
      calls: [call],
      takers: [],
      homes: NOWHERE_ELSE,
      dict: { ...alone, isShared: false },
    };
  let outer = node;
  for (let at = holder; at?.type === 'pair' && at.value === outer; at = outer.parent) {
    const key = at.key;
    const step = key && plainString(key);
    const above = at.parent;
    if (step === undefined || above === undefined) break;
    path.unshift(step);
    outer = above;
  }
  const variable = variableOf(module, outer);
  if (variable === undefined)
    return { ...written, calls: [], takers: [], homes: NOWHERE_ELSE, dict: { ...alone, isShared: true } };
  const { calls, takers, ...uses } = usesOf(module, variable, path);
  const scope = module.resolve(variable);
  const isShared = scope?.kind !== 'function' && scope?.kind !== 'lambda';
  return {
    ...written,
    calls,
    takers,
    homes: NOWHERE_ELSE,
    dict: { node, variable, path, isShared, ...uses },
  };
}

/** The variable that is assigned this value and nothing else. */
function variableOf(module: PyModule, value: PyNode): PyNode | undefined {
  const assignment = value.parent;
  const target = assignment?.type === 'assignment' ? assignment.left : undefined;
  if (target?.type !== 'identifier' || assignment?.right !== value) return undefined;
  const scope = module.resolve(target);
  return scope !== undefined && module.writes(scope, target.text).length === 1 ? target : undefined;
}

function receiver(splat: PyNode): PyNode | undefined {
  const call = splat.parent?.parent;
  return splat.parent?.type === 'argument_list' && call?.type === 'call' ? call : undefined;
}

const NOWHERE_ELSE: ReadonlyMap<PyNode, PyModule> = new Map();

/** What they give does not depend on which settings there are, or is for people to read. */
const HARMLESS_CALLS: ReadonlySet<string> = new Set(['bool', 'pprint', 'print']);
const READING_METHODS: ReadonlySet<string> = new Set(['get', '__getitem__']);
const LISTING_METHODS: ReadonlySet<string> = new Set(['keys', 'values', 'items', 'copy']);

interface Uses {
  readonly calls: PyNode[];
  readonly takers: Taker[];
  readonly reads: PyNode[];
  readonly changes: PyNode[];
  readonly unseen: PyNode[];
}

function noUses(): Uses {
  return { calls: [], takers: [], reads: [], changes: [], unseen: [] };
}

/** What the file does with a variable that holds a dict, seen from one setting in it. */
function usesOf(module: PyModule, variable: PyNode, path: readonly string[]): Uses {
  const found = noUses();
  const scope = module.resolve(variable);
  for (const use of scope === undefined ? [] : module.occurrences(scope, variable.text))
    if (use !== variable) sortUse(use, path, found);
  if (scope !== undefined && READS_NAMES.test(module.codeOf(scope.node))) found.unseen.push(variable);
  return found;
}

function sortUse(use: PyNode, path: readonly string[], found: Uses): void {
  const reached = followed(use, path);
  if (reached === 'other') return;
  const { node, depth, isCertain } = reached;
  if (isTarget(node)) found.changes.push(use);
  else if (depth === path.length && isCertain) pushRead(node, path[depth - 1], use, found);
  else if (depth === path.length) found.unseen.push(use);
  else classify(node, path[depth], depth === path.length - 1, use, found);
}

/** How far the subscripts behind a name lead towards the setting; `other` when they lead elsewhere. */
function followed(
  use: PyNode,
  path: readonly string[],
): 'other' | { node: PyNode; depth: number; isCertain: boolean } {
  let node = use;
  for (let depth = 0; depth < path.length; depth++) {
    const subscript = node.parent;
    if (subscript?.type !== 'subscript' || subscript.value !== node) return { node, depth, isCertain: true };
    const key = subscript.subscript;
    const step = key && plainString(key);
    if (step === undefined) return { node: subscript, depth: path.length, isCertain: false };
    if (step !== path[depth]) return 'other';
    node = subscript;
  }
  return { node, depth: path.length, isCertain: true };
}

function pushRead(read: PyNode, name: string | undefined, use: PyNode, found: Uses): void {
  found.reads.push(use);
  const taker = name === undefined ? undefined : takerOf(read, name);
  if (taker !== undefined) found.takers.push(taker);
}

/** Assigned to, deleted, or updated in place. */
function isTarget(node: PyNode): boolean {
  const { parent } = node;
  if (parent?.type === 'assignment' || parent?.type === 'augmented_assignment') return parent.left === node;
  return parent?.type === 'delete_statement' || parent?.type === 'pattern_list';
}

function classify(
  node: PyNode,
  key: string | undefined,
  isInnermost: boolean,
  use: PyNode,
  found: Uses,
): void {
  const { parent } = node;
  if (parent?.type === 'dictionary_splat') {
    const call = receiver(parent);
    if (call !== undefined && isInnermost) found.calls.push(call);
    else found.unseen.push(use);
    return;
  }
  if (parent?.type === 'attribute' && parent.object === node) {
    const method = parent.attribute?.text ?? '';
    const asked = parent.parent?.type === 'call' ? parent.parent.arguments?.named[0] : undefined;
    const name = asked && plainString(asked);
    if (READING_METHODS.has(method) && name !== undefined) {
      if (name === key) pushRead(parent.parent ?? parent, isInnermost ? key : undefined, use, found);
    } else
      (READING_METHODS.has(method) || LISTING_METHODS.has(method) ? found.unseen : found.changes).push(use);
    return;
  }
  if (parent?.type === 'comparison_operator') {
    const [left] = parent.named;
    const name = left && plainString(left);
    if (name === undefined || name === key) found.unseen.push(use);
    return;
  }
  const call = parent?.type === 'argument_list' ? parent.parent : undefined;
  if (!HARMLESS_CALLS.has(call?.function?.text ?? '')) found.unseen.push(use);
}
