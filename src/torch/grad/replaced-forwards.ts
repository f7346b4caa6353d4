import { summariesTogether } from '../../semantic/companions.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsByName } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { forwardsSet } from '../../values/effects/replaced-forwards.js';
import { keepsOwn } from '../../values/uses/escapes.js';

/** A function that is set as the forward of something else, and keeps what it computes there. */
interface Replacement {
  readonly name: string;
  /** Empty where not all files were looked into. */
  readonly file: string;
}

/** `Net.forward = run`, where `run` keeps what it computes in the network that runs it. */
export const keepingReplacement = remembered((module: PyModule): Replacement | undefined => {
  const set = [module.alone.memo(namesSet, module.alone)];
  for (const word of ['forward', 'setattr']) {
    const others = summariesTogether(module, { word, beside: [] }, namesSet);
    if (others === undefined) return { name: word, file: '' };
    set.push(...others);
  }
  for (const name of new Set(set.flat())) {
    if (keepsIn(module.alone, name)) return { name, file: module.path };
    const files = summariesTogether(module, { word: name, beside: [], needs: [`def ${name}`] }, keepsIn);
    const file = files === undefined ? '' : files.find((each) => each !== undefined);
    if (file !== undefined) return { name, file };
  }
  return undefined;
});

/** The file, where it has a function of this name that keeps what it computes with the object which it gets first. */
function keepsIn(alone: PyModule, name: string): string | undefined {
  return functionsByName(alone, name).some((each) => keepsOwn(alone, each)) ? alone.path : undefined;
}

/** The names in what a file sets as a forward. */
function namesSet(alone: PyModule): readonly string[] {
  const names = forwardsSet(alone).flatMap((value) =>
    [...value.walk()].filter(({ type }) => type === 'identifier'),
  );
  return [...new Set(names.map(({ text }) => text))];
}
