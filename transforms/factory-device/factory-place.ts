import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import { repetitionOf } from '../../src/semantic/repetition.js';
import { enclosingFunction, isCallee, statementOf } from '../../src/semantic/statements.js';
import { lineLimit, widthOf } from '../../src/syntax/long-lines.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isNeeded } from '../../src/torch/record/needed.js';

/** Where programs keep a copy of their code with the results of one run. */
const SNAPSHOT =
  /(?:^|\/)(?:wandb\/run-|mlruns\/|lightning_logs\/|(?:backups?|checkpoints?|experiments?|exps?|logs?|outputs?|results?|runs?|snapshots?)\/(?:[^/]+\/)*[^/]*\d{2,}[^/]*\/)/;

/** A copy of the code beside the results of a run: nobody runs it again. */
export function isSnapshot(path: string): boolean {
  return SNAPSHOT.test(path);
}

/** `if __name__ == "__main__":`. In a library it tries out what stands above. */
export function isMainCode(node: PyNode): boolean {
  return [...node.ancestors()].some(
    (ancestor) =>
      ancestor.type === 'if_statement' &&
      /^__name__\s*==\s*["']__main__["']$/.test(ancestor.condition?.text ?? ''),
  );
}

/** What runs once in a program, or once for an object that is made: one wait less there is not worth a commit. */
export function runsOnce(module: PyModule, node: PyNode): boolean {
  const { kind } = repetitionOf(module, node);
  if (kind === 'once') return true;
  const around = enclosingFunction(node)?.name?.text ?? '';
  return kind === 'unseen' && /^__(?:init|post_init|new)__$/.test(around);
}

/** It is given, as it is or by its own methods, to a name of the function that nothing reads. */
export function isUnused(module: PyModule, made: PyNode): boolean {
  const owner = enclosingFunction(made);
  const statement = statementOf(made);
  const assignment = statement.named[0];
  let whole = made;
  while (whole.parent?.type === 'attribute' || (whole.parent?.type === 'call' && isCallee(whole)))
    whole = whole.parent;
  if (owner === undefined || assignment?.type !== 'assignment' || assignment.right !== whole) return false;
  return !isNeeded(module, owner, statement);
}

/** The `try` whose handlers hear of an error in an expression. */
export function tryAround(node: PyNode): PyNode | undefined {
  return [...node.ancestors()].find(
    (ancestor) =>
      ancestor.type === 'try_statement' &&
      ancestor.body?.contains(node) === true &&
      ancestor.named.some(({ type }) => type.startsWith('except')),
  );
}

/** How long lines of a file may be, going by the longest. */
export const longestLine = remembered(({ text }: PyModule): number => lineLimit(text));

/**
 * Whether its line is too long for its file once a call in an expression on one line has more keywords, and of some of its
 * parts only a part is left.
 */
export function isTooLong(
  module: PyModule,
  expression: PyNode,
  added: readonly (readonly [name: string, value: string])[],
  without: readonly (readonly [whole: PyNode, left: PyNode])[],
): boolean {
  const { line } = module.lines.position(expression.end);
  if (module.lines.position(expression.start).line !== line) return false;
  const more = added.reduce((sum, [name, value]) => sum + ', ='.length + name.length + value.length, 0);
  const less = without.reduce((sum, [whole, left]) => sum + whole.end - left.end, 0);
  const start = module.text.lastIndexOf('\n', expression.start - 1) + 1;
  return widthOf(module.text.slice(start, module.lines.end(line))) + more - less > longestLine(module);
}
