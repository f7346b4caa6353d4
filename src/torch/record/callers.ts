import type { PyModule } from '../../semantic/module.js';
import { enclosingFunction } from '../../semantic/statements.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { placeOf } from '../gate.js';
import type { GradDoubt } from '../grad/doubts.js';
import { usesOf } from '../grad/mode.js';
import { type Fate, fatesAt } from './record-fate.js';

/** From caller to caller, this far. */
const MAX_HOPS = 3;

/** Without one of these words nothing is differentiated. */
function mayDifferentiate(text: string): boolean {
  return /backward|grad|closure|optimi[sz]e|minimi[sz]e|adapt|step/.test(text);
}

/**
 * Whether the callers in other files of the project leave what a function hands back undifferentiated, as far as they show:
 * they do not, they may not, or there was no looking at all of them. Undefined where nothing speaks against it.
 */
export function callersElsewhere(module: PyModule, functionNode: PyNode): GradDoubt | undefined {
  return module.memo(findCallers, functionNode);
}

interface Caller {
  readonly module: PyModule;
  readonly functionNode: PyNode;
  readonly isCertain: boolean;
}

function findCallers(module: PyModule, functionNode: PyNode): GradDoubt | undefined {
  const name = functionNode.field('name')?.text ?? '';
  const seen = new Set<PyNode>();
  let doubt: GradDoubt | undefined;
  let callers: readonly Caller[] = [{ module, functionNode, isCertain: true }];
  for (let hops = 0; hops < MAX_HOPS && callers.length > 0; hops++) {
    const next: Caller[] = [];
    for (const caller of callers) {
      if (seen.has(caller.functionNode)) continue;
      seen.add(caller.functionNode);
      const { uses, unread } = usesOfCaller(caller, hops > 0);
      if (unread !== undefined)
        doubt ??= { answer: 'unknown', words: `that what it returns is not differentiated in ${unread}` };
      for (const { module: there, node, isCertain } of uses) {
        const certain = caller.isCertain && isCertain;
        for (const fate of fatesOfCall(there, node)) {
          const place = placeOf(there, fate.node);
          if (fate.kind === 'differentiated') {
            if (certain) return { answer: 'no', words: `${place} differentiates what it returns` };
            doubt ??= {
              answer: 'unknown',
              words: `that ${place}, which differentiates what it gets from \`${name}\`, means another one`,
            };
          }
          const around = fate.kind === 'returned' ? enclosingFunction(fate.node) : undefined;
          if (around !== undefined) next.push({ module: there, functionNode: around, isCertain: certain });
        }
      }
    }
    callers = next;
  }
  return doubt;
}

/** In its own file, where that is another one, and in others. */
function usesOfCaller({ module, functionNode }: Caller, isElsewhere: boolean) {
  const name = functionNode.field('name');
  const own = isElsewhere
    ? usesOf(module, functionNode).map((node) => ({ module, node, isCertain: true }))
    : [];
  if (name === undefined) return { uses: own, unread: undefined };
  const { uses, unread } = usesElsewhere(module, name, mayDifferentiate);
  return { uses: [...own, ...uses], unread };
}

/** What becomes of the result, where the use is a call. */
function fatesOfCall(module: PyModule, use: PyNode): readonly Fate[] {
  const callee = use.type === 'identifier' && use.parent?.field('attribute') === use ? use.parent : use;
  const call = callee.parent;
  return call?.type === 'call' && call.field('function') === callee ? fatesAt(module, [call]) : [];
}
