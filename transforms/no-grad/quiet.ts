import { selfName } from '../../src/semantic/definitions.js';
import { functionUses } from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { functionsNamed } from '../../src/semantic/project-names.js';
import { enclosingFunction, givenTo, ownNodes } from '../../src/semantic/statements.js';
import { behindBracket } from '../../src/syntax/code-text.js';
import type { Glimpse } from '../../src/syntax/glimpse.js';
import type { PyNode } from '../../src/syntax/node.js';
import type { Evaluation } from '../../src/torch/grad/evaluation.js';
import { givenIn, mayLead } from '../../src/torch/grad/followed-lines.js';
import {
  isCalledLikeNetwork,
  linesOnce,
  mayRunForNumbers,
  nameTest,
  otherMethodTest,
  partTest,
} from '../../src/torch/grad/numeric-cues.js';
import { mayRunHere, numericFunctions, runsWithoutSwitch } from '../../src/torch/grad/numeric-runs.js';
import { isForward, isPartInProject } from '../../src/torch/grad/runs.js';

/**
 * Whether a function may run a network for what nothing but its callers tells: it hands what that gives to another one, or
 * back. Beside networks, what runs parts of its own object and returns something is a part of one, and most files of a
 * library are full of those.
 */
export function mayRunQuietly(glimpse: Glimpse): (code: string) => boolean {
  const mayRun = glimpse.memo(mayRunForNumbers);
  const mayBe = glimpse.memo(nameTest);
  const isOther = glimpse.memo(otherMethodTest);
  const isPart = glimpse.memo(partTest);
  const isOfLibrary = glimpse.text.includes('def forward(');
  const isRun = (path: string): boolean => {
    const words = path.replace(/[\s\\]|\[[^\][]*\]/g, '').split('.');
    const called = words.at(-1) ?? '';
    const object = words.at(-2);
    if (object !== undefined && glimpse.memo(libraries).has(words[0] ?? '')) return false;
    if (called === 'forward' || called === 'self' || mayBe(called)) return true;
    if (object === undefined || object === 'self' || isOther(called)) return false;
    return isCalledLikeNetwork(object) || isPart(called);
  };
  const isTaker = (name: string): boolean => !isOther(name) && !mayBe(name);
  return (code) => {
    if (SPECIAL.test(code) || !mayRun(code)) return false;
    const isReturned = RETURNS.test(code);
    const isIgnored = (path: string): boolean => isOfLibrary && isReturned && path.startsWith('self');
    const gives = (text: string): boolean => {
      for (const { 0: call, 1: path = '', index } of text.matchAll(CALL)) {
        if (isIgnored(path) || !isRun(path)) continue;
        // What stands alone is done for something else than its value.
        if (index > 0 || behindBracket(text, call.length - 1) < text.trimEnd().length) return true;
      }
      return false;
    };
    // Strings in the way, lines cannot be told.
    if (glimpse.outline === undefined) return true;
    const lines = glimpse.memo(linesOnce)(code);
    const giving = lines.filter(({ text }) => gives(text));
    if (giving.length === 0) return false;
    return (isReturned && !isOfLibrary) || mayLead(lines, giving, gives, (text) => givenIn(text, isTaker));
  };
}

const RETURNS = /\breturn[ \t(]+\S/;

/** What is called, where it is given something. */
const CALL =
  /(?<![\w.\u0080-\uffff])(?<!def +)((?:[\w\u0080-\uffff]+(?:\[[^\][\n]*\])?[\s\\]*\.[\s\\]*){0,6}[\w\u0080-\uffff]+(?:\[[^\][\n]*\])?)[\s\\]*\((?![\s\\]*\))/g;

/** What Python, or the network itself, calls is no evaluation; an object that is called like a function may be one. */
const SPECIAL = /^(?:(?!\bdef\b)[\s\S])*?\bdef[ \t]+(?:forward|__(?!call__)\w+__)\b/;

/** The names of modules: `np`, `nn` of `nn.Linear(2, 2)`. */
function libraries({ outside }: Glimpse): ReadonlySet<string> {
  const lines = outside.match(/^(?:import|from[ \t]+torch[\w.]*[ \t]+import)\b.*$/gm) ?? [];
  return new Set(lines.flatMap((line) => line.match(/\w+/g) ?? []));
}

/**
 * The networks that functions run where no word says that numbers are made of the results: a plot, a score that another file
 * computes.
 */
export function* quietRuns(module: PyModule): Generator<readonly [PyNode, readonly Evaluation[]]> {
  const numeric = numericFunctions(module);
  const [may, mayRun] = [module.glimpse.memo(mayRunQuietly), mayRunHere(module)];
  for (const { parent } of module.atWhere('def ', (code) => may(code) && mayRun(code))) {
    if (parent?.type !== 'function_definition' || numeric.has(parent) || !mayBeWorthIt(module, parent))
      continue;
    const runs = runsWithoutSwitch(module, parent);
    if (runs.some((run) => isRun(module, run))) yield [parent, runs];
  }
}

/** Neither part of a forward, nor one that tries a network on something of its own, or while it is made to know its sizes. */
function mayBeWorthIt(module: PyModule, functionNode: PyNode): boolean {
  const users = functionUses(module, functionNode).map((use) => enclosingFunction(use)?.name?.text);
  if (users.includes('forward') || (users.length > 0 && users.every((name) => name === '__init__')))
    return false;
  const self = selfName(functionNode);
  const isGiven = functionNode.parameters?.named.some(({ text }) => text !== self) === true;
  return isGiven || ownNodes(functionNode).some(({ type }) => /^(?:for|while)_/.test(type));
}

/** A forward, or something else that is asked for what it computes of what it is given; `m.fuse_model()` is called like a network, and is none. */
function isRun(module: PyModule, { model, forwards }: Evaluation): boolean {
  const name = (model.attribute ?? model).text;
  if (functionsNamed(module, name)?.length !== 0 && !isPartInProject(module, name)) return false;
  return forwards.some(
    (call) =>
      isForward(call, model.text) ||
      (givenTo(call).length > 0 && call.parent?.type !== 'expression_statement'),
  );
}
