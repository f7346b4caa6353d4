import { describe, expect, it } from 'vitest';
import { linesOf } from '../../../src/syntax/code-text.js';
import { givenIn, mayLead } from '../../../src/torch/grad/followed-lines.js';

const runs = (text: string) => /\bnet\(/.test(text);
const readIn = (text: string) =>
  text.includes('.item()') ? [text] : givenIn(text, (name) => name === 'score');

function leads(...code: readonly string[]): boolean {
  const lines = linesOf(code.join('\n'));
  return mayLead(
    lines,
    lines.filter(({ text }) => runs(text)),
    runs,
    readIn,
  );
}

describe('what a line gives', () => {
  it.each([
    [['return net(x).item()']],
    [['y = net(x)', 'return y.item()']],
    [['self.y = net(x)', 'return self.y.item()']],
    [['y, z = net(x), 1', 'w = y + 1', 'return w.item()']],
    [['ys.append(net(x))', 'return ys[0].item()']],
    [['fill(net(x), ys)', 'return ys[0].item()']],
    [['for y in net(x):', '    print(y.item())']],
    [['for x in xs:', '    print(y.item())', '    y = net(x)']],
    [['if (y := net(x)) is not None:', '    print(y.item())']],
    [['with once(net(x)) as y:', '    print(y.item())']],
    [['y = net(x); z = y', 'return z.item()']],
    [['return score(net(x))']],
    [['y = net(x)', 'return score(y)']],
    [['def outer(x):', '    def show(y):', '        print(y.item())', '    show(net(x))']],
    [['def outer(x):', '    def run(y):', '        return net(y)', '    return run(x).item()']],
    [['show = lambda y: y.item()', 'show(net(x))']],
    [['y = z = net(x)', 'return y.item()']],
  ])('may come to where it is read: %j', (code) => {
    expect(leads(...code)).toBe(true);
  });

  it.each([
    [['y = net(x)', 'n = count.item()', 'return y, n']],
    [['n = sizes.item()', 'return net(x)[:n]']],
    [['y = net(x)', 'b = y.shape[0]', 'return b, count.item()']],
    [['y = net(x)', 'return pad(y=count).item()']],
    [['y = net(x)', 'return net2(y, score(count))']],
    [['def net(x):', '    return x.item()']],
  ])('never comes there: %j', (code) => {
    expect(leads(...code)).toBe(false);
  });
});
