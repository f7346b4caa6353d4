import { BY_TEXT } from '../../src/semantic/by-text.js';
import { isReachedByText } from '../../src/semantic/function-uses.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isInstallable, isNotebook } from '../../src/semantic/program.js';
import { remembered } from '../../src/semantic/remembered.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isReadElsewhere } from './read-by-name.js';

/** Whether a place lies in a function at the top of a file that nothing in the project names: what stands there never runs. */
export function isNeverCalled(module: PyModule, node: PyNode): boolean {
  return [...node.ancestors()].some(
    (each) => each.type === 'function_definition' && isUncalled(module, each),
  );
}

const isUncalled = remembered((module: PyModule, functionNode: PyNode): boolean => {
  const { name } = functionNode;
  if (name === undefined || module.resolve(name) !== module.scope) return false;
  if (isNotebook(module) || isInstallable(module) || module.mentions(TAKES_ALL)) return false;
  // A hook of a test runner, or of a server, by its name or by what is around it.
  if (/^(?:main|test|pytest|setup|teardown|__)/i.test(name.text)) return false;
  if (functionNode.parent?.type === 'decorated_definition') return false;
  const isNamed = module.words(name.text).some((word) => word !== name && !functionNode.contains(word));
  return !isNamed && !isReachedByText(module, functionNode) && !isReadElsewhere(module, name);
});

/** What finds the functions of a file by itself: a command line made of all of them, a look through a module. */
const TAKES_ALL = new RegExp(`${BY_TEXT.source}|\\b(?:[Ff]ire|CLI|getmembers|dispatch_commands|plac)\\b`);
