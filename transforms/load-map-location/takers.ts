import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import {
  callOf,
  functionUses,
  isReachedByText,
  partReturned,
  targetOf,
} from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isInstallable } from '../../src/semantic/program.js';
import { givesReturned } from '../../src/semantic/returns.js';
import { enclosingClass, enclosingFunction } from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';

interface Taker extends Elsewhere {
  readonly call: PyNode;
}

/** What gets a value that a function returns: its calls, or a variable of theirs. Undefined where that does not show, or others may call it. */
export function takersOf(module: PyModule, returned: PyNode): readonly Taker[] | undefined {
  const giver = enclosingFunction(returned);
  if (giver?.type !== 'function_definition' || giver.name === undefined || !givesReturned(giver))
    return undefined;
  if (enclosingClass(giver) !== undefined || isInstallable(module) || isReachedByText(module, giver))
    return undefined;
  const { uses, unread } = usesElsewhere(module, giver.name, { may: () => true, byName: true });
  const all = [...functionUses(module, giver).map((node) => ({ module, node })), ...uses];
  if (unread !== undefined || all.length === 0) return undefined;
  const part = partReturned(returned);
  const takers: Taker[] = [];
  for (const { module: there, node } of all) {
    const call = callOf(node);
    // Where nobody takes it, it is there for others.
    if (call?.parent?.type === 'expression_statement') return undefined;
    const target = call && part && targetOf(call, part);
    if (call === undefined || (part !== undefined && target?.type !== 'identifier')) return undefined;
    takers.push({ module: there, node: target ?? call, call });
  }
  return takers;
}
