import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const ask = (...words: readonly string[]) => memfix({ cwd: folderWith() }, 'budget', ...words);

test('a table, the phases of a step, the GPUs that hold it, and what it takes for granted', async () => {
  const { code, stdout, stderr } = await ask('13.14B', '--dtype', 'fp32', '--activations', '20GB');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('  weights           48.95 GiB  13.14B × 4 bytes (fp32)\n');
  expect(stdout).toMatch(/\n {2}peak +244\.81 GiB {2}220\.33 GiB to 269\.30 GiB; at: optimizer step\n/);
  expect(stdout).toMatch(/\nOver one step\n {2}loss, forward +166\.91 GiB {2}█+\n/);
  expect(stdout).toMatch(
    /\nDoes it fit\?\n.*\n {2}180 GB {2}176\.94 GiB {2}no, 67\.87 GiB too much {2}b200\n/,
  );
  expect(stdout).toMatch(/\nWhat this takes for granted\n {2}• /);
});

test('the figures of the documents', async () => {
  const lora = ['7B', '--dtype', 'fp16', '--lora-rank', '128', '--trainable', '239M', '--gradients', '2.5GB'];
  expect((await ask(...lora)).stdout).toContain(
    'Gradients were given as 2.50 GiB; 239M trained × 4 bytes is 0.89 GiB',
  );
  const { stdout } = await ask('--example', '7b-lora');
  expect(stdout).toMatch(
    /\n {2}total +25\.00 GB[\s\S]*\n {2}total +20\.00 GB[\s\S]*\nWhat is wrong in it\n {2}1\. /,
  );
});

test('a proposal names transforms and settings', async () => {
  const { code, stdout } = await ask('1B', '--dtype', 'fp32', '--batch', '8', '--fit', '24.9GiB');
  expect(code).toBe(0);
  expect(stdout).toContain(
    '\nTo fit 24.9 GiB that CUDA reports, 24.15 GiB usable, gentlest first\n  1. gradient checkpointing: ',
  );
  expect(stdout).toContain('transform: rebalance-batch\n');
  expect(stdout).toContain(
    'memfix check --select enable-gradient-checkpointing,rebalance-batch --unsafe-fixes .\n',
  );
});

test('a card by its name', async () => {
  const fits = await ask('7B', '--lora-rank', '16', '--checkpointing', '--gpu', 'NVIDIA A100-SXM4-80GB');
  expect(fits.stdout).toMatch(/\n {2}a100-80gb, 78\.48 GiB usable: fits, [\d.]+ GiB to spare\n/);
  const { stdout } = await ask('7B', '--fit', 't4');
  expect(stdout).toContain('To fit t4, 13.87 GiB usable');
  expect((await ask('7B', '--gpu', 'a1000')).stderr).toContain('memfix knows t4, ');
});

test('a model by its name: 7B is 32 × 4096', async () => {
  expect((await ask('7B')).stdout).toMatch(/^7B parameters, .* · 32 layers × 4096\n/);
  const named = await ask('meta-llama/Llama-2-7b-hf', '--batch', '4');
  expect(named.stdout).toMatch(/^6\.74B parameters, bf16 · adamw · batch 4 × 2048 · 32 layers × 4096\n/);
  expect(named.stdout).not.toContain('is guessed');
});

test('a vision model is not counted without a caveat', async () => {
  const net = await ask('resnet50', '--dtype', 'fp32', '--optimizer', 'sgd-momentum', '--batch', '64');
  expect(net.stdout).toMatch(/^25\.56M parameters, fp32 · sgd-momentum · batch 64 × 224 · resnet50\n/);
  expect(net.stdout).toContain('the kernels that cuDNN chooses');
  const vit = await ask('google/vit-base-patch16-224', '--batch', '8');
  expect(vit.stdout).toContain('measured with ViT only');
});

test('generation: weights, the cache, and one block', async () => {
  const { stdout } = await ask('llama-3-8b', '--generate', '64', '--batch', '8', '--sequence', '4096');
  expect(stdout).toMatch(/\n {2}key-value cache +4\.00 GiB {2}keys and values of all tokens\n/);
  expect(stdout).not.toContain('Over one step');
});

test('a picture', async () => {
  const cwd = folderWith();
  await memfix({ cwd }, 'budget', 'gpt2', '--batch', '16', '--fit', '8GB', '--plot', 'budget.svg');
  const svg = readFileSync(join(cwd, 'budget.svg'), 'utf8');
  expect(svg).toMatch(/^<svg xmlns=[\s\S]*<\/svg>\n$/);
  expect(svg).toContain('After what is proposed');
  expect(svg).toContain('<title>logits: ');
});

test('what cannot fit exits with 1', async () => {
  const { code, stdout } = await ask('405B', '--fit', '24GB');
  expect(code).toBe(1);
  expect(stdout).toContain(
    'To fit a card of 24 GB, 22.81 GiB usable: nothing reaches it; this comes closest\n',
  );
});

