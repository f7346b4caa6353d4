import { describe, expect, test } from 'vitest';
import { readPython } from '../../src/run/python.js';
import { linearsNamed, optimizerNamed, type Reading, takenFor } from '../../src/run/reading.js';
import { readSettings } from '../../src/run/settings.js';
import { PyModule } from '../../src/semantic/module.js';
import { loadParser } from '../../src/syntax/parser.js';

const parser = await loadParser();
const read = (text: string) => readPython(new PyModule('train.py', text, parser.parse(text)));
const settings = (path: string, text: string): Reading => {
  const found = readSettings(path, text);
  if (typeof found === 'string') throw new Error(found);
  return found;
};

const TRAINER = `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
import torch
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16, attn_implementation="eager")
`;

describe('a script', () => {
  test('with the arguments of a trainer: each value with its place', () => {
    const reading = read(`${TRAINER}BATCH = 4
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=BATCH,
    gradient_accumulation_steps=8,
    gradient_checkpointing=True,
    bf16=True,
    optim="adamw_bnb_8bit",
)
Trainer(model=model, args=args).train()
`);
    expect(reading.model).toEqual({ value: 'gpt2', place: 'train.py:3', words: '"gpt2"' });
    expect(reading.weights).toMatchObject({ value: 'bf16', place: 'train.py:3' });
    expect(reading.attention).toMatchObject({ value: 'eager' });
    expect(reading.batch).toEqual({
      value: 4,
      place: 'train.py:7',
      words: 'per_device_train_batch_size=BATCH',
    });
    expect(reading.accumulation).toMatchObject({ value: 8 });
    expect(reading.checkpointing).toMatchObject({ value: true });
    expect(reading.autocast).toMatchObject({ value: true, words: 'bf16=True' });
    expect(reading.optimizer).toMatchObject({ value: 'adamw-8bit' });
    expect(reading.trainer).toMatchObject({ value: 'transformers' });
    expect(Object.values(reading).filter((said) => 'why' in said)).toEqual([]);
  });

  test('with a loop of its own', () => {
    const reading = read(`import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("gpt2")
test_loader = DataLoader(held, batch_size=128)
loader = DataLoader(data, batch_size=16, shuffle=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
model.gradient_checkpointing_enable()
for batch in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(**batch).loss
    loss.backward()
    optimizer.step()
`);
    expect(reading.batch).toMatchObject({ value: 16, place: 'train.py:6' });
    expect(reading.optimizer).toMatchObject({ value: 'adamw-fused', place: 'train.py:7' });
    expect(reading.checkpointing).toMatchObject({ value: true, place: 'train.py:8' });
    expect(reading.autocast).toMatchObject({ value: true, place: 'train.py:10' });
    expect(reading.trainer).toBeUndefined();
  });

  test('with adapters on a quantized model', () => {
    const reading = read(`from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
quantized = BitsAndBytesConfig(load_in_4bit=True)
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf", quantization_config=quantized)
lora = LoraConfig(r=64, lora_dropout=0.05, target_modules=["q_proj", "v_proj"])
`);
    expect(reading.weights).toMatchObject({ value: 'int4', place: 'train.py:3' });
    expect(reading.rank).toMatchObject({ value: 64 });
    expect(reading.targets).toMatchObject({ value: ['q', 'v'] });
    expect(reading.adapterDropout).toMatchObject({ value: 0.05 });
  });

  test('with a configuration of its own, and a network of torchvision', () => {
    const own = read(`from transformers import LlamaConfig, LlamaForCausalLM
config = LlamaConfig(hidden_size=1024, num_hidden_layers=8, vocab_size=32_000)
model = LlamaForCausalLM(config)
`);
    expect(own.config?.value).toEqual({
      model_type: 'llama',
      hidden_size: 1024,
      num_hidden_layers: 8,
      vocab_size: 32_000,
    });
    const net = read('import torchvision.models as models\nnet = models.resnet50(weights=None)\n');
    expect(net.model).toMatchObject({ value: 'resnet50', place: 'train.py:2' });
    expect(read('def resnet50():\n    pass\nnet = resnet50()\n').model).toBeUndefined();
  });

  test('that takes a value from the command line says its default, and what has none is named', () => {
    const reading = read(`import argparse
${TRAINER}parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=6)
given = parser.parse_args()
args = TrainingArguments(output_dir="out", per_device_train_batch_size=given.batch, gradient_accumulation_steps=steps())
`);
    expect(reading.batch).toMatchObject({ value: 6 });
    expect(reading.accumulation).toEqual({
      place: 'train.py:8',
      why: '`gradient_accumulation_steps=steps()` cannot be told without running it',
    });
  });

  test('whose names only look like those of a library says nothing that can be told', () => {
    const reading = read(`from mine import TrainingArguments, AutoModel
args = TrainingArguments(output_dir="out", per_device_train_batch_size=4)
model = AutoModel.from_pretrained("gpt2")
`);
    expect(reading.batch).toBeUndefined();
    expect(reading.model).toEqual({
      place: 'train.py:3',
      why: '`AutoModel.from_pretrained` loads a model by a class that the code does not show',
    });
  });
});

