import { methodCallsAt } from '../../src/semantic/called-name.js';
import { readsReached } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { mayLead, startOfRound } from '../../src/semantic/paths.js';
import {
  enclosingLoops,
  isCallee,
  methodName,
  receiverOf,
  sameFunction,
  statementOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { networkRunBy } from '../../src/torch/grad/numeric-runs.js';
import { mayHaveWeights, traceGraph } from '../../src/torch/module/networks.js';
import type { GradlessPart } from '../../src/torch/record/left-behind.js';
import { steppedOptimizer, valuesOf } from '../../src/torch/training/training-loop.js';
import { valueOf } from '../../src/values/index.js';
import { GradTrace } from '../../src/values/value/trace.js';

/**
 * `d_loss = criterion(net(x), y)` between `optimizer.zero_grad()` and `optimizer.step()` of an optimizer of that network, and
 * no backward takes it: it may be reported only, or its backward may be missing. The name of the last such value.
 */
export function unspentLoss(
  module: PyModule,
  { statements, owner, models }: Pick<GradlessPart, 'statements' | 'owner' | 'models'>,
): string | undefined {
  const trace = new GradTrace(module, owner, new Set(models.map(({ text }) => text)));
  const seen = new Set<PyNode>();
  let last: PyNode | undefined;
  for (const pending = [...statements]; ; ) {
    const at = pending.pop();
    if (at === undefined) return last?.text;
    const assignment = at.type === 'expression_statement' ? at.named[0] : undefined;
    const target = assignment?.left;
    const value = assignment?.right;
    const scope = target?.type === 'identifier' ? module.resolve(target) : undefined;
    if (target === undefined || value === undefined || scope === undefined || seen.has(at)) continue;
    seen.add(at);
    if (!trace.mayCarryGraph(value)) continue;
    const reads = readsReached(module, scope, target.text, [target]);
    const isNumber = valueOf(module, value).isScalar === 'yes' || reads.some(isReadAsNumber);
    const isLater = last === undefined || last.start < target.start;
    if (isNumber && isLater && networkRunBy(module, value) === undefined && isBeforeStep(module, value))
      last = target;
    pending.push(...reads.filter((read) => !isCut(trace, read)).map(statementOf));
  }
}

/** `D(fake.detach())`: what is computed there has no graph of this value. */
function isCut(trace: GradTrace, read: PyNode): boolean {
  const statement = statementOf(read);
  for (const around of read.ancestors()) {
    if (around === statement) return false;
    const isValue = around.type === 'call' || (around.type === 'attribute' && !isCallee(around));
    if (isValue && !trace.mayCarryGraph(around)) return true;
  }
  return false;
}

/** `loss.item()`, `float(loss)` */
function isReadAsNumber(read: PyNode): boolean {
  const { parent } = read;
  if (parent?.type === 'attribute') return parent.attribute?.text === 'item';
  return parent?.type === 'argument_list' && parent.parent?.function?.text === 'float';
}

/** An optimizer of a network behind the value steps later in the same round, and keeps the gradients that it has. */
function isBeforeStep(module: PyModule, value: PyNode): boolean {
  const zeros = methodCallsAt(module, '.zero_grad(');
  const networks: string[] = [];
  traceGraph(module, value, {
    call: (call) => {
      if (!mayHaveWeights(module, call)) return;
      networks.push(...[call.function, receiverOf(call)].flatMap((each) => each?.text ?? []));
    },
  });
  return methodCallsAt(module, '.step(').some((step) => {
    const optimizer = sameFunction(step, value) ? steppedOptimizer(module, step) : undefined;
    if (optimizer === undefined) return false;
    const made = optimizedBy(module, optimizer);
    const owned = networks.filter((network) => made === undefined || made.includes(network));
    if (owned.length === 0) return false;
    const loop = enclosingLoops(value).find((each) => each.contains(step));
    const cleared = zeros.filter((call) => [optimizer.text, ...owned].includes(receiverOf(call)?.text ?? ''));
    return mayLead(module, value, step, [loop && startOfRound(loop), ...cleared]);
  });
}

/** The networks, as written, whose `parameters()` an optimizer is made with; undefined where it does not show. */
function optimizedBy(module: PyModule, optimizer: PyNode): readonly string[] | undefined {
  const made = valuesOf(module, unparenthesized(optimizer)).map((value) =>
    [...(value?.arguments?.walk() ?? [])].flatMap((node) =>
      node.type === 'call' && /^(?:named_)?parameters$/.test(methodName(node) ?? '')
        ? (receiverOf(node)?.text ?? [])
        : [],
    ),
  );
  return made.length > 0 && made.every((networks) => networks.length > 0) ? made.flat() : undefined;
}
