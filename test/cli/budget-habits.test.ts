/** What a new user of `memfix budget` stumbled over. */
import { expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

async function budget(files: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const cwd = folderWith(files);
  const { stdout, stderr, code } = await memfix({ cwd, transforms }, 'budget', ...words);
  return { text: (stdout + stderr).replace(/\s+/g, ' '), code };
}

const TRAINER = (load: string, optim = '') => `from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    Trainer,
    TrainingArguments,
)

${load}
args = TrainingArguments("out", per_device_train_batch_size=32${optim})
trainer = Trainer(model=model, args=args, train_dataset=rows)
trainer.train()
`;

test.each([
  ['gpt2', 1024],
  ['facebook/opt-125m', 2048],
  ['roberta-base', 512],
  ['meta-llama/Llama-3.2-1B', 2048],
])('no longer sequence than %s has positions for', async (name, length) => {
  const script = TRAINER(`model = AutoModelForCausalLM.from_pretrained("${name}")`);
  const { text } = await budget({ 'train.py': script }, 'train.py');
  expect(text).toMatch(new RegExp(`sequence ${length}\\b`));
  expect((await budget({}, name)).text).not.toContain(length < 2048 ? '2048' : '4096');
});

const TWO = `model = AutoModel.from_pretrained("distilbert-base-uncased")
features = model(**batch)
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=6)`;

test('the model that the trainer gets, and the optimizer of its version', async () => {
  const files = { 'train.py': TRAINER(TWO), 'requirements.txt': 'transformers==4.16.2\n' };
  const { text } = await budget(files, 'train.py');
  expect(text).toContain('classes 6');
  expect(text).not.toContain('vocabulary of');
  expect(text).toContain('the default of the Trainer with transformers before 4.52');
  expect((await budget({ 'train.py': TRAINER(TWO) }, 'train.py')).text).toContain('with torch 2.8 or newer');
});

const QLORA = (prepare: string) =>
  TRAINER(
    `from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf", load_in_4bit=True)
${prepare}
model = get_peft_model(model, LoraConfig(r=16))`,
    ', optim="paged_adamw_32bit"',
  );

test('what peft keeps in fp32 is counted where it is called, and a paged optimizer is named', async () => {
  const { text } = await budget(
    { 'train.py': QLORA('model = prepare_model_for_kbit_training(model)') },
    'train.py',
  );
  expect(text).toContain('as `prepare_model_for_kbit_training` keeps them (train.py:11)');
  expect(text).toContain('adamw-fused, paged');
  const without = await budget({ 'train.py': QLORA('print(model)') }, 'train.py');
  expect(without.text).toContain('`prepare_model_for_kbit_training` would keep');
  const weights = (said: string) => Number(/weights ([\d.]+) GiB/.exec(said)?.[1]);
  expect(weights(text) - weights(without.text)).toBeCloseTo((2 * 32_000 * 4096 * 2) / 2 ** 30, 1);
});

test('what may be quantized and has no adapters is taken for a run that trains', async () => {
  const script = TRAINER(
    'model = AutoModelForCausalLM.from_pretrained("gpt2", load_in_4bit=options.bits == 4)',
  );
  const { text, code } = await budget({ 'train.py': script }, 'train.py', '--fit', '80GB');
  expect(text).not.toContain('cannot be trained');
  expect(code).not.toBe(2);
});

test('Vicuna is Llama 2', async () => {
  expect((await budget({}, 'lmsys/vicuna-13b-v1.5')).text).toContain('13.02B');
});

test('settings of a shell script', async () => {
  const launch = `#!/bin/bash
deepspeed train.py \\
    --deepspeed ./zero3.json \\
    --model_name_or_path lmsys/vicuna-7b-v1.5 \\
    --per_device_train_batch_size 16 \\
    --output_dir $OUT \\
    --gradient_checkpointing True \\
    --bf16 True
`;
  const { text } = await budget({ 'launch.sh': launch }, 'launch.sh');
  expect(text).toContain('batch 16 launch.sh:5');
  expect(text).toContain('checkpointing on launch.sh:7');
});

test('a flag, a variable and a continued line of a shell script', async () => {
  const launch = `#!/bin/bash
BS=4   # for one card
LEN="512"
OPTS=(--lora_dropout 0.1
  --bf16)
export RANK=\${BS}
if [ -n "$1" ]; then ACC=8; fi
for seed in 1 2; do
CUDA_VISIBLE_DEVICES=1 torchrun --nproc_per_node 1 train.py --seed $seed \\
    --per_device_train_batch_size \${BS} \\
    --gradient_checkpointing \\
    --max_seq_length=$LEN --lora_rank "$RANK" \\
    --gradient_accumulation_steps $ACC \\
    "\${OPTS[@]}" > log.txt 2>&1
done
`;
  const { text } = await budget({ 'launch.sh': launch }, 'launch.sh', 'llama-2-7b');
  expect(text).toContain('batch 4 launch.sh:10');
  expect(text).toContain('checkpointing on launch.sh:11 --gradient_checkpointing');
  expect(text).toContain('sequence 512 launch.sh:12 --max_seq_length=512');
  expect(text).toContain('rank 4');
  expect(text).toContain('assumed: `--gradient_accumulation_steps $ACC` is not read');
});

test('a command on one line, with a flag at its end', async () => {
  const launch = 'BS=2\npython train.py --per_device_train_batch_size $BS --gradient_checkpointing\n';
  const { text } = await budget({ 'a.sh': launch }, 'a.sh', 'llama-2-7b');
  expect(text).toContain('batch 2 a.sh:2');
  expect(text).toContain('checkpointing on a.sh:2');
  const own = `${launch.trimEnd()} --kbits 4 --seed 1`;
  const open = await budget({ 'a.sh': own }, 'a.sh', 'llama-2-7b');
  expect(open.text).toContain('Options that may matter and are not read: `--kbits 4` (a.sh:2).');
  expect(open.text).not.toContain('to spare');
  expect((await budget({ 'a.sh': 'cd here\n' }, 'a.sh', '7B')).text).toContain(
    'no command in it has options',
  );
});

test('the command of a shell script is that which runs the script', async () => {
  const launch =
    'python data.py --batch_size 64\npython train.py --batch_size 2\npython train.py --batch_size 8\n';
  const files = { 'a.sh': launch, 'train.py': 'pass\n', 'other.py': 'pass\n' };
  const { text } = await budget(files, 'train.py', 'a.sh', 'llama-2-7b');
  expect(text).toContain('batch 2 a.sh:2');
  expect(text).toContain('`a.sh` runs `train.py` 2 times; the first (line 2) is counted');
  expect((await budget(files, 'other.py', 'a.sh', '7B')).text).toContain(
    '`a.sh` runs `data.py` (line 1), not',
  );
});

test('a folder without a model that can be counted is no dead end', async () => {
  const { text } = await budget({ 'a.py': 'pass\n' }, '.', '--fit', '10GB');
  expect(text).toContain('`memfix budget train.py 7B`');
});

test('every command takes --no-pager', async () => {
  expect((await budget({}, '7B', '--no-pager')).code).toBe(0);
});
