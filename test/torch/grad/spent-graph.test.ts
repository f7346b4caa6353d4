import { describe, expect, it } from 'vitest';
import { passSpendingBackward, spendingBackward, stalingLoop } from '../../../src/torch/grad/spent-graph.js';
import { moduleOf, nodeAt } from '../../support/module.js';

/** The value that is added at the end of a round of a training loop. */
function term(...lines: readonly string[]) {
  const body = lines.map((line) => `        ${line}\n`).join('');
  const module = moduleOf(
    `import torch.nn.functional as F\n\ndef f(model, other, loader, optimizer, scaler, flag):\n    total = 0.0\n    for x, y in loader:\n${body}    return total\n`,
  );
  const value = nodeAt(module, 'total +=').closest('augmented_assignment')?.right;
  if (value === undefined) throw new Error('nothing is added');
  return { module, value };
}

describe('spendingBackward', () => {
  it.each([
    ['the loss itself', 'loss.backward()'],
    ['a scaled loss', 'scaler.scale(loss).backward()'],
    ['a part of it', '(loss / 4).backward()'],
    ['a sum it is in', 'whole = loss + 1', 'whole.backward()'],
  ])('sees %s', (_, ...lines) => {
    const { module, value } = term('loss = F.mse_loss(model(x), y)', ...lines, 'total += loss');
    expect(spendingBackward(module, value)).toBeDefined();
  });

  it.each([
    ['a condition', 'if flag: loss.backward()'],
    ['a conditional expression', 'loss.backward() if flag else None'],
    ['a short circuit', 'flag and loss.backward()'],
    ['a retained graph', 'loss.backward(retain_graph=True)'],
    ['a retained graph by position', 'loss.backward(None, True)'],
    ['arguments that are not seen', 'loss.backward(**flag)'],
    ['another loss', 'F.l1_loss(other(x), y).backward()'],
    ['a nested function', 'def go(): loss.backward()'],
    ['a handler', 'try: loss.backward()\n        except RuntimeError: pass'],
    ['an inner loop', 'for _ in x: loss.backward()'],
  ])('is not taken in by %s', (_, line) => {
    const { module, value } = term('loss = F.mse_loss(model(x), y)', line, 'total += loss');
    expect(spendingBackward(module, value)).toBeUndefined();
  });

  it('is not taken in by a round that ends before the backward', () => {
    const { module, value } = term(
      'loss = F.mse_loss(model(x), y)',
      'total += loss',
      'if flag: continue',
      'loss.backward()',
    );
    expect(spendingBackward(module, value)).toBeUndefined();
  });
});

it('sees that the pass behind a metric is used up, unless it was detached', () => {
  const rounds = (metric: string) =>
    term('out = model(x)', 'F.mse_loss(out, y).backward()', `total += ${metric}`);
  const shared = rounds('F.l1_loss(out, y)');
  expect(passSpendingBackward(shared.module, shared.value)).toBeDefined();
  const apart = rounds('F.l1_loss(other(x), out.detach())');
  expect(passSpendingBackward(apart.module, apart.value)).toBeUndefined();
});

describe('stalingLoop', () => {
  const stale = (loss: string, step: string, metric: string): boolean => {
    const { module, value } = term(`${loss}.backward()`, `total += ${metric}`, step);
    return stalingLoop(module, value) !== undefined;
  };

  it('holds where the only network is stepped in each round', () => {
    expect(stale('F.mse_loss(model(x), y)', 'optimizer.step()', 'F.l1_loss(model(x), y)')).toBe(true);
  });

  it('does not hold for what is computed after the step: in the last round its graph stays whole', () => {
    const { module, value } = term(
      'F.mse_loss(model(x), y).backward()',
      'optimizer.step()',
      'total += F.l1_loss(model(x), y)',
    );
    expect(stalingLoop(module, value)).toBeUndefined();
  });

  it.each([
    ['another network', 'F.mse_loss(other(x), y)', 'optimizer.step()', 'F.l1_loss(model(x), y)'],
    ['one of two networks', 'F.mse_loss(other(model(x)), y)', 'optimizer.step()', 'F.l1_loss(other(x), y)'],
    ['a step now and then', 'F.mse_loss(model(x), y)', 'if flag: optimizer.step()', 'F.l1_loss(model(x), y)'],
    ['a scheduler', 'F.mse_loss(model(x), y)', 'flag.scheduler.step()', 'F.l1_loss(model(x), y)'],
  ])('does not hold for %s', (_, loss, step, metric) => {
    expect(stale(loss, step, metric)).toBe(false);
  });
});
