import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownModel } from '../../src/budget/known.js';
import { budgetOf, type Run } from '../../src/budget/memory.js';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const GiB = 2 ** 30;

async function budget(files: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const cwd = folderWith(files);
  const { stdout } = await memfix({ cwd, transforms }, 'budget', 'train.py', ...words);
  return stdout.replaceAll(/\s+/g, ' ');
}

const LOSS = `import torch
import torch.nn.functional as F

def preference_loss(policy, frozen, batch):
    won = policy(batch["won"]).logits
    lost = policy(batch["lost"]).logits
    with torch.no_grad():
        won_before = frozen(batch["won"]).logits
        lost_before = frozen(batch["lost"]).logits
    return (F.log_softmax(won, -1) - F.log_softmax(lost, -1) - won_before + lost_before).mean()
`;

const PREFERENCE = `import copy
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
from losses import preference_loss

net = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
start = copy.deepcopy(net)
start.eval()
for p in start.parameters():
    p.requires_grad = False
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
loader = DataLoader(pairs, batch_size=5, shuffle=True)
for batch in loader:
    loss = preference_loss(net, start, batch)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;

test('two passes of one step and a frozen copy are counted, and what is frozen is not said of the other', async () => {
  const told = await budget({ 'train.py': PREFERENCE, 'losses.py': LOSS }, '--sequence', '1024');
  expect(told).toContain('passes 2 train.py:16 passes of `net` before one backward');
  expect(told).toContain('other model gpt2, 124.44M train.py:8 copy.deepcopy(net); 2 passes a step');
  expect(told).toMatch(/other models +0\.46 GiB +124\.44M, not trained/);
  expect(told).toContain('2 passes of 5120 tokens');
  expect(told).not.toContain('Parameters are frozen');
  const peak = Number(/peak +([\d.]+) GiB/.exec(told)?.[1]);
  // Measured on an H200: 21.2 GiB where outputs have names until the loss is there.
  expect(peak).toBeGreaterThan(20);
  expect(peak).toBeLessThan(23);
  expect(told).toContain('16 GB 14.85 GiB no,');
});

test('one pass, and two of which each has its own backward, are one', async () => {
  const twice = PREFERENCE.replace(
    / {4}loss = preference_loss[\s\S]*backward\(\)\n/,
    '    net(batch).loss.backward()\n    net(batch).loss.backward()\n',
  );
  expect(await budget({ 'train.py': twice })).not.toContain('passes');
  const branches = PREFERENCE.replace(
    '    loss = preference_loss(net, start, batch)\n',
    '    if kind == "a":\n        loss = net(batch).loss\n    if kind == "b":\n        loss = net(batch, labels=batch).loss\n',
  );
  expect(await budget({ 'train.py': branches })).not.toContain('passes ');
});

test('a loop of passes before one backward is not counted, and never said to fit', async () => {
  const looped = PREFERENCE.replace(
    '    loss = preference_loss(net, start, batch)\n',
    '    loss = 0\n    for view in batch:\n        loss = loss + net(view).loss\n',
  );
  const told = await budget({ 'train.py': looped }, '--fit', '80GB');
  expect(told).toContain(
    '`net` runs in a loop before one backward (train.py:18): one pass of it is counted.',
  );
  expect(told).not.toContain('change: it fits');
  expect(told).not.toMatch(/\bfits,/);
  expect(told).toMatch(/peak +[\d.]+ GiB +[\d.]+ GiB or more/);
  expect(told).toMatch(/Whether it fits cannot be told: [\d.]+ GiB are left for what is not counted/);
});

test('a teacher is another model: counted where its size is known, else said', async () => {
  const script = (teacher: string) => `import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
student = AutoModelForCausalLM.from_pretrained("distilgpt2")
teacher = AutoModelForCausalLM.from_pretrained(${teacher}).eval()
optimizer = torch.optim.AdamW(student.parameters())
for batch in DataLoader(data, batch_size=2):
    with torch.no_grad():
        wanted = teacher(batch).logits
    loss = (student(batch).logits - wanted).square().mean()
    loss.backward()
    optimizer.step()
`;
  const known = await budget({ 'train.py': script('"gpt2-xl"') }, '--fit', '80GB');
  expect(known).toContain('model gpt2, 81.91M train.py:4');
  expect(known).toMatch(/other model gpt2, 1\.56B train\.py:5 .*one pass a step/);
  expect(known).toContain('change: it fits');
  const unknown = await budget({ 'train.py': script('"me/teacher"') }, '--fit', '80GB');
  expect(unknown).toContain('(train.py:5) is another model, of a size that is not known: it is not counted.');
  expect(unknown).not.toContain('change: it fits');
  const later = `${script('"gpt2-xl"').replace(/teacher = .*\n/, '')}best = AutoModelForCausalLM.from_pretrained("out/best")\n`;
  expect(await budget({ 'train.py': later }, '--fit', '80GB')).toContain('change: it fits');
  const instead = script('"gpt2-xl"').replaceAll('teacher =', 'student =');
  expect(await budget({ 'train.py': instead })).not.toContain('other model');
});

const STUDENT = `import argparse
import torch
from torch import nn
from transformers import AdamW, BertConfig, BertForTokenClassification
from data import loader_of

