import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';

/** Code that a test runner runs: what it passes is what it is about. */
export function isTestCode(module: PyModule, node: PyNode): boolean {
  const parts = module.path.split(/[\\/]/);
  const file = parts.pop() ?? '';
  if (/^(?:test_.*|.*_test|conftest)\.py$/.test(file) || parts.some((part) => /^tests?$/.test(part)))
    return true;
  for (const ancestor of node.ancestors()) {
    const name = ancestor.field('name')?.text ?? '';
    if (ancestor.type === 'function_definition' && /^test(?:_|[A-Z])/.test(name)) return true;
    if (ancestor.type === 'class_definition' && /^Test[A-Z]|Tests?$|TestCase$|Tester$/.test(name))
      return true;
  }
  return false;
}
