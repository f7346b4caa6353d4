import { isNamedAnywhere } from '../../semantic/anywhere.js';
import { attributeValues } from '../../semantic/attributes.js';
import { nameOf } from '../../semantic/called-name.js';
import { definitionBehind } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { callOf, functionUses } from '../../semantic/function-uses.js';
import { placeOf } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { carriersOf } from '../../semantic/name-flow.js';
import { isNotebook, isOfProgramOnly } from '../../semantic/program.js';
import { mayBeReadElsewhere } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import { functionsOf } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import {
  calleeOf,
  contextManagers,
  decoratorsOf,
  enclosingFunction,
  enclosingWiths,
  rootOf,
  statementOf,
} from '../../semantic/statements.js';
import { isTestCode } from '../../semantic/test-code.js';
import { type UsesElsewhere, usesElsewhere } from '../../semantic/uses-elsewhere.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { gradModeOf } from '../value/gradient.js';
import { gradUsesIn, reachesGradUse } from './grad.js';

/** Names that say it, also of other people's decorators and context managers (`smart_inference_mode`). */
const SAYS_GRAD_OFF = /no_?grad|inference_?mode|disable_?grad|without_?grad/i;

/** An expression that may turn gradients off, as a decorator or behind `with`; a conditional one counts. */
function mayTurnGradOff(module: PyModule, expression: PyNode): boolean {
  const mode = gradModeOf(module, expression);
  if (mode !== undefined) return mode === 'off';
  if (SAYS_GRAD_OFF.test(module.codeOf(expression))) return true;
  if (isNamedGradOff(module, expression)) return true;
  const definition = definitionBehind(module, calleeOf(expression));
  return definition?.type === 'function_definition' && SAYS_GRAD_OFF.test(module.codeOf(definition));
}

/** `context = torch.no_grad() if … else nullcontext()`. */
function isNamedGradOff(module: PyModule, identifier: PyNode): boolean {
  return waysGiven(module, identifier).some(
    (way) => way.kind === 'value' && SAYS_GRAD_OFF.test(module.codeOf(way.value)),
  );
}

/** The function hands a context that turns gradients off to an exit stack. */
export function entersGradOff(module: PyModule, functionNode: PyNode): boolean {
  return module
    .atWithin('enter_context', functionNode)
    .some((node) => SAYS_GRAD_OFF.test(node.closest('call')?.text ?? ''));
}

/**
 * The node may run with gradients off, for sure, by a condition or going by names: `with` around it, or a decorator of a
 * function around it. For staying away from what somebody has seen to; the proof is `recordsNoGraph`.
 */
export function isGradOff(module: PyModule, node: PyNode): boolean {
  if (hasGradOffDecorator(module, node)) return true;
  const block = (at: PyNode): boolean =>
    enclosingWiths(at).some((each) =>
      contextManagers(each).some((manager) => mayTurnGradOff(module, manager)),
    );
  if (block(node)) return true;
  for (let at = enclosingFunction(node); at !== undefined; at = enclosingFunction(at))
    if (block(at)) return true;
  return false;
}

/** A decorator of this function or of one around it turns gradients off. */
function hasGradOffDecorator(module: PyModule, node: PyNode): boolean {
  const start = node.type === 'function_definition' ? node : enclosingFunction(node);
  for (let at = start; at !== undefined; at = enclosingFunction(at)) {
    if (decoratorsOf(at).some((decorator) => mayTurnGradOff(module, decorator))) return true;
  }
  return false;
}

/** A bare `torch.set_grad_enabled(False)` somewhere in the file: what runs after it has no gradients. */
export const switchesGradOff = remembered((module: PyModule): boolean => {
  const bare = module.at('set_grad_enabled').some((node) => {
    const call = node.closest('call');
    return call?.parent?.type === 'expression_statement' && mayTurnGradOff(module, call);
  });
  return bare || module.at('.__enter__').some((node) => SAYS_GRAD_OFF.test(node.closest('call')?.text ?? ''));
});

/** Every use in the file runs under no-grad, there is one, and no other file is seen to run it otherwise: its callers have seen to it. */
export function onlyRunsGradOff(module: PyModule, functionNode: PyNode): boolean {
  const reached = new Set([functionNode]);
  let isGradOffSomewhere = false;
  for (const called of reached) {
    const uses = functionUses(module, called);
    if (uses.length === 0) return false;
    for (const use of uses) {
      const caller = enclosingFunction(use);
      if (isGradOff(module, use)) isGradOffSomewhere = true;
      else if (caller === undefined) return false;
      else reached.add(caller);
    }
  }
  return isGradOffSomewhere && ![...reached].some((called) => module.memo(runsElsewhere, called));
}

/** Another file surely calls the function, and neither there nor around its caller are gradients seen to be off. */
function runsElsewhere(module: PyModule, functionNode: PyNode): boolean {
  const name = functionNode.name;
  if (name === undefined) return false;
  const { uses } = usesElsewhere(module, name, { may: () => true, byName: false });
  return uses.some(({ module: there, node, isCertain }) => {
    if (!isCertain || callOf(node) === undefined || isTestCode(there, node)) return false;
    if (switchesGradOff(there) || isGradOff(there, node)) return false;
    const caller = enclosingFunction(node);
    return caller === undefined || !onlyRunsGradOff(there, caller);
  });
}

/** A caller in the file that differentiates what the function hands back. */
export function differentiatingCaller(module: PyModule, functionNode: PyNode): PyNode | undefined {
  for (const use of functionUses(module, functionNode)) {
    const caller = enclosingFunction(use);
    if (caller !== undefined && differentiates(module, caller, use)) return caller;
  }
  return undefined;
}

