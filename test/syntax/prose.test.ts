import { expect, it } from 'vitest';
import { moduleOf } from '../support/module.js';

it('leaves comments and docstrings out, and keeps the strings of code', () => {
  const { code } = moduleOf(
    'x = 1  # loss.backward()\ndef f():\n    """Calls loss.backward()\n    at the end."""\n    g("a # b",\n      "c")\n',
  );
  expect(code).toBe('x = 1  \ndef f():\n    \n    g("a # b",\n      "c")\n');
});

it('finds no word in a comment or a docstring', () => {
  const module = moduleOf('"""Uses DistributedDataParallel."""\ny = 2  # no_sync\nz = "reduction"\n');
  expect(module.mentions(/DistributedDataParallel|no_sync/)).toBe(false);
  expect(module.mentions(/reduction/)).toBe(true);
});
