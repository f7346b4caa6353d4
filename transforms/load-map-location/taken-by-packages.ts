import { packageOf, row } from '../../src/library/library.js';
import { SAVE } from '../../src/library/names.js';
import { TAKES_SETTINGS } from '../../src/library/paths.js';
import { definitionNamed } from '../../src/semantic/definitions.js';
import { mayBeOfProject } from '../../src/semantic/elsewhere.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf } from '../../src/semantic/statements.js';
import { writesOf } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

/** What a call of a package gives of a container that it is handed; undefined where it may do more with it. */
export function takenAs(module: PyModule, call: PyNode, path: string): 'itself' | 'nothing' | undefined {
  if (path === SAVE || givesPlain(path)) return 'nothing';
  if (handsCode(module, call)) return undefined;
  if (TAKES_SETTINGS.test(path)) return 'nothing';
  const isItself = packageOf(path)?.gives === 'arguments' && !/^(?:functools|pandas)\./.test(path);
  return isItself ? 'itself' : undefined;
}

/** Whether a call is given a function of the project, which it may run on what else it is given. */
export function handsCode(module: PyModule, call: PyNode): boolean {
  return argumentsOf(call).some((argument) => {
    const value = argument.value ?? argument;
    return (
      value.type === 'lambda' || (value.type === 'identifier' && definitionNamed(module, value) !== undefined)
    );
  });
}

function givesPlain(path: string): boolean {
  return (row(path) ?? packageOf(path))?.gives === 'plain' && !path.startsWith('argparse.');
}

/** `axes` of `figure, axes = pyplot.subplots()`, and what that has. */
export function isOfPackage(module: PyModule, object: PyNode | undefined): boolean {
  let root = object;
  while (root !== undefined && root.type !== 'identifier') root = root.object ?? root.value;
  const writes = writesOf(module, root);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const made = write.closest('assignment')?.right;
      const path = made?.type === 'call' ? calledPath(module, made) : undefined;
      return path !== undefined && !mayBeOfProject(module, path) && givesPlain(path);
    })
  );
}
