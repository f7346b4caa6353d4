import { DEEPCOPY } from '../library/names.js';
import { callsNamed, methodCallsAt } from '../semantic/called-name.js';
import { functionUses } from '../semantic/function-uses.js';
import { calledPath } from '../semantic/imports.js';
import { argumentsOf, enclosingFunction, methodName, receiverOf } from '../semantic/statements.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import { passesOf } from './passes.js';
import type { Other, Reading } from './reading.js';
import { type Script, shownCode } from './script.js';
import { isOptimizer, makersOf, type Trained } from './trained.js';

const ON_CPU = /\.cpu\(|["']cpu["']/;

/**
 * The models that a script holds beside the one that it trains: copies of it, and others that it loads. `read`: what a
 * load says of its model.
 */
export function readOthers(
  script: Script,
  trained: Trained,
  trainers: readonly PyNode[],
  chosen: PyNode | undefined,
  loads: readonly PyNode[],
  read: (load: PyNode) => Reading,
): Pick<Reading, 'others' | 'open'> {
  const others: Other[] = [];
  const open: string[] = [];
  const add = (call: PyNode, rest: Omit<Other, 'place' | 'words' | 'passes'>): void => {
    const target = targetOf(call);
    const name = target?.text;
    if (ON_CPU.test(target?.parent?.right?.text ?? call.text)) return;
    const place = script.placeOf(call);
    if (name !== undefined && isTrainedToo(script, name)) {
      open.push(`\`${name}\` (${place}) is trained as well, and is not counted.`);
      return;
    }
    const passes = (name === undefined ? undefined : passesOf(script.module, name, true)?.count) ?? 0;
    if (passes === Infinity)
      open.push(`\`${name}\` (${place}) runs in a loop of the step: one pass of it is counted.`);
    others.push({ place, words: shownCode(call), passes: passes === Infinity ? 1 : passes, ...rest });
  };
  for (const call of copiesIn(script, trained)) add(call, { model: 'copy' });
  for (const { module, call } of trained.makers) {
    const name = targetOf(call)?.text;
    if (module !== script.module || chosen === undefined || call === chosen || name === undefined) continue;
    if (name === targetOf(chosen)?.text || script.runs(call).answer === 'no' || !isTrainedToo(script, name))
      continue;
    open.push(`\`${name}\` (${script.placeOf(call)}) is trained as well, and is not counted.`);
  }
  for (const load of loads) {
    if (
      load === chosen ||
      !isBeside(load, chosen) ||
      isAfterwards(script, trainers, load) ||
      trained.makers.some(({ call }) => call === load)
    )
      continue;
    const { answer, by } = script.runs(load);
    if (answer === 'no') {
      // An option that is off by default may be on in this run.
      if (by !== undefined)
        open.push(`\`${shownCode(load)}\` (${script.placeOf(load)}) is not counted: ${by}.`);
      continue;
    }
    const { model, classes, weights } = read(load);
    if (model === undefined) continue;
    add(load, {
      model,
      ...(classes !== undefined && { classes }),
      ...(weights !== undefined && { weights }),
    });
  }
  return { ...(others.length > 0 && { others }), ...(open.length > 0 && { open }) };
}

/** `reference = copy.deepcopy(model)`, of the model or of its `state_dict()`. */
function copiesIn(script: Script, trained: Trained): readonly PyNode[] {
  const { module } = script;
  return callsNamed(module, 'deepcopy').flatMap(({ call }) => {
    const [given] = argumentsOf(call);
    if (calledPath(module, call) !== DEEPCOPY || given === undefined || isTestCode(module, call)) return [];
    const source = methodName(given) === 'state_dict' ? receiverOf(given) : given;
    const isIt =
      source !== undefined &&
      (trained.texts.has(source.text) ||
        makersOf(module, source).some(({ call: made }) => trained.makers.some((each) => each.call === made)));
    return isIt && script.runs(call).answer !== 'no' ? [call] : [];
  });
}

/** Where what a call gives goes, perhaps through a function that freezes it. */
function targetOf(call: PyNode): PyNode | undefined {
  const assignment = call.closest('assignment');
  return assignment?.left !== undefined && /^(?:identifier|attribute)$/.test(assignment.left.type)
    ? assignment.left
    : undefined;
}

/** Loaded by the same function into another variable: one that takes the other's place is no second model. */
function isBeside(load: PyNode, chosen: PyNode | undefined): boolean {
  if (chosen === undefined) return false;
  const [own, other] = [targetOf(load)?.text, targetOf(chosen)?.text];
  return own !== undefined && own !== other && enclosingFunction(load) === enclosingFunction(chosen);
}

/** Behind all that trains in its function: what is loaded then, such as the best of the run, is there when no step is. */
function isAfterwards({ module }: Script, trainers: readonly PyNode[], load: PyNode): boolean {
  const owner = enclosingFunction(load);
  const steps = methodCallsAt(module, '.backward(');
  const functions = new Set(steps.flatMap((call) => enclosingFunction(call) ?? []));
  const calls = [...functions].flatMap((each) => functionUses(module, each));
  const ends = [...trainers, ...steps, ...calls]
    .filter((node) => enclosingFunction(node) === owner)
    .map(({ end }) => end);
  return ends.length > 0 && Math.max(...ends) < load.start;
}

function isTrainedToo({ module }: Script, name: string): boolean {
  return methodCallsAt(module, '.parameters(').some(
    (call) =>
      receiverOf(call)?.text === name &&
      [...call.ancestors()].some((node) => node.type === 'call' && isOptimizer(module, node)),
  );
}
