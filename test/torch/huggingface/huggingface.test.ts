import { describe, expect, it } from 'vitest';
import {
  argumentsCall,
  isTrainerClass,
  setsField,
  takesLibraryKeyword,
  usesDeepSpeed,
} from '../../../src/torch/huggingface/huggingface.js';
import { moduleOf, nodeAt } from '../../support/module.js';

/** The first call whose text holds `HERE`. */
function found(text: string) {
  const module = moduleOf(text);
  const call = nodeAt(module, 'HERE').closest('call');
  if (call === undefined) throw new Error('the sample has no call');
  return { module, made: argumentsCall(module, call) };
}

describe('argumentsCall', () => {
  it.each([
    ['from transformers import TrainingArguments\nTrainingArguments(HERE)\n', true],
    ['from transformers import Seq2SeqTrainingArguments as A\nA(HERE)\n', true],
    ['import transformers as hf\nhf.TrainingArguments(HERE)\n', true],
    ['import transformers\ntransformers.training_args.TrainingArguments(HERE)\n', true],
    ['from transformers.training_args import TrainingArguments\nTrainingArguments(HERE)\n', true],
    ['from trl.trainer.sft_config import SFTConfig\nSFTConfig(HERE)\n', true],
    // They have arguments of their own.
    ['from trl import DDPOConfig\nDDPOConfig(HERE)\n', false],
    ['from trl import AlignPropConfig\nAlignPropConfig(HERE)\n', false],
    ['from trl.experimental.ppo import PPOConfig\nPPOConfig(HERE)\n', true],
    ['def f():\n    from trl import KTOConfig\n    return KTOConfig(HERE)\n', true],
    ['import transformers\nA = transformers.TrainingArguments\nA(HERE)\n', true],
    ['from trl import ModelConfig\nModelConfig(HERE)\n', false],
    ['from transformers import AutoConfig\nAutoConfig(HERE)\n', false],
    ['from trlx import PPOConfig\nPPOConfig(HERE)\n', false],
    ['from .transformers import TrainingArguments\nTrainingArguments(HERE)\n', false],
    ['from transformers import *\nTrainingArguments(HERE)\n', true],
    ['class TrainingArguments: ...\nTrainingArguments(HERE)\n', false],
    [
      'from transformers import GlueDataTrainingArguments as TrainingArguments\nTrainingArguments(HERE)\n',
      false,
    ],
    [
      'from functools import partial\nfrom transformers import TrainingArguments\npartial(TrainingArguments, HERE)\n',
      false,
    ],
    ['from transformers import TrainingArguments\nTrainingArguments.from_dict(HERE)\n', false],
  ])('%j: %s', (text, expected) => {
    expect(found(text).made !== undefined).toBe(expected);
  });

  it('follows same-file bases', () => {
    const text = 'import trl\nclass A(trl.DPOConfig): ...\nclass B(A): ...\nB(HERE)\n';
    expect(found(text).made?.own?.name?.text).toBe('B');
  });
});

describe('a class derived in the file', () => {
  const derived = (body: string) =>
    found(`from trl import SFTConfig\nclass A(SFTConfig):\n${body}\nA(HERE)\n`);

  it.each([
    ['    more: int = 1', 'yes'],
    ['    def __init__(self, **rest):\n        super().__init__(**rest)', 'unknown'],
    ['    def __init__(self, out):\n        super().__init__(out)', 'no'],
  ])('%j takes the keyword: %s', (body, answer) => {
    const { made } = derived(body);
    expect(made && takesLibraryKeyword(made)).toBe(answer);
  });

  it('may set a field', () => {
    const { made } = derived('    field: dict = None');
    expect(made && setsField(made, 'field')).toBe(true);
    expect(made && setsField(made, 'other')).toBe(false);
  });
});

it.each([
  ['from transformers import Trainer\nHERE = Trainer\n', true],
  ['from trl import GRPOTrainer\nHERE = GRPOTrainer\n', true],
  ['from transformers import Trainer\nclass Trainer2(Trainer): ...\nHERE = Trainer2\n', true],
  ['from lightning import Trainer\nHERE = Trainer\n', false],
  ['class Trainer: ...\nHERE = Trainer\n', false],
])('knows the trainers: %j', (text, expected) => {
  const module = moduleOf(text);
  const value = nodeAt(module, 'HERE').parent?.right;
  expect(value && isTrainerClass(module, value)).toBe(expected);
});

it.each([
  ['import deepspeed\n', 'yes'],
  ['if args.deepspeed:\n    pass\n', 'yes'],
  ['is_deepspeed_zero3_enabled()\n', 'yes'],
  ['f(deepspeed="ds.json")\n', 'yes'],
  ['f(deepspeed=None)\n', 'no'],
  ['# accelerate launch --config_file deepspeed_zero3.yaml\n', 'unknown'],
  ['config = {"deepspeed": path}\n', 'unknown'],
  ['import torch\n', 'no'],
])('%j uses DeepSpeed: %s', (text, answer) => {
  expect(usesDeepSpeed(moduleOf(text))).toBe(answer);
});
