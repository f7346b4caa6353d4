import { isMaker, ofTensor } from '../../src/library/library.js';
import { VARIABLE } from '../../src/library/names.js';
import { calledPath } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isForProgramOnly } from '../../src/semantic/program.js';
import {
  argumentsOf,
  argumentValue,
  methodName,
  ownCalls,
  receiverOf,
} from '../../src/semantic/statements.js';
import { waysReaching } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { IN_FILE, runsNetwork } from '../../src/torch/grad/runs.js';
import type { GradlessPart } from '../../src/torch/record/left-behind.js';
import { gradUseIn } from '../../src/values/effects/grad.js';

/** A file that is run by itself gives its network numbers that mean nothing, to see whether it works: right, and not worth a commit. */
export function isTryout(module: PyModule, { wrapped, owner, models }: GradlessPart): boolean {
  if (owner !== module.root || gradUseIn(module, owner) !== undefined) return false;
  if (!wrapped.every((each) => isForProgramOnly(module, each))) return false;
  const runs = wrapped.flatMap((statement) =>
    [...ownCalls(statement)].filter((call) =>
      models.some(({ text }) => runsNetwork(module, call, text, IN_FILE)),
    ),
  );
  const given = runs.flatMap((call) => argumentsOf(call).map(argumentValue));
  return given.some(({ type }) => !LITERALS.test(type)) && given.every((each) => isMadeUp(module, each));
}

const LITERALS = /^(?:integer|float|string|true|false|none)$/;

/** `torch.rand(1, 3, 64, 64)`, `Variable(torch.ones(4)).cuda()`, or a variable with nothing else. */
function isMadeUp(module: PyModule, value: PyNode, seen = new Set<PyNode>()): boolean {
  // `x = x.cuda()` in a loop
  if (LITERALS.test(value.type) || seen.has(value)) return true;
  seen.add(value);
  if (value.type === 'identifier') {
    const ways = waysReaching(module, value);
    return ways.length > 0 && ways.every((way) => way.kind === 'value' && isMadeUp(module, way.value, seen));
  }
  const path = value.type === 'call' ? calledPath(module, value) : undefined;
  if (path !== undefined) {
    const [wrapped] = VARIABLE.has(path) ? argumentsOf(value) : [];
    return wrapped === undefined ? isMaker(path) : isMadeUp(module, argumentValue(wrapped), seen);
  }
  const receiver = value.type === 'call' ? receiverOf(value) : undefined;
  return (
    receiver !== undefined &&
    ofTensor(methodName(value) ?? '') !== undefined &&
    isMadeUp(module, receiver, seen)
  );
}
