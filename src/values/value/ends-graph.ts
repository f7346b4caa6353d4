import { cutsGraph } from '../../library/library.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { basesOf, classAround } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { isRedefined } from '../../semantic/project-names.js';
import { remembered } from '../../semantic/remembered.js';
import { isTarget } from '../../semantic/statements.js';

/**
 * Whether a method or an attribute of this name ends the graph of whatever has it: torch's does, and the project has no class with a
 * method of its own by that name, nor one that a forward makes and that holds a tensor by it.
 */
export function endsGraph(module: PyModule, name: string): boolean {
  return cutsGraph(name) && !isRedefined(module, name) && !isFieldOfOutput(module, name);
}

/** Whether a network may hand out objects of the project that hold something by this name: `self.shape = coefficients`. */
export const isFieldOfOutput = remembered((module: PyModule, name: string): boolean => {
  const mention = { word: name, beside: [], needs: [`.${name}`, `${name}:`, `${name} :`] };
  const others = module.around.summaries(mention, holdersIn);
  if (others === undefined) return true;
  const holders = new Set([...holdersIn(module.alone, name), ...others.flat()]);
  return [...holders].some((holder) => isAnywhere(module, holder, isMadeByForward));
});

/** The classes that set an attribute, or declare a field, of a name; a dataset, or a network, is nothing that a forward makes. */
function holdersIn(alone: PyModule, name: string): readonly string[] {
  return alone.words(name).flatMap((node) => {
    const classNode = node.closest('class_definition');
    const place = node.parent?.attribute === node ? node.parent : node;
    const isOwn =
      place === node
        ? alone.resolve(node)?.node === classNode
        : place.object?.text === classAround(node)?.self;
    if (classNode === undefined || !isOwn || !isTarget(place)) return [];
    const bases = basesOf(classNode).map(({ text }) => text);
    return bases.some((base) => /(?:Dataset|Module)$/.test(base)) ? [] : (classNode.name?.text ?? []);
  });
}

function isMadeByForward({ code }: PyModule, name: string): boolean {
  return /\bdef[ \t]+forward\b/.test(code) && new RegExp(`\\b${name}[ \\t]*\\(`).test(code);
}
