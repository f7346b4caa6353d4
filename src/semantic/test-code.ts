import type { PyNode } from '../syntax/node.js';
import { basesOf } from './definitions.js';
import type { PyModule } from './module.js';

const TEST_PLACE = /(?:^|[\\/])(?:tests?[\\/](?:.*[\\/])?[^\\/]+|test_[^\\/]*|[^\\/]*_test|conftest)\.py$/;
const TEST_WORDS =
  /^[ \t]*(?:(?:import|from)[ \t]+(?:unittest|pytest)\b|class[ \t]+\w+\([^)]*(?<!\w)(?:Test(?!er)|\w*Tests?\b|\w*TestCase))/m;
/** Where nothing is checked, a `TestDataset` and the like are for the evaluation of a model. */
const TEST_CLASS = /^[ \t]*class[ \t]+\w*Test(?!er\b)/m;
const TEST_METHOD = /^[ \t]+(?:async[ \t]+)?def[ \t]+test/m;
/** What a function is given is asked for its type anywhere. */
const CHECKS = /\bassert(?![ \t(]+isinstance\b)/;
const TEST_FUNCTION = /^[ \t]*(?:async[ \t]+)?def[ \t]+test_/m;
/** No runner would know what to give the others. */
const BARE_TEST = /^[ \t]*(?:async[ \t]+)?def[ \t]+test_\w*\(\s*(?:self\s*)?\)/m;
/** What a program has that evaluates something, and no file that a runner imports. */
const READS_COMMAND_LINE = /\.parse_args\(/;

/** A file of tests: it lies where tests lie and has one. A script in a folder called `test` is not yet a test. */
export function isTestFile(path: string, text: string): boolean {
  if (!TEST_PLACE.test(path)) return false;
  if (TEST_WORDS.test(text)) return true;
  if (TEST_CLASS.test(text) && (CHECKS.test(text) || TEST_METHOD.test(text))) return true;
  if (TEST_FUNCTION.test(text) && /\bassert/.test(text)) return true;
  return BARE_TEST.test(text) && !READS_COMMAND_LINE.test(text);
}

/** In a file of tests, or in a function or class that is one by its name. */
export function isTestCode(module: PyModule, node: PyNode): boolean {
  if (isTestFile(module.path, module.text)) return true;
  for (const ancestor of node.ancestors()) if (isTestByName(module, ancestor)) return true;
  return false;
}

const TEST_LIBRARY =
  /^[ \t]*(?:import|from)[ \t]+(?:\w+\.)*(?:unittest|pytest|testing\w*|absltest)\b|\bTestCase\b/m;

/** No runner finds `test_epoch(model, loader)` in a program; it evaluates a model, unless it checks something. */
function isCheck(module: PyModule, definition: PyNode): boolean {
  return (
    isTestFile(module.path, module.text) ||
    module.mentions(TEST_LIBRARY) ||
    /\bassert(?:\w*\(|\b)/.test(module.codeOf(definition))
  );
}

/** It checks something, or a runner finds tests beside it. */
function isRunnable(module: PyModule, classNode: PyNode): boolean {
  const code = module.codeOf(classNode);
  return TEST_METHOD.test(code) || CHECKS.test(code) || module.mentions(TEST_FUNCTION);
}

function isTestByName(module: PyModule, definition: PyNode): boolean {
  const name = /_definition$/.test(definition.type) ? (definition.name?.text ?? '') : '';
  if (definition.type === 'function_definition')
    return /^test(?:_|[A-Z])/.test(name) && isCheck(module, definition);
  if (module.mentions(TEST_LIBRARY)) return /^Test[A-Z]|Tests?$|TestCase$|Tester$/.test(name);
  // Where no library for tests is imported, a `Tester` evaluates a model, as a class does that has nothing for a runner.
  return (
    /^Test[A-Z]|Tests?$|TestCase$/.test(name) &&
    (basesOf(definition).length > 0 || isRunnable(module, definition))
  );
}
