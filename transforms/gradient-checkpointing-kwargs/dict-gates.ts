import { type Gate, gate } from '../../src/semantic/gate.js';
import { type Given, siblingOf } from '../../src/semantic/given.js';
import type { PyModule } from '../../src/semantic/module.js';
import { argumentsOf, isInExpressionScope } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isGiven, surroundingGates, ZERO_3 } from '../../src/torch/module/checkpointing.js';

/** The same for a dict of arguments that is spread into the call. */
export function dictGates(module: PyModule, given: Given): readonly Gate[] {
  const isOn = (name: string): boolean =>
    given.calls.some((call) => isGiven(call, name)) || isEntered(given, name);
  return [
    gate(
      given.calls.every(isSpreadOnce),
      'other arguments are spread as well, and may hold the keyword already',
    ),
    gate(!given.calls.some(isInExpressionScope), 'it stands in a lambda or a comprehension'),
    gate(!isOn('deepspeed'), `\`deepspeed\` is given, and ${ZERO_3}`),
    gate(!isOn('fsdp') && !isOn('fsdp_config'), 'FSDP may checkpoint by its own settings'),
    ...surroundingGates(module, given.entry),
    ...[...given.homes].flatMap(([call, there]) => surroundingGates(there, call)),
  ];
}

function isSpreadOnce(call: PyNode): boolean {
  return argumentsOf(call).filter(({ type }) => type.endsWith('_splat')).length === 1;
}

function isEntered(given: Given, name: string): boolean {
  const value = siblingOf(given, name)?.value;
  return value !== undefined && value.type !== 'none' && value.type !== 'false';
}
