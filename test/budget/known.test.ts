import { expect, test } from 'vitest';
import { CARD_NAMES, cardNamed } from '../../src/budget/cards.js';
import { KNOWN_NAMES, knownModel } from '../../src/budget/known.js';

/** Parameters as they are published, in millions. */
test.each<readonly [string, number]>([
  ['meta-llama/Llama-2-7b-hf', 6738],
  ['meta-llama/Meta-Llama-3.1-8B-Instruct', 8030],
  ['mistralai/Mistral-7B-Instruct-v0.2', 7242],
  ['mistralai/Mixtral-8x7B-v0.1', 46_703],
  ['unsloth/llama-3-8b-bnb-4bit', 8030],
  ['Qwen/Qwen2.5-7B-Instruct', 7616],
  ['Qwen/Qwen3-0.6B', 596],
  ['google/gemma-2-9b-it', 9242],
  ['microsoft/Phi-3-mini-4k-instruct', 3821],
  ['TinyLlama/TinyLlama-1.1B-Chat-v1.0', 1100],
  ['EleutherAI/pythia-1.4b-deduped', 1415],
  ['gpt2-xl', 1558],
  ['facebook/opt-1.3b', 1316],
  ['bert-base-uncased', 110],
  ['FacebookAI/roberta-large', 355],
  ['google/flan-t5-large', 750],
  ['google/vit-base-patch16-224', 87],
  ['resnet50', 26],
])('%s has %i million parameters', (name, millions) => {
  expect(Math.round((knownModel(name)?.parameters ?? 0) / 1e6)).toBe(millions);
});

test('every name is known by itself, and what only begins like one is not', () => {
  expect(KNOWN_NAMES.filter((name) => knownModel(name) === undefined)).toEqual([]);
  expect(['gpt', 'gpt2-mine', 'llama', 'llama-2-7b-reward-head', ''].map(knownModel)).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

test('cards by the names that people and drivers give them', () => {
  const names = [
    'A100-80GB',
    'a100',
    'NVIDIA A100-SXM4-40GB',
    'RTX 4090',
    '4090',
    'Tesla T4',
    'NVIDIA H200',
    'h100 pcie',
  ];
  expect(names.map((name) => cardNamed(name)?.name)).toEqual([
    'a100-80gb',
    'a100-80gb',
    'a100-40gb',
    'rtx-4090',
    'rtx-4090',
    't4',
    'h200',
    'h100-80gb',
  ]);
  expect(['', 'a1000', 'constructor'].map(cardNamed)).toEqual([undefined, undefined, undefined]);
  expect(CARD_NAMES.every((name) => cardNamed(name)?.name === name)).toBe(true);
});
