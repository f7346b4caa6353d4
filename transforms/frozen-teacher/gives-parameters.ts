import { placeOf } from '../../src/semantic/gate.js';
import type { PyModule } from '../../src/semantic/module.js';

/** What speaks of parameters, parts or optimizers: who calls a method that does may get them. */
const SPEAKS =
  /\b(?:parameters|modules|children|weight|bias|optim\w*|grad|backward|step|_parameters|setattr|getattr)\b/;

/** Why a method of the project that goes by this name may train the object, or hand out its parameters. */
export function givesParameters(module: PyModule, name: string): string | undefined {
  const own = module.alone.memo(speakingOf, name);
  if (own !== undefined) return own;
  const found = module.around.summaries({ word: name, beside: [] }, speakingOf);
  return found === undefined ? 'many files have such a method' : found.find((place) => place !== undefined);
}

function speakingOf(alone: PyModule, name: string): string | undefined {
  const found = alone.words(name).find((node) => {
    const definition = node.parent;
    return (
      definition?.type === 'function_definition' &&
      definition.name === node &&
      SPEAKS.test(alone.codeOf(definition))
    );
  });
  return found && `${placeOf(alone, found)} has such a method`;
}
