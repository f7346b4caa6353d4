import { isOfModule, isOfPlainValues } from '../../library/library.js';
import { isWordPart, startOfWord } from '../../syntax/beside.js';
import { namesMade, namesOfModules } from '../../syntax/bound-name.js';
import { type CodeLine, linesOf } from '../../syntax/code-text.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import { nameSaysModel } from '../module/model-value.js';
import { givenIn, mayLead } from './followed-lines.js';

/** What ends as a number, a list, an array or an index, or is cut off, has no graph. */
export const NUMBERS: readonly string[] = [
  ...['.item()', '.tolist()', '.numpy()', 'argmax(', '.sample()', '.max(', 'multinomial(', '.topk('],
  ...['.detach()', '.data', 'make_grid(', 'save_image('],
];

const NUMBER =
  /\.(?:item|tolist|numpy|sample|detach)[\s\\]*\(|argmax[\s\\]*\(|\.max[\s\\]*\(|multinomial[\s\\]*\(|\.topk[\s\\]*\(|\.data(?![\w\u0080-\uffff])|make_grid|save_image/;

const DECIDES =
  /backward|autograd(?!\.Variable\()|no_?grad|inference_?mode|grad_enabled|requires_grad|optim/i;
/** What runs inside a network gives its result to whoever runs that. */
const FORWARD = /^(?:@.*\s*)*(?:async[ \t]+)?def[ \t]+forward\b/;

/** What a stretch of code, or a name, is asked. */
export type Test = (text: string) => boolean;

/** Some parts of a line. */
type Parts = (text: string) => readonly string[];

/** The same stretches are asked about for each literal. */
export function once<T>(ask: (text: string) => T): (text: string) => T {
  const answers = new Map<string, T>();
  return (code) => {
    let answer = answers.get(code);
    if (answer === undefined) {
      answer = ask(code);
      answers.set(code, answer);
    }
    return answer;
  };
}

/** Names are the same in many files. */
const MOST_NAMES = 20_000;

/** The same of what a name says by itself, whatever file it is in. */
function everywhere(ask: Test): Test {
  const answers = new Map<string, boolean>();
  return (name) => {
    let answer = answers.get(name);
    if (answer === undefined) {
      answer = ask(name);
      if (answers.size >= MOST_NAMES) answers.clear();
      // A part of a text would keep the whole of it.
      answers.set(Buffer.from(name).toString(), answer);
    }
    return answer;
  };
}

/** A call as it is written. */
interface Call {
  /** `encode` of `self.model.encode(x)`; empty for an item: `nets[0](x)`. */
  readonly name: string;
  /** `model` of it. */
  readonly object: string | undefined;
  /** The object is a name, or an attribute of `self`: `model.ae(x)`, `self.actor.act(x)`, `model.module.ae(x)`. */
  readonly isOfPart: boolean;
}

/** The first call of some code that passes a test. A regular expression would try every word of it. */
export function someCall(code: string, test: (call: Call) => boolean): boolean {
  for (let at = code.indexOf('('); at !== -1; at = code.indexOf('(', at + 1)) {
    const end = backOverGap(code, at);
    const start = startOfWord(code, end);
    if (start === end) {
      if (code.charCodeAt(end - 1) === 93 && test({ name: '', object: undefined, isOfPart: false }))
        return true;
      continue;
    }
    const dot = backOverGap(code, start) - 1;
    let object: string | undefined;
    let isOfPart = false;
    if (code.charCodeAt(dot) === 46) {
      const objectEnd = backOverGap(code, dot);
      const objectStart = startOfWord(code, objectEnd);
      if (objectStart < objectEnd) object = code.slice(objectStart, objectEnd);
      isOfPart = objectEnd === start - 1 && startsPath(code, objectStart);
    } else if (isDefined(code, start)) continue;
    if (test({ name: code.slice(start, end), object, isOfPart })) return true;
  }
  return false;
}

function backOverGap(code: string, end: number): number {
  let at = end;
  for (;;) {
    const char = code.charCodeAt(at - 1);
    if (char !== 32 && char !== 92 && !(char >= 9 && char <= 13)) return at;
    at--;
  }
}

function startsPath(code: string, start: number): boolean {
  if (code.charCodeAt(start - 1) !== 46) return true;
  if (code.startsWith('module.', start)) return startsPath(code, startOfWord(code, start - 1));
  return code.startsWith('self.', start - 5) && !/[\w.]/.test(code[start - 6] ?? '');
}

function isDefined(code: string, start: number): boolean {
  let at = start;
  while (code.charCodeAt(at - 1) === 32 || code.charCodeAt(at - 1) === 9) at--;
  return at < start && code.startsWith('def', at - 3) && !isWordPart(code.charCodeAt(at - 4));
}

/**
 * Whether a function may run a network for numbers alone, going by its code: it calls something by the name of a network, or
 * something that a class made, and neither differentiates nor switches gradients off.
 */
export function mayRunForNumbers(glimpse: Glimpse): Test {
  const mayRun = glimpse.memo(mayRunItself);
  return once((code) => !FORWARD.test(code) && !DECIDES.test(code) && mayRun(code));
}

/** The same, where what the network gives may be what the numbers are made of. */
export function mayRunForOwnNumbers(glimpse: Glimpse): Test {
  const may = glimpse.memo(mayRunForNumbers);
  const mayRun = glimpse.memo(mayRunItself);
  const readIn = glimpse.memo(madeNumbers);
  return once((code) => may(code) && mayComeTo(glimpse, code, mayRun, readIn));
}

function mayComeTo(glimpse: Glimpse, code: string, gives: Test, readIn: Parts): boolean {
  // Strings in the way, lines cannot be told.
  if (glimpse.outline === undefined) return true;
  const lines = glimpse.memo(linesOnce)(code);
  if (!lines.some(({ text }) => readIn(text).length > 0)) return false;
  const giving = lines.filter(({ text }) => gives(text));
  return mayLead(lines, giving, gives, readIn);
}

/** The same stretches are asked several questions. */
export function linesOnce(_glimpse: Glimpse): (code: string) => readonly CodeLine[] {
  return once(linesOf);
}

/** The parts of a line of which numbers may be made, there or by a function of the file. */
export function madeNumbers(glimpse: Glimpse): Parts {
  return (text) => {
    if (NUMBER.test(text)) return [text];
    const reading = glimpse.memo(namesReading);
    return reading.size === 0 ? [] : givenIn(text, (name) => reading.has(name));
  };
}

/** Whether some code may make numbers of what a function of the file, which runs a network, hands it. */
export function mayReadNumbers(glimpse: Glimpse): Test {
  return once((code) => {
    const isRunning = glimpse.memo(runningTest);
    const runs: Test = (text) => someCall(text, ({ name }) => isRunning(name));
    return runs(code) && mayComeTo(glimpse, code, runs, glimpse.memo(madeNumbers));
  });
}

/** The functions of a file that make numbers, and may be handed what a network gives. */
function namesReading(glimpse: Glimpse): ReadonlySet<string> {
  const found = glimpse.stretchesWith(...NUMBERS).map((code) => NAMED.exec(code)?.[1] ?? '');
  return new Set(found.filter((name) => name !== '' && name !== 'forward' && !name.startsWith('__')));
}

const NAMED = /^(?:@.*\s*)*def[ \t]+(\w+)/;

/** The functions of a file that are handed what a network may give, by the names of those that make numbers of it. */
export function namesHandingOn(glimpse: Glimpse): readonly string[] {
  const may = glimpse.memo(mayRunForNumbers);
  const mayRun = glimpse.memo(mayRunItself);
  return [...glimpse.memo(namesReading)].filter((name) => {
    const readIn: Parts = (text) => (text.includes(name) ? givenIn(text, (called) => called === name) : []);
    return glimpse
      .stretchesWith(`${name}(`)
      .some((code) => may(code) && mayComeTo(glimpse, code, mayRun, readIn));
  });
}

/** Whether a function of the file by this name may run a network and hand back what it gives. */
export function runningTest(glimpse: Glimpse): Test {
  return returningTest(glimpse, glimpse.memo(mayRunForNumbers));
}

/** Whether a function of the file by this name returns something, and its code passes a test. */
export function returningTest(glimpse: Glimpse, may: Test): Test {
  const returning = glimpse.memo(stretchesReturning);
  return once((name) => returning.get(name)?.some(may) === true);
}

/** By the names of functions. */
function stretchesReturning(glimpse: Glimpse): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const code of glimpse.stretchesWith('return')) {
    const name = NAMED.exec(code)?.[1] ?? '';
    const known = found.get(name);
    if (known === undefined) found.set(name, [code]);
    else known.push(code);
  }
  return found;
}

/** Whether some code may run a network by a call of its own. */
export function mayRunItself(glimpse: Glimpse): Test {
  return runTest(glimpse, () => true);
}

/** The same where it can be told whether networks have a method or a part of a name. */
export function runTest(glimpse: Glimpse, isPart: Test): Test {
  const may = glimpse.memo(nameTest);
  const mayBePart = glimpse.memo(partTest);
  const isOfOthers = glimpse.memo(otherMethodTest);
  return (code) => {
    let hasItem = false;
    const isRun = someCall(code, ({ name, object, isOfPart }) => {
      hasItem ||= name === '';
      if (name === 'forward' || name === 'self' || may(name)) return true;
      if (object === undefined) return false;
      return ((isOfPart && !isOfOthers(name) && may(object)) || mayBePart(name)) && isPart(name);
    });
    if (isRun || !hasItem) return isRun;
    for (const [, name = ''] of code.matchAll(ITEM_CALLED)) if (isCalledLikeNetworks(name)) return true;
    return false;
  };
}

/** Whether a method runs no network, whatever it is called on: `model.eval()`, `query.reshape(…)`. */
export function otherMethodTest(glimpse: Glimpse): Test {
  return (name) => isOfModules(name) || (isOfOthers(name) && !glimpse.memo(ownMethods).has(name));
}

const isOfModules = everywhere(isOfModule);
const isOfOthers = everywhere(isOfPlainValues);

/** Whether a method of this name may be a part of a network: it calls something of its own. */
export function partTest(glimpse: Glimpse): Test {
  const { text } = glimpse;
  return once((name) => {
    if (!glimpse.memo(ownMethods).has(name)) return false;
    if (!text.includes('forward') && !text.includes('Module')) return false;
    if (text.includes(`self.${name} =`) || text.includes(`self.${name}=`)) return true;
    return definitionsOf(glimpse, name).some(glimpse.memo(ownCallTest));
  });
}

function ownCallTest(_glimpse: Glimpse): Test {
  return once((code) => {
    for (const [, name = ''] of code.matchAll(OWN_CALL)) if (!isOfModule(name)) return true;
    return false;
  });
}

/** `encode` of `self.encode(x)` and `self.parts.encode(x)`. */
const OWN_CALL = /\bself(?:\.(\w+))*\(/g;

/** The functions with a method of this name in them; all code where none is found. */
export function definitionsOf(glimpse: Glimpse, name: string): readonly string[] {
  const functions = glimpse.stretchesWith(`def ${name}`).filter((code) => code !== glimpse.outside);
  return functions.length > 0 ? functions : [glimpse.text];
}

/** Whether something of this name is called like a network, a class made it, or the file uses it as a module. */
export function nameTest(glimpse: Glimpse): Test {
  return once(
    (name) =>
      isCalledLikeNetwork(name) || [namesMade, namesOfModules].some((of) => glimpse.memo(of).has(name)),
  );
}

/** The methods of a file with networks, or with attributes that classes made, which may run them. */
export function ownMethods({ text }: Glimpse): ReadonlySet<string> {
  if (!/\bModule\b[^\n]*\)[ \t]*:|\bself\.\w+[ \t]*=[ \t]*(?:\w+\.){0,9}[A-Z]\w*\(/.test(text))
    return new Set();
  return new Set([...text.matchAll(/\bdef[ \t]+(_?[a-z]\w*)\(\s*self\b/g)].map(([, name = '']) => name));
}

/** One of several by the name of networks: `self.actors[i](x)`. */
const ITEM_CALLED = /(?<![\w\u0080-\uffff])([\w\u0080-\uffff]+)\[[^\][\n]*\][\s\\]*\(/g;

/** `load_model(…)` is called like something that is done, `model(…)` like what does it. */
const DONE =
  /^_*(?:add|build|check|clone|compile|configure|convert|copy|create|delete|disable|download|dump|enable|evaluate|export|fit|free|freeze|from|get|has|init|initialize|inject|instantiate|is|load|log|make|move|prepare|print|prune|push|quantize|read|register|remove|replace|reset|restore|run|save|select|set|setup|store|summarize|switch|sync|test|to|train|unfreeze|unwrap|update|upload|validate|visualize|wrap|write)_/;

/** The generators and discriminators of papers. */
const OF_GAN = /^[DG](?:_[A-Za-z\d]{1,3})?$/;

/** A capital letter begins a class: calling that makes a network, and runs none. */
export const isCalledLikeNetwork = everywhere((name) => {
  if (OF_GAN.test(name)) return true;
  if (/^[A-Z]/.test(name) || DONE.test(name)) return false;
  return nameSaysModel(name) === 'yes' || /(?:^|_)(?:cnn|dqn|gru|lstm|mlp|rnn|vgg|\w{1,8}net)$/.test(name);
});

/** `actors` of `self.actors[i](x)`, `actors_target` of `self.actors_target[i](x)`. */
export function isCalledLikeNetworks(name: string): boolean {
  return isCalledLikeNetwork(name) || isCalledLikeNetwork(name.replace(/s(?=_|$)/g, ''));
}