parser = argparse.ArgumentParser()
parser.add_argument("--distill", action="store_true")
parser.add_argument("--batch_size", default=16, type=int)
args = parser.parse_args()

class Tagger(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.bert = BertForTokenClassification(config)

class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lstm = nn.LSTM(width, width)

def models(args):
    teacher = None
    if args.distill:
        teacher = BertForTokenClassification.from_pretrained("bert-base-cased").to("cuda")
    if kind() == "lstm":
        model = Recurrent(256).to("cuda")
    else:
        config = BertConfig(hidden_size=312, num_hidden_layers=4, num_attention_heads=12, intermediate_size=1200, vocab_size=28996)
        model = Tagger(config).to("cuda")
    return model, teacher

model, teacher = models(args)
optimizer = AdamW(model.parameters(), lr=1e-4)
for batch in loader_of(args):
    loss = model(batch).loss
    loss.backward()
    optimizer.step()
`;
const DATA = `from torch.utils.data import DataLoader

def masked(mask):
    mask.requires_grad = False
    return mask

def loader_of(args, size=None):
    return DataLoader(read(args), batch_size=size or args.batch_size, shuffle=True)
`;

test('a distillation: the student by its configuration, its head, optimizer and batch, and what may be there besides', async () => {
  const told = await budget({ 'train.py': STUDENT, 'data.py': DATA }, '--fit', '24GB');
  expect(told).toMatch(/model bert, 13\.\d+M train\.py:29/);
  expect(told).toContain('optimizer adamw-fused train.py:34');
  expect(told).toMatch(/batch 16 .*`--batch_size` is 16 by default \(train\.py:9\)/);
  expect(told).toMatch(/classes 2 .*how many labels `BertForTokenClassification` has cannot be told/);
  expect(told).not.toContain('vocabulary of 28996');
  expect(told).not.toContain('Parameters are frozen');
  expect(told).toContain('`Recurrent(256)` (train.py:27) may be trained instead, and is not counted.');
  expect(told).toMatch(/\(train\.py:25\) is not counted: `--distill` is off by default\./);
  expect(told).not.toContain('change: it fits');
});

const UNSLOTH = `from unsloth import FastLanguageModel, is_bfloat16_supported
from trl import SFTTrainer
from transformers import TrainingArguments
length = 2048
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name="unsloth/mistral-7b-v0.3",
    max_seq_length=length,
    dtype=None,
    load_in_4bit=True,
)
model = FastLanguageModel.get_peft_model(
    model,
    r=32,
    target_modules=["q_proj", "v_proj"],
    use_gradient_checkpointing="unsloth",
)
trainer = SFTTrainer(model=model, max_seq_length=length, args=TrainingArguments(
    output_dir="out", per_device_train_batch_size=2, fp16=not is_bfloat16_supported(), bf16=is_bfloat16_supported(), optim="adamw_8bit",
))
trainer.train()
`;

test('unsloth: 4 bits, adapters and checkpointing are read, and its own defaults', async () => {
  const told = await budget({ 'train.py': UNSLOTH }, '--fit', '16GB');
  expect(told).toContain('int4 · LoRA rank 32 · adamw-8bit · batch 2 × 2048');
  expect(told).toContain('dtype int4 train.py:9 load_in_4bit=True');
  expect(told).toContain('adapted layers q, v train.py:14');
  expect(told).toContain('checkpointing on train.py:15');
  expect(told).toContain('model mistral, 7.24B train.py:6');
  expect(told).toContain('unsloth (train.py:5) brings kernels of its own, which were not measured');
  expect(await budget({ 'train.py': UNSLOTH }, '7B')).toContain('int4 · LoRA rank 32');
  const plain = UNSLOTH.replace(/ {4}dtype=None,\n {4}load_in_4bit=True,\n/, '').replace(
    / {4}r=32,\n[\s\S]*?"unsloth",\n/,
    '',
  );
  const byDefault = await budget({ 'train.py': plain });
  expect(byDefault).toContain('int4 · LoRA rank 16');
  expect(byDefault).toContain('q, k, v, o, gate, up, down');
  const half = await budget({ 'train.py': UNSLOTH.replace('load_in_4bit=True', 'load_in_4bit=False') });
  expect(half).toContain('bf16 · LoRA rank 32');
});

test('steps of a preference loop and of a distillation are as large as they were measured', () => {
  const rows = readFileSync(new URL('../../bench/gpu/preference.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Measured);
  expect(rows.length).toBeGreaterThan(90);
  for (const { model, dtype, loss, batch, sequence, peak } of rows) {
    const known = knownModel(model);
    if (known === undefined) throw new Error(model);
    const { parameters, shape } = known;
    const passes = loss === 'distil' ? 1 : 2;
    const found = budgetOf({
      ...PLAIN,
      ...{ parameters, shape, trainable: parameters, dtype, batch, sequence, passes },
      others: [{ parameters, shape, passes }],
    });
    const what = `${model} ${dtype} ${loss} ${batch} × ${sequence}: ${peak / GiB}`;
    expect(found.low, what).toBeLessThanOrEqual(peak);
    expect(found.high, what).toBeGreaterThanOrEqual(peak);
  }
});

interface Measured {
  readonly model: string;
  readonly dtype: Run['dtype'];
  readonly loss: string;
  readonly batch: number;
  readonly sequence: number;
  readonly peak: number;
}

const PLAIN = {
  task: 'train',
  optimizer: 'adamw',
  masterWeights: false,
  attention: 'sdpa',
  padded: false,
  checkpointing: false,
  chunkedLoss: false,
  keepsOutputs: false,
  accumulates: false,
  gpus: 1,
  parallel: 'data',
  offload: 'none',
  given: {},
} as const satisfies Partial<Run>;

test('a folder has the runs of scripts whose model another file loads', async () => {
  const cwd = folderWith({
    'train.py': PREFERENCE.replace(
      'from transformers import AutoModelForCausalLM\n',
      'from nets import net\n',
    ).replace(/net = Auto.*\n/, ''),
    'nets.py':
      'from transformers import AutoModelForCausalLM\nnet = AutoModelForCausalLM.from_pretrained("gpt2")\n',
    'losses.py': LOSS,
  });
  const { stdout } = await memfix({ cwd, transforms }, 'budget', '.');
  expect(stdout).toMatch(/train\.py\s+gpt2/);
});

test('what a trainer loads by its name goes before what a later line loads', async () => {
  const told = await budget({
    'train.py': `from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
