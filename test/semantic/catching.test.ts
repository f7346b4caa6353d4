import { describe, expect, test } from 'vitest';
import { caughtElsewhere } from '../../src/semantic/catching.js';
import { moduleIn, nodeAt } from '../support/module.js';

const NET = `def run(x):
    return x


class Net:
    def forward(self, x):
        return x

    def measure(self, x):
        return x
`;

describe('an error that another file catches', () => {
  const caught = (text: string, name: string) => {
    const module = moduleIn({ 'net.py': NET, 'train.py': text }, 'net.py');
    const definition = nodeAt(module, `def ${name}`).closest('function_definition') ?? module.root;
    const { handler, unread } = caughtElsewhere(module, definition, /\b(?:ValueError|BaseException)\b/);
    return unread ?? handler?.module.lines.position(handler.node.start).line;
  };

  test.each([
    ['from net import run\ntry:\n    run(1)\nexcept ValueError:\n    pass\n', 'run', 4],
    [
      'from net import run\ntry:\n    run(1)\nexcept (KeyError, ValueError) as e:\n    raise Other() from e\n',
      'run',
      4,
    ],
    ['from net import run\ntry:\n    run(1)\nexcept:\n    pass\n', 'run', 4],
    ['import net\ndef go():\n    net.run(1)\ntry:\n    go()\nexcept ValueError:\n    pass\n', 'run', 6],
    [
      'from net import Net\nn = Net()\nm = wrap(n)\ntry:\n    m(1)\nexcept ValueError:\n    pass\n',
      'forward',
      6,
    ],
    ['from net import Net\nn = Net()\ntry:\n    n.measure(1)\nexcept ValueError:\n    pass\n', 'measure', 5],
    ['from net import run\ntry:\n    run(1)\nexcept KeyError:\n    pass\n# ValueError\n', 'run', undefined],
    ['from net import run\ntry:\n    run(1)\nexcept ValueError:\n    note()\n    raise\n', 'run', undefined],
    ['from net import run\nrun(1)\ntry:\n    other(1)\nexcept ValueError:\n    pass\n', 'run', undefined],
    ['from far import run\ntry:\n    run(1)\nexcept ValueError:\n    pass\n', 'run', undefined],
    ['from net import Net\ntry:\n    int(x)\nexcept ValueError:\n    Net()(1)\n', 'forward', undefined],
    ['from net import run\nrun(:\nexcept ValueError:\n', 'run', '`train.py`, which cannot be read'],
  ])('%j in %s: %s', (text, name, line) => {
    expect(caught(text, name)).toBe(line);
  });
});
