import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const SCRIPT = `import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf", torch_dtype=torch.bfloat16)
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    optim="adamw_torch",
    num_train_epochs=1,
)
Trainer(model=model, args=args, train_dataset=data).train()
`;

const folder = (more: Readonly<Record<string, string>> = {}) => folderWith({ 'train.py': SCRIPT, ...more });

test('a run is read off its script: every value with its place, and what is assumed', async () => {
  const { code, stdout, stderr } = await memfix({ cwd: folder(), transforms }, 'budget', 'train.py');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^6\.74B parameters, bf16 · adamw · batch 8 × 2048 · 32 layers × 4096\n/);
  expect(stdout).toMatch(/\n {2}model +llama, 6\.74B +train\.py:4 {2}"meta-llama\/Llama-2-7b-hf"\n/);
  expect(stdout).toMatch(/\n {2}batch +8 +train\.py:7 {2}per_device_train_batch_size=8\n/);
  expect(stdout).toMatch(/\n {2}sequence +2048 +assumed: no length is written here\n/);
});

test('a notebook is read as a script is, and its places are told by cell', async () => {
  const [imports = '', rest = ''] = SCRIPT.split(/\n\n/);
  const cells = ['!pip install transformers', imports, rest].map((source) => ({ cell_type: 'code', source }));
  const cwd = folderWith({ 'train.ipynb': JSON.stringify({ cells, metadata: {}, nbformat: 4 }) });
  const { code, stdout, stderr } = await memfix({ cwd, transforms }, 'budget', 'train.ipynb');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^6\.74B parameters, bf16 · adamw · batch 8 × 2048 · 32 layers × 4096\n/);
  expect(stdout).toMatch(/\n {2}batch +8 +train\.ipynb: cell 3, line 4 {2}per_device_train_batch_size=8\n/);
});

test('what is said on the command line goes first', async () => {
  const words = ['budget', 'train.py', '--batch', '2', '--sequence', '512', '--checkpointing'];
  const { stdout } = await memfix({ cwd: folder(), transforms }, ...words);
  expect(stdout).toMatch(/^6\.74B parameters, bf16 · adamw · batch 2 × 512 · .* · checkpointing\n/);
  expect(stdout).toMatch(/\n {2}batch +2 +said on the command line\n/);
});

test('a script that generates needs nothing that only a training does', async () => {
  const words = ['budget', 'train.py', '--generate', '256', '--batch', '1', '--sequence', '512'];
  const { stdout } = await memfix({ cwd: folder(), transforms }, ...words);
  expect(stdout).toMatch(/^6\.74B parameters, bf16 · generation · batch 1 × 512 · /);
  expect(stdout).toMatch(/\n {2}new tokens +256 +said on the command line\n/);
  expect(stdout).not.toMatch(/optimizer|gradients|accumulation/);
  const { stdout: alone } = await memfix(
    { cwd: folder(), transforms },
    ...['budget', 'meta-llama/Llama-2-7b-hf', ...words.slice(2)],
  );
  const peak = /\n {2}peak +\S+ GiB/;
  expect(peak.exec(stdout)?.[0].replace(/ +/, ' ')).toBe(peak.exec(alone)?.[0].replace(/ +/, ' '));
});

test('settings beside it are read as well', async () => {
  const cwd = folder({
    'ds.json': '{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3}}',
    'accelerate.yaml': 'distributed_type: DEEPSPEED\nnum_processes: 8\n',
  });
  const { stdout } = await memfix({ cwd }, 'budget', 'train.py', 'ds.json', 'accelerate.yaml');
  expect(stdout).toMatch(/ · batch 1 × 2048 · .* · 8 GPUs, sharded parallel\n/);
  expect(stdout).toMatch(/\n {2}sharding +true +ds\.json:1 /);
});

test('ZeRO 1 and 2 divide what they divide, by their file; their steps are less than those of DDP', async () => {
  const peakAt = async (stage: number) => {
    const cwd = folder({
      'ds.json': `{"bf16": {"enabled": true}, "zero_optimization": {"stage": ${stage}}}`,
    });
    const words = ['budget', 'train.py', 'ds.json', '--gpus', '8', '--batch', '1', '--sequence', '512'];
    const { stdout } = await memfix({ cwd, transforms }, ...words);
    const json = await memfix({ cwd, transforms }, ...words, '--output-format', 'json');
    const { rows } = JSON.parse(json.stdout) as { rows: { name: string; bytes: number }[] };
    return { stdout, bytes: (name: string) => rows.find((row) => row.name === name)?.bytes ?? 0 };
  };
  const [one, two, three] = [await peakAt(1), await peakAt(2), await peakAt(3)];
  expect(one.stdout).toMatch(/ · 8 GPUs, ZeRO-1\n/);
  expect(two.stdout).toMatch(/\n {2}ZeRO stage +2 +ds\.json:1 {2}"stage": 2\n/);
  expect(two.stdout).toContain('ZeRO-2 divides the optimizer state and the gradients among the 8 GPUs');
  // 12 bytes of state for each of 6.74B parameters, on 8 GPUs.
  for (const { bytes } of [one, two]) expect(bytes('optimizer') / 1e9).toBeCloseTo((12 * 6.74) / 8, 1);
  expect(two.bytes('weights')).toBe(one.bytes('weights'));
  expect(three.bytes('weights')).toBeCloseTo(one.bytes('weights') / 8, -8);
});

