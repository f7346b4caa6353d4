import { placeText } from '../text/place.js';
import { isGradOffAt, type Pass, passAt } from './code.js';
import type { Frame } from './frame.js';
import type { Places, Spot } from './places.js';

/** Functions of libraries that run a network without gradients. */
const LIBRARY: readonly (readonly [path: RegExp, name: RegExp])[] = [
  [/\/torch\/(?:utils\/_contextlib|autograd\/grad_mode)\.py$/, /^decorate_context$/],
  [/\/transformers\/generation\//, /^(?:generate|_sample|_beam_search|greedy_search|sample|beam_search)$/],
  [/\/transformers\/trainer\w*\.py$/, /^(?:evaluation_loop|prediction_loop|prediction_step)$/],
  [/\/(?:pytorch_)?lightning\/.*\/(?:evaluation|prediction)_(?:epoch_)?loop\.py$/, /^/],
];

interface Found {
  readonly frame: Frame;
  readonly isLibrary: boolean;
  readonly spot: Spot | undefined;
}

/** What the code around the frames says it was; the innermost that says something decides. */
export function passIn(frames: readonly Found[], places: Places): Pass | undefined {
  for (const { frame, isLibrary, spot } of frames.toReversed()) {
    // What a network computes is for whoever runs it.
    if (isLibrary || frame.name === 'forward' || spot?.line === undefined) continue;
    const module = places.moduleOf(spot.file);
    const pass = module === undefined ? undefined : passAt(module, spot.line);
    if (pass !== undefined) return pass;
  }
  return undefined;
}

/** By what a program that ran out ran without gradients: a place of its own, or a function of a library. */
export function gradOffIn(frames: readonly Found[], places: Places): string | undefined {
  // The innermost that says something decides; a checkpoint that is recomputed runs with them.
  for (const { frame, spot } of frames.toReversed()) {
    const row = LIBRARY.find(([path, name]) => path.test(frame.path) && name.test(frame.name));
    if (row !== undefined) return `\`${frame.name === 'decorate_context' ? 'torch.no_grad()' : frame.name}\``;
    const module = spot?.line === undefined ? undefined : places.moduleOf(spot.file);
    if (module !== undefined && spot?.line !== undefined && isGradOffAt(module, spot.line))
      return placeText(spot.file, spot.told ?? { line: spot.line });
  }
  return undefined;
}
