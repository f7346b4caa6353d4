import type { PyModule } from '../../src/semantic/module.js';
import { passOf } from '../../src/semantic/passes.js';
import { waysGiven } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';

/** The variable by which a `for` counts its passes, where it has a name and its body leaves it alone. */
export function ownCounter(module: PyModule, loop: PyNode): string | undefined {
  const counter = passOf(module, loop)?.counter;
  const scope = counter && module.resolve(counter);
  if (counter === undefined || scope === undefined || counter.text === '_') return undefined;
  const isKept = module.writes(scope, counter.text).every((write) => !loop.body?.contains(write));
  return isKept ? counter.text : undefined;
}

/** A variable that the body itself raises by one in every pass and that starts as a whole number: `step += 1`. */
export function stepCounter(module: PyModule, body: PyNode): PyNode | undefined {
  for (const statement of body.named) {
    const update = statement.named[0];
    const target = update?.type === 'augmented_assignment' ? update.left : undefined;
    if (target?.type !== 'identifier' || !/\+=\s*1$/.test(update?.text ?? '')) continue;
    const whole = waysGiven(module, target).every(
      (definition) =>
        (definition.kind === 'update' &&
          definition.operator === '+=' &&
          definition.value.type === 'integer') ||
        (definition.kind === 'value' && definition.value.type === 'integer'),
    );
    if (whole) return target;
  }
  return undefined;
}
