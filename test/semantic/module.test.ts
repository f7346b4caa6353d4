import { expect, it } from 'vitest';
import { importedNames } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { ALONE } from '../../src/semantic/surroundings.js';
import { moduleOf } from '../support/module.js';

const namesItself = (module: PyModule) => ({
  is: module.around.text('.') === undefined ? 'alone' : 'among others',
});

it('is known by itself to all that see it, and what is around it only to the one that does', () => {
  const kept = moduleOf('import torch\n\ndef f(x):\n    return torch.relu(x)\n');
  const one = kept.seenWith({ ...ALONE, text: () => 'x = 1\n' });
  const other = kept.seenWith(ALONE);
  expect(one.at('relu')).toBe(other.at('relu'));
  expect(one.scope).toBe(other.scope);
  expect(importedNames(one, one.scope)).toBe(importedNames(other, other.scope));
  expect(one.memo(namesItself, one)).toEqual({ is: 'among others' });
  expect(other.memo(namesItself, other)).toEqual({ is: 'alone' });
  expect(one.alone.memo(namesItself, one.alone)).toBe(other.alone.memo(namesItself, other.alone));
  expect(one.alone.memo(namesItself, one.alone)).toEqual({ is: 'alone' });
});