/** A function of the file that differentiates what is found under the name of a place that it may see: `self.loss`, `losses`. */
export function differentiatingReader(
  module: PyModule,
  functionNode: PyNode,
  place: PyNode,
): PyNode | undefined {
  const name = nameOf(place);
  if (name === '' || isOfOwn(module, functionNode, place)) return undefined;
  const readers = module.memo(differentiatingReaders, name);
  return readers.find((reader) => reader !== functionNode && !functionNode.contains(reader));
}

/** A variable of the function itself: what others call alike is another one, unless they gave it. */
function isOfOwn(module: PyModule, functionNode: PyNode, place: PyNode): boolean {
  const root = rootOf(place);
  return (
    root.type === 'identifier' &&
    functionNode.type === 'function_definition' &&
    module.resolve(root) === module.scopeOf(functionNode) &&
    waysGiven(module, root).every(({ kind }) => kind !== 'parameter')
  );
}

function differentiatingReaders(module: PyModule, name: string): readonly PyNode[] {
  return functionsOf(module).filter((reader) => {
    const uses = module.atWithin(name, reader).filter((node) => node.text === name);
    return uses.some((use) => differentiates(module, reader, use));
  });
}

/** Names that get the value of `origin`, or of each other, and end in a statement that differentiates. */
export function differentiates(module: PyModule, caller: PyNode, origin: PyNode): boolean {
  const uses = gradUsesIn(module, caller);
  if (uses.length === 0) return false;
  const carries = carriersOf(module, caller, origin);
  return uses.some(({ node }) => carries(statementOf(node)));
}

/**
 * Where the function, or one that runs it, is called inside an `autocast` block of code that trains. Up to torch 2.9 a weight
 * that is cast under no-grad stays in autocast's cache without its gradient for the rest of the block.
 */
export function trainingAutocastAround(module: PyModule, functionNode: PyNode): string | undefined {
  return isNamedAnywhere(module, 'autocast')
    ? autocastAround({ module, node: functionNode }, new Set())
    : undefined;
}

const MOST_CALLERS = 64;

function autocastAround({ module, node }: Elsewhere, seen: Set<PyNode>): string | undefined {
  if (seen.has(node)) return undefined;
  if (seen.size > MOST_CALLERS) return 'one of its many callers may run it';
  seen.add(node);
  const others = node.name && usesElsewhere(module, node.name, { may: () => true, byName: false });
  const own = functionUses(module, node).map((use) => ({ module, node: use }));
  const uses: readonly Elsewhere[] = [...own, ...(others?.uses ?? [])];
  const found = uses.find((use) => isInTrainingAutocast(use.module, use.node));
  if (found !== undefined)
    return own.includes(found) && seen.size === 1
      ? 'it runs'
      : `${placeOf(found.module, found.node)} runs it`;
  for (const use of uses) {
    const caller = enclosingFunction(use.node);
    const around = caller && autocastAround({ module: use.module, node: caller }, seen);
    if (around !== undefined) return around;
  }
  return others?.unread && `${others.unread} may run it`;
}

/** Other files of the project that use the function and run code in another way than Python does by itself. */
export const usesInOtherModes = remembered((module: PyModule, functionNode: PyNode): UsesElsewhere => {
  const name = functionNode.name;
  if (name === undefined) return { uses: [], unread: undefined };
  return usesElsewhere(module, name, { may: mayChangeMode, literals: ['autocast', 'jit'], byName: false });
});

function mayChangeMode(text: string): boolean {
  return /autocast|\bjit\b/.test(text);
}

function isInTrainingAutocast(module: PyModule, use: PyNode): boolean {
  const caller = enclosingFunction(use);
  const isCast =
    enclosingWiths(use)
      .flatMap(contextManagers)
      .some((manager) => isAutocast(module, manager)) ||
    decoratorsOf(caller ?? use).some((each) => module.codeOf(each).includes('autocast'));
  return isCast && (caller === undefined || reachesGradUse(module, caller));
}

/** `torch.autocast("cuda")`, and `context` of `context = nullcontext() if … else torch.autocast("cuda")`. */
export function isAutocast(module: PyModule, manager: PyNode): boolean {
  const values = manager.type === 'attribute' ? (attributeValues(module, manager) ?? []) : [];
  const given = waysGiven(module, manager).flatMap((way) => (way.kind === 'value' ? way.value : []));
  return [manager, ...values, ...given].some((each) => module.codeOf(each).includes('autocast'));
}

/** Whether others may read a variable of the module: whoever has the notebook open, or a file that imports this one. */
export function mayBeReadOutside(module: PyModule, name: string): boolean {
  return isNotebook(module) || (!isOfProgramOnly(module, name) && mayBeReadElsewhere(module, name));
}

/** The question whether anybody outside of what is seen differentiates a variable of a module. */
export function onlyReadOutside(module: PyModule, name: string): Question {
  return isNotebook(module)
    ? onlyReadInNotebook([name])
    : ask('only-read')`Is \`${name}\` ${ONLY_READ} in files that import it?`;
}

/** The same about several variables of a notebook. */
export function onlyReadInNotebook(names: readonly string[]): Question {
  const [last, ...others] = [...names].reverse();
  const quoted = others.reverse().map((name) => `\`${name}\``);
  if (quoted.length === 0)
    return ask('only-read')`Is \`${last}\` ${ONLY_READ} by whoever has the notebook open?`;
  const all = `${quoted.join(', ')} and \`${last}\``;
  return ask('only-read')`Are ${all} ${ONLY_READ} by whoever has the notebook open?`;
}
