import { builtin } from '../../src/library/library.js';
import { type Addition, additionAt } from '../../src/semantic/accumulation.js';
import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { isRepeated } from '../../src/semantic/paths.js';
import { remembered } from '../../src/semantic/remembered.js';
import type { Scope } from '../../src/semantic/scope.js';
import {
  argumentsOf,
  enclosingLoops,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import {
  type CodeLine,
  functionAround,
  isInLoop,
  isOneFunction,
  linesBy,
  linesNaming,
  linesOf,
} from '../../src/syntax/code-text.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';
import { gradlessAmong } from '../../src/torch/grad/gradless-lines.js';
import { callsStep, isHandedBack, isZero, recordingStretches } from '../../src/torch/record/running-total.js';

/** A variable that starts at zero and grows from one round of a loop to the next. */
export interface RunningTotal {
  readonly name: string;
  readonly scope: Scope;
  /** Those in the loops, in source order; there is one. */
  readonly additions: readonly Addition[];
  /** Where it starts. */
  readonly zeros: readonly PyNode[];
}

/** `loss.item() * len(x)` and the like, to the end of the line. */
const FACTOR =
  /[-\d.]+|[^-+*/%@]*\.(?:item|tolist)\(\)|(?:float|int|len)\([^()]*\)|[\w.]+\.size\(-?\d\)|[\w.]+\.shape\[-?\d\]/;

const NUMBER = new RegExp(
  `^(?:${FACTOR.source})(?:[ \\t]*[*/][ \\t]*(?:${FACTOR.source}))*[ \\t]*(?:[;#].*)?$`,
);

/** Texts, lists, dictionaries and tuples of one are joined, not added. */
const TEXT_OR_LIST = /^(?:[bBfFrR]{0,2}["'[{]|\([^()\r\n]*,\)[ \t]*$)/;

const ZERO = /=(?!=).*(?:(?<![\w.])0(?:\.0*)?(?![\w.])|zeros)/s;

const NAME = /(?<![\w.\u0080-\uffff])[\w\u0080-\uffff]+/g;

const ADDED = /(?:^|[;:])\s*([\w\u0080-\uffff]+)\s*\+=\s*([^;]*)/g;

const ASSIGNED = /(?:^|[;:])\s*([\w\u0080-\uffff]+)\s*=(?!=)([^;]*)/g;

/**
 * The names of totals that could be of tensors, going by the code alone: no node is made to ask it. `isCode`: comments and
 * strings have been left out.
 */
function* totalNames(code: string, isCode: boolean, file: string): Generator<string> {
  const lines = linesOf(code);
  const added = new Set(
    lines.flatMap((line) => (line.text.includes('+') && isInLoop(line) ? [...namesAdded(line.text)] : [])),
  );
  if (added.size === 0) return;
  const zeroed = new Set(lines.flatMap(({ text }) => (ZERO.test(text) ? namesSet(text) : [])));
  const names = [...added].filter((name) => zeroed.has(name));
  const isOne = isOneFunction(code);
  const naming = isOne ? linesNaming(code, names) : new Map<string, readonly string[]>();
  const ledger = new Ledger(lines);
  const mayTrain = isOne && callsStep(code, file);
  for (const name of names) {
    if (isOne && !mayTrain && isHandedBack(code, name, naming.get(name) ?? [])) continue;
    if (!isCode || !ledger.addsNoneWithGraph(name)) yield name;
  }
}

const CHAIN = /^(\w+)(?:\.\w+|\([^()]*\)|\[[^[\]]*\])*$/;

const DETACHING = /\.(?:detach|item|tolist|numpy)\(\)(?:\.\w+\(\)){0,4}$/;

const WORD = /[\w\u0080-\uffff]+/g;

const SET = /^(\w+)[ \t]*=(?!=)[ \t]*([\s\S]*)/;

/** The lines of some code by the names that they set and add to: a function may have very many totals. */
class Ledger {
  #isGradless: ((line: CodeLine) => boolean) | undefined;
  #adding: ReadonlyMap<string, readonly CodeLine[]> | undefined;
  #setting: ReadonlyMap<string, readonly CodeLine[]> | undefined;

  constructor(private readonly lines: readonly CodeLine[]) {}

  /** What is added to the name is detached, or computed without gradients, going by the lines. */
  addsNoneWithGraph(name: string): boolean {
    this.#isGradless ??= gradlessAmong(this.lines);
    this.#adding ??= linesBy(this.lines, (text) => (text.includes('+') ? (text.match(WORD) ?? []) : []));
    const isGradless = this.#isGradless;
    const start = new RegExp(`^${name}[ \\t]*\\+=[ \\t]*`);
    return (this.#adding.get(name) ?? []).every((line) => {
      if (isGradless(line)) return true;
      const value = start.test(line.text) ? line.text.replace(start, '').trimEnd() : '';
      const root = DETACHING.test(value) ? CHAIN.exec(value)?.[1] : undefined;
      return root !== undefined && this.#isComputedBeside(line, root, 0);
    });
  }

  /** Of a variable that is set by a call in the function of a line, or is a part of one: it stands for no import. */
  #isComputedBeside(line: CodeLine, name: string, hops: number): boolean {
    const owner = functionAround(line);
    if (owner === undefined || hops > MAX_HOPS) return false;
    this.#setting ??= linesBy(this.lines, (text) => SET.exec(text)?.slice(1, 2) ?? []);
    return (this.#setting.get(name) ?? []).some((each) => {
      const value = functionAround(each) === owner ? SET.exec(each.text)?.[2] : undefined;
      if (value === undefined) return false;
      const whole = /^(\w+)(?:\.\w+)*\s*$/.exec(value)?.[1];
      return whole === undefined
        ? /\w\(/.test(value)
        : whole !== name && this.#isComputedBeside(each, whole, hops + 1);
    });
  }
}

const MAX_HOPS = 2;

/** `total` of `total += …`, of `total = total + …` and of `total = … + total`. */
function* namesAdded(line: string): Generator<string> {
  for (const [, name = '', value = ''] of line.matchAll(ADDED))
    if (!NUMBER.test(value) && !TEXT_OR_LIST.test(value)) yield name;
  for (const [, name = '', value = ''] of line.matchAll(ASSIGNED)) {
    const sides = value.split('+').map((side) => side.replace(/[\s\\()]/g, ''));
    if (sides.length > 1 && (sides[0] === name || sides.at(-1) === name)) yield name;
  }
}

/** The names before the last `=` of a line, and more. */
function namesSet(line: string): readonly string[] {
  return line.slice(0, line.lastIndexOf('=')).match(NAME) ?? [];
}

/** Whether some function of the file could have such a total. */
export function mayTotal(glimpse: Glimpse): boolean {
  return recordingStretches(glimpse, '+').some(
    (stretch) => !totalNames(stretch, glimpse.outline !== undefined, glimpse.text).next().done,
  );
}

export const runningTotals = remembered((module: PyModule): readonly RunningTotal[] => {
  const isCode = module.glimpse.outline !== undefined;
  const stretches = recordingStretches(module.glimpse, '+');
  const names = new Map(
    stretches.map((text) => [text, new Set(totalNames(text, isCode, module.glimpse.text))]),
  );
  const found: RunningTotal[] = [];
  for (const name of new Set([...names.values()].flatMap((some) => [...some]))) {
    const scopes = new Set<Scope>();
    for (const place of module.wordsWhere(name, (stretch) => names.get(stretch)?.has(name) === true)) {
      if (place.type !== 'identifier' || place.text !== name || additionAt(place) === undefined) continue;
      const scope = module.resolve(place);
      if (scope === undefined || scopes.has(scope)) continue;
      scopes.add(scope);
      const total = totalIn(module, scope, name);
      if (total !== undefined) found.push(total);
    }
  }
  return found.sort((a, b) => (a.additions[0]?.target.start ?? 0) - (b.additions[0]?.target.start ?? 0));
});

function totalIn(module: PyModule, scope: Scope, name: string): RunningTotal | undefined {
  if (scope.kind !== 'function' && scope.kind !== 'module') return undefined;
  const additions: Addition[] = [];
  const zeros: PyNode[] = [];
  for (const place of module.occurrences(scope, name)) {
    const role = roleOf(place);
    if (!binds(role) || role === 'delete' || role === 'declare') continue;
    if (module.scopeAt(place) !== scope) return undefined;
    const addition = additionAt(place);
    if (addition !== undefined) additions.push(addition);
    else if (isZero(module, place)) zeros.push(place);
    else if (role !== 'update' && !isDerivedFrom(place, name)) return undefined;
  }
  // What a round adds to is what the round before has left.
  const growing = additions.filter(({ target }) => zeros.length > 0 && isRepeated(module, target, zeros));
  return growing.length === 0 ? undefined : { name, scope, additions: growing, zeros };
}

/**
 * It starts anew in each step, and what it adds up is added to a loss of that step too, whose backward comes behind the loop:
 * until then the loss keeps the graphs anyway.
 */
export function endsWithStep(module: PyModule, { scope, additions, zeros }: RunningTotal): boolean {
  return additions.every(({ statement, value }) => {
    const [inner, step] = enclosingLoops(statement);
    if (inner === undefined || step === undefined) return false;
    if (!zeros.every((zero) => step.contains(zero) && !inner.contains(zero))) return false;
    const backwards = module.atWithin('.backward(', step);
    if (backwards.length === 0 || backwards.some((node) => inner.contains(node))) return false;
    const terms = [...value.walk()].filter(
      (node) => node.type === 'identifier' && roleOf(node) === 'read' && module.resolve(node) === scope,
    );
    return (
      terms.length > 0 &&
      terms.every((term) =>
        module.occurrences(scope, term.text).some((other) => {
          const adding = additionAt(statementOf(other).named[0]?.left ?? other);
          return inner.contains(other) && adding?.statement !== statement && adding?.value === other;
        }),
      )
    );
  });
}

/** `total = total / n`, `total = total.item()`: made from itself, so no other tensor is changed by adding to it. */
function isDerivedFrom(place: PyNode, name: string): boolean {
  const definition = definitionOf(place);
  return definition.kind === 'value' && isMadeOf(definition.value, name);
}

function isMadeOf(value: PyNode, name: string): boolean {
  const node = unparenthesized(value);
  if (node.type === 'identifier') return node.text === name;
  if (node.type === 'binary_operator')
    return [node.left, node.right].some((side) => side !== undefined && isMadeOf(side, name));
  if (node.type !== 'call') return false;
  const receiver = receiverOf(node);
  if (receiver !== undefined) return isMadeOf(receiver, name);
  const [only, ...others] = argumentsOf(node);
  const isNumber = builtin(node.function?.text ?? '')?.gives === 'number';
  return isNumber && only !== undefined && others.length <= 1 && isMadeOf(only, name);
}