test('how DDP holds what it sends is read, too: without it buckets are counted as they are made anew', async () => {
  const peakOf = async (script: string, ...more: readonly string[]) => {
    const cwd = folderWith({ 'train.py': script });
    const words = ['budget', 'train.py', '--gpus', '2', '--batch', '1', '--optimizer', 'sgd', ...more];
    const { stdout } = await memfix({ cwd, transforms }, ...words, '--output-format', 'json');
    return (JSON.parse(stdout) as { peak: number }).peak;
  };
  const loop = (settings: string) =>
    SCRIPT.replace(/args = [\s\S]*/, `net = torch.nn.parallel.DistributedDataParallel(model${settings})\n`);
  const plain = await peakOf(loop(''));
  const once = await peakOf(loop(', find_unused_parameters=True'));
  expect(plain).toBeGreaterThan(once);
  expect(await peakOf(loop(', find_unused_parameters=True, gradient_as_bucket_view=True'))).toBeLessThan(
    once,
  );
  // The Trainer looks for unused parameters, unless there is checkpointing.
  const { stdout } = await memfix({ cwd: folder(), transforms }, 'budget', 'train.py', '--gpus', '2');
  expect(stdout).toMatch(
    /\n {2}unused parameters +looked for +assumed: the default of the Trainer without checkpointing\n/,
  );
  expect(stdout).not.toContain('NCCL still holds');
  const said = SCRIPT.replace('num_train', 'ddp_find_unused_parameters=False,\n    num_train');
  expect(await peakOf(said)).toBeGreaterThanOrEqual(await peakOf(SCRIPT));
});

test('a proposal consists of what transforms write into this code, and is a patch', async () => {
  const { code, stdout } = await memfix({ cwd: folder(), transforms }, 'budget', 'train.py', '--fit', '80GB');
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n {2}1\. gradient checkpointing: 135\.\d+ GiB → 62\.\d+ GiB\n/);
  const patch = await memfix({ cwd: folder(), transforms }, 'budget', 'train.py', '--fit', '80GB', '--diff');
  expect(patch.stdout).toContain('--- a/train.py\n+++ b/train.py\n');
  expect(patch.stdout).toContain('\n+    gradient_checkpointing=True,\n');
  expect(patch.stdout.split('\n').filter((line) => /^-[^-]/.test(line))).toEqual([]);
});

test('a transform that finds nothing in this code is not named as what writes a step', async () => {
  const { stdout } = await memfix({ cwd: folder(), transforms }, 'budget', 'train.py', '--fit', '24GB');
  expect(stdout).toMatch(
    /smaller batch, more accumulation: .*\n.*\n.*\n {5}a setting of your run; no transform writes it\n/,
  );
});

test('where transforms do not reach it, the rest is named as what it is, and each step gains', async () => {
  const words = ['budget', 'train.py', '--fit', '24GB', '--output-format', 'json'];
  const { fit } = JSON.parse((await memfix({ cwd: folder(), transforms }, ...words)).stdout);
  expect(fit.verdict).not.toBe('no');
  expect(fit.steps.map((step: { name: string }) => step.name)).toContain('low-rank adapters');
  for (const { before, after } of fit.steps) expect(after).toBeLessThan(0.996 * before);
});

test('a patch needs a script and a size', async () => {
  const { code, stderr } = await memfix(
    { cwd: folder(), transforms },
    'budget',
    '7B',
    '--fit',
    '24GB',
    '--diff',
  );
  expect(code).toBe(2);
  expect(stderr).toContain('for a training script');
});

test('a model that nobody knows is asked for', async () => {
  const cwd = folder({ 'train.py': SCRIPT.replace('meta-llama/Llama-2-7b-hf', 'acme/secret') });
  const { code, stderr } = await memfix({ cwd }, 'budget', 'train.py');
  expect(code).toBe(2);
  expect(stderr).toContain('`acme/secret` (train.py:4) is no model that memfix knows by name');
  const own = { model_type: 'gpt2', n_embd: 768, n_layer: 12, n_head: 12, vocab_size: 50_257 };
  const beside = folder({
    'train.py': SCRIPT.replace('meta-llama/Llama-2-7b-hf', 'acme/secret'),
    'config.json': JSON.stringify(own),
  });
  const { stdout } = await memfix({ cwd: beside }, 'budget', 'train.py', 'config.json');
  expect(stdout).toMatch(/^124\.44M parameters, bf16 · adamw · batch 8 × 1024/);
});

