import { expect, test } from 'vitest';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const ask = (...words: readonly string[]) => memfix({ cwd: folderWith() }, 'budget', ...words);

test('a table, the GPUs that hold it, and what it takes for granted', async () => {
  const { code, stdout, stderr } = await ask('13.14B', '--dtype', 'fp32', '--activations', '20GB');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('  weights           52.56 GB  13.14B × 4 bytes (fp32)\n');
  expect(stdout).toContain('  total            230.24 GB\n');
  expect(stdout).toMatch(/\nDoes it fit\?\n {2}141 GB {2}H200 +no, 121\.80 GB too much\n/);
  expect(stdout).toMatch(/\nWhat this takes for granted\n {2}• /);
});

test('the figures of the documents', async () => {
  const halved = [
    '13.14B',
    '--dtype',
    'fp16',
    '--optimizer',
    'adamw-8bit',
    '--checkpointing',
    '--activations',
    '5GB',
  ];
  expect((await ask(...halved)).stdout).toContain(
    'total             83.84 GB'.replace('             ', '            '),
  );
  expect((await ask(...halved, '--offload', 'optimizer')).stdout).toContain(
    '57.56 GB\n  host memory      26.28 GB\n',
  );
  const lora = ['7B', '--dtype', 'fp16', '--lora-rank', '128', '--trainable', '239M', '--adapters', '0.5GB'];
  const rows = (gradients: number, optimizer: number, activations: number, overhead: number) => [
    ...['--gradients', `${gradients}GB`, '--optimizer-state', `${optimizer}GB`],
    ...['--activations', `${activations}GB`, '--overhead', `${overhead}GB`],
  ];
  const before = (await ask(...lora, ...rows(2.5, 1.5, 5, 1.5))).stdout;
  expect(before).toContain('  total            25.00 GB\n');
  expect(before).toContain('Gradients were given as 2.50 GB; 239M trained × 4 bytes is 0.96 GB');
  expect((await ask(...lora, ...rows(2, 1, 2, 0.5))).stdout).toContain('  total            20.00 GB\n');
  const { stdout } = await ask('--example', '7b-lora');
  expect(stdout).toMatch(
    /\n {2}total +25\.00 GB[\s\S]*\n {2}total +20\.00 GB[\s\S]*\nWhat is wrong in it\n {2}1\. /,
  );
});

test('a proposal names transforms and settings', async () => {
  const { code, stdout } = await ask('1B', '--dtype', 'fp32', '--batch', '8', '--fit', '24GB');
  expect(code).toBe(0);
  expect(stdout).toContain('\nTo fit 24.00 GB, gentlest first\n  1. gradient checkpointing: ');
  expect(stdout).toContain('transform: rebalance-batch\n');
  expect(stdout).toContain(
    'memfix check --select enable-gradient-checkpointing,rebalance-batch --unsafe-fixes .\n',
  );
});

test('what cannot fit exits with 1', async () => {
  const { code, stdout } = await ask('405B', '--fit', '24GB');
  expect(code).toBe(1);
  expect(stdout).toContain('To fit 24.00 GB: nothing reaches it; this comes closest\n');
});

test('JSON, in bytes', async () => {
  const { code, stdout } = await ask('7B', '--fit', '80GB', '--output-format', 'json');
  expect(code).toBe(0);
  const json = JSON.parse(stdout);
  expect(json).toMatchObject({ version: 1, run: { parameters: 7e9, dtype: 'bf16', loraRank: null } });
  expect(json.rows[0]).toEqual({
    name: 'weights',
    bytes: 14e9,
    host: 0,
    how: '7B × 2 bytes (bf16)',
    given: false,
  });
  expect(json.peak).toBe(Math.max(json.total, json.step));
  expect(json.fit).toMatchObject({ size: 80e9, verdict: 'fits' });
  const example = JSON.parse((await ask('--example', '13b', '--output-format', 'json')).stdout);
  expect(example.steps.map((step: { claimed: number }) => Math.round(step.claimed / 1e7))).toEqual([
    23_024, 8384, 5756, 2878,
  ]);
});

test('a config.json, or the folder that has one', async () => {
  const config = { model_type: 'gpt2', n_embd: 768, n_layer: 12, n_head: 12, vocab_size: 50_257 };
  const cwd = folderWith({ 'model/config.json': JSON.stringify(config) });
  const named = await memfix({ cwd }, 'budget', 'model/config.json');
  expect(named.stdout).toMatch(/^123\.53M parameters, bf16 · adamw · batch 1 × 2048 · 12 layers × 768\n/);
  expect((await memfix({ cwd }, 'budget', 'model')).stdout).toBe(named.stdout);
});

test('lines stay within the terminal', async () => {
  const { stdout } = await ask('7B', '--fit', '24GB');
  const prose = stdout.split('What this takes for granted')[1] ?? '';
  expect(Math.max(...prose.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});

test.each<readonly [readonly string[], string, string]>([
  [[], 'Wrong usage', 'takes one model'],
  [['7B', '13B'], 'Wrong usage', 'takes one model'],
  [['seven'], 'Unknown model', '`seven` is neither a number of parameters, nor a config.json'],
  [['7B', '--dtype', 'bf61'], 'Wrong usage', 'Did you mean `bf16`?'],
  [['7B', '--dtype', 'int4'], 'Wrong usage', 'cannot be trained; add `--lora-rank`'],
  [['7B', '--fit', 'small'], 'Wrong usage', '`--fit` cannot be `small`: it is a size'],
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
  ['{"is_encoder_decoder": true}', 'it describes an encoder and a decoder'],
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

test.each([
  ['7B', '7B parameters, bf16 · adamw · batch 1 × 2048 · 32 layers × 4096'],
  ['meta-llama/Llama-2-7b-chat-hf', '6.74B parameters'],
  ['llama-3.1-8b', '8.03B parameters'],
  ['mistralai/Mistral-7B-Instruct-v0.2', '7.24B parameters'],
  ['Qwen/Qwen2.5-7B', '7.6'],
  ['Qwen/Qwen2.5-0.5B-Instruct', '49'],
  ['google/gemma-2-9b-it', '9.24B parameters'],
  ['gpt2-xl', '1.55B parameters'],
  ['bert-base-uncased', '108.38M parameters'],
])('%s is known, as it was published', async (name, headline) => {
  const { code, stdout } = await ask(name);
  expect([code, stdout.startsWith(headline)]).toEqual([0, true]);
});

test('cards have names', async () => {
  const fit = async (card: string) => /To fit [\d.]+ GB/.exec((await ask('7B', '--fit', card)).stdout)?.[0];
  expect(await fit('4090')).toBe('To fit 24.00 GB');
  expect(await fit('rtx-4090')).toBe('To fit 24.00 GB');
  expect(await fit('A100 80GB')).toBe('To fit 80.00 GB');
  expect(await fit('NVIDIA H100')).toBe('To fit 80.00 GB');
  expect((await ask('7B')).stdout).toMatch(/80 GB {2}H100, A100 80GB +fits/);
});

test('a vision model is said to be one', async () => {
  const config = { model_type: 'vit', hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12 };
  const cwd = folderWith({
    'config.json': JSON.stringify({ ...config, intermediate_size: 3072, image_size: 224, patch_size: 16 }),
  });
  const { stdout } = await memfix({ cwd }, 'budget', 'config.json');
  expect(stdout).toContain('85.7M parameters, bf16 · adamw · batch 1 × 197 ');
  expect(stdout).toContain('It is a vision model, and this sum is made for text');
});
