import { everywhere } from '../../semantic/companions.js';
import { shown } from '../../semantic/gate.js';
import type { PyModule } from '../../semantic/module.js';
import { ask, type Question } from '../../semantic/question.js';
import { isTarget, wholeName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { operatorCalls } from '../value/operators.js';
import type { GradTrace } from '../value/trace.js';

/** Where a method of this name keeps what it is given. */
type Keeper = (module: PyModule, name: string) => string | undefined;

/** `kept >> y`, of a class of the project whose `__rshift__` may keep what it is given. */
export function keptByOperator(
  module: PyModule,
  node: PyNode,
  trace: GradTrace,
  keeperNamed: Keeper,
): Question | undefined {
  for (const { name, given } of operatorCalls(module, node)) {
    const keeper = trace.of(given) === 'graph' ? operatorKeeping(module, name, keeperNamed) : undefined;
    if (keeper !== undefined)
      return ask(
        'kept-only-read',
      )`Is \`${shown(given)}\`, which \`${shown(node)}\` may keep (${keeper}), ${ONLY_READ}?`;
  }
  return undefined;
}

function operatorKeeping(module: PyModule, name: string, keeperNamed: Keeper): string | undefined {
  const names = new Set([name]);
  for (const each of names) {
    const keeper = keeperNamed(module, each);
    if (keeper !== undefined) return keeper;
    for (const other of everywhere(module, each, otherNames)?.flat() ?? ['']) {
      if (other === '') return `\`${each}\``;
      names.add(other);
    }
  }
  return undefined;
}

/** `__add__` of `__radd__ = __add__`; empty where it is something else. */
function otherNames(alone: PyModule, name: string): readonly string[] {
  return alone.words(name).flatMap((node) => {
    const value = isTarget(wholeName(node)) ? node.closest('assignment')?.right : undefined;
    if (value === undefined || value.type === 'none') return [];
    return value.type === 'identifier'
      ? [value.text]
      : value.type === 'assignment'
        ? [value.left?.text ?? '', value.right?.text ?? '']
        : [''];
  });
}
