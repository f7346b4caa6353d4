import { expect, it } from 'vitest';
import { moduleOf } from '../support/module.js';

it('puts blanks for comments, docstrings and strings for people, and keeps the strings of code', () => {
  const text =
    'x = 1  # loss.backward()\ndef f():\n    """Calls loss.backward()\n    at the end."""\n    g("a # b",\n      "c")\n';
  const { code } = moduleOf(text);
  expect(code.replace(/ +/g, ' ')).toBe('x = 1 \ndef f():\n \n g( ,\n "c")\n');
  expect(code).toHaveLength(text.length);
});

it('finds no word in a comment or a docstring', () => {
  const module = moduleOf('"""Uses DistributedDataParallel."""\ny = 2  # no_sync\nz = "reduction"\n');
  expect(module.mentions(/DistributedDataParallel|no_sync/)).toBe(false);
  expect(module.mentions(/reduction/)).toBe(true);
});
