import { row } from '../../library/library.js';
import { attributeValues } from '../../semantic/attributes.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsOf, reachedFrom } from '../../semantic/reach.js';
import { argumentsOf, enclosingClass, hasSplat } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { mayHaveForward, runsInForward } from '../../torch/module/modules.js';

/** How many arguments a call gives. */
export interface Given {
  readonly positional: number;
  readonly all: number;
  readonly isSpread: boolean;
}

export function givenBy(call: PyNode): Given {
  const given = argumentsOf(call);
  const positional = given.filter(({ type }) => type !== 'keyword_argument').length;
  return { positional, all: given.length, isSpread: hasSplat(call) };
}

/** What the forwards of a project run that is not code of their class. */
interface ForwardFacts {
  /** Calls of what they hold or are given: `self.op(u, x)`, where `op` is an argument of the constructor. */
  readonly runs: readonly Given[];
  /** Something is assigned to `.forward` of an object or a class. */
  readonly isReplaced: boolean;
}

/** Of this file and of the other files of the project; undefined where those are too many. */
export function forwardFacts(module: PyModule): ForwardFacts | undefined {
  return module.memo(findFacts, module);
}

function findFacts(module: PyModule): ForwardFacts | undefined {
  const others = module.around.summaries({ word: 'forward', beside: [] }, factsIn);
  const called = module.around.summaries({ word: '__call__', beside: [] }, factsIn);
  if (others === undefined || called === undefined) return undefined;
  const all = [module.alone.memo(factsIn, module.alone), ...others, ...called];
  return { runs: all.flatMap(({ runs }) => runs), isReplaced: all.some(({ isReplaced }) => isReplaced) };
}

function factsIn(module: PyModule): ForwardFacts {
  const isReplaced = module.wordsSet('.forward').some(({ parent }) => {
    const assignment = parent?.parent;
    return assignment?.type === 'assignment' && assignment.left === parent;
  });
  if (!mayHaveForward(module.text)) return { runs: [], isReplaced };
  const methods = functionsOf(module).filter(
    (each) => enclosingClass(each) !== undefined && runsInForward(module, each),
  );
  return { runs: methods.flatMap((method) => heldRuns(module, method)), isReplaced };
}

/** Calls of values that a function was given or holds. */
function heldRuns(module: PyModule, functionNode: PyNode): readonly Given[] {
  return [...functionNode.walk()].flatMap((call) => {
    if (call.type !== 'call') return [];
    if (runsGiven(module, call)) return [ANYTHING];
    return runsValue(module, call) ? [givenBy(call)] : [];
  });
}

/** What runs when an object is gone through. */
export const ITERATED: ReadonlySet<string> = new Set(['__iter__', '__next__', '__getitem__', '__getitems__']);

/** Calls of what is held where something is gone through: `self.transform(x)` of a dataset. Undefined where too many files would have to be looked into. */
export function iterationRuns(module: PyModule): readonly Given[] | undefined {
  return module.memo(findIterationRuns, module);
}

function findIterationRuns(module: PyModule): readonly Given[] | undefined {
  const found: Given[] = [...module.alone.memo(iterationRunsIn, module.alone)];
  for (const word of ITERATED) {
    const files = module.around.summaries({ word, beside: [] }, iterationRunsIn);
    if (files === undefined) return undefined;
    found.push(...files.flat());
  }
  return found;
}

function iterationRunsIn(module: PyModule): readonly Given[] {
  if (!module.mentions(/\bdef[\s\\]+__(?:iter|next|getitems?)__/)) return [];
  return functionsOf(module).flatMap((each) => {
    if (!ITERATED.has(each.name?.text ?? '')) return [];
    return [each, ...reachedFrom(module, each)].flatMap((inside) => heldRuns(module, inside));
  });
}

/** What a library gives to what it runs. */
const ANYTHING: Given = { positional: 0, all: 0, isSpread: true };

/** `checkpoint(self.rule, x)`: a function of a library, unless its row says what it gives, may run what it is handed by name. */
export function runsGiven(module: PyModule, call: PyNode): boolean {
  const path = call.function && qualifiedName(module, call.function);
  if (path === undefined || row(path)?.gives !== undefined || path.startsWith('torch.distributions.'))
    return false;
  return argumentsOf(call).some((each) => mayBeFunction(module, each.value ?? each));
}

function mayBeFunction(module: PyModule, value: PyNode): boolean {
  if (value.type === 'attribute')
    return attributeValues(module, value)?.some(({ type }) => type !== 'call') ?? false;
  return value.type === 'identifier' && module.resolve(value) !== undefined;
}

/** A value is called that something else put there, and that may be a function. */
function runsValue(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined || calledDefinition(module, call) !== undefined) return false;
  if (qualifiedName(module, callee) !== undefined) return false;
  if (callee.type === 'identifier') return module.resolve(callee) !== undefined;
  if (callee.type !== 'attribute') return callee.type !== 'call';
  const values = attributeValues(module, callee);
  // A method of another object is looked for by its name.
  return values?.some(({ type }) => type !== 'call') ?? false;
}
