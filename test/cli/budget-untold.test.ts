import { expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const QLORA = `import argparse
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int)
parser.add_argument("--batch", type=int, default=4)
given = parser.parse_args()
bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf", quantization_config=bits)
model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, LoraConfig(r=given.rank, target_modules=linear_names(model)))
args = TrainingArguments(output_dir="out", per_device_train_batch_size=given.batch, bf16=True)
Trainer(model=model, args=args, train_dataset=data).train()
`;

const SFT = `from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
args = SFTConfig(output_dir="out", per_device_train_batch_size=2)
SFTTrainer(model=model, args=args, train_dataset=data).train()
`;

const MORE = ['--target-version', 'trl=0.30'];

interface Source {
  readonly name: string;
  readonly value: string;
  readonly place: string | null;
  readonly words: string;
}

/** What is said of each value: the value, its place, and why. */
async function linesOf(files: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const cwd = folderWith(files);
  const asked = ['budget', 'train.py', '--output-format', 'json', ...words];
  const { code, stdout, stderr } = await memfix({ cwd, transforms }, ...asked);
  expect([code, stderr]).toEqual([0, '']);
  const { sources } = JSON.parse(stdout) as { sources: readonly Source[] };
  return (name: string) =>
    sources
      .filter((source) => source.name === name)
      .flatMap(({ value, place, words: why }) => [name, value, ...(place === null ? [] : [place]), why]);
}

test('peft turns checkpointing on where it prepares a quantized model, and says so', async () => {
  const line = await linesOf({ 'train.py': QLORA });
  expect(line('checkpointing')).toEqual([
    'checkpointing',
    'on',
    'train.py:12',
    'prepare_model_for_kbit_training(model); peft turns it on by default',
  ]);
  const off = QLORA.replace('training(model)\n', 'training(model, use_gradient_checkpointing=False)\n');
  expect((await linesOf({ 'train.py': off }))('checkpointing').slice(1)).toEqual([
    'off',
    'assumed: nothing turns it on',
  ]);
  const whole = QLORA.replace(', quantization_config=bits', ', torch_dtype=torch.bfloat16');
  expect((await linesOf({ 'train.py': whole }))('checkpointing')[1]).toBe('off');
  // The trainer does not turn off what peft has turned on.
  const denied = QLORA.replace('bf16=True', 'bf16=True, gradient_checkpointing=False');
  expect((await linesOf({ 'train.py': denied }))('checkpointing')[1]).toBe('on');
  const asked = QLORA.replace('training(model)\n', 'training(model, use_gradient_checkpointing=flag())\n');
  expect((await linesOf({ 'train.py': asked }))('checkpointing').slice(1)).toEqual([
    'on',
    'train.py:12',
    'assumed: `use_gradient_checkpointing=flag()` cannot be told without running it; say it with `--checkpointing` or `--no-checkpointing`',
  ]);
});

test('trl checkpoints and takes bf16 by its version, by the files that state it', async () => {
  const at = (version: string) => linesOf({ 'train.py': SFT, 'requirements.txt': `trl${version}\n` });
  const newer = await at('==0.23.0');
  expect(newer('checkpointing').slice(1)).toEqual([
    'on',
    'train.py:5',
    'on by default, in this version of trl',
  ]);
  expect(newer('dtype').slice(1)).toEqual([
    'mixed',
    'train.py:5',
    'bf16 by default, in this version of trl, on fp32 weights',
  ]);
  const older = await at('==0.12.0');
  expect([older('checkpointing')[1], older('dtype')[1]]).toEqual(['off', 'fp32']);
  const any = await linesOf({ 'train.py': SFT });
  expect(any('checkpointing').slice(1, 3)).toEqual(['on', 'train.py:5']);
  expect(any('checkpointing')[3]).toMatch(
    /^assumed: `SFTConfig` checkpoints in trl 0\.22 and newer, and which/,
  );
  expect((await linesOf({ 'train.py': SFT }, ...MORE))('checkpointing')[3]).toBe(
    'on by default, in this version of trl',
  );
  expect((await linesOf({ 'train.py': SFT }, '--no-checkpointing'))('checkpointing').slice(1)).toEqual([
    'off',
    'said on the command line',
  ]);
});

test('what is given and cannot be told is assumed, and never a default', async () => {
  const line = await linesOf({ 'train.py': QLORA });
  expect(line('LoRA rank').slice(1)).toEqual([
    '8',
    'train.py:13',
    'assumed: `r=given.rank` cannot be told without running it; say it with `--lora-rank`',
  ]);
  expect(line('adapted layers').slice(1)).toEqual([
    'q, k, v, o, gate, up, down',
    'train.py:13',
    'assumed: `target_modules=linear_names(model)` cannot be told without running it',
  ]);
  expect(line('batch').slice(1)).toEqual([
    '4',
    'train.py:14',
    'per_device_train_batch_size=given.batch; `--batch` is 4 by default',
  ]);
  const open = QLORA.replace(
    'from_pretrained("',
    'from_pretrained(torch_dtype=kind(), pretrained_model_name_or_path="',
  )
    .replace('quantization_config=bits', 'quantization_config=made()')
    .replace('bf16=True', 'optim=choose(), gradient_accumulation_steps=steps(), **more()')
    .replace('given.batch, ', 'size(), ');
  const all = await linesOf({ 'train.py': open });
  for (const name of ['dtype', 'optimizer', 'accumulation', 'checkpointing', 'batch'])
    expect([name, ...all(name).slice(2)].join(' ')).toMatch(
      new RegExp(`^${name} train\\.py:1[1-4] assumed: .*(?:cannot be told|may hold|turns it on for weights)`),
    );
  expect(all('dtype')[1]).toBe('int4');
});

test('what can be told is: a list by its variable, settings of a class, a dict that is spread, a file that is imported', async () => {
  const line = await linesOf({
    'settings.py': `from dataclasses import dataclass, field

MODEL = "meta-llama/Llama-2-7b-hf"

@dataclass
class Settings:
    rank: int = 32
    layers: list = field(default_factory=lambda: ["q_proj", "o_proj"])
`,
    'model.py': `from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
from settings import MODEL, Settings

def build(settings: Settings):
    model = AutoModelForCausalLM.from_pretrained(MODEL, torch_dtype="bfloat16")
    return get_peft_model(model, LoraConfig(r=settings.rank, target_modules=settings.layers))
`,
    'train.py': `from transformers import Trainer, TrainingArguments
from model import build
from settings import Settings

WISHES = {"output_dir": "out", "per_device_train_batch_size": 2 * 3, "optim": "paged_adamw_32bit"}
Trainer(model=build(Settings()), args=TrainingArguments(**WISHES), train_dataset=data).train()
`,
  });
  expect(line('model').slice(1)).toEqual([
    'llama, 6.74B',
    'model.py:6',
    'MODEL; it is "meta-llama/Llama-2-7b-hf"',
  ]);
  expect(line('dtype').slice(1, 3)).toEqual(['bf16', 'model.py:6']);
  expect(line('LoRA rank').slice(1)).toEqual([
    '32',
    'model.py:7',
    'r=settings.rank; the default of `Settings`',
  ]);
  expect(line('adapted layers')[1]).toBe('q, o');
  expect(line('batch')[1]).toBe('6');
  expect(line('optimizer').slice(1)).toEqual([
    'adamw-fused, paged',
    'train.py:5',
    '"optim": "paged_adamw_32bit"',
  ]);
});

test('a line behind a question counts by its answer', async () => {
  const asked = (isOn: string) =>
    QLORA.replace(
      'parser.add_argument("--rank", type=int)',
      `parser.add_argument("--small", action="store_${isOn}")\nparser.add_argument("--rank", type=int, default=16)`,
    ).replace('model = prepare_model', 'if given.small:\n    model = prepare_model');
  expect((await linesOf({ 'train.py': asked('true') }))('checkpointing')[1]).toBe('off');
  expect((await linesOf({ 'train.py': asked('false') }))('checkpointing')[1]).toBe('on');
  const maybe = QLORA.replace('bits = ', 'bits = None\nif small():\n    bits = ').replace(
    'model = prepare',
    'prepare',
  );
  expect((await linesOf({ 'train.py': maybe }))('dtype').slice(1)).toEqual([
    'int4',
    'train.py:13',
    'assumed: `quantization_config=bits` cannot be told without running it; say it with `--dtype`',
  ]);
  const open = QLORA.replace('model = prepare_model', 'if roomy():\n    model = prepare_model');
  expect((await linesOf({ 'train.py': open }))('checkpointing')[3]).toMatch(
    /^assumed: it is behind `roomy\(\)`, which cannot be told/,
  );
});

test('a parameter is what its calls give, here and in the script that imports it; where they differ it is not told', async () => {
  const other = `from transformers import AutoModelForCausalLM

def load(name, rank=4):
    return AutoModelForCausalLM.from_pretrained(name, torch_dtype="bfloat16")

def tokens(tokenizer, texts, length=128):
    return tokenizer(texts, truncation=True, max_length=length)
`;
  const script = (calls: string) => `from transformers import Trainer, TrainingArguments
from other import load, tokens

model = load("gpt2")
${calls}
Trainer(model=model, args=TrainingArguments(output_dir="out")).train()
`;
  const at = (calls: string) => linesOf({ 'train.py': script(calls), 'other.py': other });
  const once = await at('tokens(tokenizer, texts, 256)');
  expect(once('model').slice(1)).toEqual(['gpt2, 124.44M', 'other.py:4', 'name; it is "gpt2"']);
  expect(once('sequence').slice(1, 3)).toEqual(['256', 'other.py:7']);
  expect((await at('tokens(tokenizer, texts)'))('sequence')[1]).toBe('128');
  expect((await at('tokens(a, b)\ntokens(c, d, length=64)'))('sequence').slice(1)).toEqual([
    '1024',
    'other.py:7',
    'assumed: `max_length=length` cannot be told without running it; say it with `--sequence`',
  ]);
});

test('arguments that the command line makes are assumed, and parameters that are frozen by hand are said', async () => {
  const line = await linesOf({
    'train.py': `from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

@dataclass
class ModelArguments:
    name: str = field(default="gpt2", metadata={"help": "which"})

ours, args = HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()
model = AutoModelForCausalLM.from_pretrained(ours.name)
Trainer(model=model, args=args).train()
`,
  });
  expect(line('model').slice(1)).toEqual([
    'gpt2, 124.44M',
    'train.py:9',
    'ours.name; `--name` on the command line goes first',
  ]);
  expect(line('batch').slice(1)).toEqual([
    '8',
    'train.py:8',
    'assumed: the command line may say `--per_device_train_batch_size`; say it with `--batch`',
  ]);
  const cwd = folderWith({
    'train.py': SFT.replace('args =', 'for p in model.parameters():\n    p.requires_grad = False\nargs ='),
  });
  const { stdout } = await memfix({ cwd, transforms }, 'budget', 'train.py');
  expect(stdout.replaceAll(/\n\s+/g, ' ')).toContain(
    'Parameters are frozen (train.py:6), and all are counted as trained: say how many are with `--trainable`.',
  );
  const pairs = folderWith({ 'train.py': SFT.replaceAll('SFT', 'DPO') });
  expect(
    (await memfix({ cwd: pairs, transforms }, 'budget', 'train.py')).stdout.replaceAll(/\n\s+/g, ' '),
  ).toContain(
    '`DPOConfig` in train.py:5: one pass over a batch is counted; a reference model, pairs of answers and generation come on top.',
  );
  const other = folderWith({
    'train.py': SFT.replace(
      'args =',
      'from peft import OFTConfig, get_peft_model\nmodel = get_peft_model(model, OFTConfig())\nargs =',
    ),
  });
  expect(
    (await memfix({ cwd: other, transforms }, 'budget', 'train.py')).stdout.replaceAll(/\n\s+/g, ' '),
  ).toContain(
    '`get_peft_model(model, OFTConfig())` in train.py:6 puts in adapters that memfix does not see, and freezes the model',
  );
});

test('one card has one size, whoever names it', async () => {
  const cwd = folderWith({ 'train.py': SFT });
  const sizes = await Promise.all(
    [
      ['--fit', '24GB'],
      ['--fit', '23.56GiB'],
      ['--fit', '3090'],
      ['--gpu', '3090'],
    ].map(async (words) => {
      const { stdout } = await memfix({ cwd, transforms }, 'budget', 'train.py', ...words);
      return /(\d+\.\d+) GiB usable/.exec(
        stdout.slice(stdout.indexOf(words[0] === '--gpu' ? 'rtx-' : 'To fit')),
      )?.[1];
    }),
  );
  expect(new Set(sizes)).toEqual(new Set(['22.81']));
});

/** What a budget of a project with this script says where it cannot be told. */
async function told(script: string, ...words: readonly string[]): Promise<string> {
  const cwd = folderWith({ 'src/train.py': script, 'requirements.txt': 'torch\n' });
  const { code, stderr } = await memfix({ cwd, transforms }, 'budget', ...words);
  expect(code).toBe(2);
  return stderr.replaceAll(/\n\s+/g, ' ');
}

test('the next command keeps the path and the options, and what cannot be counted is said', async () => {
  const words = ['src/train.py', '--fit', '24GB'];
  const open = SFT.replace('"gpt2"', 'name()');
  expect(await told(open, ...words)).toMatch(
    /^memfix: Which model cannot be told `name\(\)` cannot be told without running it \(src\/train\.py:4\) Next: Say it: `memfix budget src\/train\.py 7B --fit 24GB`/,
  );
  expect(await told(SFT.replace('"gpt2"', '"acme/secret"'), ...words)).toContain(
    '`memfix budget src/train.py config.json --fit 24GB`',
  );
  const net = `import torch
from torch import nn

class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 64, 3)

net = UNet().cuda()
optimizer = torch.optim.Adam(net.parameters())
for x in data:
    net(x).sum().backward()
`;
  const said = await told(net, ...words);
  expect(said).toContain(
    'this script trains `UNet` (src/train.py:9), a convolutional network; counted is a transformer',
  );
  expect(said).not.toContain('7B');
  expect(await told(net, 'requirements.txt')).toContain(
    '`requirements.txt` is none of what a budget is made of Next: Give a training script (.py or .ipynb)',
  );
  expect(await told(net, 'src/train.py', 'nosuch.yaml')).toContain('`nosuch.yaml` does not exist');
});

test('a table of `nn.Embedding` is no model, and a network that a class holds is named', async () => {
  const net = `import torch
from torch import nn
from extra import load

class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.zeros(8, 4))
        self.cell = nn.LSTM(4, 4)

class Solver:
    def prepare(self):
        self.model = Lstm().to("cuda")
        self.optimizer = torch.optim.Adam(self.model.parameters())
`;
  const said = await told(net, 'src/train.py');
  expect(said).toContain('this script trains `Lstm` (src/train.py:13), a network of its own');
  expect(said).not.toContain('from_pretrained');
  const table = 'from torch import nn\n\ntable = nn.Embedding.from_pretrained(rows)\n';
  expect(await told(table, 'src/train.py')).toContain('No model found');
});

test('fields of dataclasses that the command line or a file fills, and the branch that their default takes', async () => {
  const line = await linesOf({
    'train.py': `import sys
from dataclasses import dataclass, field
from typing import Optional
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
from rows import make_rows

@dataclass
class OurArguments:
    name: str = field(default="gpt2")
    max_seq_length: Optional[int] = field(default=640)
    bits: Optional[int] = field(default=16)
    rank: Optional[int] = field(default=4)

parser = HfArgumentParser((OurArguments, TrainingArguments))
if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):
    ours, args = parser.parse_json_file(json_file=sys.argv[1])
else:
    ours, args = parser.parse_args_into_dataclasses()
rows = make_rows(max_seq_length=ours.max_seq_length)
if ours.bits in [4, 8]:
    four = ours.bits == 4
else:
    four = False
model = AutoModelForCausalLM.from_pretrained(ours.name, load_in_4bit=four)
model = get_peft_model(model, LoraConfig(r=ours.rank))
Trainer(model=model, args=args, train_dataset=rows).train()
`,
  });
  expect(line('model')[1]).toBe('gpt2, 124.44M');
  expect(line('LoRA rank').slice(1)).toEqual([
    '4',
    'train.py:26',
    'r=ours.rank; `--rank` on the command line goes first',
  ]);
  expect(line('dtype')[1]).not.toContain('int');
  expect(line('sequence')[1]).toBe('640');
});

test('a name that is None by default is no missing model', async () => {
  const script = `from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

@dataclass
class OurArguments:
    name: str = field(default=None)

ours, args = HfArgumentParser((OurArguments, TrainingArguments)).parse_args_into_dataclasses()
model = AutoModelForCausalLM.from_pretrained(ours.name)
Trainer(model=model, args=args).train()
`;
  expect(await told(script, 'src/train.py')).toContain(
    'Which model cannot be told `ours.name` is `None` here, and is said when it runs (src/train.py:9)',
  );
});
