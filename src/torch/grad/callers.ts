import type { Elsewhere } from '../../semantic/elsewhere.js';
import {
  callOf,
  functionUses,
  isReachedByText,
  type Part,
  partReturned,
  targetOf,
} from '../../semantic/function-uses.js';
import { placeOf } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { isInstallable, isNotebook, isProgram } from '../../semantic/program.js';
import { ask } from '../../semantic/question.js';
import { enclosingFunction, isCallee } from '../../semantic/statements.js';
import { type Look, type UsesElsewhere, usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { usesOf } from '../../values/index.js';
import type { Fate } from '../../values/uses/record-fate.js';
import { ONLY_READ } from '../questions.js';
import type { GradDoubt } from './doubts.js';

/** From caller to caller, this far. */
const MAX_HOPS = 3;

/** Without one of these words nothing is differentiated. */
export function mayDifferentiate(text: string): boolean {
  return /backward|grad|closure|optimi[sz]e|minimi[sz]e|adapt|step/.test(text);
}

/** What the callers in other files of the project do with what a function hands back. */
export interface Callers {
  /** One of them differentiates it, or seems to. */
  readonly doubt: GradDoubt | undefined;
  /** Some of them could not be looked into. */
  readonly unread: GradDoubt | undefined;
}

/** `part`: only of this one, where callers take them apart. */
export function callersElsewhere(module: PyModule, functionNode: PyNode, part?: Part): Callers {
  return part === undefined
    ? module.memo(findCallers, functionNode)
    : findCallers(module, functionNode, part);
}

interface Caller {
  readonly module: PyModule;
  readonly functionNode: PyNode;
  readonly isCertain: boolean;
}

function findCallers(module: PyModule, functionNode: PyNode, part?: Part): Callers {
  const name = functionNode.name?.text ?? '';
  const seen = new Set<PyNode>();
  let doubt: GradDoubt | undefined;
  let unread: GradDoubt | undefined;
  let callers: readonly Caller[] = [{ module, functionNode, isCertain: true }];
  for (let hops = 0; hops < MAX_HOPS && callers.length > 0; hops++) {
    const next: Caller[] = [];
    for (const caller of callers) {
      if (seen.has(caller.functionNode)) continue;
      seen.add(caller.functionNode);
      const { uses, unread: left } = usesOfCaller(caller, hops > 0);
      if (left !== undefined)
        unread ??= {
          answer: 'unknown',
          otherwise: ask('returned-only-read')`Is what \`${name}\` returns ${ONLY_READ} in ${left}?`,
        };
      for (const { module: there, node, isCertain } of uses) {
        const certain = caller.isCertain && isCertain;
        for (const fate of fatesOfCall(there, node, hops === 0 ? part : undefined)) {
          const place = placeOf(there, fate.node);
          if (fate.kind === 'differentiated') {
            const otherwise = `${place} differentiates what it returns`;
            if (certain) return { doubt: { answer: 'no', otherwise }, unread };
            doubt ??= {
              answer: 'unknown',
              otherwise: ask(
                'another-function',
              )`Does ${place}, which differentiates what it gets from \`${name}\`, call another \`${name}\` than this one?`,
            };
          }
          const around = fate.kind === 'returned' ? enclosingFunction(fate.node) : undefined;
          if (around !== undefined) next.push({ module: there, functionNode: around, isCertain: certain });
        }
      }
    }
    callers = next;
  }
  return { doubt, unread };
}

/** A value that is returned: callers make numbers and texts of it, and nobody outside the project is one. */
export function isOnlyHandedToRead(module: PyModule, functionNode: PyNode, value: PyNode): boolean {
  return (
    value.closest('return_statement', 'function_definition')?.type === 'return_statement' &&
    (isProgram(module) || module.memo(trainsWhereItIsImported, module)) &&
    isOnlyReadByCallers(module, functionNode, partReturned(value))
  );
}

/** `loss.backward()` outside of all functions: a script, which nobody installs. */
function trainsWhereItIsImported(module: PyModule): boolean {
  const isRun = module.words('backward').some((node) => {
    const isCalled = node.parent?.attribute === node && isCallee(node.parent);
    return isCalled && node.closest('function_definition', 'class_definition', 'lambda') === undefined;
  });
  return (
    isRun && !isNotebook(module) && !/(?:^|[\\/])__init__\.py$/.test(module.path) && !isInstallable(module)
  );
}

/**
 * Somebody in the project calls the function, and whoever does makes only numbers and texts of what it hands back, or hands
 * it on to callers that do.
 */
export function isOnlyReadByCallers(module: PyModule, functionNode: PyNode, part?: Part): boolean {
  const seen = new Set<PyNode>();
  let callers: readonly Caller[] = [{ module, functionNode, isCertain: true }];
  for (let hops = 0; callers.length > 0; hops++) {
    const next: Caller[] = [];
    for (const caller of callers) {
      if (seen.has(caller.functionNode)) continue;
      seen.add(caller.functionNode);
      const { uses, unread } = usesOfCaller(caller, true, () => true);
      const isNamed = uses.filter(({ node }) => roleOf(node) !== 'import');
      const named = isNamed.map((use) => ({ ...use, calls: callsBy(use.module, use.node, 0) }));
      const isCalled = named.some(
        ({ isCertain, calls }) => isCertain && calls !== undefined && calls.length > 0,
      );
      if (hops > MAX_HOPS || unread !== undefined || !isCalled) return false;
      if (isReachedByText(caller.module, caller.functionNode)) return false;
      if (named.some(({ calls }) => calls === undefined)) return false;
      for (const { module: there, node } of named.flatMap(({ calls }) => calls ?? [])) {
        for (const fate of fatesOfCall(there, node, hops === 0 ? part : undefined)) {
          const around = fate.kind === 'returned' ? enclosingFunction(fate.node) : undefined;
          if (around === undefined) return false;
          next.push({ module: there, functionNode: around, isCertain: true });
        }
      }
    }
    callers = next;
  }
  return true;
}

/** How many names a function may get, one after the other. */
const MAX_NAMES = 2;

/**
 * The callees by which a use of a function runs it: itself, or the reads of a variable that it is given to
 * (`train = train_mask if masked else train_plain`). Undefined where others may get hold of it.
 */
function callsBy(module: PyModule, use: PyNode, names: number): readonly Elsewhere[] | undefined {
  if (callOf(use) !== undefined) return [{ module, node: use }];
  const value = use.parent?.attribute === use ? use.parent : use;
  const chosen = value.parent?.type === 'conditional_expression' ? value.parent : value;
  const target =
    chosen.parent?.type === 'assignment' && chosen.parent.right === chosen ? chosen.parent.left : undefined;
  const scope = target?.type === 'identifier' ? module.resolve(target) : undefined;
  if (target === undefined || scope === undefined || names === MAX_NAMES) return undefined;
  if (scope.kind !== 'function' && scope.kind !== 'module') return undefined;
  const elsewhere =
    scope === module.scope ? usesElsewhere(module, target, { may: () => true, byName: true }) : undefined;
  if (elsewhere?.unread !== undefined) return undefined;
  const reads = module.reads(scope, target.text).map((node) => ({ module, node }));
  const calls = [...reads, ...(elsewhere?.uses ?? [])]
    .filter(({ node }) => roleOf(node) !== 'import')
    .map((each) => callsBy(each.module, each.node, names + 1));
  return calls.includes(undefined) ? undefined : calls.flatMap((each) => each ?? []);
}

/** In its own file, where that is another one, and in others. */
function usesOfCaller(
  { module, functionNode }: Caller,
  isElsewhere: boolean,
  may: Look['may'] = mayDifferentiate,
): UsesElsewhere {
  const name = functionNode.name;
  const own = isElsewhere
    ? functionUses(module, functionNode).map((node) => ({ module, node, isCertain: true }))
    : [];
  if (name === undefined) return { uses: own, unread: undefined };
  const { uses, unread } = usesElsewhere(module, name, { may, byName: true });
  return { uses: [...own, ...uses], unread };
}

/** What becomes of the result, where the use is a call. */
function fatesOfCall(module: PyModule, use: PyNode, part: Part | undefined): readonly Fate[] {
  const call = callOf(use);
  if (call === undefined) return [];
  const target = part && targetOf(call, part);
  return target === undefined ? usesOf(module, call) : usesOf(module, target, 'target');
}
