import { describe, expect, it } from 'vitest';
import { effectsOf, usesOf, valueOf } from '../../src/values/index.js';
import { moduleOf, nodeAt } from '../support/module.js';

describe('the three questions', () => {
  const module = moduleOf(`import torch

def f(given, typed: torch.Tensor):
    made = torch.zeros(3)
    twice = made * 2
    other = given + twice
    print(other.item())
    return typed

def step(loss):
    loss.backward()
`);

  it('say what a value is', () => {
    expect(valueOf(module, nodeAt(module, 'twice', 1)).kind).toBe('tensor');
    expect(valueOf(module, nodeAt(module, 'typed', 1)).kind).toBe('tensor');
    expect(valueOf(module, nodeAt(module, 'given', 1)).kind).toBe('unknown');
  });

  it('say what becomes of it', () => {
    expect(usesOf(module, nodeAt(module, 'other'), 'variable')).toEqual([]);
    expect(usesOf(module, nodeAt(module, 'typed', 1)).map(({ kind }) => kind)).toEqual(['returned']);
  });

  it('say what a function does', () => {
    const [f, step] = module.root.childrenOfType('function_definition');
    if (f === undefined || step === undefined) throw new Error('two functions');
    expect([...effectsOf(module, f).differentiation('networks')]).toEqual([]);
    expect([...effectsOf(module, step).differentiation('networks')]).toEqual([
      expect.stringContaining('backward'),
    ]);
  });
});