describe('settings', () => {
  test('of DeepSpeed', () => {
    const text = `{
  "train_micro_batch_size_per_gpu": 2,
  "bf16": { "enabled": true },
  "zero_optimization": { "stage": 3, "offload_optimizer": { "device": "cpu" } }
}`;
    const reading = settings('ds.json', text);
    expect(reading.batch).toMatchObject({ value: 2, place: 'ds.json:2' });
    expect(reading.sharded).toMatchObject({ value: true, place: 'ds.json:4' });
    expect(reading.offload).toMatchObject({ value: 'optimizer' });
    expect(reading.autocast).toMatchObject({ value: true });
  });

  test('of accelerate, and of a trainer in YAML', () => {
    const accelerate = settings(
      'a.yaml',
      'distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n',
    );
    expect([takenFor(accelerate.sharded), takenFor(accelerate.gpus)]).toEqual([true, 8]);
    const deepspeed = settings('a.yaml', 'distributed_type: DEEPSPEED\nnum_processes: 2\n');
    expect(deepspeed.sharded).toBeUndefined();
    const trainer = settings(
      't.yaml',
      'model_name_or_path: gpt2\ntraining:\n  per_device_train_batch_size: 4\n  gradient_checkpointing: true\n  optim: sgd\nlora_r: 8\n',
    );
    expect(trainer.model).toMatchObject({ value: 'gpt2', place: 't.yaml:1' });
    expect(trainer.batch).toMatchObject({ value: 4, place: 't.yaml:3' });
    expect([takenFor(trainer.checkpointing), takenFor(trainer.optimizer), takenFor(trainer.rank)]).toEqual([
      true,
      'sgd',
      8,
    ]);
  });

  test('that are no settings say why', () => {
    expect(readSettings('a.json', '{')).toBe('it is no JSON');
    expect(readSettings('a.yaml', '- 1\n')).toBe('it is not a mapping');
  });
});

test('names of optimizers and of layers', () => {
  const names = ['adamw_torch', 'adamw_torch_fused', 'paged_adamw_8bit', 'adafactor', 'sgd', 'muon'];
  expect(names.map(optimizerNamed)).toEqual([
    'adamw',
    'adamw-fused',
    'adamw-8bit',
    'adafactor',
    'sgd',
    undefined,
  ]);
  expect(linearsNamed(['qkv_proj', 'down_proj'])).toEqual(['q', 'k', 'v', 'down']);
  expect(linearsNamed(['q_proj', 'router'])).toBeUndefined();
});

test('a head for classes, and padding', () => {
  const reading = read(`from transformers import BertForSequenceClassification, BertTokenizer
model = BertForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=5)
tokens = BertTokenizer.from_pretrained("bert-base-uncased")(texts, padding=True, max_length=128)
`);
  expect(reading.classes).toMatchObject({ value: 5, place: 'train.py:2' });
  expect(reading.padded).toMatchObject({ value: true, place: 'train.py:3' });
  expect(reading.sequence).toMatchObject({ value: 128 });
});
