import { definitionOf } from '../../src/semantic/flow.js';
import { isFreshContainer } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { binds, roleOf } from '../../src/semantic/names.js';
import { isRepeated } from '../../src/semantic/paths.js';
import { remembered } from '../../src/semantic/remembered.js';
import type { Scope } from '../../src/semantic/scope.js';
import { argumentsOf, receiverOf } from '../../src/semantic/statements.js';
import {
  behindBracket,
  type CodeLine,
  functionAround,
  isInLoop,
  isOneFunction,
  linesBy,
  linesNaming,
  linesOf,
  loopAround,
  loopsAmong,
} from '../../src/syntax/code-text.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';
import { placesOf, wholeWord } from '../../src/text/words.js';
import { gradlessAmong } from '../../src/torch/grad/gradless-lines.js';
import { callsStep, isHandedBack, recordingStretches } from '../../src/torch/record/running-total.js';

/** A variable that starts as an empty list and is appended to from one round of a loop to the next. */
export interface KeptList {
  readonly name: string;
  readonly scope: Scope;
  readonly appends: readonly {
    /** The name of the list, where it is appended to. */
    readonly target: PyNode;
    readonly value: PyNode;
  }[];
}

const APPEND = /(?:^|[;:])\s*([\w\u0080-\uffff]+)\.append\([ \t]*(?![\d"'[{(]|[fr]["'])([^\r\n]*)/g;
/** A number, a text or a new container, whatever it is made of. */
const PLAIN =
  /^[^-+*/%@]*\.(?:item|tolist|numpy|detach|strip|split|join)\([^()]*\)\)|^(?:float|int|len|str)\(/;

/** Functions whose lists go with one pass of a network, or hold no tensors: nothing piles up. */
const SHORT_LIVED = /^(?:forward|__init__|__getitem__|__call__|_?(?:pre|post)_?process\w*|_?convert\w*)$/;

/** `x` of what follows `.append(` in `….append(x)`. */
function bareName(value: string): string | undefined {
  return /^(\w+)[ \t]*\)/.exec(value)?.[1];
}

const SET_BEHIND = /[^=]{0,120}=(?!=)/y;

/** A bare name that the text never sets is a loop variable or an argument. */
function isNeverSet(text: string, name: string, places: readonly number[]): boolean {
  return !places.some((place) => {
    SET_BEHIND.lastIndex = place + name.length;
    return SET_BEHIND.test(text);
  });
}

/**
 * The names of lists that could hold tensors, going by the text alone: no node is made to ask it. `isCode`: comments and
 * strings have been left out.
 */
function* listNames(text: string, isCode: boolean, file: string): Generator<string> {
  const isOne = isOneFunction(text);
  if (isOne && SHORT_LIVED.test(/\bdef[ \t]+(\w+)/.exec(text)?.[1] ?? '')) return;
  const seen = new Set<string>();
  const lines = linesOf(text);
  const mayTrain = isOne && callsStep(text, file);
  const isGraphless = isCode ? graphlessAmong(lines) : () => false;
  const appends = lines
    .filter((line) => line.text.includes('.append(') && isInLoop(line))
    .flatMap(({ text: line }) => [...line.matchAll(APPEND)])
    .filter(([, , value = '']) => !PLAIN.test(value));
  const given = placesOf(new Set(appends.flatMap(([, , value = '']) => bareName(value) ?? [])), text);
  const naming = linesNaming(
    text,
    appends.map(([, name = '']) => name),
  );
  for (const [, name = '', value = ''] of appends) {
    const bare = bareName(value);
    if (seen.has(name) || (bare !== undefined && isNeverSet(text, bare, given.get(bare) ?? []))) continue;
    seen.add(name);
    const made = new RegExp(
      `(?<![\\w.])${name}(?!\\w)[^\\r\\n]*=[ \\t(]*(?:[^\\r\\n]*,)?[ \\t]*(?:\\[|list\\(|[\\w.]*deque\\()`,
    );
    const own = naming.get(name) ?? [];
    const isMade = own.some((line) => made.test(line));
    const isOther = isOne && isSomethingElse(text, name, own, mayTrain);
    if (isMade && !isOther && !isGraphless(name)) yield name;
  }
}

/** What `isFreshContainer` takes for one. */
const FRESH_CALL = '(?:collections\\.)?(?:list|dict|set|defaultdict|deque|OrderedDict)\\(';
const OTHERWISE = new RegExp(`^([\\w\\u0080-\\uffff]+)[ \\t]*=(?!=)[ \\t]*(?!${FRESH_CALL})[\\w.]+\\(`);
const APPENDED = /(?<![\w.\u0080-\uffff])([\w\u0080-\uffff]+)[\s\\]*\.[\s\\]*append(?!\w)/g;

/** Whether nothing that is appended to a list is computed in its round with gradients on, or it is no list, going by the lines. */
function graphlessAmong(lines: readonly CodeLine[]): (name: string) => boolean {
  const isGradless = gradlessAmong(lines);
  const isSetInLoop = settingAmong(lines);
  const appending = linesBy(lines, (text) => [...text.matchAll(APPENDED)].map(([, name = '']) => name));
  const setting = linesBy(lines, (text) => OTHERWISE.exec(text)?.slice(1) ?? []);
  return (name) => {
    const others = new Set((setting.get(name) ?? []).map(functionAround));
    others.delete(undefined);
    return (appending.get(name) ?? []).every((line) => {
      if (others.has(functionAround(line)) || !isInLoop(line) || isGradless(line)) return true;
      const value = line.text.startsWith(`${name}.append(`) ? givenAlone(line.text) : undefined;
      return value !== undefined && isNotComputed(value, (variable) => isSetInLoop(line, variable));
    });
  };
}

/** `value` of `name.append(value)`, where that is all of the line. */
function givenAlone(text: string): string | undefined {
  const open = text.indexOf('(');
  const end = behindBracket(text, open);
  return text.slice(end).trim() === '' ? text.slice(open + 1, end - 1).trim() : undefined;
}

const OTHER_ATTRIBUTE = /^[\w.]+\.(?!\w*loss|\w*logits$)\w+$/;

/** What `isComputedHere` finds to be no computed value of this round: displays, attributes, loop variables. */
function isNotComputed(value: string, isSetInLoop: (variable: string) => boolean): boolean {
  if (/^[([{]/.test(value) && behindBracket(value, 0) === value.length)
    return value[0] !== '(' || hasCommaOutside(value.slice(1, -1));
  if (OTHER_ATTRIBUTE.test(value) || /^-?\d+$/.test(value)) return true;
  const variable = /^([a-zA-Z_]\w*)(?:\[[^[\]]*\])*$/.exec(value)?.[1];
  return variable !== undefined && !isSetInLoop(variable);
}

/** Whether the innermost loop around a line may set a variable otherwise than by its header. */
function settingAmong(lines: readonly CodeLine[]): (line: CodeLine, variable: string) => boolean {
  const around = new Map<CodeLine | undefined, readonly CodeLine[]>();
  const linesOfLoop = loopsAmong(lines);
  const answers = new Map<readonly CodeLine[], Map<string, boolean>>();
  return (line, variable) => {
    const loop = loopAround(line);
    const own = around.get(loop) ?? linesOfLoop(loop);
    around.set(loop, own);
    const known = answers.get(own) ?? new Map<string, boolean>();
    answers.set(own, known);
    const answer = known.get(variable) ?? isSetIn(own, variable);
    known.set(variable, answer);
    return answer;
  };
}

function isSetIn(lines: readonly CodeLine[], variable: string): boolean {
  const mention = wholeWord(variable);
  const walrus = new RegExp(`${mention.source}[\\s\\\\]*:=`);
  return lines.some(
    ({ text }) => mention.test(text) && (walrus.test(text) || mention.test(beforeAssigned(text))),
  );
}

/** What stands before the last `=` of a line that is in no bracket: the targets, where it assigns. */
function beforeAssigned(code: string): string {
  let end = 0;
  for (let at = 0; at < code.length; at++) {
    if ('([{'.includes(code[at] ?? '')) at = behindBracket(code, at) - 1;
    else if (code[at] === '=' && code[at + 1] === '=') at++;
    else if (code[at] === '=' && !/[^<]<$|[^>]>$|!$/.test(code.slice(Math.max(0, at - 2), at))) end = at;
  }
  return code.slice(0, end);
}

/** A comma that stands in no bracket. */
function hasCommaOutside(code: string): boolean {
  for (let at = 0; at < code.length; at++) {
    if ('([{'.includes(code[at] ?? '')) at = behindBracket(code, at) - 1;
    else if (code[at] === ',') return true;
  }
  return false;
}

/** The text of one function says it: the name is given something else than a list, or is handed back with its graphs. */
function isSomethingElse(text: string, name: string, naming: readonly string[], mayTrain: boolean): boolean {
  const other = `^[ \\t]*${name}[ \\t]*=(?!=)(?![ \\t]*(?:\\(|\\[|list\\(|[\\w.]*deque\\())`;
  const sets = new RegExp(other);
  return naming.some((line) => sets.test(line)) || (!mayTrain && isHandedBack(text, name, naming));
}

/** Whether some function of the file could have such a list. */
export function mayKeepList(glimpse: Glimpse): boolean {
  return recordingStretches(glimpse, '.append(').some(
    (stretch) => !listNames(stretch, glimpse.outline !== undefined, glimpse.text).next().done,
  );
}

export const keptLists = remembered((module: PyModule): readonly KeptList[] => {
  const isCode = module.glimpse.outline !== undefined;
  const stretches = recordingStretches(module.glimpse, '.append(');
  const names = new Map(
    stretches.map((text) => [text, new Set(listNames(text, isCode, module.glimpse.text))]),
  );
  const wanted = (stretch: string, name: string): boolean => names.get(stretch)?.has(name) === true;
  const found: KeptList[] = [];
  for (const name of new Set([...names.values()].flatMap((some) => [...some]))) {
    const scopes = new Set<Scope>();
    for (const place of module.atWhere(`${name}.append(`, (stretch) => wanted(stretch, name))) {
      const scope = place.type === 'identifier' && place.text === name ? module.resolve(place) : undefined;
      if (scope === undefined || scopes.has(scope)) continue;
      scopes.add(scope);
      const list = listIn(module, scope, name);
      if (list !== undefined) found.push(list);
    }
  }
  return found;
});

function listIn(module: PyModule, scope: Scope, name: string): KeptList | undefined {
  if (scope.kind !== 'function' && scope.kind !== 'module') return undefined;
  if (SHORT_LIVED.test(scope.node.name?.text ?? '')) return undefined;
  const places = module.occurrences(scope, name);
  const made: PyNode[] = [];
  for (const place of places) {
    const role = roleOf(place);
    if (!binds(role) || role === 'delete' || role === 'declare' || role === 'update') continue;
    const definition = definitionOf(place);
    if (module.scopeAt(place) !== scope || definition.kind !== 'value') return undefined;
    if (!isFreshContainer(module, definition.value)) return undefined;
    made.push(place);
  }
  const appends = places.flatMap((target) => {
    const call = appendTo(target);
    const [value, ...others] = call === undefined ? [] : argumentsOf(call);
    if (call === undefined || value === undefined || others.length > 0) return [];
    if (module.scopeAt(target) !== scope || value.type.endsWith('splat')) return [];
    // A later round appends to the same list.
    return made.length > 0 && isRepeated(module, target, made) ? [{ target, value }] : [];
  });
  return appends.length === 0 ? undefined : { name, scope, appends };
}

/** `name.append(value)` as a statement. */
function appendTo(target: PyNode): PyNode | undefined {
  const callee = target.parent;
  const call = callee?.parent;
  const appends =
    callee?.attribute?.text === 'append' &&
    call?.type === 'call' &&
    receiverOf(call) === target &&
    call.parent?.type === 'expression_statement';
  return appends ? call : undefined;
}