name = "mistralai/Mistral-7B-v0.1"
bits = BitsAndBytesConfig(load_in_4bit=True)
wishes = dict(attn_implementation="flash_attention_2", torch_dtype="auto", quantization_config=bits)
args = SFTConfig("out", model_init_kwargs=wishes, per_device_train_batch_size=1)
SFTTrainer(model=name, args=args, peft_config=LoraConfig(r=8)).train()
model = AutoModelForCausalLM.from_pretrained("out/tuned")
`,
  });
  expect(told).toContain('model mistral, 7.24B train.py:8');
  expect(told).toContain('attention flash train.py:6');
  expect(told).toContain('dtype int4 train.py:5');
});

const TWO = `from transformers import AutoModelForTokenClassification, BertConfig, BertForTokenClassification
from transformers import Trainer, TrainingArguments
from distil import StudentTrainer

large = AutoModelForTokenClassification.from_pretrained("bert-base-cased", num_labels=9)
args = TrainingArguments("out", bf16=True, per_device_train_batch_size=16)
trainer = Trainer(model=large, args=args, train_dataset=data)
trainer.train()
for p in large.parameters():
    p.requires_grad_(False)
config = BertConfig(hidden_size=384, num_hidden_layers=8, num_attention_heads=8, num_labels=9)
small = BertForTokenClassification(config)
args = TrainingArguments("out", per_device_train_batch_size=32)
trainer = StudentTrainer(teacher=large, model=small, args=args, train_dataset=data)
trainer.train()
`;
const DISTIL = 'from transformers import Trainer\n\nclass StudentTrainer(Trainer):\n    pass\n';

test('of two trainings in one file one is counted by its own settings, and the other is said', async () => {
  const text = await budget({ 'train.py': TWO, 'distil.py': DISTIL });
  expect(text).toContain('109.51M parameters, mixed');
  expect(text).toContain('batch 16 × 512 · 12 layers × 768');
  expect(text).toContain(
    '2 trainings are here, `Trainer` (train.py:7), `StudentTrainer` (train.py:14): the first is counted',
  );
  expect(text).not.toContain('to spare');
  expect(text).not.toContain('Parameters are frozen');
  const start = TWO.split('\n');
  const second = [...start.slice(0, 5), ...start.slice(10, 14), ...start.slice(5, 8)].join('\n');
  const turned = await budget({ 'train.py': second, 'distil.py': DISTIL });
  expect(turned).toContain('batch 32 × 512 · 8 layers × 384');
  expect(turned).toContain('2 trainings are here, `StudentTrainer`');
});

test('a trainer that only evaluates is no second training', async () => {
  const more = 'Trainer(model=large, args=TrainingArguments("eval", bf16=True)).evaluate(data)\n';
  const script = `${TWO.split('\n').slice(0, 8).join('\n')}\n${more}`;
  expect(await budget({ 'train.py': script, 'distil.py': DISTIL })).not.toContain('trainings are here');
});

test('two optimizers of two models: the one that is not counted is said', async () => {
  const text = await budget({
    'train.py': `import torch
from transformers import AutoModelForCausalLM

large = AutoModelForCausalLM.from_pretrained("gpt2-xl").cuda()
small = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
first = torch.optim.AdamW(large.parameters())
second = torch.optim.AdamW(small.parameters())
for batch in data:
    large(batch).loss.backward()
    first.step()
    small(batch).loss.backward()
    second.step()
`,
  });
  expect(text).toContain('`small` (train.py:5) is trained as well, and is not counted');
});