test('JSON, in bytes', async () => {
  const { code, stdout } = await ask('7B', '--fit', '80GB', '--output-format', 'json');
  expect(code).toBe(0);
  const json = JSON.parse(stdout);
  expect(json).toMatchObject({ version: 2, run: { parameters: 7e9, dtype: 'bf16', lora: null } });
  expect(json.rows[0]).toEqual({
    name: 'weights',
    bytes: 14e9,
    host: 0,
    how: '7B × 2 bytes (bf16)',
    given: false,
  });
  expect(json.peak).toBe(Math.max(...json.phases.map((phase: { bytes: number }) => phase.bytes)));
  expect(json.low).toBeLessThan(json.peak);
  expect(json.fit).toMatchObject({ goal: 'a card of 80 GB', verdict: 'fits' });
  expect(json.fit.size / 2 ** 30).toBeCloseTo(78.48, 2);
  // One card, however it is named.
  const named = JSON.parse((await ask('7B', '--fit', 'a100-80gb', '--output-format', 'json')).stdout);
  expect(named.fit.size).toBe(json.fit.size);
  const example = JSON.parse((await ask('--example', '13b', '--output-format', 'json')).stdout);
  expect(example.steps.map((step: { claimed: number }) => Math.round(step.claimed / 1e7))).toEqual([
    23_024, 8384, 5756, 2878,
  ]);
});

test('a config.json, or the folder that has one', async () => {
  const config = { model_type: 'gpt2', n_embd: 768, n_layer: 12, n_head: 12, vocab_size: 50_257 };
  const cwd = folderWith({ 'model/config.json': JSON.stringify(config) });
  const named = await memfix({ cwd }, 'budget', 'model/config.json');
  expect(named.stdout).toMatch(/^124\.44M parameters, bf16 · adamw · batch 1 × 1024 · 12 layers × 768\n/);
  expect((await memfix({ cwd }, 'budget', 'model')).stdout).toBe(named.stdout);
});

test('a folder of scripts, also where its config.json is about something else', async () => {
  const cwd = folderWith({ 'config.json': '{"epochs": 3}', 'train.py': 'print("no model here")\n' });
  const { stdout, code } = await memfix({ cwd }, 'budget', '.');
  expect((await memfix({ cwd }, 'budget')).stdout).toBe(stdout);
  expect(stdout).toMatch(/^No script here trains a model that it names\. Say its size/);
  expect(code).toBe(0);
});

test('lines stay within the terminal', async () => {
  const { stdout } = await ask('7B', '--fit', '24GB');
  const prose = stdout.split('What this takes for granted')[1] ?? '';
  expect(Math.max(...prose.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});

test.each<readonly [readonly string[], string, string]>([
  [['7B', '13B'], 'Wrong usage', 'takes one model'],
  [
    ['seven'],
    'Unknown model',
    '`seven` is neither a number of parameters, nor a known name, nor a config.json',
  ],
  [['7B', '--dtype', 'bf61'], 'Wrong usage', 'Did you mean `bf16`?'],
  [['7B', '--dtype', 'int4'], 'Wrong usage', 'cannot be trained; add `--lora-rank`'],
  [['7B', '--fit', 'small'], 'Wrong usage', '`--fit` cannot be `small`: it is the size of a card'],
  [['7B', '--batch', '0'], 'Wrong usage', '`--batch` cannot be `0`: it is a whole number'],
  [['7B', '--trainable', '120%'], 'Wrong usage', '`--trainable` cannot be `120%`'],
  [['7B', '--parallel', 'sharded'], 'Wrong usage', 'say how many with `--gpus`'],
  [['7B', '--example', '13b'], 'Wrong usage', '`--example` brings its own model'],
  [['--example', '13'], 'Wrong usage', 'Did you mean `13b`?'],
  [['7B', '--ftt', '24GB'], 'Unknown option', 'Did you mean `--fit`?'],
])('memfix budget %j is said to be wrong in three parts', async (words, title, detail) => {
  const { code, stdout, stderr } = await ask(...words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(new RegExp(`^memfix: ${title}\n {2}.*\n {2}Next: .*\n$`));
  expect(stderr).toContain(detail);
});

test.each<readonly [string, string]>([
  ['{', 'is no JSON'],
  ['[]', 'it holds no object'],
  [
    '{"model_type": "bart", "is_encoder_decoder": true, "d_model": 8, "num_hidden_layers": 2}',
    'has an encoder and a decoder',
  ],
])('a config.json of %j is not understood', async (text, detail) => {
  const { code, stderr } = await memfix(
    { cwd: folderWith({ 'config.json': text }) },
    'budget',
    'config.json',
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(/^memfix: Model not understood\n/);
  expect(stderr).toContain(detail);
});