test('check reports a run that cannot fit the card of the config', async () => {
  const cwd = folder({ 'pyproject.toml': '[tool.memfix]\nselect = ["amp-api"]\ngpu = "a100-80gb"\n' });
  const { code, stdout } = await memfix({ cwd, transforms }, 'check', '--no-cache');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /train\.py:4 run this run needs 135\.\d+ GiB, at least 129\.\d+ GiB; a100-80gb has 78\.48 GiB usable\n/,
  );
  const json = JSON.parse(
    (await memfix({ cwd, transforms }, 'check', '--no-cache', '--output-format', 'json')).stdout,
  );
  expect(json.runs).toMatchObject([{ path: 'train.py', card: { name: 'a100-80gb' } }]);
  const large = folder({ 'pyproject.toml': '[tool.memfix]\nselect = ["amp-api"]\ngpu = "mi300x"\n' });
  expect((await memfix({ cwd: large, transforms }, 'check', '--no-cache')).code).toBe(0);
  const unknown = folder({ 'pyproject.toml': '[tool.memfix]\ngpu = "a1000"\n' });
  expect((await memfix({ cwd: unknown, transforms }, 'check', '--no-cache')).stderr).toContain(
    '`gpu` must be a card that memfix knows',
  );
});

test('a folder is asked for all of its runs, a line each, and says what cannot be told', async () => {
  const cwd = folder({
    'small.py': SCRIPT.replace('meta-llama/Llama-2-7b-hf', 'gpt2'),
    'secret.py': SCRIPT.replace('meta-llama/Llama-2-7b-hf', 'acme/secret'),
    'notes.py': 'print("nothing is trained here")\n',
  });
  const { code, stdout } = await memfix({ cwd, transforms }, 'budget', '.', '--gpu', 'a100-80gb');
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^train\.py .* 135\.\d+ GiB .* does not fit a100-80gb$/);
  expect(lines[1]).toMatch(/^small\.py .* fits a100-80gb$/);
  expect(lines[2]).toMatch(
    /^secret\.py: not told, since its model \(secret\.py:4\) is none that memfix knows/,
  );
  expect(stdout).not.toContain('notes.py');
  const json = JSON.parse(
    (await memfix({ cwd, transforms }, 'budget', '.', '--output-format', 'json')).stdout,
  );
  expect(json.runs.map(({ path, fits }: { path: string; fits: null }) => [path, fits])).toEqual([
    ['small.py', null],
    ['train.py', null],
  ]);
  expect(json.untold).toMatchObject([{ path: 'secret.py' }]);
  const empty = await memfix({ cwd: folderWith({ 'a.py': '' }), transforms }, 'budget', '.');
  expect(empty.stdout).toMatch(/^No script here trains a model that it names\. Say its size/);
});

test('the picture comes as a page, too: before and after, with its figures, and nothing of the script as markup', async () => {
  const cwd = folder();
  const words = ['budget', 'train.py', '--fit', '80GB', '--plot', 'budget.html'];
  expect((await memfix({ cwd, transforms }, ...words)).code).toBe(0);
  const page = readFileSync(join(cwd, 'budget.html'), 'utf8');
  expect(page).toMatch(/^<!doctype html>/);
  expect(page.match(/<svg/g)).toHaveLength(1);
  expect(page.match(/<h2>(.*?)<\/h2>/g)).toEqual([
    '<h2>Over one step</h2>',
    '<h2>After what is proposed</h2>',
    '<h2>In words</h2>',
  ]);
  expect(page).toContain('<td>optimizer step</td>');
  expect(page).not.toMatch(/<script|http(?!:\/\/www\.w3\.org\/2000\/svg)/);
});

test('a patch with nothing in it says why', async () => {
  const cwd = folderWith({ 'train.py': 'import torch\nfor x in data:\n    net(x).backward()\n' });
  const words = ['budget', 'train.py', '7B', '--fit', '24GB', '--diff'];
  const { stdout, stderr } = await memfix({ cwd, transforms }, ...words);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /^There is nothing to write: no transform writes what would make it fit\.\nnot written: /,
  );
});

test('a script that is not there is said, and no fault of memfix', async () => {
  const { code, stderr } = await memfix({ cwd: folderWith(), transforms }, 'budget', 'nosuch.py');
  expect(code).toBe(2);
  expect(stderr).toBe(
    'memfix: Script not read\n  `nosuch.py` does not exist\n  Next: Give a Python file that memfix can read.\n',
  );
});
