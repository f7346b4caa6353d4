import { placeText } from '../text/place.js';
import { isDecoratedOffAt, isGradOffAt, isInStep, type Pass, passAt } from './code.js';
import type { Frame } from './frame.js';
import type { Places, Spot } from './places.js';

type Function = readonly [path: RegExp, name: RegExp];

const DECORATED: Function = [
  /\/torch\/(?:utils\/_contextlib|autograd\/grad_mode)\.py$/,
  /^(?:decorate|generator)_context$/,
];
/** Functions of libraries that run a network without gradients. */
const LIBRARY: readonly Function[] = [
  [/\/transformers\/generation\//, /^(?:generate|_sample|_beam_search|greedy_search|sample|beam_search)$/],
  [/\/transformers\/trainer\w*\.py$/, /^(?:evaluation_loop|prediction_loop|prediction_step)$/],
  [/\/(?:pytorch_)?lightning\/.*\/(?:evaluation|prediction)_(?:epoch_)?loop\.py$/, /^/],
];

function isOf([path, name]: Function, frame: Frame | undefined): boolean {
  return frame !== undefined && path.test(frame.path) && name.test(frame.name);
}

interface Found {
  readonly frame: Frame;
  readonly isLibrary: boolean;
  readonly spot: Spot | undefined;
}

type Purpose = readonly [pass: Pass, path: RegExp, name: RegExp];

const TRAINERS = /\/(?:transformers\/trainer\w*|trl\/(?:.*\/)?\w*trainer\w*)\.py$/;
const LIGHTNING = /\/(?:pytorch_lightning|lightning)\//;

/** Functions of libraries that run one step, of a training or of an evaluation. */
const STEPS: readonly Purpose[] = [
  ['evaluation', TRAINERS, /^(?:evaluat\w+|_evaluate|predict|prediction_(?:loop|step))$/],
  ['training', TRAINERS, /^training_step$/],
  ['evaluation', /\/(?:pytorch_)?lightning\/.*\/(?:evaluation|prediction)_(?:epoch_)?loop\.py$/, /^/],
  ['evaluation', LIGHTNING, /^(?:validation|test|predict)_step$/],
  ['training', LIGHTNING, /^(?:_?training_step|_?optimizer_step|closure)$/],
  ['evaluation', /\/deepspeed\/runtime\//, /^eval_batch$/],
  ['training', /\/deepspeed\/runtime\//, /^train_batch$/],
];
/** Those that run a whole training, and may evaluate in between. */
const LOOPS: readonly Purpose[] = [
  ['training', TRAINERS, /^(?:train|_inner_training_loop)$/],
  ['training', LIGHTNING, /^(?:fit|_fit_impl)$/],
];

/** What the code around the frames, or a library among them, says it was; the innermost that says something decides. */
export function passIn(
  frames: readonly Found[],
  places: Places,
  purposes: readonly Purpose[] = [...STEPS, ...LOOPS],
): Pass | undefined {
  for (const [index, { frame, isLibrary, spot }] of [...frames.entries()].toReversed()) {
    const row = purposes.find(([, path, name]) => isOf([path, name], frame));
    if (row !== undefined) return row[0];
    // What a network computes is for whoever runs it.
    if (isLibrary || frame.name === 'forward' || spot?.line === undefined) continue;
    const module = places.moduleOf(spot.file);
    const pass = module === undefined ? undefined : passAt(module, spot.line);
    // What a step of a training only reads is computed for that step, and beside all that it keeps.
    if (
      pass === 'evaluation' &&
      ((module !== undefined && isInStep(module, spot.line)) ||
        passIn(frames.slice(0, index), places, STEPS) === 'training')
    )
      return 'training';
    if (pass !== undefined) return pass;
  }
  return undefined;
}

/** What ran without gradients. */
export interface GradOff {
  /** A place of the program, or a function of a library. */
  readonly by: string;
  /** Only a part of a pass did: who called it keeps activations, or may. */
  readonly isPart: boolean;
}

/** By what a program that ran out ran without gradients; a checkpoint that is recomputed runs with them. */
export function gradOffIn(all: readonly Found[], places: Places): GradOff | undefined {
  const frames = all.filter((found, index) => !isDecoratedSince(found, all[index - 1], places));
  const outermost = frames.findIndex((found) => gradOffBy(found, places) !== undefined);
  const found = frames.slice(outermost).flatMap((each) => gradOffBy(each, places) ?? []);
  const by = outermost < 0 ? undefined : (found.findLast((each) => each !== NO_GRAD) ?? NO_GRAD);
  if (by === undefined) return undefined;
  const outside = frames.slice(0, outermost);
  const isPart =
    outside.some(({ frame }) => frame.name === 'forward') ||
    (!LIBRARY.some((row) => isOf(row, frames[outermost]?.frame)) &&
      (passIn(outside, places, STEPS) === 'training' || isStepOf(frames[outermost], places)));
  return { by, isPart };
}

function isStepOf(found: Found | undefined, places: Places): boolean {
  const { file, line } = found?.spot ?? {};
  const module = file === undefined ? undefined : places.moduleOf(file);
  return module !== undefined && line !== undefined && isInStep(module, line);
}

/** A decorator is there now whose frame the traceback does not have: the code was changed since. */
export function isDecoratedSince({ spot }: Found, before: Found | undefined, places: Places): boolean {
  if (before === undefined || isOf(DECORATED, before.frame) || spot?.line === undefined) return false;
  const module = places.moduleOf(spot.file);
  return module !== undefined && isDecoratedOffAt(module, spot.line);
}

const NO_GRAD = '`torch.no_grad()`';

function gradOffBy({ frame, spot }: Found, places: Places): string | undefined {
  if (isOf(DECORATED, frame)) return NO_GRAD;
  if (LIBRARY.some((row) => isOf(row, frame))) return `\`${frame.name}\``;
  const module = spot?.line === undefined ? undefined : places.moduleOf(spot.file);
  return module !== undefined && spot?.line !== undefined && isGradOffAt(module, spot.line)
    ? placeText(spot.file, spot.told ?? { line: spot.line })
    : undefined;
}
