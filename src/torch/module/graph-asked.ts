import { DEEPCOPY } from '../../library/names.js';
import { isTried } from '../../semantic/catching.js';
import { placeOf, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { isCallee, isTarget, wholeName } from '../../semantic/statements.js';
import { onlyValue, waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';

const FACTS: ReadonlySet<string> = new Set(['requires_grad', 'grad_fn', 'is_leaf']);
const WORDS = [...FACTS, 'numpy', 'deepcopy'];

/**
 * Where the project asks whether a tensor that is no parameter has a graph: by its attributes, or by trying what a graph
 * forbids. Undefined where nobody does: then a graph that cannot be differentiated any more makes no difference.
 */
export const graphAsked = remembered((module: PyModule): string | undefined => {
  for (const word of WORDS) {
    const found = module.memo(askingInProject, word);
    if (found !== undefined) return found;
  }
  return undefined;
});

/** Where the project tries to copy something deeply: it goes another way where that holds a tensor with a graph. */
export function deepCopyTried(module: PyModule): string | undefined {
  return module.memo(askingInProject, 'deepcopy');
}

function askingInProject(module: PyModule, word: string): string | undefined {
  const own = askingNode(module.alone, word);
  if (own !== undefined) return `\`${shown(own.parent ?? own)}\``;
  const others = module.around.summaries({ word, beside: [] }, askingIn);
  if (others === undefined) return `one of the many files that name \`${word}\``;
  return others.find((place) => place !== undefined);
}

function askingIn(alone: PyModule, word: string): string | undefined {
  const node = askingNode(alone, word);
  return node && placeOf(alone, node);
}

function askingNode(alone: PyModule, word: string): PyNode | undefined {
  return alone.words(word).find((name) => asks(alone, name));
}

function asks(alone: PyModule, name: PyNode): boolean {
  const whole = wholeName(name);
  const isAttribute = whole !== name;
  if (FACTS.has(name.text))
    return isAttribute && !isTarget(whole) && !isParameter(alone, whole.object ?? whole);
  if (!isCallee(whole) || !isTried(alone, whole)) return false;
  return name.text === 'numpy' ? isAttribute : qualifiedName(alone, whole) === DEEPCOPY;
}

const PARAMETERS = /\.(?:named_)?parameters\(|\.param_groups\b|\[["']params["']\]/;

/** `p` of `for p in model.parameters()` and of `filter(lambda p: p.requires_grad, model.parameters())`: it keeps its flag. */
export function isParameter(alone: PyModule, object: PyNode): boolean {
  if (object.type !== 'identifier') return object.type !== 'attribute' && PARAMETERS.test(object.text);
  const lambda = object.closest('lambda', 'function_definition');
  if (lambda?.type === 'lambda' && PARAMETERS.test(lambda.parent?.text ?? '')) return true;
  const found = waysReaching(alone, object);
  return (
    found.length > 0 &&
    found.every((way) => {
      if (way.kind !== 'loop') return false;
      const names = [...way.iterable.walk()].filter(({ type }) => type === 'identifier');
      const values = names.flatMap((name) => onlyValue(alone, name) ?? []);
      return [way.iterable, ...values].some(({ text }) => PARAMETERS.test(text));
    })
  );
}
