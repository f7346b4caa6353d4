import { describe, expect, it } from 'vitest';
import { usesOf } from '../../../src/values/index.js';

import { moduleOf, nodeAt } from '../../support/module.js';

/** What becomes of `total` in a function that ends with these lines. */
function fates(...lines: readonly string[]): readonly string[] {
  const body = ['total = start()', ...lines].map((line) => `    ${line}\n`).join('');
  const module = moduleOf(
    `import torch\nimport numpy as np\nimport functools\n\ndef f(start, other, logger, dist):\n${body}`,
  );
  return [...new Set(usesOf(module, nodeAt(module, 'total'), 'variable').map(({ kind }) => kind))].sort();
}

describe('a total that people read', () => {
  it.each([
    ['a number', 'print(total.item(), float(total))'],
    ['a text', 'print(f"{total:.3f}", "%.3f" % total, "{}".format(total))'],
    ['a comparison', 'if total > 3 and not total: pass'],
    ['a log', 'logger.info("loss %s", total)'],
    ['a progress bar', 'other.set_postfix(loss=total / 3)'],
    ['a collective', 'torch.distributed.all_reduce(total)'],
    ['what it was before it became a number', 'total = total.item()', 'return total'],
    ['a copy without its graph', 'return torch.tensor(total)'],
    ['indices', 'return total.nonzero()'],
    ['a list of numbers', 'kept = [total]', 'return [float(each) for each in kept]'],
  ])('has no fate as %s', (_, ...lines) => {
    expect(fates(...lines)).toEqual([]);
  });
});

describe('a total that is differentiated', () => {
  it.each([
    ['by itself', 'total.backward()'],
    ['by autograd', 'torch.autograd.grad(total, other)'],
    ['by an engine', 'other.backward(total)'],
    ['through a name', 'mean = total / 3', 'mean.backward()'],
    ['through a walrus', 'print(m := total * 2)', 'm.backward()'],
    ['through an unpacking', 'a, (b, c) = 1, (total, 2)', 'b.backward()'],
    ['through a list', 'kept = []', 'kept.append(total)', 'sum(kept).backward()'],
    ['through a dictionary', 'd = {}', 'd["x"] = total', 'for k, v in d.items(): v.backward()'],
    ['through a generator', 'kept = [total]', 'sum(x * 2 for x in kept).backward()'],
    ['through a comprehension', '[t.backward() for t in [total]]'],
    ['through arithmetic of others', 'r = dist.log_prob(total)', '(-r).backward()'],
    ['through what a logger gives back', 'y = logger.log(total)', 'y.backward()'],
    ['by asking for its graph', 'assert total.requires_grad'],
  ])('is seen %s', (_, ...lines) => {
    expect(fates(...lines)).toContain('differentiated');
  });
});

describe('a total that others get', () => {
  it.each([
    ['a function', 'other(total)'],
    ['a closure', 'run = lambda: total'],
    ['an attribute', 'other.x = total'],
    ['a container of somebody else', 'other["x"] = total'],
    ['a class body', 'class R:\n        value = total'],
    ['a consumer', 'yield total'],
    ['a reduction of the standard library', 'functools.reduce(other, [total])'],
  ])('escapes to %s', (_, ...lines) => {
    expect(fates(...lines)).toContain('escapes');
  });

  it('is returned', () => {
    expect(fates('return {"loss": total / 3}')).toEqual(['returned']);
  });

  it('has no graph where an array is made of it', () => {
    expect(fates('print(np.mean([total]))')).toEqual(['gradless']);
    expect(fates('return total.cpu().numpy()')).toEqual(['gradless']);
  });
});
